//! The state of an agent beside its conversation.
//!
//! It only contains information that no event has, such as the number of model calls, the output schema and the
//! permissions. The message of a reply is not part of it, because it is the fold of the reply's events.

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

/// The state of an agent beside its conversation. A host persists it together with the events that it belongs to.
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
    /// The id of the session.
    pub session_id: String,
    /// The state of the unfinished reply.
    pub reply: Option<ReplyState>,
    /// The permissions of the agent.
    pub permissions: Permissions,
    /// The active groups of tools.
    pub groups: BTreeSet<String>,
    /// The time that was last included in a runtime state hint.
    #[serde(rename = "told_time")]
    pub time_hint_sent_at: Option<String>,
    /// The hints for the next model call.
    #[serde(with = "hints")]
    pub hints: Vec<HintBlock>,
    /// The background calls whose results the model does not have yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundCall>,
    /// A summary was requested before the next model call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compress: bool,
    /// The part of the conversation that requests leave out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressed: Option<Compressed>,
    /// The parts that requests do not contain in full, by message and block id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub offloaded: BTreeMap<String, Offloaded>,
    /// The state of sub-agents, by the id of the call that started them.
    #[serde(rename = "helpers", skip_serializing_if = "BTreeMap::is_empty")]
    pub sub_agents: BTreeMap<String, SubAgentState>,
    /// The permissions that the user granted to sub-agents, by the names of their tools.
    #[serde(rename = "helper_memories", skip_serializing_if = "BTreeMap::is_empty")]
    pub sub_agent_memories: BTreeMap<String, SubAgentMemory>,
    /// The size of the last request.
    #[serde(rename = "counted", skip_serializing_if = "Option::is_none")]
    pub token_count: Option<TokenCount>,
}

impl AgentState {
    /// Creates the state of a new agent.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), ..Self::default() }
    }

    /// Returns when the first confirmation expires, including those of sub-agents. `None` if none expires.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        let own = self.reply.iter().flat_map(|reply| reply.expiries.values()).filter_map(|time| parse_time(time));
        let sub_agents = self.sub_agents.values().filter_map(|sub_agent| sub_agent.state.expires_at());
        own.chain(sub_agents).min()
    }
}
