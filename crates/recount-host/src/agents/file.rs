//! Reading a configuration file.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::config::AgentsConfig;

/// What is wrong with a configuration, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(.file.as_deref(), *.line))]
#[non_exhaustive]
pub struct ConfigError {
    /// The file, if it is one.
    pub file: Option<String>,
    /// The line, counted from 1, if it can be said.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

fn place(file: Option<&str>, line: Option<usize>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        (None, Some(line)) => format!("line {line}: "),
        (None, None) => String::new(),
    }
}

/// A whole file. What the service reads of it is not looked at here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct File {
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
    /// The agents of a configuration file's text. The service's sections `server`, `log` and `limits` may stand beside them.
    ///
    /// ```
    /// use recount_host::agents::AgentsConfig;
    ///
    /// let error = AgentsConfig::from_toml("[agents.coder]\nmodel = \"demo\"\npromt = \"Hi\"\n").unwrap_err();
    /// assert!(error.to_string().starts_with("line 3: unknown field `promt`, expected one of `model`"));
    /// ```
    ///
    /// # Errors
    ///
    /// When it is no TOML, or says something that agents do not know.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let file: File = toml::from_str(text).map_err(|error| ConfigError::of(text, error.span(), error.message()))?;
        for (name, agent) in &file.agents.agents {
            if let Some(problem) = agent.problem() {
                let place = place_in(text, name, &problem.written);
                return Err(ConfigError::of(text, place, format!("agent `{name}`: {}", problem.message)));
            }
        }
        Ok(file.agents)
    }

    /// The same from a file.
    ///
    /// # Errors
    ///
    /// The same, and when it cannot be read.
    pub fn from_file(path: &Path) -> Result<Self, ConfigError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("cannot read the configuration: {error}");
            ConfigError { file: Some(shown.clone()), line: None, message }
        })?;
        Self::from_toml(&text).map_err(|error| ConfigError { file: Some(shown), ..error })
    }
}

impl ConfigError {
    /// An error in a text, at a place.
    #[must_use]
    pub fn of(text: &str, span: Option<Range<usize>>, message: impl Into<String>) -> Self {
        let message = worded(text, span.clone(), &message.into());
        let before = span.and_then(|span| text.get(..span.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        Self { file: None, line, message }
    }

    /// An error that is not about a line.
    pub(super) fn without_place(message: impl Into<String>) -> Self {
        Self { file: None, line: None, message: message.into() }
    }
}

/// What is wrong in words for people: with the key that it is about, and without names of types.
fn worded(text: &str, span: Option<Range<usize>>, message: &str) -> String {
    if message == "duplicate key" {
        let key = span.and_then(|span| text.get(span)).map(str::trim).filter(|key| !key.is_empty());
        return key.map_or_else(|| message.to_owned(), |key| format!("the key `{key}` is there twice"));
    }
    if !["invalid type", "invalid value", "invalid length"].iter().any(|start| message.starts_with(start)) {
        return message.to_owned();
    }
    let (found, expected) = message.rsplit_once("expected ").unwrap_or((message, ""));
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        "a map" => "a table",
        "path string" => "a path",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    let plain = if expected.is_empty() { message.to_owned() } else { format!("{found}expected {expected}") };
    let key = span.and_then(|span| key_before(text, span.start));
    key.map_or_else(|| plain.clone(), |key| format!("`{key}`: {plain}"))
}

/// The key of the value at a place: the one of its line, or of the line in which its list begins.
fn key_before(text: &str, at: usize) -> Option<&str> {
    let end = text.get(at..)?.find('\n').map_or(text.len(), |length| at + length);
    let mut lines = text.get(..end)?.lines().rev().take_while(|line| !line.trim_start().starts_with('['));
    lines.find_map(|line| line.split_once('=')).map(|(key, _)| key.trim())
}

/// Where something stands that is said of an agent, if it is written in the usual way.
fn place_in(text: &str, agent: &str, written: &str) -> Option<Range<usize>> {
    let (mut at, mut is_inside) = (0, false);
    for line in text.split_inclusive('\n') {
        let shown = line.trim();
        if let Some(header) = shown.strip_prefix('[').and_then(|header| header.strip_prefix("agents.")) {
            let rest = header.strip_prefix(agent).or_else(|| header.strip_prefix(&format!("\"{agent}\"")));
            is_inside = rest.is_some_and(|rest| rest.starts_with([']', '.']));
        } else if shown.starts_with('[') && shown.ends_with(']') && !shown.contains('"') {
            is_inside = false;
        }
        let is_key = || shown.strip_prefix(written).is_some_and(|rest| rest.trim_start().starts_with('='));
        let is_text = || ['"', '\''].iter().any(|quote| shown.contains(&format!("{quote}{written}{quote}")));
        if is_inside && (is_key() || is_text()) {
            return Some(at..at + line.len());
        }
        at += line.len();
    }
    None
}
