//! Where keys and addresses come from.

use std::fmt;
use std::sync::Arc;

/// Variables by name, such as those of the process.
#[derive(Clone)]
pub struct Environment(Arc<Variables>);

type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Environment {
    /// Variables from anywhere.
    ///
    /// ```
    /// use recount_host::agents::Environment;
    ///
    /// let environment = Environment::new(|name| (name == "OPENAI_API_KEY").then(|| "sk-1".to_owned()));
    /// assert!(environment.filled("OPENAI_API_KEY").is_some());
    /// assert!(!format!("{environment:?}").contains("sk-1"));
    /// ```
    pub fn new(variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(variable))
    }

    /// The variables of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// No variables.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(|_| None)
    }

    /// A variable that is set to something.
    #[must_use]
    pub fn filled(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }
}

/// Without the values, which may be secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}
