//! The configuration: one TOML file, and variables of the environment.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use recount_host::agents::AgentsConfig;
use recount_log::Durability;
use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::duration::{parse_duration, parse_size};
use crate::limits::Limits;

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
/// assert!(error.to_string().contains("unknown field `listen_on`"));
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
    /// The agents, by their names.
    pub agents: AgentsConfig,
}

/// `[server]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The address, as `host:port`.
    pub listen: String,
    /// The names by which it is known, beside `localhost` and its own addresses.
    #[serde(deserialize_with = "list")]
    pub hosts: Vec<String>,
    /// The data directory.
    pub data: PathBuf,
    /// How long running replies have when the service ends.
    #[serde(deserialize_with = "text_of_duration")]
    pub drain: String,
    /// The model of the default agent, as `provider/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// `[log]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct LogConfig {
    /// What an acknowledged event survives: `disk` a power loss, `process` the end of the process.
    pub durability: DurabilityWord,
    /// After how long the deltas of what is complete are joined.
    #[serde(deserialize_with = "text_of_duration")]
    pub compact_after: String,
    /// What becomes of replies whose process died: `continue` or `close`.
    pub on_restart: OnRestartWord,
}

/// What an acknowledged event survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DurabilityWord {
    /// A power loss.
    #[default]
    Disk,
    /// The end of the process.
    Process,
}

/// What becomes of replies whose process died.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnRestartWord {
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
    #[serde(deserialize_with = "size")]
    pub body: usize,
    /// How large an event or a message may be.
    #[serde(deserialize_with = "size")]
    pub event: usize,
    /// How many sessions a tenant may have.
    #[serde(deserialize_with = "size")]
    pub sessions: usize,
    /// How many connections there may be; none means as many as files may be open, less 256.
    #[serde(deserialize_with = "some_size", skip_serializing_if = "Option::is_none")]
    pub connections: Option<usize>,
    /// How many requests a second each token or address may make.
    #[serde(deserialize_with = "size")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// The configuration cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

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

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            durability: DurabilityWord::default(),
            compact_after: "30d".to_owned(),
            on_restart: OnRestartWord::default(),
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
    /// When something in it is not known or not what it should be.
    pub fn load(
        text: Option<&str>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let error = |error: toml::de::Error| ConfigError(error.to_string().trim_end().to_owned());
        // Errors of the file itself say where they are.
        let text = text.unwrap_or_default();
        toml::from_str::<Self>(text).map_err(error)?;
        let mut table: toml::Table = toml::from_str(text).map_err(error)?;
        for (name, value) in environment {
            let Some((section, key)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')) else {
                continue;
            };
            let (section, key) = (section.to_ascii_lowercase(), key.to_ascii_lowercase());
            if !matches!(section.as_str(), "server" | "log" | "limits" | "telemetry") {
                continue;
            }
            let section = table.entry(section).or_insert_with(|| toml::Table::new().into());
            if let Some(section) = section.as_table_mut() {
                section.insert(key, toml::Value::String(value));
            }
        }
        table.try_into().map_err(|problem: toml::de::Error| {
            ConfigError(format!("in the environment: {}", problem.to_string().trim_end()))
        })
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
            DurabilityWord::Disk => Durability::Disk,
            DurabilityWord::Process => Durability::Process,
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

fn text_of_duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map_err(D::Error::custom)?;
    Ok(text)
}

/// A list, or a text with commas.
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::Many(items) => items,
        OneOrMany::One(text) => {
            let items = text.split(',').map(|item| item.trim().to_owned());
            items.filter(|item| !item.is_empty()).collect()
        }
    })
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    deserializer.deserialize_any(SizeVisitor)
}

fn some_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    size(deserializer).map(Some)
}

struct SizeVisitor;

impl Visitor<'_> for SizeVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or a text such as \"32 MiB\"")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<usize, E> {
        usize::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<usize, E> {
        usize::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<usize, E> {
        parse_size(text).map_err(E::custom)
    }
}
