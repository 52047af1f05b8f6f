//! What a session's run and its sink share: the notes, and what is on its way to the agent.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use recount_agent::{AgentState, ReplyState};
use recount_log::storage::StateChange;
use recount_message::{AgentEvent, Event, EventKind, Stamps};

use crate::run_metadata::{OpenReply, RunMetadata, agent_document, start_of};

/// What a session's run and its sink share.
#[derive(Debug, Default)]
pub(crate) struct SharedRunState {
    papers: Mutex<RunState>,
}

#[derive(Debug, Default)]
pub(crate) struct RunState {
    pub(crate) notes: RunMetadata,
    /// Inputs that stand in the log and that the agent has not taken yet, in their order.
    pub(crate) untaken: Vec<PendingInput>,
    /// The parts of the reply that have not ended: what agents say that work for its agent.
    pub(crate) parts: HashSet<String>,
    /// What the agent knew when it last said so, if that is not on its way to the log yet.
    state: Option<StateChange>,
    /// The notes have changed since they were last written.
    is_changed: bool,
    /// The hints that the agent's state had when it was last written.
    stored_hints: HashSet<String>,
    /// The number of the run that is at it.
    run: u64,
    /// Nothing is written any more: the run was left, here and now.
    pub(crate) is_left: bool,
}

/// An input that the agent has not taken yet.
#[derive(Debug, Clone)]
pub(crate) struct PendingInput {
    pub(crate) seq: u64,
    pub(crate) event: AgentEvent,
    /// The agent was told of it.
    pub(crate) is_offered: bool,
}

impl SharedRunState {
    pub(crate) fn new(notes: RunMetadata) -> Self {
        Self { papers: Mutex::new(RunState { notes, ..RunState::default() }) }
    }

    /// The papers are plain data, which a panic elsewhere cannot have left half changed.
    pub(crate) fn lock(&self) -> MutexGuard<'_, RunState> {
        self.papers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reply that has not ended.
    pub(crate) fn reply(&self) -> Option<OpenReply> {
        self.lock().notes.reply.clone()
    }
}

impl RunState {
    /// Begins a run, and ends the one before it.
    pub(crate) fn begin_run(&mut self) -> u64 {
        self.run += 1;
        self.run
    }

    /// Whether an event is about the reply that has not ended, or about a part of it.
    pub(crate) fn is_about_reply(&self, event: &Event<'_>) -> bool {
        let is_reply =
            |id: &str| self.notes.reply.as_ref().is_some_and(|open| open.id == id) || self.parts.contains(id);
        event.reply_id().is_some_and(is_reply)
    }

    /// RunMetadata that a part of the reply has begun or ended.
    pub(crate) fn note_part(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::ReplyStart(start) => drop(self.parts.insert(start.reply_id.to_string())),
            EventKind::ReplyEnd(end) => drop(self.parts.remove(&*end.reply_id)),
            _ => {}
        }
    }

    /// Whether a run is still at its reply.
    pub(crate) fn is_current(&self, run: u64, reply_id: &str) -> bool {
        self.run == run && self.notes.reply.as_ref().is_some_and(|open| open.id == reply_id)
    }

    /// Changes the notes. They are kept together with what is written next.
    pub(crate) fn note(&mut self, change: impl FnOnce(&mut RunMetadata)) {
        change(&mut self.notes);
        self.is_changed = true;
    }

    /// Takes what an agent knows, to be kept together with what is written next.
    pub(crate) fn keep(&mut self, agent: &str, state: &AgentState) {
        self.stored_hints = state.hints.iter().map(|hint| hint.id.clone()).collect();
        self.state = Some(StateChange { name: agent_document(agent), body: Some(state.to_json()) });
    }

    /// The hints, by the ids of their blocks, that are kept already and will be told.
    pub(crate) fn known_hints(&self) -> HashSet<String> {
        let pending = self.notes.hints.iter().map(|pending| pending.block.clone());
        self.stored_hints.iter().cloned().chain(pending).collect()
    }

    /// The documents that have changed.
    pub(crate) fn changes(&mut self) -> Vec<StateChange> {
        let notes = std::mem::take(&mut self.is_changed).then(|| self.notes.change());
        self.state.take().into_iter().chain(notes).collect()
    }

    /// Whether an event is an input that the agent has taken just now. It stands in the log already.
    pub(crate) fn take_input(&mut self, event_id: &str) -> bool {
        let Some(index) = self.untaken.iter().position(|input| input.event.id == event_id) else { return false };
        let seq = self.untaken.remove(index).seq;
        self.note(|notes| notes.read = notes.read.max(seq));
        true
    }

    /// The id of the event under which a hint was posted, if it was. It is told now.
    pub(crate) fn take_hint(&mut self, block_id: &str) -> Option<String> {
        let index = self.notes.hints.iter().position(|hint| hint.block == block_id)?;
        let mut id = String::new();
        self.note(|notes| id = notes.hints.remove(index).id);
        Some(id)
    }

    /// The reply has ended. The next one begins with it, if something is there to be answered.
    pub(crate) fn end_reply(&mut self, session_id: &str, state: Option<&AgentState>) -> Option<AgentEvent> {
        let ended = self.notes.reply.take()?;
        self.is_changed = true;
        let has_hints = !self.notes.hints.is_empty() || state.is_some_and(|state| !state.hints.is_empty());
        let id = match self.notes.queue.pop_front() {
            Some(queued) => queued.reply,
            None if has_hints => Stamps::default().id(),
            None => return None,
        };
        let next = OpenReply { id, ..ended };
        if let Some(state) = state {
            let mut state = state.clone();
            state.reply = Some(ReplyState::fresh(&next.id));
            self.keep(&next.agent, &state);
        }
        let start = start_of(&next, session_id);
        self.notes.reply = Some(next);
        Some(start)
    }
}

/// Whether an event is one that a reply may wait for.
pub(crate) fn is_input(event: &Event<'_>) -> bool {
    matches!(
        event.kind,
        EventKind::UserConfirmResult(_) | EventKind::ExternalExecutionResult(_) | EventKind::UserInterrupt(_)
    )
}
