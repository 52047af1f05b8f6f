//! `recount config`: prints the effective configuration.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use recount_agent_config::{Agents, ConfigError, Environment, ModelName};
use recount_host::AgentSource as _;
use recount_sandbox::{Confinement, Policy, Sandbox};
use recount_server::Config;

use super::{Status, model_of_variable};
use crate::telemetry;

/// Where the configuration comes from.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration, a TOML file; `recount.toml`, if there is one, when it is not given
    #[arg(long, value_name = "FILE", env = "RECOUNT_CONFIG", hide_env_values = true)]
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

/// The default configuration file.
const DEFAULT_FILE: &str = "recount.toml";

/// A loaded configuration and the path of its file.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    file: Option<PathBuf>,
}

pub(crate) fn run(args: &ShowConfigArgs) -> Result<Status> {
    let config = load(&args.config)?.effective()?;
    let text = if args.json { config.to_json() + "\n" } else { config.to_toml() };
    std::io::stdout().write_all(text.as_bytes()).context("cannot write to standard output")?;
    Ok(Status::Clean)
}

/// Loads the configuration from the file and the environment variables.
pub(crate) fn load(args: &ConfigArgs) -> Result<Loaded> {
    let default = PathBuf::from(DEFAULT_FILE);
    // A running sandbox can create a placeholder directory with this name.
    let file = args.config.clone().or_else(|| default.is_file().then_some(default));
    let text = match &file {
        Some(file) => Some(
            std::fs::read_to_string(file)
                .with_context(|| format!("{}: cannot read the configuration", file.display()))?,
        ),
        None => None,
    };
    match Config::load(text.as_deref(), std::env::vars()) {
        Ok(config) => {
            let source = || file.as_deref().map_or("the environment".to_owned(), |file| file.display().to_string());
            telemetry::check(&config.telemetry).with_context(source)?;
            Ok(Loaded { config, file })
        }
        // Errors of environment variables have no line.
        Err(error) if error.line.is_none() => Err(error.into()),
        Err(error) => Err(in_file(error, file.as_deref())),
    }
}

impl Loaded {
    /// Returns the configuration with all defaults and derived values filled in.
    fn effective(self) -> Result<Config> {
        let agents = self.agents()?;
        let mut config = self.config;
        config.limits.connections = Some(config.limits().max_connections());
        config.telemetry.otlp = telemetry::endpoint().or(config.telemetry.otlp);
        config.telemetry.service_name = std::env::var("OTEL_SERVICE_NAME").unwrap_or(config.telemetry.service_name);
        config.server.model = agents.model(agents.default_agent()).map(|model| model.to_string());
        config.sandbox.policy.get_or_insert(Policy::Required);
        config.agents = agents.effective_config();
        Ok(config)
    }

    /// Returns the confinement of programs that agents start. `default_policy` applies if the configuration has none.
    pub(crate) fn confinement(&self, default_policy: Policy) -> Confinement {
        let policy = self.config.sandbox.policy.unwrap_or(default_policy);
        let confinement = Confinement::new(policy, Sandbox::detect()).hide(&self.config.server.data);
        let confinement = self.file.iter().fold(confinement, Confinement::protect);
        self.config.sandbox.apply(confinement, self.base())
    }

    /// Returns the base directory of relative paths: that of the file, or the current one without a file.
    fn base(&self) -> &Path {
        let parent = self.file.as_deref().and_then(Path::parent);
        parent.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Creates the agents. The `model` setting of the server applies to the default agent.
    pub(crate) fn agents(&self) -> Result<Agents> {
        let file = self.file.as_deref();
        let agents = Agents::new(self.config.agents.clone(), self.base(), Environment::process())
            .map_err(|error| in_file(error, file))?
            .confine(self.confinement(Policy::Required));
        if let Some(model) = &self.config.server.model {
            let model: ModelName = model.parse()?;
            agents.set_model(agents.default_agent(), model);
        }
        let has_model = |name: &str| agents.config(name).is_some_and(|config| config.model.is_some());
        if !agents.agents().iter().all(|agent| has_model(&agent.name)) {
            model_of_variable()?;
        }
        Ok(agents)
    }
}

/// Adds the file name to a configuration error.
pub(crate) fn in_file(mut error: ConfigError, file: Option<&Path>) -> anyhow::Error {
    error.file = file.map(|file| file.display().to_string());
    error.into()
}

/// Returns the error message for a missing data directory.
pub(crate) fn missing_directory_message(directory: &Path) -> String {
    let directory = directory.display();
    format!("there is no data directory {directory}\nhint: `recount serve` makes it, `--data` names another one")
}
