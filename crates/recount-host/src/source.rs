//! The source of agents.

use recount_agent::{AgentBuilder, BoxFuture};
use recount_log::SessionKey;

/// Lists the available agents, and builds one for each run of a session.
pub trait AgentSource: Send + Sync + 'static {
    /// Returns all agents, in display order.
    fn agents(&self) -> Vec<AgentInfo>;

    /// Returns the name of the agent for sessions that name none.
    fn default_agent(&self) -> &str;

    /// Builds an agent for a session: its model, prompt, tools and permissions. The host adds the sink and the saved state.
    ///
    /// # Errors
    ///
    /// When the agent is unknown, or when a requirement such as an API key is missing.
    fn build<'a>(&'a self, name: &'a str, session: &'a SessionKey) -> BoxFuture<'a, Result<AgentBuilder, SourceError>>;

    /// Deletes the files that are stored for a session. Called after the session was removed from the log.
    fn forget(&self, session: &SessionKey) {
        let _ = session;
    }
}

/// The description of an agent for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentInfo {
    /// The name by which sessions select the agent.
    pub name: String,
    /// The model, as `provider/name`.
    pub model: String,
    /// The purpose of the agent, if it is configured.
    pub description: Option<String>,
    /// The names of its tools.
    pub tools: Vec<String>,
}

/// The reason why an agent could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// There is no agent with this name.
    #[error("unknown agent `{name}`")]
    Unknown {
        /// The requested name.
        name: String,
    },
    /// The agent is configured but cannot run.
    #[error("agent `{name}` is unavailable: {problem}")]
    Unavailable {
        /// The requested name.
        name: String,
        /// The missing or invalid requirement.
        problem: String,
    },
}

/// A source of one agent, which a function builds for each run.
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
    build: F,
}

impl<F: Fn() -> AgentBuilder + Send + Sync + 'static> SingleAgent<F> {
    /// Creates a source from the name by which sessions select the agent, and the function that builds it.
    pub fn new(name: impl Into<String>, build: F) -> Self {
        let info = AgentInfo { name: name.into(), model: String::new(), description: None, tools: Vec::new() };
        Self { info, build }
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
        let built = if is_known { Ok((self.build)()) } else { Err(SourceError::Unknown { name: name.to_owned() }) };
        Box::pin(async { built })
    }
}

impl<F> std::fmt::Debug for SingleAgent<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SingleAgent").field("info", &self.info).finish_non_exhaustive()
    }
}
