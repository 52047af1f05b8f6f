//! The state as JSON, with a version.

use serde::Deserialize;

use super::AgentState;

/// The version that is written.
const VERSION: u32 = 1;

/// Why a text is no state of an agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// It is not the JSON of one.
    #[error("the text is no state of an agent: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Another version wrote it.
    #[error("version {0} of the agent state is not known, expected {VERSION}")]
    Version(u32),
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl AgentState {
    /// Writes the state as JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Free JSON in it cannot pass through serde's flattening, so the version is put before the rest by hand.
        let rest = serde_json::to_string(self).unwrap_or_default();
        let rest = rest.strip_prefix('{').unwrap_or(&rest);
        format!("{{\"version\":{VERSION},{rest}")
    }

    /// Reads a state.
    ///
    /// # Errors
    ///
    /// When the text is none, or one of another version.
    pub fn from_json(text: &str) -> Result<Self, StateError> {
        let Version { version } = serde_json::from_str(text)?;
        if version != VERSION {
            return Err(StateError::Version(version));
        }
        Ok(serde_json::from_str(text)?)
    }
}
