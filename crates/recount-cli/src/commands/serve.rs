//! `recount serve`: runs the server.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use recount_agent::OnRestart;
use recount_agent_config::{Agents, DefaultModel, Environment};
use recount_host::{AgentSource as _, Host, HostOptions};
use recount_log::{Log, Options, StorageError};
use recount_sandbox::Policy;
use recount_server::{BoundListener, CommitMeter, OnRestartSetting, Server, ServerConfig, ServerError, ServerOptions};
use tokio_util::sync::CancellationToken;

use super::Status;
use super::config::{self, ConfigArgs, Loaded};
use super::tenants::shared_machine;
use crate::telemetry::Telemetry;

/// Serve sessions over HTTP, with agents that answer
///
/// Messages that are posted to a session are answered by its agent, and whoever
/// reads the session sees the answer as it is made, by server-sent events or
/// WebSocket, from wherever they left off. Without tokens it can only be reached
/// from this machine.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The address, as HOST:PORT; port 0 takes a free one [default: 127.0.0.1:7171]
    #[arg(long, value_name = "ADDRESS", value_parser = ServerConfig::parse_listen)]
    listen: Option<String>,
    /// The data directory [default: recount-data]
    #[arg(long, value_name = "DIRECTORY")]
    data: Option<PathBuf>,
    /// The model of the default agent, as `provider/name` or `demo` [default: what
    /// RECOUNT_MODEL says, the first provider with a key, else `demo`]
    #[arg(long, value_name = "MODEL", verbatim_doc_comment)]
    model: Option<String>,
    /// Whether commands of agents have to be confined: required, preferred or off
    /// [default: what the configuration says, else required]
    #[arg(long, value_name = "POLICY", verbatim_doc_comment)]
    sandbox: Option<Policy>,
    #[command(flatten)]
    config: ConfigArgs,
}

const EXAMPLES: &str = "\
Examples:
  recount serve
  recount serve --config recount.toml
  recount serve --listen 127.0.0.1:8080 --data /var/lib/recount
  recount serve --model anthropic/claude-sonnet-4-5";

pub(crate) fn run(args: &ServeArgs) -> Result<Status> {
    let mut loaded = config::load(&args.config)?;
    let config = &mut loaded.config;
    if let Some(listen) = &args.listen {
        config.server.listen.clone_from(listen);
    }
    if let Some(data) = &args.data {
        config.server.data.clone_from(data);
    }
    if let Some(model) = &args.model {
        config.server.model = Some(model.clone());
    }
    if let Some(policy) = args.sandbox {
        config.sandbox.policy = Some(policy);
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the runtime")?;
    let telemetry = Telemetry::start(&loaded.config.telemetry, runtime.handle())?;
    let status = runtime.block_on(serve(&loaded));
    telemetry.shutdown();
    status
}

async fn serve(loaded: &Loaded) -> Result<Status> {
    let config = &loaded.config;
    let agents = loaded.agents()?.offload_to(config.server.data.join("aside"));
    let agent_and_sandbox = format!("{}{}\n", describe_agent(&agents), capitalized(&agents.confinement().describe()));
    let shared =
        shared_machine(&agents, &config.server.data).map(|warning| format!("Careful: {warning}\n")).unwrap_or_default();
    // Bind before opening the log: if it fails, no data directory is created.
    let listener = BoundListener::bind(&config.server.listen, Some(&config.server.data)).await;
    let listener = listener.map_err(|error| with_hint(error, &config.server.data))?;
    let commits = CommitMeter::default();
    let meter = commits.clone();
    let log_options = Options::default().durability(config.durability()).on_commit(move |commit| meter.record(commit));
    let log = Log::open(&config.server.data, log_options).map_err(|error| match error {
        recount_log::Error::Storage(StorageError::Locked { .. }) => {
            anyhow!("{error}\nhint: `--data` names another directory; `recount sessions` looks at a service that runs")
        }
        error => error.into(),
    })?;
    let on_restart = match config.log.on_restart {
        OnRestartSetting::Continue => None,
        OnRestartSetting::Close => Some(OnRestart::Close),
    };
    let host_options = HostOptions { on_restart, ..HostOptions::default() };
    let host = Host::start(log.clone(), Arc::new(agents), host_options).await?;
    let mut options = ServerOptions::default();
    options.hosts.clone_from(&config.server.hosts);
    options.data_dir = Some(config.server.data.clone());
    options.limits = config.limits();
    options.drain = config.drain();
    options.compact_after = Some(config.compact_after());
    options.commits = commits;
    let server = Server::with_listener(listener, host, options);
    let address = server.local_addr()?;
    print(&format!(
        "Recount is at http://{address}\n{agent_and_sandbox}{shared}Data is kept in {}\n",
        config.server.data.display()
    ))?;
    let stop = CancellationToken::new();
    let signals = tokio::spawn(stop_on_signal(stop.clone()));
    server.run(stop).await;
    signals.abort();
    log.close().await?;
    Ok(Status::Clean)
}

/// Adds a hint to an error, if the user can fix it.
fn with_hint(error: ServerError, data: &Path) -> anyhow::Error {
    let hint = match &error {
        ServerError::TokensRequired(_) => {
            format!("`recount token create --tenant '' --scope admin --data {}` makes one", data.display())
        }
        ServerError::Bind(_, cause) if cause.kind() == ErrorKind::AddrInUse => {
            "`--listen` names another address; `recount sessions` looks at a service that runs there".to_owned()
        }
        _ => return error.into(),
    };
    anyhow!("{error}\nhint: {hint}")
}

fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Describes the default agent: its model, and the reason for the model or the problem.
fn describe_agent(agents: &Agents) -> String {
    let name = agents.default_agent();
    let model = agents.model(name).map(|model| model.to_string()).unwrap_or_default();
    let is_named = agents.config(name).is_some_and(|config| config.model.is_some());
    let why = if is_named {
        format!("the model is {model}, as it was asked for")
    } else {
        DefaultModel::from_env(&Environment::process()).to_string()
    };
    match agents.check(name) {
        Ok(()) => format!("Agent `{name}` answers: {why}\n"),
        Err(problem) => format!("Nobody answers yet: {problem}\n"),
    }
}

/// Cancels `stop` on SIGTERM or Ctrl-C. A second signal exits the process immediately.
async fn stop_on_signal(stop: CancellationToken) {
    wait_for_signal().await;
    let _ = print("Stopping. Replies under way come to a point where they can go on; once more ends at once.\n");
    stop.cancel();
    wait_for_signal().await;
    std::process::exit(130);
}

#[cfg(unix)]
async fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

#[cfg(not(unix))]
async fn wait_for_signal() {
    let _ = tokio::signal::ctrl_c().await;
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}
