//! The configuration: one TOML file, and variables of the environment.

mod fields;

use std::net::Ipv6Addr;
use std::path::PathBuf;
use std::time::Duration;

use recount_agent_config::{AgentsConfig, SandboxConfig};
use recount_log::Durability;
use serde::{Deserialize, Serialize};

use crate::duration::parse_duration;
use crate::limits::Limits;

pub use recount_agent_config::ConfigError;

/// The configuration of a service.
///
/// ```
/// use recount_server::Config;
///
/// let text = "[server]\nlisten = \"127.0.0.1:8080\"\n[limits]\nbody = \"1 MiB\"\n";
/// let config = Config::load(Some(text), [("RECOUNT_LIMITS_RATE".to_owned(), "50".to_owned())])?;
/// assert_eq!(config.server.listen, "127.0.0.1:8080");
/// assert_eq!((config.limits().body, config.limits().rate), (1 << 20, 50));
///
/// let error = Config::load(Some("[server]\nlisten_on = 1\n"), []).unwrap_err();
/// assert!(error.to_string().starts_with("line 2: unknown field `listen_on`, expected one of `listen`"));
/// let error = Config::load(None, [("RECOUNT_LIMITS_RATE".to_owned(), "fast".to_owned())]).unwrap_err();
/// assert!(error.to_string().starts_with("the variable RECOUNT_LIMITS_RATE: \"fast\" is no size"));
/// # Ok::<(), recount_server::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// Where it listens, and where its data is.
    pub server: ServerConfig,
    /// How the log is kept.
    pub log: LogConfig,
    /// How much anybody may ask for.
    pub limits: LimitsConfig,
    /// What is told to others about how it works.
    pub telemetry: TelemetryConfig,
    /// How the programs that agents start are confined.
    pub sandbox: SandboxConfig,
    /// The agents, by their names.
    pub agents: AgentsConfig,
}

/// `[server]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The address, as `host:port`.
    #[serde(deserialize_with = "fields::address")]
    pub listen: String,
    /// The names by which it is known, beside `localhost` and its own addresses.
    #[serde(deserialize_with = "fields::hosts")]
    pub hosts: Vec<String>,
    /// The data directory.
    pub data: PathBuf,
    /// How long running replies have when the service ends.
    #[serde(deserialize_with = "fields::text_of_duration")]
    pub drain: String,
    /// The model of the default agent, as `provider/name`.
    #[serde(deserialize_with = "fields::model_name", skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// `[log]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LogConfig {
    /// What an acknowledged event survives: `disk` a power loss, `process` the end of the process.
    pub durability: DurabilitySetting,
    /// After how long the deltas of what is complete are joined.
    #[serde(deserialize_with = "fields::text_of_duration")]
    pub compact_after: String,
    /// What becomes of replies whose process died: `continue` or `close`.
    pub on_restart: OnRestartSetting,
}

/// What an acknowledged event survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DurabilitySetting {
    /// A power loss.
    #[default]
    Disk,
    /// The end of the process.
    Process,
}

/// What becomes of replies whose process died.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnRestartSetting {
    /// They go on.
    #[default]
    Continue,
    /// They end with an error.
    Close,
}

/// `[limits]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LimitsConfig {
    /// How large a body may be.
    #[serde(deserialize_with = "fields::size")]
    pub body: usize,
    /// How large an event or a message may be.
    #[serde(deserialize_with = "fields::size")]
    pub event: usize,
    /// How many sessions a tenant may have.
    #[serde(deserialize_with = "fields::size")]
    pub sessions: usize,
    /// How many connections there may be; none means as many as files may be open, less 256.
    #[serde(deserialize_with = "fields::some_size", skip_serializing_if = "Option::is_none")]
    pub connections: Option<usize>,
    /// How many requests a second each token or address may make.
    #[serde(deserialize_with = "fields::size")]
    pub rate: usize,
}

/// `[telemetry]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TelemetryConfig {
    /// What is logged: `error`, `warn`, `info`, `debug`, `trace`, or a list of directives such as `recount_server=debug`.
    pub log: String,
    /// How it is written: `text` or `json`.
    pub format: LogFormat,
    /// Where spans are sent, by OTLP over HTTP, such as `http://127.0.0.1:4318`; none means nowhere, unless
    /// `OTEL_EXPORTER_OTLP_ENDPOINT` says so.
    #[serde(deserialize_with = "fields::endpoint", skip_serializing_if = "Option::is_none")]
    pub otlp: Option<String>,
    /// What the service is called in them, unless `OTEL_SERVICE_NAME` says so.
    pub service_name: String,
}

/// How logs are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// How the variables begin: `RECOUNT_SERVER_LISTEN` is `listen` of `[server]`.
const PREFIX: &str = "RECOUNT_";

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7171".to_owned(),
            hosts: Vec::new(),
            data: PathBuf::from("recount-data"),
            drain: "10s".to_owned(),
            model: None,
        }
    }
}

impl ServerConfig {
    /// Reads an address to listen on: a host and a port.
    ///
    /// ```
    /// use recount_server::ServerConfig;
    ///
    /// assert_eq!(ServerConfig::parse_listen("[::1]:7171").as_deref(), Ok("[::1]:7171"));
    /// assert!(ServerConfig::parse_listen("localhost:http").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// When it is none. Whether one can listen there is seen when one tries.
    pub fn parse_listen(text: &str) -> Result<String, String> {
        let is_host = |host: &str| match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => {
                !host.is_empty() && host.chars().all(|char| char.is_alphanumeric() || matches!(char, '.' | '-' | '_'))
            }
        };
        match text.rsplit_once(':') {
            Some((host, port)) if is_host(host) && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
            _ => Err(format!(
                "{text:?} is no address: expected a host and a port, such as \"127.0.0.1:7171\" or \"[::1]:7171\""
            )),
        }
    }
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            durability: DurabilitySetting::default(),
            compact_after: "30d".to_owned(),
            on_restart: OnRestartSetting::default(),
        }
    }
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let Limits { body, event, sessions, connections, rate, .. } = Limits::default();
        Self { body, event, sessions, connections, rate: rate as usize }
    }
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        let service_name = "recount".to_owned();
        Self { log: "info".to_owned(), format: LogFormat::default(), otlp: None, service_name }
    }
}

impl Config {
    /// Reads a file's text, and puts what the environment says on top of it.
    ///
    /// # Errors
    ///
    /// When something in it is not known or not what it should be. What is wrong with the text has its line, and what is
    /// wrong with a variable has its name.
    pub fn load(
        text: Option<&str>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let text = text.unwrap_or_default();
        let error = |error: toml::de::Error| ConfigError::at_span(text, error.span().or(Some(0..0)), error.message());
        toml::from_str::<Self>(text).map_err(error)?;
        let mut table: toml::Table = toml::from_str(text).map_err(error)?;
        for (name, value) in environment {
            let Some((section, key)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')) else {
                continue;
            };
            let (section, key) = (section.to_ascii_lowercase(), key.to_ascii_lowercase());
            if !matches!(section.as_str(), "server" | "log" | "limits" | "telemetry" | "sandbox") {
                continue;
            }
            let set = toml::Table::from_iter([(key, toml::Value::String(value))]);
            // By itself first, so that it is clear whose fault it is.
            let alone = toml::Table::from_iter([(section.clone(), set.clone().into())]);
            alone.try_into::<Self>().map_err(|error| {
                ConfigError::at_span(text, None, format!("the variable {name}: {}", error.message()))
            })?;
            let entry = table.entry(section).or_insert_with(|| toml::Table::new().into());
            if let toml::Value::String(policy) = entry {
                // `sandbox = "off"` is short for a table.
                *entry = toml::Table::from_iter([("policy".to_owned(), policy.clone().into())]).into();
            }
            if let Some(section) = entry.as_table_mut() {
                section.extend(set);
            }
        }
        table.try_into().map_err(|error: toml::de::Error| ConfigError::at_span(text, None, error.message()))
    }

    /// The whole of it as TOML, with what was left out.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// The same as a JSON object, on several lines.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// How much anybody may ask for.
    pub fn limits(&self) -> Limits {
        let LimitsConfig { body, event, sessions, connections, rate } = self.limits;
        let rate = u32::try_from(rate).unwrap_or(u32::MAX);
        Limits { body, event, sessions, connections, rate, ..Limits::default() }
    }

    /// What an acknowledged event survives.
    pub fn durability(&self) -> Durability {
        match self.log.durability {
            DurabilitySetting::Disk => Durability::Disk,
            DurabilitySetting::Process => Durability::Process,
        }
    }

    /// After how long deltas are joined.
    pub fn compact_after(&self) -> Duration {
        parse_duration(&self.log.compact_after).unwrap_or(Duration::from_secs(30 * 86_400))
    }

    /// How long running replies have when the service ends.
    pub fn drain(&self) -> Duration {
        parse_duration(&self.server.drain).unwrap_or(Duration::from_secs(10))
    }
}
