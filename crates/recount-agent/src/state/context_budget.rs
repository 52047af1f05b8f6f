//! The parts of the conversation that requests leave out. They are persisted, so that a resumed agent sends the same
//! requests.

use serde::{Deserialize, Serialize};

/// The part of the conversation that requests leave out, and what replaces it. The messages themselves are unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Compressed {
    /// Everything before this point is left out.
    pub until: CutPoint,
    /// The summary. `None` if it failed.
    #[serde(default)]
    pub summary: Option<String>,
    /// Some of the left-out messages are in no summary.
    #[serde(default)]
    pub is_truncated: bool,
    /// The files with the left-out messages, oldest first.
    #[serde(rename = "kept_in", default)]
    pub transcript_files: Vec<String>,
}

/// A position in a conversation, after some of the blocks of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutPoint {
    /// The id of the message.
    pub message_id: String,
    /// The number of its blocks before the position.
    pub blocks: usize,
}

/// A tool result or an image that requests do not contain in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Offloaded {
    /// The file with its content. `None` without an offload directory, or if writing it failed.
    pub path: Option<String>,
}

/// The size of a request, as counted by the provider and as estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCount {
    /// The tokens that the provider counted.
    pub tokens: u64,
    /// The estimated tokens.
    pub estimate: u64,
}

impl TokenCount {
    /// Returns the expected token count of a later request with this estimate.
    pub(crate) fn now(self, estimate: u64) -> u64 {
        self.tokens.saturating_add(estimate.saturating_sub(self.estimate))
    }
}
