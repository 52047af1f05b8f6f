//! What is known of an agent that works for this one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::AgentState;
use crate::permission::Permissions;

/// What is known of an agent that works on a call of this one's reply, until the call has its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubAgentState {
    /// Its reply.
    pub reply_id: String,
    /// What it knows.
    pub state: AgentState,
    /// What came of it, once its reply has ended.
    #[serde(default)]
    pub outcome: Option<SubAgentOutcome>,
}

/// What came of an agent that worked for another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubAgentOutcome {
    /// What the one that called it is told.
    pub text: String,
    /// It did not do what it was asked to.
    pub failed: bool,
}

/// What the user has said to an agent that works for this one, for the next time that it is called: each call builds it anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SubAgentMemory {
    /// What it may do.
    pub permissions: Permissions,
    /// The same of those who work for it, by the names of their tools.
    #[serde(rename = "helpers", skip_serializing_if = "BTreeMap::is_empty")]
    pub sub_agents: BTreeMap<String, Self>,
}

impl SubAgentMemory {
    /// What is known when an agent with this state is done.
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
