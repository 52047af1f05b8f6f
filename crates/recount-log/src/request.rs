//! What the writer can be asked, and what it answers.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use recount_message::{Event, EventKind, Outcome, Reason};

use crate::replies::is_repetition;
use crate::storage::{SessionRow, StateChange, Upload};
use crate::{Cursor, Error, Events, Lease, LeaseRequest, SessionKey};

/// Something for the writer to do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Request {
    /// Make a session.
    Create {
        /// Its name.
        key: SessionKey,
        /// What is known about it: a JSON object.
        properties: String,
    },
    /// Say something else about a session.
    SetProperties {
        /// The session.
        key: SessionKey,
        /// A JSON object.
        properties: String,
    },
    /// Remove a session and all that belongs to it.
    Delete(SessionKey),
    /// Append events.
    Append(AppendRequest),
    /// Begin a draft of a session: entries that nobody sees before it is adopted. The answer has its key.
    Stage {
        /// What the session will be called.
        key: SessionKey,
        /// What is known about it: a JSON object.
        properties: String,
    },
    /// Make a session of a draft, at once.
    Publish {
        /// The draft.
        draft: SessionKey,
        /// What it is called from now on.
        key: SessionKey,
        /// Whether a session with that name is replaced.
        replaces: bool,
    },
    /// Grant a lease.
    Acquire {
        /// The session.
        key: SessionKey,
        /// What is asked for.
        request: LeaseRequest,
    },
    /// Begin the time of a lease anew.
    Renew {
        /// The lease.
        lease: Lease,
        /// How long it lasts from now on.
        time: Duration,
    },
    /// Give a lease back.
    Release(Lease),
    /// Keep uploaded bytes.
    Upload(Upload),
    /// Subscription deltas of a session that were complete before a time, a stretch of them.
    Compact {
        /// The session.
        key: SessionKey,
        /// Where the stretch begins: after the entry with this number.
        after: u64,
        /// The time, in milliseconds since 1970.
        before: i64,
    },
    /// Remove uploads that no entry names and that were made before a time.
    Sweep {
        /// The time, in milliseconds since 1970.
        before: i64,
    },
}

/// Events to append.
#[derive(Debug, Clone)]
pub struct AppendRequest {
    /// The session.
    pub key: SessionKey,
    /// The events.
    pub events: Events,
    /// The lease that must still be held.
    pub lease: Option<Lease>,
    /// The place that must still be the head.
    pub after: Option<Cursor>,
    /// Documents to store together with the events.
    pub states: Vec<StateChange>,
    /// Where an earlier failure is noted.
    pub stream: Option<AppendSequence>,
    /// Whether inputs are held to what replies wait for. History that is taken over from elsewhere is not.
    pub checks_inputs: bool,
}

impl AppendRequest {
    /// Events for the end of a session, with nothing else to it.
    pub fn new(key: SessionKey, events: Events) -> Self {
        Self { key, events, lease: None, after: None, states: Vec::new(), stream: None, checks_inputs: true }
    }
}

/// A sequence of appends that only make sense one after the other. When one of them fails, those behind it are not tried,
/// so that nothing is ever missing in the middle.
#[derive(Clone, Default)]
pub struct AppendSequence {
    failure: Arc<Mutex<Option<Arc<Error>>>>,
}

impl AppendSequence {
    /// Why an earlier append failed.
    pub(crate) fn failure(&self) -> Option<Arc<Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

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

/// What has become of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Response {
    /// It is done.
    Done,
    /// The session that was made.
    Created(SessionRow),
    /// What has become of events.
    Appended(Appended),
    /// The lease.
    Granted(Lease),
    /// What joining deltas has changed.
    Compacted(Compacted),
}

/// What has become of a batch of events. It is durable when this is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// How many are new entries.
    pub written: usize,
    /// How many were there already, by their ids.
    pub duplicates: usize,
    /// Where the last event of the batch stands; the head, where it has no place of its own.
    pub cursor: Cursor,
    /// The events that change no message, and why.
    pub ignored: Vec<Ignored>,
}

/// An event that changes no message, whole or in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// Which event of the batch, counted from zero.
    pub index: usize,
    /// Its id.
    pub event_id: String,
    /// Why, as a word for programs, such as `unknown_block`.
    pub reason: &'static str,
    /// Why, in words.
    pub message: String,
    /// Whether it is an entry nevertheless. One for a reply that has ended, or a message that is there, is not.
    pub is_written: bool,
}

impl Ignored {
    /// What is told of an event of a batch that was folded, if it changes no message.
    ///
    /// The fold has nothing against an event that lists nothing, nor against one of an unknown type that names no reply. Who
    /// sends one has hardly meant it, and is told too.
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

/// The list of an event that is all about what it lists, if there is nothing in it.
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

/// What joining deltas has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compacted {
    /// How many entries were looked at.
    pub entries: u64,
    /// How many are left of them.
    pub rows: u64,
    /// The number of the last one.
    pub last: u64,
    /// Where the next stretch begins; nothing when this was the last.
    pub next: Option<u64>,
    /// Whether deltas were left as they are that can be joined later: their reply has not ended, or not long enough ago.
    pub has_left: bool,
}

impl Request {
    /// How many bytes the request holds, roughly.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Append(request) => {
                let states = request.states.iter().filter_map(|state| state.body.as_ref());
                request.events.bytes() + states.map(String::len).sum::<usize>()
            }
            Self::Create { properties, .. }
            | Self::SetProperties { properties, .. }
            | Self::Stage { properties, .. } => properties.len(),
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
}
