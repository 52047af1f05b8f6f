//! The state of sub-agents.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::AgentState;
use crate::permission::Permissions;

/// The state of a sub-agent, until its call has a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubAgentState {
    /// The id of its reply.
    pub reply_id: String,
    /// Its state.
    pub state: AgentState,
    /// Its outcome. `None` until its reply has ended.
    #[serde(default)]
    pub outcome: Option<SubAgentOutcome>,
}

/// The outcome of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubAgentOutcome {
    /// The text of the tool result.
    pub text: String,
    /// The sub-agent has failed.
    pub failed: bool,
}

/// The permissions that the user has granted to a sub-agent, which apply to its next calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SubAgentMemory {
    /// The permissions.
    pub permissions: Permissions,
    /// The same for its own sub-agents, by the names of their tools.
    #[serde(rename = "helpers", skip_serializing_if = "BTreeMap::is_empty")]
    pub sub_agents: BTreeMap<String, Self>,
}

impl SubAgentMemory {
    /// Returns the permissions in the state of a sub-agent.
    pub(crate) fn of(state: &AgentState) -> Self {
        Self { permissions: state.permissions.clone(), sub_agents: state.sub_agent_memories.clone() }
    }
}

impl SubAgentState {
    pub(crate) fn new(reply_id: String) -> Self {
        Self { reply_id, state: AgentState::default(), outcome: None }
    }
}

impl SubAgentOutcome {
    pub(crate) fn new(text: String, failed: bool) -> Self {
        Self { text, failed }
    }
}
