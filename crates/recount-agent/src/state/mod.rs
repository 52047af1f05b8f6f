//! What an agent knows beside its conversation, and how it is written down.
//!
//! The message of a reply is never a part of it: that is the fold of the reply's events. What is here are the things that no
//! event says: how many rounds the reply has taken, which form its answer shall have, what the user has allowed.

mod codec;
mod hints;
mod reply;

pub use codec::StateError;
pub use reply::{Phase, ReplyState, Stop, StopAfter};

use std::collections::BTreeSet;

use recount_message::HintBlock;
use serde::{Deserialize, Serialize};

use crate::permission::Permissions;

/// What an agent knows beside its conversation. A host writes it down together with the events that it goes with.
///
/// ```
/// use recount_agent::AgentState;
///
/// let state = AgentState::new("session-1");
/// assert_eq!(AgentState::from_json(&state.to_json())?, state);
/// # Ok::<(), recount_agent::StateError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct AgentState {
    /// The session.
    pub session_id: String,
    /// The reply that has not ended.
    pub reply: Option<ReplyState>,
    /// What the agent may do.
    pub permissions: Permissions,
    /// The active groups of tools.
    pub groups: BTreeSet<String>,
    /// When the model was last told the time, as it was told.
    pub told_time: Option<String>,
    /// What shall be said to the model before it is asked the next time.
    #[serde(with = "hints")]
    pub hints: Vec<HintBlock>,
}

impl AgentState {
    /// The state of an agent that has not said anything yet.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), ..Self::default() }
    }
}
