//! A minimal model of the contract: a session is a list of events, and everything else is computed by folding that list from
//! its beginning.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use recount_log::{
    AppendRequest, Appended, Cursor, Digest, Epoch, Error, Ignored, Refusal, RefusalReason, SessionKey, StorageError,
};
use recount_message::{
    AgentEvent, ContentBlock, CustomName, Event, EventKind, Fold, Msg, Outcome, Reason, ToolCallState, ToolResultBlock,
};

/// The model of a session.
#[derive(Debug, Clone)]
pub struct ModelSession {
    /// The epoch.
    pub epoch: Epoch,
    /// The entries; the first one has the number 1.
    pub entries: Vec<AgentEvent>,
    /// The fold of all entries.
    pub fold: Fold,
    /// The properties.
    pub properties: String,
    /// The documents.
    pub states: BTreeMap<String, String>,
    /// The ids of entries that were merged into others. A writer may or may not have them in its deduplication window.
    pub joined: HashSet<String>,
    /// The positions of merged entries: the numbers of their last deltas.
    pub moved: HashMap<String, u64>,
    /// The uploads that the entries reference.
    pub names: BTreeSet<Digest>,
    /// The inputs that are accepted once: interrupted replies, and calls with an external result.
    taken: HashSet<String>,
}

impl ModelSession {
    /// Creates a session without entries.
    pub fn new(epoch: Epoch) -> Self {
        Self {
            epoch,
            entries: Vec::new(),
            fold: Fold::new(),
            properties: "{}".to_owned(),
            states: BTreeMap::new(),
            joined: HashSet::new(),
            moved: HashMap::new(),
            names: BTreeSet::new(),
            taken: HashSet::new(),
        }
    }

    /// Creates a session with entries.
    pub fn of(epoch: Epoch, entries: impl IntoIterator<Item = AgentEvent>) -> Self {
        let mut session = Self::new(epoch);
        for event in entries {
            session.push(event);
        }
        session
    }

    /// Whether the session equals an earlier state of itself.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { epoch, entries, properties, states, joined, moved, .. } = self;
        // Entries never change, so comparing their number is enough.
        (epoch, entries.len(), properties, states)
            == (&other.epoch, other.entries.len(), &other.properties, &other.states)
            && (joined, moved) == (&other.joined, &other.moved)
    }

    /// The position after the last entry.
    pub fn head(&self) -> Cursor {
        Cursor { epoch: self.epoch, seq: self.entries.len() as u64 }
    }

    /// Appends events and returns the required response. After an error the session is unchanged.
    ///
    /// # Errors
    ///
    /// The error that the log must return.
    pub fn append(&mut self, request: &AppendRequest, events: &[AgentEvent]) -> Result<Appended, Error> {
        self.append_knowing(true, request, events)
    }

    /// As `append`, for a writer that knows the ids of merged entries, or one that does not.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub fn append_knowing(
        &mut self,
        knows_joined: bool,
        request: &AppendRequest,
        events: &[AgentEvent],
    ) -> Result<Appended, Error> {
        // Only an append that can be rejected in the middle needs a copy to revert to.
        let can_fail = events.iter().any(is_input) || request.after.is_some();
        let before = can_fail.then(|| self.clone());
        let answer = self.append_all(knows_joined, request, events);
        if answer.is_err()
            && let Some(before) = before
        {
            *self = before;
        }
        answer
    }

    fn append_all(
        &mut self,
        knows_joined: bool,
        request: &AppendRequest,
        events: &[AgentEvent],
    ) -> Result<Appended, Error> {
        let head = self.head();
        let is_elsewhere = request.after.is_some_and(|after| after != head);
        let mut last = head.seq;
        let (mut written, mut duplicates, mut ignored) = (0, 0, Vec::new());
        for (index, event) in events.iter().enumerate() {
            let is_known = knows_joined || !self.joined.contains(&*event.id);
            let place = self.entries.iter().rposition(|entry| entry.id == event.id);
            if let Some(place) = place.filter(|_| is_known) {
                duplicates += 1;
                let moved = self.moved.get(&*event.id).copied().filter(|_| !knows_joined);
                last = moved.unwrap_or(place as u64 + 1);
                continue;
            }
            if is_elsewhere {
                return Err(Error::Moved { session: request.key.clone(), head });
            }
            if let Some(reason) = self.refusal(event).filter(|_| request.checks_inputs) {
                return Err(Refusal { index, event_id: event.id.to_string(), reason }.into());
            }
            let taken = self.takes(event);
            let outcome = self.fold.apply(event);
            let is_over = matches!(&outcome, Outcome::Ignored(Reason::ReplyEnded(_) | Reason::MessageExists(_)));
            ignored.extend(Ignored::of(index, event, &outcome));
            if !is_over {
                self.note(event, taken);
                self.names.extend(named_uploads(event));
                self.entries.push(event.clone());
                written += 1;
            }
            last = self.head().seq;
        }
        if is_elsewhere && events.is_empty() {
            return Err(Error::Moved { session: request.key.clone(), head });
        }
        // The documents of a repeated append are stored only if the append is allowed to write.
        for state in request.states.iter().filter(|_| !is_elsewhere) {
            match &state.body {
                Some(body) => self.states.insert(state.name.clone(), body.clone()),
                None => self.states.remove(&state.name),
            };
        }
        Ok(Appended { written, duplicates, cursor: Cursor { epoch: self.epoch, seq: last }, ignored })
    }

    /// Adds an entry without checks.
    pub fn push(&mut self, event: AgentEvent) {
        self.note(&event, self.takes(&event));
        self.names.extend(named_uploads(&event));
        let _ = self.fold.apply(&event);
        self.entries.push(event);
    }

    /// The complete messages, ordered by their first entry.
    pub fn complete(&self) -> impl Iterator<Item = &Msg> {
        self.fold.messages().filter(|message| self.fold.open_reply(message.id()).is_none())
    }

    /// Records the inputs that an entry accepts. A reply that asks again is no longer interrupted.
    fn note(&mut self, event: &Event<'_>, taken: Vec<String>) {
        self.taken.extend(taken);
        if let EventKind::RequireUserConfirm(_) | EventKind::RequireExternalExecution(_) = &event.kind
            && let Some(id) = event.reply_id()
        {
            self.taken.remove(&format!("stop {id}"));
        }
    }

    /// The keys of an input, each of which is accepted only once.
    fn takes(&self, event: &Event<'_>) -> Vec<String> {
        let open = |id: &str| self.fold.reply(id).filter(|reply| reply.message().finished_at().is_none());
        match &event.kind {
            EventKind::UserInterrupt(kind) if open(&kind.reply_id).is_some() => vec![format!("stop {}", kind.reply_id)],
            EventKind::ExternalExecutionResult(kind) => {
                let Some(reply) = open(&kind.reply_id) else { return Vec::new() };
                let taken = |result: &ToolResultBlock| {
                    let (index, _) = call(reply.message(), &result.id)?;
                    Some(format!("result {} {index}", kind.reply_id))
                };
                kind.execution_results.iter().filter_map(taken).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the reason for rejecting an event.
    pub fn refusal(&self, event: &Event<'_>) -> Option<RefusalReason> {
        let reply_id = match &event.kind {
            EventKind::UserInterrupt(kind) => &kind.reply_id,
            EventKind::UserConfirmResult(kind) => &kind.reply_id,
            EventKind::ExternalExecutionResult(kind) => &kind.reply_id,
            _ => return None,
        };
        // The fold decides whether a message is a reply that accepts events.
        let interrupt = Event::new(recount_message::UserInterruptEvent::new(reply_id.to_string()));
        match self.fold.clone().apply(&interrupt) {
            Outcome::Ignored(Reason::ReplyEnded(_)) => return Some(RefusalReason::Late),
            Outcome::Ignored(_) => return Some(RefusalReason::Foreign),
            _ => {}
        }
        let message = self.fold.message(reply_id)?;
        let taken = |key: String| self.taken.contains(&key);
        let late = taken(format!("stop {reply_id}")).then_some(RefusalReason::Late);
        let refusal = match &event.kind {
            EventKind::UserInterrupt(_) => taken(format!("stop {reply_id}")).then_some(RefusalReason::Duplicate),
            EventKind::UserConfirmResult(kind) => {
                let mut seen = HashSet::new();
                kind.confirm_results.iter().find_map(|answer| {
                    let id = &answer.tool_call.id;
                    let Some((_, block)) = call(message, id) else { return Some(RefusalReason::Foreign) };
                    match block.state {
                        ToolCallState::Asking => (!seen.insert(id)).then_some(RefusalReason::Duplicate),
                        ToolCallState::Allowed | ToolCallState::Finished => Some(RefusalReason::Duplicate),
                        _ => Some(RefusalReason::NotWaiting),
                    }
                })
            }
            EventKind::ExternalExecutionResult(kind) => {
                let mut seen = HashSet::new();
                kind.execution_results.iter().find_map(|result| {
                    let Some((index, block)) = call(message, &result.id) else { return Some(RefusalReason::Foreign) };
                    let has_ended_result = message.content().iter().skip(index).any(|block| {
                        matches!(block, ContentBlock::ToolResult(other)
                            if other.id == result.id && other.finished_at.is_some())
                    });
                    let is_taken = taken(format!("result {reply_id} {index}"));
                    match block.state {
                        _ if is_taken => Some(RefusalReason::Duplicate),
                        ToolCallState::Submitted if !has_ended_result => {
                            (!seen.insert(&result.id)).then_some(RefusalReason::Duplicate)
                        }
                        ToolCallState::Submitted | ToolCallState::Finished => Some(RefusalReason::Duplicate),
                        _ => Some(RefusalReason::NotWaiting),
                    }
                })
            }
            _ => None,
        };
        refusal.or(late)
    }
}

/// The uploads that an event references. In a simulation only messages reference uploads.
fn named_uploads(event: &AgentEvent) -> Vec<Digest> {
    if event.kind.recount_name() != Some(CustomName::Message) {
        return Vec::new();
    }
    let text = event.to_json();
    contents().map(|bytes| Digest::of(bytes.as_bytes())).filter(|digest| text.contains(&digest.url())).collect()
}

/// The content of an upload, one of a few, so that uploads repeat.
pub fn contents() -> impl Iterator<Item = &'static str> {
    ["a picture", "another picture", "a sound"].into_iter()
}

fn is_input(event: &AgentEvent) -> bool {
    matches!(
        event.kind,
        EventKind::UserInterrupt(_) | EventKind::UserConfirmResult(_) | EventKind::ExternalExecutionResult(_)
    )
}

fn call<'m>(message: &'m Msg, id: &str) -> Option<(usize, &'m recount_message::ToolCallBlock)> {
    message.content().iter().enumerate().rev().find_map(|(index, block)| match block {
        ContentBlock::ToolCall(call) if call.id == id => Some((index, call)),
        _ => None,
    })
}

/// Whether two responses are equivalent. All storage errors are.
pub fn same_answer(one: &Result<Appended, Error>, other: &Result<Appended, Error>) -> bool {
    match (one, other) {
        (Ok(one), Ok(other)) => one == other,
        (Err(Error::Refused(one)), Err(Error::Refused(other))) => one == other,
        (Err(Error::Moved { head: one, .. }), Err(Error::Moved { head: other, .. })) => one == other,
        (Err(Error::UnknownSession(one)), Err(Error::UnknownSession(other))) => one == other,
        (Err(Error::LeaseLost { .. }), Err(Error::LeaseLost { .. })) => true,
        _ => false,
    }
}

/// Whether a response is a storage error.
pub fn is_storage_failure(error: &Error) -> bool {
    matches!(error, Error::Storage(StorageError::Full(_) | StorageError::Failed(_)))
}

/// The key of a simulated session.
///
/// # Panics
///
/// Never: the names consist of digits.
pub fn session_key(number: usize) -> SessionKey {
    SessionKey::new(&format!("s{number}")).unwrap_or_else(|_| unreachable!())
}
