//! Encoding the state as versioned JSON.

use serde::Deserialize;

use super::AgentState;

/// The version of the encoding.
const VERSION: u32 = 1;

/// The error type of [`AgentState::from_json`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The text is not valid JSON, or has another structure.
    #[error("invalid agent state: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The state was written in another version.
    #[error("unsupported version {0} of the agent state, expected {VERSION}")]
    Version(u32),
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl AgentState {
    /// Encodes the state as JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        // `serde(flatten)` does not support raw JSON values, so the version is prepended by hand.
        let rest = serde_json::to_string(self).unwrap_or_default();
        let rest = rest.strip_prefix('{').unwrap_or(&rest);
        format!("{{\"version\":{VERSION},{rest}")
    }

    /// Decodes a state.
    ///
    /// # Errors
    ///
    /// Fails if the text is invalid or was written in another version.
    pub fn from_json(text: &str) -> Result<Self, StateError> {
        let Version { version } = serde_json::from_str(text)?;
        if version != VERSION {
            return Err(StateError::Version(version));
        }
        Ok(serde_json::from_str(text)?)
    }
}
