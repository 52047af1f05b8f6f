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
        let before = span.and_then(|span| text.get(..span.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        Self { file: None, line, message: message.into() }
    }

    /// An error that is not about a line.
    pub(super) fn without_place(message: impl Into<String>) -> Self {
        Self { file: None, line: None, message: message.into() }
    }
}
