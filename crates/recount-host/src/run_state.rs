//! The state that a session's run shares with its sink: the metadata, and the inputs on their way to the agent.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use recount_agent::{AgentState, ReplyState};
use recount_log::InputEntry;
use recount_log::storage::StateChange;
use recount_message::{AgentEvent, Event, EventKind, Stamps};

use crate::run_metadata::{CurrentReply, RunMetadata, agent_state_document, reply_start_event};

/// A [`RunState`] behind a mutex, shared by a run and its sink.
#[derive(Debug, Default)]
pub(crate) struct SharedRunState(Mutex<RunState>);

/// The state of a session's run.
#[derive(Debug, Default)]
pub(crate) struct RunState {
    pub(crate) metadata: RunMetadata,
    /// The inputs in the log that the agent has not accepted yet, in log order.
    pub(crate) pending_inputs: Vec<PendingInput>,
    /// The ids of the open replies of sub-agents.
    pub(crate) sub_replies: HashSet<String>,
    /// The latest state of the agent, if it was not yet handed to the append queue.
    agent_state: Option<StateChange>,
    /// Whether the metadata has changed since it was last handed to the append queue.
    is_metadata_changed: bool,
    /// The ids of the hints in the latest state of the agent.
    stored_hints: HashSet<String>,
    /// Incremented for each agent that starts to work. The sinks of earlier agents are outdated.
    generation: u64,
    /// Whether the run has stopped. Nothing is appended then.
    pub(crate) is_stopped: bool,
}

/// An input in the log that the agent has not accepted yet.
#[derive(Debug, Clone)]
pub(crate) struct PendingInput {
    pub(crate) seq: u64,
    pub(crate) event: AgentEvent,
    /// Whether the input was passed to the agent.
    pub(crate) is_offered: bool,
}

impl From<InputEntry> for PendingInput {
    fn from(input: InputEntry) -> Self {
        Self { seq: input.cursor.seq, event: input.event, is_offered: false }
    }
}

impl SharedRunState {
    pub(crate) fn new(metadata: RunMetadata) -> Self {
        Self(Mutex::new(RunState { metadata, ..RunState::default() }))
    }

    /// Locks the state. A poisoned lock is accepted, because no method panics halfway through a change.
    pub(crate) fn lock(&self) -> MutexGuard<'_, RunState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open reply.
    pub(crate) fn reply(&self) -> Option<CurrentReply> {
        self.lock().metadata.reply.clone()
    }
}

impl RunState {
    /// Starts a new generation, which makes the sinks of earlier ones outdated.
    pub(crate) fn next_generation(&mut self) -> u64 {
        self.generation += 1;
        self.generation
    }

    /// Whether a generation is the current one and its reply is still open.
    pub(crate) fn is_current(&self, generation: u64, reply_id: &str) -> bool {
        self.generation == generation && self.metadata.reply.as_ref().is_some_and(|open| open.id == reply_id)
    }

    /// Whether an event belongs to the open reply or to an open reply of a sub-agent.
    pub(crate) fn is_for_reply(&self, event: &Event<'_>) -> bool {
        let is_open =
            |id: &str| self.metadata.reply.as_ref().is_some_and(|open| open.id == id) || self.sub_replies.contains(id);
        event.reply_id().is_some_and(is_open)
    }

    /// Updates the set of open sub-agent replies.
    pub(crate) fn track_sub_reply(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::ReplyStart(start) => drop(self.sub_replies.insert(start.reply_id.to_string())),
            EventKind::ReplyEnd(end) => drop(self.sub_replies.remove(&*end.reply_id)),
            _ => {}
        }
    }

    /// Changes the metadata. It is stored with the next commit.
    pub(crate) fn update_metadata(&mut self, change: impl FnOnce(&mut RunMetadata)) {
        change(&mut self.metadata);
        self.is_metadata_changed = true;
    }

    /// Sets the state of an agent. It is stored with the next commit.
    pub(crate) fn set_agent_state(&mut self, agent: &str, state: &AgentState) {
        self.stored_hints = state.hints.iter().map(|hint| hint.id.clone()).collect();
        self.agent_state = Some(StateChange { name: agent_state_document(agent), body: Some(state.to_json()) });
    }

    /// Returns the block ids of the hints that are stored and will be passed to the model.
    pub(crate) fn stored_hint_ids(&self) -> HashSet<String> {
        let pending = self.metadata.hints.iter().map(|hint| hint.block_id.clone());
        self.stored_hints.iter().cloned().chain(pending).collect()
    }

    /// Takes the changed documents, to be committed with the next events.
    pub(crate) fn take_state_changes(&mut self) -> Vec<StateChange> {
        let metadata = std::mem::take(&mut self.is_metadata_changed).then(|| self.metadata.to_state_change());
        self.agent_state.take().into_iter().chain(metadata).collect()
    }

    /// Removes a pending input that the agent has accepted or never will. Returns `false` if the event is not a pending input.
    pub(crate) fn consume_input(&mut self, event_id: &str) -> bool {
        let Some(index) = self.pending_inputs.iter().position(|input| input.event.id == event_id) else { return false };
        let seq = self.pending_inputs.remove(index).seq;
        self.update_metadata(|metadata| metadata.last_input_seq = metadata.last_input_seq.max(seq));
        true
    }

    /// Removes a pending hint, and returns the id of the event under which it was posted. `None` if the hint was not posted.
    pub(crate) fn consume_hint(&mut self, block_id: &str) -> Option<String> {
        let index = self.metadata.hints.iter().position(|hint| hint.block_id == block_id)?;
        let mut event_id = String::new();
        self.update_metadata(|metadata| event_id = metadata.hints.remove(index).event_id);
        Some(event_id)
    }

    /// Ends the open reply. Returns the start of the next reply if a message or a hint is pending; it must be committed
    /// together with the end of this one.
    pub(crate) fn end_reply(&mut self, session_id: &str, state: Option<&AgentState>) -> Option<AgentEvent> {
        let ended = self.metadata.reply.take()?;
        self.is_metadata_changed = true;
        let has_hints = !self.metadata.hints.is_empty() || state.is_some_and(|state| !state.hints.is_empty());
        let id = match self.metadata.queue.pop_front() {
            Some(queued) => queued.reply_id,
            None if has_hints => Stamps::default().id(),
            None => return None,
        };
        let next = CurrentReply { id, ..ended };
        if let Some(state) = state {
            let mut state = state.clone();
            state.reply = Some(ReplyState::fresh(&next.id));
            self.set_agent_state(&next.agent, &state);
        }
        let start = reply_start_event(&next, session_id);
        self.metadata.reply = Some(next);
        Some(start)
    }
}
