//! The requests of the writer, and its responses.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use recount_message::{Event, EventKind, Outcome, Reason};

use crate::replies::is_repetition;
use crate::storage::{SessionRow, StateChange, Upload};
use crate::{Cursor, Error, Events, Lease, LeaseRequest, SessionKey};

/// A request to the writer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Request {
    /// Creates a session.
    Create {
        /// The key of the session.
        key: SessionKey,
        /// Its properties: a JSON object.
        properties: String,
    },
    /// Replaces the properties of a session.
    SetProperties {
        /// The session.
        key: SessionKey,
        /// The new properties: a JSON object.
        properties: String,
    },
    /// Deletes a session with all its data.
    Delete(SessionKey),
    /// Appends events.
    Append(AppendRequest),
    /// Looks up an event by its id in the deduplication window.
    FindEvent {
        /// The session.
        key: SessionKey,
        /// The id of the event.
        event_id: String,
    },
    /// Creates a staged session, which is hidden until it is published. The response contains its key.
    Stage {
        /// The key under which it will be published.
        key: SessionKey,
        /// Its properties: a JSON object.
        properties: String,
    },
    /// Publishes a staged session in one step.
    Publish {
        /// The key of the staged session.
        draft: SessionKey,
        /// The key under which it is published.
        key: SessionKey,
        /// Whether an existing session with that key is replaced.
        replaces: bool,
    },
    /// Acquires a lease.
    Acquire {
        /// The session.
        key: SessionKey,
        /// The parameters of the lease.
        request: LeaseRequest,
    },
    /// Renews a lease.
    Renew {
        /// The lease.
        lease: Lease,
        /// The time until it expires, from now.
        ttl: Duration,
    },
    /// Releases a lease.
    Release(Lease),
    /// Stores uploaded bytes.
    Upload(Upload),
    /// Compacts one page of a session's entries.
    Compact {
        /// The session.
        key: SessionKey,
        /// The number of the entry before the page.
        after: u64,
        /// Only replies that ended before this time are compacted, in milliseconds since 1970.
        before: i64,
    },
    /// Deletes uploads that no entry references and that are older than a time.
    Sweep {
        /// The time, in milliseconds since 1970.
        before: i64,
    },
}

/// Events to append, with their conditions.
#[derive(Debug, Clone)]
pub struct AppendRequest {
    /// The session.
    pub key: SessionKey,
    /// The events.
    pub events: Events,
    /// The lease that must be held.
    pub lease: Option<Lease>,
    /// The cursor that must be the head.
    pub after: Option<Cursor>,
    /// Documents that are stored in the same commit.
    pub states: Vec<StateChange>,
    /// The sequence that this append belongs to.
    pub sequence: Option<AppendSequence>,
    /// Whether inputs are validated. Imported history is not validated again.
    pub checks_inputs: bool,
}

impl AppendRequest {
    /// Creates an append without conditions.
    pub fn new(key: SessionKey, events: Events) -> Self {
        Self { key, events, lease: None, after: None, states: Vec::new(), sequence: None, checks_inputs: true }
    }
}

/// A sequence of appends without holes: after one of them fails, all later ones fail without being tried.
#[derive(Clone, Default)]
pub struct AppendSequence {
    failure: Arc<Mutex<Option<Arc<Error>>>>,
}

impl AppendSequence {
    /// The error of the first failed append.
    pub(crate) fn failure(&self) -> Option<Arc<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records a failure, unless there was an earlier one.
    pub(crate) fn fail(&self, error: &Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| Arc::new(error.clone()));
    }
}

impl fmt::Debug for AppendSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AppendSequence").field("failure", &self.failure()).finish()
    }
}

/// The successful result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Response {
    /// The request has no result.
    Done,
    /// The session that was created, staged or published.
    Created(SessionRow),
    /// The result of an append.
    Appended(Appended),
    /// The position after the entry of an event. `None` if the event is not in the deduplication window.
    Found(Option<Cursor>),
    /// The lease that was acquired.
    Granted(Lease),
    /// The result of a compaction.
    Compacted(Compacted),
}

/// The result of an append. Its events are durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The number of new entries.
    pub written: usize,
    /// The number of events that the log already had, by their ids.
    pub duplicates: usize,
    /// The position after the last event of the batch, or the head if that event has no entry.
    pub cursor: Cursor,
    /// The events that change no message.
    pub ignored: Vec<Ignored>,
}

/// An event that changes no message, or not with all of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// The index of the event in the batch.
    pub index: usize,
    /// The id of the event.
    pub event_id: String,
    /// The reason as a code, such as `unknown_block`.
    pub reason: &'static str,
    /// The reason as text.
    pub message: String,
    /// Whether the event was written nevertheless. Events of ended replies and messages that exist already are not.
    pub is_written: bool,
}

impl Ignored {
    /// Creates the report for an event that was applied to a fold. `None` if the event changes a message, or is not meant to.
    ///
    /// An event with an empty list and an event of an unknown type without a reply are reported too. The fold accepts them,
    /// but they are most likely mistakes of the sender.
    pub fn of(index: usize, event: &Event<'_>, outcome: &Outcome) -> Option<Self> {
        let (reason, message) = match (outcome.reason(), &event.kind) {
            (Some(reason), _) => (reason.code(), reason.to_string()),
            (None, EventKind::Unknown(kind)) => {
                let reason = Reason::UnknownType(kind.type_name.to_string());
                (reason.code(), reason.to_string())
            }
            (None, kind) => ("empty", format!("`{}` is empty", empty_list(kind)?)),
        };
        Some(Self { index, event_id: event.id.to_string(), reason, message, is_written: !is_repetition(outcome) })
    }
}

/// The name of an event's list, if the event has one and it is empty.
fn empty_list(kind: &EventKind<'_>) -> Option<&'static str> {
    let (name, is_empty) = match kind {
        EventKind::RequireUserConfirm(kind) => ("tool_calls", kind.tool_calls.is_empty()),
        EventKind::RequireExternalExecution(kind) => ("tool_calls", kind.tool_calls.is_empty()),
        EventKind::UserConfirmResult(kind) => ("confirm_results", kind.confirm_results.is_empty()),
        EventKind::ExternalExecutionResult(kind) => ("execution_results", kind.execution_results.is_empty()),
        _ => return None,
    };
    is_empty.then_some(name)
}

/// The result of a compaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compacted {
    /// The number of entries before the compaction.
    pub entries: u64,
    /// The number of entries after it.
    pub rows: u64,
    /// The number of the last entry of the page.
    pub last: u64,
    /// The `after` of the next page. `None` if this was the last one.
    pub next: Option<u64>,
    /// Whether the page has deltas that can be merged later, because their reply has not ended or ended too recently.
    pub has_left: bool,
}

impl Request {
    /// The approximate size of the request in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Append(request) => {
                let states = request.states.iter().filter_map(|state| state.body.as_ref());
                request.events.bytes() + states.map(String::len).sum::<usize>()
            }
            Self::Create { properties, .. }
            | Self::SetProperties { properties, .. }
            | Self::Stage { properties, .. } => properties.len(),
            Self::FindEvent { event_id, .. } => event_id.len(),
            Self::Upload(upload) => upload.bytes.len(),
            Self::Delete(_)
            | Self::Publish { .. }
            | Self::Acquire { .. }
            | Self::Renew { .. }
            | Self::Release(_)
            | Self::Compact { .. }
            | Self::Sweep { .. } => 0,
        }
    }

    /// The append sequence that the request belongs to.
    pub(crate) fn sequence(&self) -> Option<&AppendSequence> {
        match self {
            Self::Append(request) => request.sequence.as_ref(),
            _ => None,
        }
    }

    /// The session that the request reads or changes. `None` for a new staged session and for uploads.
    pub(crate) fn key(&self) -> Option<&SessionKey> {
        match self {
            Self::Create { key, .. }
            | Self::SetProperties { key, .. }
            | Self::Delete(key)
            | Self::Append(AppendRequest { key, .. })
            | Self::FindEvent { key, .. }
            | Self::Publish { key, .. }
            | Self::Acquire { key, .. }
            | Self::Compact { key, .. } => Some(key),
            Self::Renew { lease, .. } | Self::Release(lease) => Some(&lease.session),
            Self::Stage { .. } | Self::Upload(_) | Self::Sweep { .. } => None,
        }
    }

    /// Whether the request can share a plan with others. The remaining requests change a session as a whole and are planned
    /// alone, on committed data.
    pub(crate) fn can_share_plan(&self) -> bool {
        match self {
            Self::Append(_)
            | Self::FindEvent { .. }
            | Self::Acquire { .. }
            | Self::Renew { .. }
            | Self::Release(_)
            | Self::Upload(_) => true,
            Self::Create { .. }
            | Self::SetProperties { .. }
            | Self::Delete(_)
            | Self::Stage { .. }
            | Self::Publish { .. }
            | Self::Compact { .. }
            | Self::Sweep { .. } => false,
        }
    }
}
