//! What requests leave out, so that they leave out the same when somebody else goes on.

use serde::{Deserialize, Serialize};

/// How far the conversation is left out of requests, and what stands in its place. The messages themselves stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Compressed {
    /// All before this place is left out.
    pub until: CutPoint,
    /// What the model is told of it. Nothing where nobody could summarise it.
    #[serde(default)]
    pub summary: Option<String>,
    /// Some of what is left out is in no summary.
    #[serde(default)]
    pub is_truncated: bool,
    /// The files in which all that is left out can be read, the oldest first.
    #[serde(rename = "kept_in", default)]
    pub transcript_files: Vec<String>,
}

/// A place in a conversation: before it lie all earlier messages and the first blocks of this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutPoint {
    /// The message.
    pub message_id: String,
    /// How many of its blocks lie before the place.
    pub blocks: usize,
}

/// A tool's result or an image that requests do not have whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Offloaded {
    /// The file that has it. Nothing where nobody keeps such things, or where it could not be written.
    pub path: Option<String>,
}

/// How many tokens a request had in the words of its provider, and how many it was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCount {
    /// In the provider's words.
    pub tokens: u64,
    /// As it was estimated.
    pub estimate: u64,
}

impl TokenCount {
    /// What a later request has, of which this is the estimate.
    pub(crate) fn now(self, estimate: u64) -> u64 {
        self.tokens.saturating_add(estimate.saturating_sub(self.estimate))
    }
}
