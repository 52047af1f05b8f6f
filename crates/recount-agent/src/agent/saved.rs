//! A saved agent.

use std::collections::{BTreeMap, BTreeSet};

use recount_message::wire::ObjectWriter;
use recount_message::{Checkpoint, CheckpointReply, DecodeError, Fold, Msg, ReplyFold};

use super::shared::OpenReply;
use crate::state::{AgentState, StateError};

/// A saved agent: its state, and its conversation including an unfinished reply.
///
/// A host that keeps a log does not need to save the agent: it has the last state that the [sink](crate::Sink)
/// received, and can fold the events of the log.
///
/// ```
/// use recount_agent::{AgentState, SavedAgent};
/// use recount_message::{Checkpoint, Fold};
///
/// let saved = SavedAgent::new(AgentState::new("session-1"), Fold::new().checkpoint());
/// let calls_to_rerun = SavedAgent::from_json(&saved.to_json())?;
/// assert_eq!(calls_to_rerun, saved);
/// # Ok::<(), recount_agent::SavedAgentError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedAgent {
    state: AgentState,
    conversation: Checkpoint,
}

/// The error type of [`SavedAgent::from_json`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedAgentError {
    /// The text is not valid JSON, or has another structure.
    #[error("invalid saved agent: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The agent's state is invalid.
    #[error(transparent)]
    State(#[from] StateError),
    /// The conversation is invalid.
    #[error("conversation: {0}")]
    Conversation(#[from] DecodeError),
}

#[derive(serde::Deserialize)]
struct SavedAgentJson<'a> {
    #[serde(borrow)]
    state: &'a serde_json::value::RawValue,
    #[serde(borrow)]
    conversation: &'a serde_json::value::RawValue,
}

impl SavedAgent {
    /// Creates a saved agent from its state and its conversation.
    #[must_use]
    pub fn new(state: AgentState, conversation: Checkpoint) -> Self {
        Self { state, conversation }
    }

    /// Returns the agent's state.
    #[must_use]
    pub fn state(&self) -> &AgentState {
        &self.state
    }

    /// Returns the messages, including an unfinished one.
    pub fn messages(&self) -> impl Iterator<Item = &Msg> {
        self.conversation.replies.iter().map(|reply| &reply.message)
    }

    /// Encodes the saved agent as JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        ObjectWriter::new().raw("state", self.state.to_json()).raw("conversation", self.conversation.to_json()).finish()
    }

    /// Decodes a saved agent.
    ///
    /// # Errors
    ///
    /// Fails if the text is invalid or was written by another version.
    pub fn from_json(text: &str) -> Result<Self, SavedAgentError> {
        let parts: SavedAgentJson<'_> = serde_json::from_str(text)?;
        let state = AgentState::from_json(parts.state.get())?;
        Ok(Self { state, conversation: Checkpoint::from_json(parts.conversation.get())? })
    }

    pub(super) fn capture(
        state: AgentState,
        mut messages: Vec<Msg>,
        open: Option<OpenReply>,
        sub_agents: &BTreeMap<String, ReplyFold>,
    ) -> Self {
        let mut floors = BTreeMap::new();
        if let Some(OpenReply { fold, position }) = open {
            floors.insert(fold.message().id().to_owned(), fold.call_floor());
            messages.insert(position.min(messages.len()), fold.into_message());
        }
        for (id, fold) in sub_agents {
            floors.insert(id.clone(), fold.call_floor());
            messages.push(fold.message().clone());
        }
        let replies = messages.into_iter().map(|message| {
            let call_floor = floors.get(message.id()).copied();
            CheckpointReply { message, call_floor }
        });
        Self { state, conversation: Checkpoint { cursor: 0, replies: replies.collect(), taken: Vec::new() } }
    }

    pub(super) fn into_parts(self) -> ResumedParts {
        let Self { mut state, conversation } = self;
        let fold = Fold::resume(conversation);
        let reply_id = state.reply.as_ref().map(|reply| reply.id.clone());
        let open = reply_id.as_deref().and_then(|id| fold.open_reply(id)).cloned();
        // A message whose parent is in this conversation belongs to a sub-agent.
        let ids: BTreeSet<String> = fold.messages().map(|message| message.id().to_owned()).collect();
        let is_of_sub_agent = |message: &Msg| message.parent().is_some_and(|parent| ids.contains(&parent));
        let sub_agents = fold.open_replies().filter(|reply| is_of_sub_agent(reply.message()));
        let sub_agents = sub_agents.map(|reply| (reply.message().id().to_owned(), reply.clone())).collect();
        let messages: Vec<Msg> = fold.into_messages().filter(|message| !is_of_sub_agent(message)).collect();
        // Drop state of a reply that has ended or was never started.
        let Some(open) = open else {
            state.reply = None;
            state.sub_agents.clear();
            return ResumedParts { state, conversation: messages, open: None, sub_agents: BTreeMap::new() };
        };
        let (mut position, mut others) = (0, Vec::new());
        for (index, message) in messages.into_iter().enumerate() {
            if message.id() == open.message().id() {
                position = index;
            } else {
                others.push(message);
            }
        }
        ResumedParts { state, conversation: others, open: Some(OpenReply { fold: open, position }), sub_agents }
    }
}

/// The parts of a saved agent that the resumed agent continues with.
pub(super) struct ResumedParts {
    pub(super) state: AgentState,
    /// The complete messages.
    pub(super) conversation: Vec<Msg>,
    /// The unfinished reply.
    pub(super) open: Option<OpenReply>,
    /// The unfinished replies of sub-agents, by reply id.
    pub(super) sub_agents: BTreeMap<String, ReplyFold>,
}
