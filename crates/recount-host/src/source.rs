//! Where agents come from.

use recount_agent::{AgentBuilder, BoxFuture};
use recount_log::SessionKey;

/// Knows which agents there are, and makes one for a session.
pub trait AgentSource: Send + Sync + 'static {
    /// Every agent, in the order in which people are shown them.
    fn agents(&self) -> Vec<AgentInfo>;

    /// The name of the agent of sessions that name none.
    fn default_agent(&self) -> &str;

    /// An agent for a session: its model, prompt, tools and permissions. Where its events go and what it remembers is
    /// filled in by the host.
    ///
    /// # Errors
    ///
    /// When there is no such agent, or when something that it needs is missing, such as a key.
    fn build<'a>(&'a self, name: &'a str, session: &'a SessionKey) -> BoxFuture<'a, Result<AgentBuilder, SourceError>>;
}

/// What people are told of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInfo {
    /// The name that sessions name.
    pub name: String,
    /// The model, as `provider/name`.
    pub model: String,
    /// What it is for, if its configuration says so.
    pub description: Option<String>,
    /// The names of its tools.
    pub tools: Vec<String>,
}

/// Why there is no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Nobody has heard of it.
    #[error("there is no agent `{name}`")]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// It is known, and cannot work.
    #[error("agent `{name}` cannot work: {problem}")]
    Unfit {
        /// The name that was asked for.
        name: String,
        /// What is missing or wrong.
        problem: String,
    },
}
