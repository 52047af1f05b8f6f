//! What an agent knows beside its conversation, and how it is written down.
//!
//! The message of a reply is never a part of it: that is the fold of the reply's events. What is here are the things that no
//! event says: how many rounds the reply has taken, which form its answer shall have, what the user has allowed.

mod background;
mod codec;
mod context_budget;
mod hints;
mod reply;
mod sub_agent;

pub use background::BackgroundCall;
pub(crate) use background::background_hint;
pub use codec::StateError;
pub use context_budget::{Compressed, CutPoint, Offloaded, TokenCount};
pub use reply::{Phase, ReplyState, Stop, StopAfter};
pub use sub_agent::{SubAgentMemory, SubAgentOutcome, SubAgentState};

use std::collections::{BTreeMap, BTreeSet};

use recount_message::jiff::Timestamp;
use recount_message::{HintBlock, parse_time};
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
    #[serde(rename = "told_time")]
    pub time_hint_sent_at: Option<String>,
    /// What shall be said to the model before it is asked the next time.
    #[serde(with = "hints")]
    pub hints: Vec<HintBlock>,
    /// The tools that work in the background, until the model is told what came of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundCall>,
    /// The conversation is summarised before the model is asked the next time, however much room there is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compress: bool,
    /// What requests leave out of the conversation, and what they have instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressed: Option<Compressed>,
    /// What requests do not have whole, by message and block.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub offloaded: BTreeMap<String, Offloaded>,
    /// The agents that work for this one, by the calls that they work on.
    #[serde(rename = "helpers", skip_serializing_if = "BTreeMap::is_empty")]
    pub sub_agents: BTreeMap<String, SubAgentState>,
    /// What the user has said to those who work for this one, by the names of their tools.
    #[serde(rename = "helper_memories", skip_serializing_if = "BTreeMap::is_empty")]
    pub sub_agent_memories: BTreeMap<String, SubAgentMemory>,
    /// What the last request had.
    #[serde(rename = "counted", skip_serializing_if = "Option::is_none")]
    pub token_count: Option<TokenCount>,
}

impl AgentState {
    /// The state of an agent that has not said anything yet.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), ..Self::default() }
    }

    /// When the first confirmation expires, of this agent's reply or of those who work for it.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        let own = self.reply.iter().flat_map(|reply| reply.expiries.values()).filter_map(|time| parse_time(time));
        let sub_agents = self.sub_agents.values().filter_map(|sub_agent| sub_agent.state.expires_at());
        own.chain(sub_agents).min()
    }
}
