//! Token usage.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::Object;
use crate::json::record::record;

record! {
    /// The tokens used by a message or a model call.
    ///
    /// ```
    /// use recount_message::Usage;
    ///
    /// let total: Usage = [Usage::new(100, 20), Usage::new(150, 30)].into_iter().sum();
    /// assert_eq!((total.input_tokens, total.output_tokens, total.total()), (250, 50, 300));
    /// ```
    pub struct Usage {
        /// Number of input tokens.
        pub input_tokens: u64,
        /// Number of output tokens.
        pub output_tokens: u64,
        /// Number of input tokens read from the prompt cache.
        pub cache_input_tokens: u64 = |_here| 0,
        /// Number of input tokens written to the prompt cache.
        pub cache_creation_input_tokens: u64 = |_here| 0,
    }
}

impl Usage {
    /// Creates a usage without cached tokens.
    ///
    /// ```
    /// use recount_message::Usage;
    ///
    /// let usage = Usage::new(100, 20).with_cache_input_tokens(80);
    /// assert_eq!((usage.input_tokens, usage.cache_input_tokens), (100, 80));
    /// ```
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cache_input_tokens: 0,
            cache_creation_input_tokens: 0,
            extra: Object::new(),
        }
    }

    /// Sets the number of tokens read from the prompt cache. Consumes the usage and returns the changed one.
    ///
    /// ```
    /// use recount_message::Usage;
    ///
    /// assert_eq!(Usage::new(100, 20).with_cache_input_tokens(80).cache_input_tokens, 80);
    /// ```
    pub fn with_cache_input_tokens(mut self, tokens: u64) -> Self {
        self.cache_input_tokens = tokens;
        self
    }

    /// Sets the number of tokens written to the prompt cache. Consumes the usage and returns the changed one.
    ///
    /// ```
    /// use recount_message::Usage;
    ///
    /// assert_eq!(Usage::new(100, 20).with_cache_creation_input_tokens(40).cache_creation_input_tokens, 40);
    /// ```
    pub fn with_cache_creation_input_tokens(mut self, tokens: u64) -> Self {
        self.cache_creation_input_tokens = tokens;
        self
    }

    /// Returns the sum of input and output tokens, saturating at `u64::MAX`.
    ///
    /// ```
    /// use recount_message::Usage;
    ///
    /// assert_eq!(Usage::new(100, 20).total(), 120);
    /// assert_eq!(Usage::new(u64::MAX, 1).total(), u64::MAX);
    /// ```
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Default for Usage {
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl AddAssign<&Usage> for Usage {
    /// Adds the counts, saturating at `u64::MAX`.
    fn add_assign(&mut self, other: &Self) {
        let add = |count: &mut u64, more: u64| *count = count.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cache_input_tokens, other.cache_input_tokens);
        add(&mut self.cache_creation_input_tokens, other.cache_creation_input_tokens);
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += &other;
        self
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}
