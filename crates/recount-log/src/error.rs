//! What can go wrong.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{Cursor, GapReason, SessionKey};

/// Why the log did not do what it was asked.
///
/// Nothing that ends in an error has changed the log, with one exception that no log can avoid: after
/// [`Error::Closed`] the last requests may or may not have been written. Sending them again under the same event ids
/// settles it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such session.
    #[error("there is no session {0}")]
    UnknownSession(SessionKey),
    /// A session with that name exists.
    #[error("there is a session {0} already")]
    SessionExists(SessionKey),
    /// There is no such message in the session, complete or open.
    #[error("there is no message {id:?} in the session {session}")]
    UnknownMessage {
        /// The session.
        session: SessionKey,
        /// The id.
        id: String,
    },
    /// An input does not fit what the reply waits for. Nothing of its batch was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The log has moved on since the cursor that an append was tied to.
    #[error("the session {session} is at {head} by now")]
    Moved {
        /// The session.
        session: SessionKey,
        /// Where its head is.
        head: Cursor,
    },
    /// Somebody else has taken the lease over, or it was given back.
    #[error("the lease on {subject:?} of the session {session} is not held any more")]
    LeaseLost {
        /// The session.
        session: SessionKey,
        /// What was leased.
        subject: String,
    },
    /// Somebody else holds the lease.
    #[error("the lease on {subject:?} of the session {session} is held by {holder:?}")]
    LeaseHeld {
        /// The session.
        session: SessionKey,
        /// What is leased.
        subject: String,
        /// Who has it.
        holder: String,
    },
    /// An earlier append of the same [`Appender`](crate::Appender) failed, so this one was not tried.
    #[error("an earlier append failed: {0}")]
    Broken(Arc<Error>),
    /// A stored entry cannot be read.
    #[error("the entry {seq} of the session {session} cannot be read: {problem}")]
    BadEntry {
        /// The session.
        session: SessionKey,
        /// The number of the entry.
        seq: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The session cannot be looked at as it was at that cursor.
    #[error("the session {session} cannot be looked at from that cursor ({reason})")]
    Gap {
        /// The session.
        session: SessionKey,
        /// Why.
        reason: GapReason,
    },
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
}

/// An input that was not taken, because it does not fit what the reply waits for.
///
/// ```
/// use recount_log::{Refusal, RefusalReason};
///
/// let refusal = Refusal { index: 0, event_id: "e7".to_owned(), reason: RefusalReason::Late };
/// assert_eq!(refusal.to_string(), "the input \"e7\" was refused (late): the reply has ended");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the input {event_id:?} was refused ({reason}): {}", reason.explained())]
pub struct Refusal {
    /// Which event of the batch, counted from zero.
    pub index: usize,
    /// Its id.
    pub event_id: String,
    /// Why.
    pub reason: RefusalReason,
}

/// Why an input was refused.
///
/// ```
/// assert_eq!(recount_log::RefusalReason::NotWaiting.as_str(), "not_waiting");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalReason {
    /// The reply has ended.
    Late,
    /// Somebody has answered already.
    Duplicate,
    /// No such reply, or it has no such call.
    Foreign,
    /// The call does not wait for this.
    NotWaiting,
}

impl RefusalReason {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Duplicate => "duplicate",
            Self::Foreign => "foreign",
            Self::NotWaiting => "not_waiting",
        }
    }

    fn explained(self) -> &'static str {
        match self {
            Self::Late => "the reply has ended",
            Self::Duplicate => "there is an answer already",
            Self::Foreign => "the session has no such reply or call",
            Self::NotWaiting => "the call does not wait for this",
        }
    }
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why the storage failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no room. Nothing was written.
    #[error("there is no room for it: {0}")]
    Full(String),
    /// Somebody else has written to the session in between. Nothing was written.
    #[error("somebody else has written to the session {0}")]
    Moved(SessionKey),
    /// Another process works with the data directory.
    #[error("{} is in use by {}", path.display(), holder(*pid))]
    Locked {
        /// The data directory.
        path: PathBuf,
        /// The process, where it could be told.
        pid: Option<u32>,
    },
    /// The file is a database, and not one of a log.
    #[error("{} is not a Recount log: {problem}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The log was written by a newer version.
    #[error("{} has the format {found}, and this version reads up to {newest}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The newest that is known here.
        newest: i64,
    },
    /// The log was written by an older version, and is only to be read.
    #[error("{} has the older format {found}; open it for writing once to bring it up to date", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
    },
    /// What is stored is damaged.
    #[error("the log is damaged: {0}")]
    Damaged(String),
    /// Anything else, such as a disk that cannot be read.
    #[error("{0}")]
    Failed(String),
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("the process {pid}"))
}
