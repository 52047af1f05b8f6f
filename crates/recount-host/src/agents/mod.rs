//! Agents from a configuration.
//!
//! ```toml
//! [agents.coder]
//! model = "anthropic/claude-opus-4-5"
//! description = "Works on this repository."
//! prompt = "You are a careful programmer."
//! tools = ["read", "glob", "grep", "edit", "shell"]
//! workspace = "."
//! fallback = ["openai/gpt-5"]
//!
//! [agents.coder.permissions]
//! mode = "accept_edits"
//! allow = [{ rule = "shell(cargo fetch:*)", access = ["network"] }]
//! deny = ["shell(git push:*)"]
//!
//! [agents.coder.mcp.everything]
//! command = "npx"
//! args = ["-y", "@modelcontextprotocol/server-everything"]
//! access = ["network", "write:~/.npm"]
//!
//! [agents.coder.external.ask_colleague]
//! description = "Asks the person at the keyboard."
//!
//! [agents.lead]
//! helpers = ["coder"]
//! ```

mod build;
mod choice;
mod config;
mod environment;
mod file;
mod helpers;
mod model;
mod names;
mod sandbox;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use recount_agent::mcp::McpServer;
use recount_agent::tool::ToolSource;
use recount_agent::{AgentBuilder, BoxFuture};
use recount_log::SessionKey;
use recount_sandbox::Confinement;
use tokio::sync::OnceCell;

use build::{Plan, SessionPlace};
pub use choice::Choice;
pub use config::{AgentConfig, AgentsConfig, ExternalTool, PermissionsConfig, ThinkingConfig};
pub use environment::Environment;
pub use file::ConfigError;
pub use names::{ModelName, NameError, Rule, ToolName};
pub use sandbox::SandboxConfig;

use crate::{AgentInfo, AgentSource, SourceError};

/// The agents of a configuration.
///
/// ```
/// use recount_host::AgentSource;
/// use recount_host::agents::{Agents, AgentsConfig, Environment};
///
/// let config = AgentsConfig::from_toml("[agents.guide]\nmodel = \"demo\"\ntools = [\"read\", \"shell\"]\n")?;
/// let agents = Agents::new(config, ".".as_ref(), Environment::empty())?;
/// assert_eq!(agents.default_agent(), "guide");
/// assert_eq!(agents.agents()[0].tools, ["read", "shell"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Agents {
    known: RwLock<Vec<(String, AgentConfig)>>,
    default_agent: String,
    /// Where relative paths begin.
    base: PathBuf,
    environment: Environment,
    /// Where each session has a directory for what is too long to be shown.
    aside: Option<PathBuf>,
    /// How the programs that agents start are confined.
    confinement: Confinement,
    /// The MCP servers that run, by agent. They are shared by its sessions.
    servers: Mutex<HashMap<String, Arc<OnceCell<Servers>>>>,
    /// The same from the moment on in which they are started.
    started: Mutex<HashMap<String, Servers>>,
}

type Servers = Vec<Arc<McpServer>>;

/// So long an agent waits for its MCP servers before it does without those that have not started yet.
const PATIENCE: Duration = Duration::from_secs(10);

impl Agents {
    /// The agents of a configuration, whose relative paths begin at `base`.
    ///
    /// Sessions that name no agent get the one called `default`, or the first one. An empty configuration has the agent of
    /// [`Choice::of`] the environment.
    ///
    /// # Errors
    ///
    /// When a directory is not there, a tool cannot be one, or an agent works for itself. That a key is missing is told when
    /// the agent is needed.
    pub fn new(config: AgentsConfig, base: &Path, environment: Environment) -> Result<Self, ConfigError> {
        let mut agents = config.agents;
        if agents.is_empty() {
            agents.push((choice::NAME.to_owned(), AgentConfig::default()));
        }
        for (name, agent) in &agents {
            build::check(name, agent, base)?;
        }
        helpers::check(&agents)?;
        let named_default = agents.iter().find(|(name, _)| name == "default");
        let default_agent = named_default.or(agents.first()).map(|(name, _)| name.clone()).unwrap_or_default();
        let (known, base) = (RwLock::new(agents), base.to_owned());
        let (servers, started) = (Mutex::default(), Mutex::default());
        let confinement = Confinement::default();
        Ok(Self { known, default_agent, base, environment, aside: None, confinement, servers, started })
    }

    /// Replaces how the programs that agents start are confined: shell commands and MCP servers.
    #[must_use]
    pub fn confine(mut self, confinement: Confinement) -> Self {
        self.confinement = confinement;
        self
    }

    /// How the programs that agents start are confined.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// The same with a directory for what is too long to be shown to models, in which each session has one of its own: long
    /// results, older images, and what was summed up. The tool `read` may look there. Without it, long output of the built-in
    /// tools lasts as long as the reply, and the rest is only left out.
    #[must_use]
    pub fn keep_aside_in(mut self, directory: impl Into<PathBuf>) -> Self {
        self.aside = Some(directory.into());
        self
    }

    /// The agent that there is without a configuration, with its tools where the program was started, and which model it
    /// has and why.
    ///
    /// # Errors
    ///
    /// When that directory is not there any more.
    pub fn default_for(environment: Environment) -> Result<(Self, Choice), ConfigError> {
        let choice = Choice::of(&environment);
        Ok((Self::new(AgentsConfig::default(), Path::new("."), environment)?, choice))
    }

    /// Whether an agent can be made, as far as that can be said without making it.
    ///
    /// # Errors
    ///
    /// When there is no such agent, or its model or that of one who helps it has no key.
    pub fn check(&self, name: &str) -> Result<(), SourceError> {
        let config = self.config(name).ok_or_else(|| SourceError::Unknown { name: name.to_owned() })?;
        build::model(&config, &self.environment).map(drop).map_err(|problem| unfit(name, problem))?;
        config.helpers.iter().try_for_each(|helper| self.check(helper))
    }

    /// The configuration of an agent.
    pub fn config(&self, name: &str) -> Option<AgentConfig> {
        self.read(|known| known.iter().find(|(known, _)| known == name).map(|(_, config)| config.clone()))
    }

    /// The model that an agent is made with.
    pub fn model_of(&self, name: &str) -> Option<ModelName> {
        let config = self.config(name)?;
        Some(config.model.unwrap_or_else(|| Choice::of(&self.environment).model))
    }

    /// The configuration as it takes effect: what was left out is there, with what is used for it.
    pub fn effective(&self) -> AgentsConfig {
        let mut agents = self.read(<[_]>::to_vec);
        for (_, config) in &mut agents {
            build::fill_in(config, &self.base, &self.environment);
        }
        AgentsConfig { agents }
    }

    /// Makes an agent with another model from now on. Tells whether there is such an agent.
    pub fn set_model(&self, name: &str, model: ModelName) -> bool {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let config = known.iter_mut().find(|(known, _)| known == name).map(|(_, config)| config);
        config.map(|config| config.model = Some(model)).is_some()
    }

    /// What is the matter with the MCP servers of an agent and of those who help it, each in a sentence. Those that were
    /// not needed yet are well.
    pub fn troubles(&self, name: &str) -> Vec<String> {
        let told = |server: &Arc<McpServer>| {
            server.trouble().map(|why| format!("the MCP server `{}` is not running: {why}", server.name()))
        };
        let mut troubles: Vec<String> = self.running(name).iter().flatten().filter_map(told).collect();
        for helper in self.config(name).map(|config| config.helpers).unwrap_or_default() {
            troubles.extend(self.troubles(&helper));
        }
        troubles
    }

    /// The tools of an agent with what each is for, as far as they are known: those of MCP servers are once these have said so.
    pub fn tools(&self, name: &str) -> Vec<(String, String)> {
        let Some(config) = self.config(name) else { return Vec::new() };
        let mut tools = build::described_tools(&config, &self.base);
        for helper in &config.helpers {
            let what = self.config(helper).and_then(|config| config.description);
            tools.push((helper.clone(), what.unwrap_or_else(|| format!("The agent `{helper}`."))));
        }
        for tool in self.running(name).iter().flatten().flat_map(|server| server.tools().to_vec()) {
            tools.push((tool.spec().name.clone(), tool.spec().description.clone()));
        }
        tools
    }

    /// The MCP servers of an agent and of those who help it that have not answered yet.
    pub fn starting(&self, name: &str) -> Vec<String> {
        let mut starting: Vec<String> = match self.running(name) {
            Some(started) => {
                started.iter().filter(|server| server.is_starting()).map(|server| server.name().to_owned()).collect()
            }
            None => self.config(name).map(|config| config.mcp.into_keys().collect()).unwrap_or_default(),
        };
        for helper in self.config(name).map(|config| config.helpers).unwrap_or_default() {
            starting.extend(self.starting(&helper));
        }
        starting
    }

    /// Ends all MCP servers, which may do so in good order, and waits until they have.
    pub async fn close(&self) {
        let started: Vec<Arc<McpServer>> = self.started().values().flatten().cloned().collect();
        let mut closing = tokio::task::JoinSet::new();
        for server in started {
            closing.spawn(async move { server.close().await });
        }
        closing.join_all().await;
    }

    fn read<T>(&self, look: impl FnOnce(&[(String, AgentConfig)]) -> T) -> T {
        look(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The MCP servers of an agent, started where they are not yet. They are waited for a little, and by nobody else: the tools
    /// of one that takes longer are there as soon as it is.
    async fn servers(&self, name: &str, config: &AgentConfig) -> Result<Servers, SourceError> {
        let cell = Arc::clone(self.cells().entry(name.to_owned()).or_default());
        let start = async || {
            let workspace = build::directory(config, &self.base);
            let mut servers = Vec::with_capacity(config.mcp.len());
            for (server, config) in &config.mcp {
                let unfit = |error: recount_agent::mcp::McpError| unfit(name, error.to_string());
                let started = McpServer::start_in(server, config.clone(), &self.confinement, &workspace);
                servers.push(started.map_err(unfit)?);
            }
            self.started().insert(name.to_owned(), servers.clone());
            let all_settled = async {
                for server in &servers {
                    // One that cannot be started is tried again and again, and takes no other tool with it.
                    server.settled().await;
                }
            };
            let _ = tokio::time::timeout(PATIENCE, all_settled).await;
            Ok(servers)
        };
        cell.get_or_try_init(start).await.cloned()
    }

    /// The MCP servers of an agent, if they were started. They may not have answered yet.
    fn running(&self, name: &str) -> Option<Servers> {
        self.started().get(name).cloned()
    }

    fn started(&self) -> MutexGuard<'_, HashMap<String, Servers>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cells(&self) -> MutexGuard<'_, HashMap<String, Arc<OnceCell<Servers>>>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agents {
    /// What an agent is made from, with all who help it.
    fn plan<'a>(&'a self, name: &'a str, session: &'a SessionKey) -> BoxFuture<'a, Result<Plan, SourceError>> {
        Box::pin(async move {
            let config = self.config(name).ok_or_else(|| SourceError::Unknown { name: name.to_owned() })?;
            let servers = self.servers(name, &config).await?;
            let mut helpers = Vec::with_capacity(config.helpers.len());
            for helper in &config.helpers {
                helpers.push(self.plan(helper, session).await?);
            }
            let place = SessionPlace {
                key: session.to_string(),
                aside: self.aside_of(session),
                confinement: self.confinement.clone(),
            };
            let (base, environment) = (self.base.clone(), self.environment.clone());
            Ok(Plan { name: name.to_owned(), config, base, environment, place, servers, helpers })
        })
    }

    /// Where something is put aside for a session. No session has a name with `~` in it, so none lies in that of another.
    fn aside_of(&self, session: &SessionKey) -> Option<PathBuf> {
        let directory = self.aside.as_ref()?;
        let tenant = session.tenant();
        let of_tenant = if tenant.is_empty() { directory.clone() } else { directory.join(format!("{tenant}~")) };
        Some(of_tenant.join(session.name()))
    }
}

impl AgentSource for Agents {
    fn agents(&self) -> Vec<AgentInfo> {
        let known = self.read(<[_]>::to_vec);
        let infos = known.into_iter().map(|(name, config)| {
            let mut tools = config.tool_names();
            match self.running(&name) {
                Some(servers) => {
                    for server in &servers {
                        let names = server.tools().iter().map(|tool| tool.spec().name.clone()).collect::<Vec<_>>();
                        let is_unknown = names.is_empty() && server.is_starting();
                        tools.extend(if is_unknown { vec![format!("{}__*", server.name())] } else { names });
                    }
                }
                // They say which they have when they are started.
                None => tools.extend(config.mcp.keys().map(|server| format!("{server}__*"))),
            }
            let model = config.model.unwrap_or_else(|| Choice::of(&self.environment).model);
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
            plan.builder().map_err(|problem| unfit(name, problem))
        })
    }

    fn forget(&self, session: &SessionKey) {
        self.confinement.sandbox().end_session(&session.to_string());
        if let Some(directory) = self.aside_of(session) {
            // Mostly there is none.
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

fn unfit(name: &str, problem: String) -> SourceError {
    SourceError::Unfit { name: name.to_owned(), problem }
}
