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

    /// A session was removed: what is kept for it can go.
    fn forget(&self, session: &SessionKey) {
        let _ = session;
    }
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
    #[error("unknown agent `{name}`")]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// It is known, and cannot work.
    #[error("agent `{name}` is unavailable: {problem}")]
    Unavailable {
        /// The name that was asked for.
        name: String,
        /// What is missing or wrong.
        problem: String,
    },
}

/// The only agent there is, made anew by a function for each run.
///
/// ```
/// use recount_agent::{Agent, scripted::ScriptedModel};
/// use recount_host::{AgentSource, SingleAgent};
///
/// let source = SingleAgent::new("friday", || Agent::builder("Friday").model(ScriptedModel::new().says("Hello.")));
/// assert_eq!(source.default_agent(), "friday");
/// ```
pub struct SingleAgent<F> {
    info: AgentInfo,
    make: F,
}

impl<F: Fn() -> AgentBuilder + Send + Sync + 'static> SingleAgent<F> {
    /// The agent that the function makes, under the name that sessions know it by.
    pub fn new(name: impl Into<String>, make: F) -> Self {
        let info = AgentInfo { name: name.into(), model: String::new(), description: None, tools: Vec::new() };
        Self { info, make }
    }
}

impl<F: Fn() -> AgentBuilder + Send + Sync + 'static> AgentSource for SingleAgent<F> {
    fn agents(&self) -> Vec<AgentInfo> {
        vec![self.info.clone()]
    }

    fn default_agent(&self) -> &str {
        &self.info.name
    }

    fn build<'a>(
        &'a self,
        name: &'a str,
        _session: &'a SessionKey,
    ) -> BoxFuture<'a, Result<AgentBuilder, SourceError>> {
        let is_known = name == self.info.name;
        let made = if is_known { Ok((self.make)()) } else { Err(SourceError::Unknown { name: name.to_owned() }) };
        Box::pin(async { made })
    }
}

impl<F> std::fmt::Debug for SingleAgent<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SingleAgent").field("info", &self.info).finish_non_exhaustive()
    }
}
