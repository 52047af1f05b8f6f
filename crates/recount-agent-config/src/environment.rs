//! The source of environment variables: API keys, base URLs and the default model.

use std::fmt;
use std::sync::Arc;

/// Environment variables by name, usually those of the process.
#[derive(Clone)]
pub struct Environment(Arc<Lookup>);

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Environment {
    /// Creates an environment from a lookup function.
    ///
    /// ```
    /// use recount_agent_config::Environment;
    ///
    /// let environment = Environment::new(|name| (name == "OPENAI_API_KEY").then(|| "sk-1".to_owned()));
    /// assert!(environment.get("OPENAI_API_KEY").is_some());
    /// assert!(!format!("{environment:?}").contains("sk-1"));
    /// ```
    pub fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    /// The variables of this process.
    #[must_use]
    pub fn process() -> Self {
        Self::new(|name| std::env::var(name).ok())
    }

    /// An environment without variables.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(|_| None)
    }

    /// Returns the value of a variable, or `None` if it is unset, empty or blank.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }
}

/// Omits the values, which may be secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}
