//! Loads the agents and opens the log of a conversation.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use recount_agent_config::{Agents, DefaultModel, Environment, ModelName};
use recount_host::{AgentSource, Host, HostOptions, SourceError};
use recount_log::{Durability, Log, Options, Session, SessionKey};
use recount_message::{Json, Object};
use recount_sandbox::{Confinement, Level, Policy, Sandbox};
use recount_server::Config;

use super::ChatArgs;
use super::conversation_dir::ConversationDir;
use crate::commands::config::in_file;
use crate::commands::model_of_variable;

/// The session property that holds the model, if the user has chosen one.
const MODEL_PROPERTY: &str = "model";

/// The time that replies and MCP servers have to stop when the program ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// An open conversation: its host, agents, session and log.
pub(super) struct Chat {
    pub(super) host: Host,
    pub(super) agents: Arc<Agents>,
    pub(super) agent: String,
    pub(super) session: Session,
    log: Log,
    conversation: ConversationDir,
}

/// Loads the agents of the configuration. Their processes are confined as the arguments or the configuration require.
pub(super) fn agents(args: &ChatArgs, data: &Path) -> Result<Agents> {
    let file = args.config.as_deref();
    let parent = file.and_then(Path::parent).filter(|path| !path.as_os_str().is_empty());
    let base = parent.unwrap_or(Path::new("."));
    let Config { agents, sandbox, server, .. } = match file {
        Some(file) => config_in(file)?,
        None => Config::default(),
    };
    let policy = args.sandbox.or(sandbox.policy).unwrap_or(Policy::Preferred);
    let confinement = Confinement::new(policy, Sandbox::detect()).hide(data).hide(server.data);
    let confinement = sandbox.apply(file.into_iter().fold(confinement, Confinement::protect), base);
    let agents = Agents::new(agents, base, Environment::process()).map_err(|error| in_file(error, file))?;
    Ok(agents.confine(confinement))
}

/// Loads a configuration file. Also reports errors in sections that only `serve` uses.
fn config_in(file: &Path) -> Result<Config> {
    let text =
        fs::read_to_string(file).with_context(|| format!("{}: cannot read the configuration", file.display()))?;
    Config::load(Some(&text), []).map_err(|error| in_file(error, Some(file)))
}

/// Sets the model of an agent and checks that the agent can run. Fails if the agent is unknown, or if a model or a key
/// is missing.
pub(super) fn prepare(agents: &Agents, agent: &str, model: Option<&ModelName>) -> Result<()> {
    if let Some(model) = model {
        agents.set_model(agent, model.clone());
    }
    let Some(config) = agents.config(agent) else {
        let known: Vec<String> = agents.agents().into_iter().map(|info| info.name).collect();
        bail!("there is no agent `{agent}`\nhint: there is {}", known.join(", "));
    };
    if config.model.is_none()
        && model_of_variable()?.is_none()
        && DefaultModel::from_env(&Environment::process()).variable.is_none()
    {
        bail!(
            "no model is named, and no provider's key is set\n\
             hint: `recount models` lists the variables that hold keys; `--model demo` needs none"
        );
    }
    agents.check(agent).map_err(|error| match error {
        SourceError::Unavailable { problem, .. } => anyhow!("{problem}\nhint: `--model demo` needs no key"),
        error @ SourceError::Unknown { .. } => error.into(),
    })
}

impl Chat {
    /// Opens the log of a conversation, creating it if it is new, and resumes unfinished work.
    pub(super) async fn open(args: &ChatArgs, agents: Agents, conversation: ConversationDir) -> Result<Self> {
        // Conversations are private to the user.
        let mut directories = fs::DirBuilder::new();
        directories
            .recursive(true)
            .mode(0o700)
            .create(&conversation.directory)
            .with_context(|| format!("cannot keep the conversation in {}", conversation.directory.display()))?;
        // Entries survive the end of the process. Do not wait for an fsync per entry.
        let log = Log::open(&conversation.directory, Options::default().durability(Durability::Process))?;
        let key = SessionKey::new(&conversation.name)?;
        let wanted = args.agent.clone();
        let (session, agent) = if conversation.is_new {
            // The agent was checked by the caller, before anything was written.
            let agent = wanted.unwrap_or_else(|| agents.default_agent().to_owned());
            let mut properties = Object::from([("agent", agent.as_str())]);
            if let Some(model) = &args.model {
                properties.insert(MODEL_PROPERTY, model.as_str());
            }
            (log.create_with(key, &properties).await?, agent)
        } else {
            let session = log.session(key);
            let mut properties = Object::parse(&session.info().await?.properties).unwrap_or_default();
            let text = |key: &str| properties.get(key).and_then(Json::as_str).map(str::to_owned);
            let previous = text("agent").filter(|name| agents.config(name).is_some());
            let is_same = wanted.is_none() || wanted == previous;
            let chosen = text(MODEL_PROPERTY).and_then(|name| name.parse().ok()).filter(|_| is_same);
            let agent = wanted.or(previous).unwrap_or_else(|| agents.default_agent().to_owned());
            let model = args.model.clone().or(chosen);
            prepare(&agents, &agent, model.as_ref())?;
            properties.insert("agent", agent.as_str());
            // Drop the model that was chosen for another agent.
            properties.remove(MODEL_PROPERTY);
            if let Some(model) = &model {
                properties.insert(MODEL_PROPERTY, model.as_str());
            }
            session.set_properties(&properties).await?;
            (session, agent)
        };
        let agents = Arc::new(agents.offload_to(conversation.directory.join("aside")));
        let source: Arc<dyn AgentSource> = agents.clone();
        let host = Host::start(log.clone(), source, HostOptions::default()).await?;
        let chat = Self { host, agents, agent, session, log, conversation };
        chat.warm_up();
        Ok(chat)
    }

    /// Starts the MCP servers in the background.
    fn warm_up(&self) {
        let (agents, agent, key) = (Arc::clone(&self.agents), self.agent.clone(), self.session.key().clone());
        tokio::spawn(async move {
            // Errors are reported when the agent is used.
            let _ = agents.build(&agent, &key).await;
        });
    }

    /// Sets the model for the following messages. It is stored with the session, so a resumed conversation uses it too.
    pub(super) async fn set_model(&self, model: ModelName) -> Result<()> {
        let previous = self.agents.model(&self.agent);
        self.agents.set_model(&self.agent, model.clone());
        if let Err(error) = self.agents.check(&self.agent) {
            previous.map(|previous| self.agents.set_model(&self.agent, previous));
            return Err(error.into());
        }
        let mut properties = Object::parse(&self.session.info().await?.properties).unwrap_or_default();
        properties.insert(MODEL_PROPERTY, model.as_str());
        Ok(self.session.set_properties(&properties).await?)
    }

    /// Returns the greeting: the agent, the model and the conversation, and the confinement unless it is complete.
    pub(super) fn greeting(&self) -> String {
        let model = self.agents.model(&self.agent).map(|model| model.to_string()).unwrap_or_default();
        let confinement = self.agents.confinement();
        let is_full = confinement.policy() != Policy::Off && confinement.sandbox().support().level == Level::Full;
        let sandbox = if is_full { String::new() } else { format!("{}\n", confinement.describe()) };
        format!(
            "{} · {model} · conversation {}\n{sandbox}/help lists the commands, Ctrl-D leaves",
            self.agent, self.conversation.name
        )
    }

    /// Shuts down gracefully. Removes a new conversation that has no entries.
    pub(super) async fn close(self) -> Result<()> {
        self.host.drain(SHUTDOWN_TIMEOUT).await;
        // Processes that are still running are killed when the program ends.
        let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.agents.close()).await;
        let is_empty = self.conversation.is_new && self.session.info().await.is_ok_and(|row| row.head == 0);
        let Self { host, log, conversation, .. } = self;
        drop(host);
        log.close().await?;
        if is_empty {
            // Failing to remove an empty directory is harmless.
            let _ = fs::remove_dir_all(&conversation.directory);
        }
        Ok(())
    }
}
