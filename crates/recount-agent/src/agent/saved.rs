//! An agent, written down.

use std::collections::{BTreeMap, BTreeSet};

use recount_message::wire::ObjectWriter;
use recount_message::{Checkpoint, CheckpointReply, DecodeError, Fold, Msg, ReplyFold};

use super::shared::OpenReply;
use crate::state::{AgentState, StateError};

/// An agent, written down: what it knows, and its conversation with the reply that has not ended.
///
/// A host that keeps a log has both already: the state that its [sink](crate::Sink) was given last, and the fold of the
/// events.
///
/// ```
/// use recount_agent::{AgentState, SavedAgent};
/// use recount_message::{Checkpoint, Fold};
///
/// let saved = SavedAgent::new(AgentState::new("session-1"), Fold::new().checkpoint());
/// let again = SavedAgent::from_json(&saved.to_json())?;
/// assert_eq!(again, saved);
/// # Ok::<(), recount_agent::SavedAgentError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedAgent {
    state: AgentState,
    conversation: Checkpoint,
}

/// Why a text is no agent that was written down.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SavedAgentError {
    /// It is no JSON of that form.
    #[error("the text is no saved agent: {0}")]
    Malformed(#[from] serde_json::Error),
    /// What the agent knew cannot be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The conversation cannot be read.
    #[error("conversation: {0}")]
    Conversation(#[from] DecodeError),
}

#[derive(serde::Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    state: &'a serde_json::value::RawValue,
    #[serde(borrow)]
    conversation: &'a serde_json::value::RawValue,
}

impl SavedAgent {
    /// What an agent knew, and its conversation.
    #[must_use]
    pub fn new(state: AgentState, conversation: Checkpoint) -> Self {
        Self { state, conversation }
    }

    /// What the agent knew.
    #[must_use]
    pub fn state(&self) -> &AgentState {
        &self.state
    }

    /// Its messages, the one that has not ended among them.
    pub fn messages(&self) -> impl Iterator<Item = &Msg> {
        self.conversation.replies.iter().map(|reply| &reply.message)
    }

    /// Writes it as JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        ObjectWriter::new().raw("state", self.state.to_json()).raw("conversation", self.conversation.to_json()).finish()
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// When the text is none, or one of another version.
    pub fn from_json(text: &str) -> Result<Self, SavedAgentError> {
        let parts: Written<'_> = serde_json::from_str(text)?;
        let state = AgentState::from_json(parts.state.get())?;
        Ok(Self { state, conversation: Checkpoint::from_json(parts.conversation.get())? })
    }

    pub(super) fn of(
        state: AgentState,
        mut messages: Vec<Msg>,
        open: Option<OpenReply>,
        sub_agents: &BTreeMap<String, ReplyFold>,
    ) -> Self {
        let mut floors = BTreeMap::new();
        if let Some(OpenReply { fold, place }) = open {
            floors.insert(fold.message().id().to_owned(), fold.call_floor());
            messages.insert(place.min(messages.len()), fold.into_message());
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

    pub(super) fn into_parts(self) -> Parts {
        let Self { mut state, conversation } = self;
        let fold = Fold::resume(conversation);
        let reply_id = state.reply.as_ref().map(|reply| reply.id.clone());
        let open = reply_id.as_deref().and_then(|id| fold.open_reply(id)).cloned();
        // A reply that is a part of another one here is of an agent that worked for this one.
        let ids: BTreeSet<String> = fold.messages().map(|message| message.id().to_owned()).collect();
        let is_of_sub_agent = |message: &Msg| message.parent().is_some_and(|parent| ids.contains(&parent));
        let sub_agents = fold.open_replies().filter(|reply| is_of_sub_agent(reply.message()));
        let sub_agents = sub_agents.map(|reply| (reply.message().id().to_owned(), reply.clone())).collect();
        let messages: Vec<Msg> = fold.into_messages().filter(|message| !is_of_sub_agent(message)).collect();
        // What the state calls open has ended in the conversation, or was never begun.
        let Some(open) = open else {
            state.reply = None;
            state.sub_agents.clear();
            return Parts { state, conversation: messages, open: None, sub_agents: BTreeMap::new() };
        };
        let (mut place, mut others) = (0, Vec::new());
        for (index, message) in messages.into_iter().enumerate() {
            if message.id() == open.message().id() {
                place = index;
            } else {
                others.push(message);
            }
        }
        Parts { state, conversation: others, open: Some(OpenReply { fold: open, place }), sub_agents }
    }
}

/// What an agent is made of that goes on.
pub(super) struct Parts {
    pub(super) state: AgentState,
    /// The messages that are complete.
    pub(super) conversation: Vec<Msg>,
    /// The reply that has not ended.
    pub(super) open: Option<OpenReply>,
    /// The replies of those who work for it and have not ended.
    pub(super) sub_agents: BTreeMap<String, ReplyFold>,
}
