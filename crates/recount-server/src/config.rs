//! The configuration of `recount serve`: a TOML file and environment variables.

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
/// assert!(error.to_string().starts_with("the variable RECOUNT_LIMITS_RATE: invalid size \"fast\""));
/// # Ok::<(), recount_server::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// The address, the data directory and the default model.
    pub server: ServerConfig,
    /// The durability and compaction of the log.
    pub log: LogConfig,
    /// Limits on requests and connections.
    pub limits: LimitsConfig,
    /// Logs and traces.
    pub telemetry: TelemetryConfig,
    /// The sandbox of programs that agents start.
    pub sandbox: SandboxConfig,
    /// The agents, by name.
    pub agents: AgentsConfig,
}

/// `[server]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The address to listen on, as `host:port`.
    #[serde(deserialize_with = "fields::address")]
    pub listen: String,
    /// Host names that requests may be addressed to, in addition to `localhost` and the addresses that the server listens on.
    #[serde(deserialize_with = "fields::hosts")]
    pub hosts: Vec<String>,
    /// The data directory.
    pub data: PathBuf,
    /// Time that running replies have at shutdown to reach a checkpoint.
    #[serde(deserialize_with = "fields::duration_text")]
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
    /// The durability of acknowledged events: `disk` survives a power loss, `process` a crash of the process.
    pub durability: DurabilitySetting,
    /// Age at which the deltas of complete replies are compacted.
    #[serde(deserialize_with = "fields::duration_text")]
    pub compact_after: String,
    /// The handling of interrupted replies at a restart: `continue` or `close`.
    pub on_restart: OnRestartSetting,
}

/// The value of `log.durability`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DurabilitySetting {
    /// Acknowledged events survive a power loss.
    #[default]
    Disk,
    /// Acknowledged events survive a crash of the process.
    Process,
}

/// The value of `log.on_restart`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnRestartSetting {
    /// Interrupted replies are resumed.
    #[default]
    Continue,
    /// Interrupted replies end with an error.
    Close,
}

/// `[limits]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LimitsConfig {
    /// The maximum size of a request body.
    #[serde(deserialize_with = "fields::size")]
    pub body: usize,
    /// The maximum size of an event or message.
    #[serde(deserialize_with = "fields::size")]
    pub event: usize,
    /// The maximum number of sessions per tenant.
    #[serde(deserialize_with = "fields::size")]
    pub sessions: usize,
    /// The maximum number of connections. Default: the number of files that the process may open, minus 256.
    #[serde(deserialize_with = "fields::some_size", skip_serializing_if = "Option::is_none")]
    pub connections: Option<usize>,
    /// The number of requests per second for each token or remote address.
    #[serde(deserialize_with = "fields::size")]
    pub rate: usize,
}

/// `[telemetry]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct TelemetryConfig {
    /// The log filter: `error`, `warn`, `info`, `debug`, `trace`, or a list of directives such as `recount_server=debug`.
    pub log: String,
    /// The log format: `text` or `json`.
    pub format: LogFormat,
    /// The OTLP endpoint for spans, over HTTP, such as `http://127.0.0.1:4318`. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`; without
    /// either, no spans are exported.
    #[serde(deserialize_with = "fields::endpoint", skip_serializing_if = "Option::is_none")]
    pub otlp: Option<String>,
    /// The service name in spans, unless `OTEL_SERVICE_NAME` is set.
    pub service_name: String,
}

/// The value of `telemetry.format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Human-readable lines.
    #[default]
    Text,
    /// A JSON object per line.
    Json,
}

/// The prefix of environment variables: `RECOUNT_SERVER_LISTEN` is `listen` of `[server]`.
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
    /// Validates an address to listen on: a host and a port.
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
    /// Returns a message with the expected format. The address is not resolved.
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
                "invalid address {text:?}: expected a host and a port, such as \"127.0.0.1:7171\" or \"[::1]:7171\""
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
    /// Parses the text of a file and applies environment variables, which take precedence.
    ///
    /// # Errors
    ///
    /// Returns an error for unknown and invalid fields, with the line of the file or the name of the variable.
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
            // Parsed separately first, to attribute an error to the variable.
            let alone = toml::Table::from_iter([(section.clone(), set.clone().into())]);
            alone.try_into::<Self>().map_err(|error| {
                ConfigError::at_span(text, None, format!("the variable {name}: {}", error.message()))
            })?;
            let entry = table.entry(section).or_insert_with(|| toml::Table::new().into());
            if let toml::Value::String(policy) = entry {
                // `sandbox = "off"` is short for a table with `policy`.
                *entry = toml::Table::from_iter([("policy".to_owned(), policy.clone().into())]).into();
            }
            if let Some(section) = entry.as_table_mut() {
                section.extend(set);
            }
        }
        table.try_into().map_err(|error: toml::de::Error| ConfigError::at_span(text, None, error.message()))
    }

    /// Returns the configuration as TOML, including defaults.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// Returns the configuration as pretty-printed JSON, including defaults.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Returns the limits for [`ServerOptions`](crate::ServerOptions).
    pub fn limits(&self) -> Limits {
        let LimitsConfig { body, event, sessions, connections, rate } = self.limits;
        let rate = u32::try_from(rate).unwrap_or(u32::MAX);
        Limits { body, event, sessions, connections, rate, ..Limits::default() }
    }

    /// Returns the durability for the options of the log.
    pub fn durability(&self) -> Durability {
        match self.log.durability {
            DurabilitySetting::Disk => Durability::Disk,
            DurabilitySetting::Process => Durability::Process,
        }
    }

    /// Returns the age at which deltas are compacted.
    pub fn compact_after(&self) -> Duration {
        parse_duration(&self.log.compact_after).unwrap_or(Duration::from_secs(30 * 86_400))
    }

    /// Returns the time that running replies have at shutdown.
    pub fn drain(&self) -> Duration {
        parse_duration(&self.server.drain).unwrap_or(Duration::from_secs(10))
    }
}
