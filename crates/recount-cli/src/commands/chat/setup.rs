//! Everything that a conversation needs.

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
use super::sessions::Place;
use crate::commands::config::in_file;
use crate::commands::model_of_variable;

/// What is known about a session has the model under this name, if the user has chosen one.
const MODEL: &str = "model";

/// So long a reply may take to come to a point where it can go on later.
const PATIENCE: Duration = Duration::from_secs(2);

/// Everything that a conversation needs.
pub(super) struct Chat {
    pub(super) host: Host,
    pub(super) agents: Arc<Agents>,
    pub(super) agent: String,
    pub(super) session: Session,
    log: Log,
    place: Place,
}

/// The agents that the arguments name. Their programs are confined as the arguments or the configuration demand.
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

/// The configuration in a file. Errors in sections that only `serve` uses are reported too.
fn config_in(file: &Path) -> Result<Config> {
    let text =
        fs::read_to_string(file).with_context(|| format!("{}: cannot read the configuration", file.display()))?;
    Config::load(Some(&text), []).map_err(|error| in_file(error, Some(file)))
}

/// Sees to it that an agent can be asked.
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
    /// Opens the log of a conversation and goes on with what was left in it.
    pub(super) async fn open(args: &ChatArgs, agents: Agents, place: Place) -> Result<Self> {
        // What is said is nobody else's business.
        let mut directories = fs::DirBuilder::new();
        directories
            .recursive(true)
            .mode(0o700)
            .create(&place.directory)
            .with_context(|| format!("cannot keep the conversation in {}", place.directory.display()))?;
        // What was said survives the end of the program, however it comes. Nobody waits for the disk at each word.
        let log = Log::open(&place.directory, Options::default().durability(Durability::Process))?;
        let key = SessionKey::new(&place.name)?;
        let wanted = args.agent.clone();
        let (session, agent) = if place.is_new {
            // It was prepared before anything was written.
            let agent = wanted.unwrap_or_else(|| agents.default_agent().to_owned());
            let mut about = Object::from([("agent", agent.as_str())]);
            if let Some(model) = &args.model {
                about.insert(MODEL, model.as_str());
            }
            (log.create_with(key, &about).await?, agent)
        } else {
            let session = log.session(key);
            let mut about = Object::parse(&session.info().await?.properties).unwrap_or_default();
            let text = |key: &str| about.get(key).and_then(Json::as_str).map(str::to_owned);
            let before = text("agent").filter(|name| agents.config(name).is_some());
            let is_same = wanted.is_none() || wanted == before;
            let chosen = text(MODEL).and_then(|name| name.parse().ok()).filter(|_| is_same);
            let agent = wanted.or(before).unwrap_or_else(|| agents.default_agent().to_owned());
            let model = args.model.clone().or(chosen);
            prepare(&agents, &agent, model.as_ref())?;
            about.insert("agent", agent.as_str());
            // What belonged to another agent is no longer meant.
            about.remove(MODEL);
            if let Some(model) = &model {
                about.insert(MODEL, model.as_str());
            }
            session.set_properties(&about).await?;
            (session, agent)
        };
        let agents = Arc::new(agents.offload_to(place.directory.join("aside")));
        let source: Arc<dyn AgentSource> = agents.clone();
        let host = Host::start(log.clone(), source, HostOptions::default()).await?;
        let chat = Self { host, agents, agent, session, log, place };
        chat.warm_up();
        Ok(chat)
    }

    /// Starts the MCP servers while the user still thinks.
    fn warm_up(&self) {
        let (agents, agent, key) = (Arc::clone(&self.agents), self.agent.clone(), self.session.key().clone());
        tokio::spawn(async move {
            // What is wrong is told when the agent is needed.
            let _ = agents.build(&agent, &key).await;
        });
    }

    /// Takes another model from the next message on, also when the conversation is gone on with later.
    pub(super) async fn take_model(&self, model: ModelName) -> Result<()> {
        let before = self.agents.model(&self.agent);
        self.agents.set_model(&self.agent, model.clone());
        if let Err(error) = self.agents.check(&self.agent) {
            before.map(|before| self.agents.set_model(&self.agent, before));
            return Err(error.into());
        }
        let mut about = Object::parse(&self.session.info().await?.properties).unwrap_or_default();
        about.insert(MODEL, model.as_str());
        Ok(self.session.set_properties(&about).await?)
    }

    /// What the user is told first.
    pub(super) fn greeting(&self) -> String {
        let model = self.agents.model(&self.agent).map(|model| model.to_string()).unwrap_or_default();
        let confinement = self.agents.confinement();
        let is_usual = confinement.policy() != Policy::Off && confinement.sandbox().support().level == Level::Full;
        let sandbox = if is_usual { String::new() } else { format!("{}\n", confinement.describe()) };
        format!(
            "{} · {model} · conversation {}\n{sandbox}/help lists the commands, Ctrl-D leaves",
            self.agent, self.place.name
        )
    }

    /// Ends in good order. A conversation in which nothing was said is not kept.
    pub(super) async fn close(self) -> Result<()> {
        self.host.drain(PATIENCE).await;
        // What does not end by then is ended with the program.
        let _ = tokio::time::timeout(PATIENCE, self.agents.close()).await;
        let is_empty = self.place.is_new && self.session.info().await.is_ok_and(|row| row.head == 0);
        let Self { host, log, place, .. } = self;
        drop(host);
        log.close().await?;
        if is_empty {
            // It is only less tidy if it stays.
            let _ = fs::remove_dir_all(&place.directory);
        }
        Ok(())
    }
}
