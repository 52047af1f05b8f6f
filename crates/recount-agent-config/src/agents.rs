//! The configured agents, as a source of agents for a host.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use recount_agent::tool::ToolSource;
use recount_agent::{AgentBuilder, BoxFuture};
use recount_host::{AgentInfo, AgentSource, SourceError};
use recount_log::SessionKey;
use recount_sandbox::Confinement;

use crate::build::{self, AgentPlan, SessionContext};
use crate::config::{AgentConfig, AgentsConfig};
use crate::default_model::{AGENT_NAME, DefaultModel};
use crate::environment::Environment;
use crate::mcp_servers::McpServers;
use crate::names::ModelName;
use crate::parse::ConfigError;
use crate::sub_agents;

/// The agents of a configuration.
///
/// ```
/// use recount_agent_config::{Agents, AgentsConfig, Environment};
/// use recount_host::AgentSource;
///
/// let config = AgentsConfig::from_toml("[agents.guide]\nmodel = \"demo\"\ntools = [\"read\", \"shell\"]\n")?;
/// let agents = Agents::new(config, ".".as_ref(), Environment::empty())?;
/// assert_eq!(agents.default_agent(), "guide");
/// assert_eq!(agents.agents()[0].tools, ["read", "shell"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Agents {
    configs: RwLock<Vec<(String, AgentConfig)>>,
    default_agent: String,
    /// The base directory of relative paths.
    base: PathBuf,
    environment: Environment,
    /// The directory in which each session has a directory for offloaded content.
    offload_directory: Option<PathBuf>,
    /// The sandbox of shell commands and MCP servers.
    confinement: Confinement,
    servers: McpServers,
}

impl Agents {
    /// Creates the agents of a configuration. Relative paths in it are resolved against `base`.
    ///
    /// Sessions that name no agent use the agent `default`, or else the first one. If the configuration is empty, there is
    /// one agent, `assistant`, with the model of [`DefaultModel::from_env`].
    ///
    /// # Errors
    ///
    /// When a directory does not exist, a tool name is invalid, or sub-agents are unknown or form a cycle. A missing API key
    /// is reported when the agent is built.
    pub fn new(config: AgentsConfig, base: &Path, environment: Environment) -> Result<Self, ConfigError> {
        let mut agents = config.agents;
        if agents.is_empty() {
            agents.push((AGENT_NAME.to_owned(), AgentConfig::default()));
        }
        for (name, agent) in &agents {
            build::validate(name, agent, base)?;
        }
        sub_agents::validate(&agents)?;
        let named_default = agents.iter().find(|(name, _)| name == "default");
        let default_agent = named_default.or(agents.first()).map(|(name, _)| name.clone()).unwrap_or_default();
        Ok(Self {
            configs: RwLock::new(agents),
            default_agent,
            base: base.to_owned(),
            environment,
            offload_directory: None,
            confinement: Confinement::default(),
            servers: McpServers::default(),
        })
    }

    /// Creates the agent that is used without a configuration. It works in the current directory. Also returns its model
    /// with the reason for that choice.
    ///
    /// # Errors
    ///
    /// When the current directory does not exist.
    pub fn without_config(environment: Environment) -> Result<(Self, DefaultModel), ConfigError> {
        let model = DefaultModel::from_env(&environment);
        Ok((Self::new(AgentsConfig::default(), Path::new("."), environment)?, model))
    }

    /// Sets the sandbox of the programs that agents start: shell commands and MCP servers.
    #[must_use]
    pub fn confine(mut self, confinement: Confinement) -> Self {
        self.confinement = confinement;
        self
    }

    /// The sandbox of the programs that agents start.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Sets the directory for content that exceeds the limits of a model: long tool results, older images, and the messages
    /// that a summary replaced. Each session has its own subdirectory, which the tool `read` may access.
    ///
    /// Without it, long output of built-in tools is kept until the reply ends, and the rest is discarded.
    #[must_use]
    pub fn offload_to(mut self, directory: impl Into<PathBuf>) -> Self {
        self.offload_directory = Some(directory.into());
        self
    }

    /// Checks that an agent and its sub-agents exist and that their models have an API key.
    ///
    /// # Errors
    ///
    /// When an agent is unknown, or when its model is invalid or has no key.
    pub fn check(&self, name: &str) -> Result<(), SourceError> {
        let config = self.config(name).ok_or_else(|| SourceError::Unknown { name: name.to_owned() })?;
        build::model(&config, &self.environment).map(drop).map_err(|problem| unavailable(name, problem))?;
        config.helpers.iter().try_for_each(|sub_agent| self.check(sub_agent))
    }

    /// Returns the configuration of an agent, or `None` if the agent is unknown.
    pub fn config(&self, name: &str) -> Option<AgentConfig> {
        let configs = self.configs.read().unwrap_or_else(PoisonError::into_inner);
        configs.iter().find(|(known, _)| known == name).map(|(_, config)| config.clone())
    }

    /// Returns the model of an agent, or `None` if the agent is unknown.
    pub fn model(&self, name: &str) -> Option<ModelName> {
        let config = self.config(name)?;
        Some(config.model.unwrap_or_else(|| DefaultModel::from_env(&self.environment).model))
    }

    /// Returns the configuration with defaults filled in.
    pub fn effective_config(&self) -> AgentsConfig {
        let mut agents = self.configs();
        for (_, config) in &mut agents {
            build::fill_in_defaults(config, &self.base, &self.environment);
        }
        AgentsConfig { agents }
    }

    /// Sets the model of an agent for the replies that start from now on. Returns `false` if the agent is unknown.
    pub fn set_model(&self, name: &str, model: ModelName) -> bool {
        let mut configs = self.configs.write().unwrap_or_else(PoisonError::into_inner);
        let config = configs.iter_mut().find(|(known, _)| known == name).map(|(_, config)| config);
        config.map(|config| config.model = Some(model)).is_some()
    }

    /// Returns one sentence for each failed MCP server of an agent and its sub-agents. Servers that were not started yet are
    /// not included.
    pub fn mcp_problems(&self, name: &str) -> Vec<String> {
        let servers = self.servers.started(name).unwrap_or_default();
        let mut problems: Vec<String> = servers
            .iter()
            .filter_map(|server| {
                let problem = server.error()?;
                Some(format!("the MCP server `{}` is not running: {problem}", server.name()))
            })
            .collect();
        for sub_agent in self.config(name).map(|config| config.helpers).unwrap_or_default() {
            problems.extend(self.mcp_problems(&sub_agent));
        }
        problems
    }

    /// Returns the names and descriptions of an agent's tools. Tools of an MCP server are included once it has listed them.
    pub fn tools(&self, name: &str) -> Vec<(String, String)> {
        let Some(config) = self.config(name) else { return Vec::new() };
        let mut tools = build::tool_descriptions(&config, &self.base);
        for sub_agent in &config.helpers {
            let description = self.config(sub_agent).and_then(|config| config.description);
            tools.push((sub_agent.clone(), description.unwrap_or_else(|| format!("The agent `{sub_agent}`."))));
        }
        for server in self.servers.started(name).iter().flatten() {
            tools.extend(server.tools().iter().map(|tool| (tool.spec().name.clone(), tool.spec().description.clone())));
        }
        tools
    }

    /// Returns the names of the MCP servers of an agent and its sub-agents that have not completed their handshake.
    pub fn starting_mcp_servers(&self, name: &str) -> Vec<String> {
        let mut starting: Vec<String> = match self.servers.started(name) {
            Some(servers) => {
                servers.iter().filter(|server| server.is_starting()).map(|server| server.name().to_owned()).collect()
            }
            None => self.config(name).map(|config| config.mcp.into_keys().collect()).unwrap_or_default(),
        };
        for sub_agent in self.config(name).map(|config| config.helpers).unwrap_or_default() {
            starting.extend(self.starting_mcp_servers(&sub_agent));
        }
        starting
    }

    /// Shuts down all MCP servers, and waits for them to exit.
    pub async fn close(&self) {
        self.servers.close().await;
    }

    fn configs(&self) -> Vec<(String, AgentConfig)> {
        self.configs.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Collects everything that an agent and its sub-agents are built from.
    fn plan<'a>(&'a self, name: &'a str, session: &'a SessionKey) -> BoxFuture<'a, Result<AgentPlan, SourceError>> {
        Box::pin(async move {
            let config = self.config(name).ok_or_else(|| SourceError::Unknown { name: name.to_owned() })?;
            let workspace = build::workspace_directory(&config, &self.base);
            let servers = self.servers.start(name, &config, &workspace, &self.confinement).await;
            let servers = servers.map_err(|error| unavailable(name, error.to_string()))?;
            let mut sub_agents = Vec::with_capacity(config.helpers.len());
            for sub_agent in &config.helpers {
                sub_agents.push(self.plan(sub_agent, session).await?);
            }
            let session = SessionContext {
                key: session.to_string(),
                offload_directory: self.offload_directory_of(session),
                confinement: self.confinement.clone(),
            };
            let (base, environment) = (self.base.clone(), self.environment.clone());
            Ok(AgentPlan { name: name.to_owned(), config, base, environment, session, servers, sub_agents })
        })
    }

    /// Returns the directory for the offloaded content of a session. Session names cannot contain `~`, so the directories of
    /// tenants and of sessions do not collide.
    fn offload_directory_of(&self, session: &SessionKey) -> Option<PathBuf> {
        let directory = self.offload_directory.as_ref()?;
        let tenant = session.tenant();
        let of_tenant = if tenant.is_empty() { directory.clone() } else { directory.join(format!("{tenant}~")) };
        Some(of_tenant.join(session.name()))
    }
}

impl AgentSource for Agents {
    fn agents(&self) -> Vec<AgentInfo> {
        let infos = self.configs().into_iter().map(|(name, config)| {
            let mut tools = config.tool_names();
            match self.servers.started(&name) {
                Some(servers) => {
                    for server in &servers {
                        let names = server.tools().iter().map(|tool| tool.spec().name.clone()).collect::<Vec<_>>();
                        let is_unknown = names.is_empty() && server.is_starting();
                        tools.extend(if is_unknown { vec![format!("{}__*", server.name())] } else { names });
                    }
                }
                // A server lists its tools when it is started.
                None => tools.extend(config.mcp.keys().map(|server| format!("{server}__*"))),
            }
            let model = config.model.unwrap_or_else(|| DefaultModel::from_env(&self.environment).model);
            AgentInfo { name, model: model.to_string(), description: config.description, tools }
        });
        infos.collect()
    }

    fn default_agent(&self) -> &str {
        &self.default_agent
    }

    fn build<'a>(&'a self, name: &'a str, session: &'a SessionKey) -> BoxFuture<'a, Result<AgentBuilder, SourceError>> {
        Box::pin(async move {
            let plan = self.plan(name, session).await?;
            plan.builder().map_err(|problem| unavailable(name, problem))
        })
    }

    fn forget(&self, session: &SessionKey) {
        self.confinement.sandbox().end_session(&session.to_string());
        if let Some(directory) = self.offload_directory_of(session) {
            // The directory exists only if something was offloaded.
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

fn unavailable(name: &str, problem: String) -> SourceError {
    SourceError::Unavailable { name: name.to_owned(), problem }
}
