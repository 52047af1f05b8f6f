//! What is known of an agent that works for this one.

use serde::{Deserialize, Serialize};

use super::AgentState;

/// What is known of an agent that works on a call of this one's reply, until the call has its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HelperState {
    /// Its reply.
    pub reply_id: String,
    /// What it knows.
    pub state: AgentState,
    /// What came of it, once its reply has ended.
    #[serde(default)]
    pub outcome: Option<HelperOutcome>,
}

/// What came of an agent that worked for another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HelperOutcome {
    /// What the one that called it is told.
    pub text: String,
    /// It did not do what it was asked to.
    pub failed: bool,
}

impl HelperState {
    pub(crate) fn new(reply_id: String) -> Self {
        Self { reply_id, state: AgentState::default(), outcome: None }
    }
}

impl HelperOutcome {
    pub(crate) fn new(text: String, failed: bool) -> Self {
        Self { text, failed }
    }
}
