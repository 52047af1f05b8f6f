//! Parsing of the configuration file, and its errors with line numbers.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::config::AgentsConfig;

/// An error in a configuration, with its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", location(.file.as_deref(), *.line))]
#[non_exhaustive]
pub struct ConfigError {
    /// The path of the file. `None` if the configuration was parsed from a string.
    pub file: Option<String>,
    /// The line number, starting at 1. `None` if the error does not belong to one line.
    pub line: Option<usize>,
    /// The error message.
    pub message: String,
}

fn location(file: Option<&str>, line: Option<usize>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        (None, Some(line)) => format!("line {line}: "),
        (None, None) => String::new(),
    }
}

/// The sections of a configuration file. Only `agents` is parsed here; the others belong to the service.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct ConfigFile {
    agents: AgentsConfig,
    #[serde(rename = "server")]
    _server: Option<IgnoredAny>,
    #[serde(rename = "log")]
    _log: Option<IgnoredAny>,
    #[serde(rename = "limits")]
    _limits: Option<IgnoredAny>,
    #[serde(rename = "telemetry")]
    _telemetry: Option<IgnoredAny>,
}

impl AgentsConfig {
    /// Parses the agents of a configuration file. The sections of the service, `server`, `log`, `limits` and `telemetry`, are
    /// accepted and ignored.
    ///
    /// ```
    /// use recount_agent_config::AgentsConfig;
    ///
    /// let error = AgentsConfig::from_toml("[agents.coder]\nmodel = \"demo\"\npromt = \"Hi\"\n").unwrap_err();
    /// assert!(error.to_string().starts_with("line 3: unknown field `promt`, expected one of `model`"));
    /// ```
    ///
    /// # Errors
    ///
    /// When the text is not TOML, or has an unknown key or an invalid value.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let file: ConfigFile =
            toml::from_str(text).map_err(|error| ConfigError::at_span(text, error.span(), error.message()))?;
        for (name, agent) in &file.agents.agents {
            if let Some(invalid) = agent.validate() {
                let span = find_setting(text, name, &invalid.text);
                return Err(ConfigError::at_span(text, span, format!("agent `{name}`: {}", invalid.message)));
            }
        }
        Ok(file.agents)
    }

    /// Parses the agents of a configuration file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, and as [`from_toml`](Self::from_toml).
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("cannot read the configuration: {error}");
            ConfigError { file: Some(file.clone()), line: None, message }
        })?;
        Self::from_toml(&text).map_err(|error| ConfigError { file: Some(file), ..error })
    }
}

impl ConfigError {
    /// Creates an error for a span of a configuration text. Rewrites messages of the TOML parser: adds the key, and replaces
    /// names of Rust types.
    #[must_use]
    pub fn at_span(text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> Self {
        let message = readable_message(text, span.clone(), &message.into());
        let before = span.and_then(|span| text.get(..span.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        Self { file: None, line, message }
    }

    /// Creates an error without a line number.
    pub(crate) fn without_location(message: impl Into<String>) -> Self {
        Self { file: None, line: None, message: message.into() }
    }
}

/// Rewrites a message of the TOML parser: adds the key, and replaces names of Rust types.
fn readable_message(text: &str, span: Option<Range<usize>>, message: &str) -> String {
    if message == "duplicate key" {
        let key = span.and_then(|span| text.get(span)).map(str::trim).filter(|key| !key.is_empty());
        return key.map_or_else(|| message.to_owned(), |key| format!("duplicate key `{key}`"));
    }
    if !["invalid type", "invalid value", "invalid length"].iter().any(|start| message.starts_with(start)) {
        return message.to_owned();
    }
    let (found, expected) = message.rsplit_once("expected ").unwrap_or((message, ""));
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a non-negative integer",
        "i8" | "i16" | "i32" | "i64" | "isize" => "an integer",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "a table",
        "path string" => "a path",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let message = if expected.is_empty() { message.to_owned() } else { format!("{found}expected {expected}") };
    let key = span.and_then(|span| key_at(text, span.start));
    key.map_or_else(|| message.clone(), |key| format!("`{key}`: {message}"))
}

/// Returns the key of the value at an offset: the key of its line, or of the line in which its list begins.
fn key_at(text: &str, offset: usize) -> Option<&str> {
    let end = text.get(offset..)?.find('\n').map_or(text.len(), |length| offset + length);
    let mut lines = text.get(..end)?.lines().rev().take_while(|line| !line.trim_start().starts_with('['));
    lines.find_map(|line| line.split_once('=')).map(|(key, _)| key.trim())
}

/// Returns the line with a key or a quoted value in the tables of an agent. `None` if the file uses inline tables or other
/// unusual notation.
fn find_setting(text: &str, agent: &str, setting: &str) -> Option<Range<usize>> {
    let (mut start, mut is_in_agent) = (0, false);
    for full_line in text.split_inclusive('\n') {
        let line = full_line.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|header| header.strip_prefix("agents.")) {
            let rest = header.strip_prefix(agent).or_else(|| header.strip_prefix(&format!("\"{agent}\"")));
            is_in_agent = rest.is_some_and(|rest| rest.starts_with([']', '.']));
        } else if line.starts_with('[') && line.ends_with(']') && !line.contains('"') {
            is_in_agent = false;
        }
        let is_key = || line.strip_prefix(setting).is_some_and(|rest| rest.trim_start().starts_with('='));
        let is_value = || ['"', '\''].iter().any(|quote| line.contains(&format!("{quote}{setting}{quote}")));
        if is_in_agent && (is_key() || is_value()) {
            return Some(start..start + full_line.len());
        }
        start += full_line.len();
    }
    None
}
