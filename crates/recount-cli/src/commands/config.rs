//! `recount config`: the configuration as it takes effect.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use recount_host::AgentSource as _;
use recount_host::agents::{Agents, Environment, ModelName};
use recount_server::Config;

use super::Status;

/// Where the configuration comes from.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration, a TOML file; `recount.toml`, if there is one, when it is not given
    #[arg(long, value_name = "FILE", env = "RECOUNT_CONFIG")]
    config: Option<PathBuf>,
}

/// Print the configuration of `serve` as it takes effect
///
/// It is made of a TOML file and of variables: RECOUNT_SERVER_LISTEN is
/// `listen` in the section `[server]`, and so on for `[log]`, `[limits]` and
/// `[telemetry]`. What neither of them says is shown with what is used for it:
/// its default, or what follows from the machine and the keys that are set.
/// Keys themselves are never a part of it.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, name = "config")]
pub(crate) struct ShowConfigArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Print it as a JSON object
    #[arg(long)]
    json: bool,
}

/// The file that is read when none is named.
const USUAL: &str = "recount.toml";

pub(crate) fn run(args: &ShowConfigArgs) -> Result<Status> {
    let config = effective(load(&args.config)?)?;
    let text = if args.json { config.to_json() + "\n" } else { config.to_toml() };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
    Ok(Status::Clean)
}

/// The configuration with everything that follows from elsewhere.
fn effective(mut config: Config) -> Result<Config> {
    let agents = agents(&config)?;
    config.limits.connections = Some(config.limits().connections());
    config.server.model = agents.model_of(agents.default_agent()).map(|model| model.to_string());
    config.agents = agents.effective();
    Ok(config)
}

/// The agents of a configuration, the default one with the model that was asked for.
pub(crate) fn agents(config: &Config) -> Result<Agents> {
    let here = std::env::current_dir().context("cannot tell where this is")?;
    let agents = Agents::new(config.agents.clone(), &here, Environment::of_process())?;
    if let Some(model) = &config.server.model {
        let model: ModelName = model.parse()?;
        agents.set_model(agents.default_agent(), model);
    }
    Ok(agents)
}

/// The configuration as it takes effect.
pub(crate) fn load(args: &ConfigArgs) -> Result<Config> {
    let usual = PathBuf::from(USUAL);
    let path = args.config.clone().or_else(|| usual.exists().then_some(usual));
    let text = match &path {
        Some(path) => Some(std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?),
        None => None,
    };
    Config::load(text.as_deref(), std::env::vars()).with_context(|| match &path {
        Some(path) => format!("cannot use {}", path.display()),
        None => "cannot use the configuration".to_owned(),
    })
}
