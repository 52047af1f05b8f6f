//! Errors of the log and its storage.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{Cursor, GapReason, SessionKey};

/// An error of the log.
///
/// A failed request has changed nothing, with one exception: after [`Error::Closed`] the last requests may or may not have
/// been committed. Sending the same events again is safe.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session does not exist.
    #[error("there is no session {0}")]
    UnknownSession(SessionKey),
    /// The key of the session is in use.
    #[error("there is a session {0} already")]
    SessionExists(SessionKey),
    /// The session has no message with that id, complete or open.
    #[error("there is no message {id:?} in the session {session}")]
    UnknownMessage {
        /// The session.
        session: SessionKey,
        /// The id of the message.
        id: String,
    },
    /// An input was rejected. Nothing of its batch was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The expected cursor of an append is not the head.
    #[error("the session {session} is at {head} by now")]
    Moved {
        /// The session.
        session: SessionKey,
        /// The current head.
        head: Cursor,
    },
    /// The lease was taken over or released.
    #[error("the lease on {subject:?} of the session {session} is not held any more")]
    LeaseLost {
        /// The session.
        session: SessionKey,
        /// The subject of the lease.
        subject: String,
    },
    /// Another holder has an unexpired lease.
    #[error("the lease on {subject:?} of the session {session} is held by {holder:?}")]
    LeaseHeld {
        /// The session.
        session: SessionKey,
        /// The subject of the lease.
        subject: String,
        /// The name of the holder.
        holder: String,
    },
    /// An earlier append of the same [`Appender`](crate::Appender) failed. This one was not tried.
    #[error("an earlier append failed: {0}")]
    Broken(Arc<Error>),
    /// A stored entry cannot be decoded.
    #[error("the entry {seq} of the session {session} cannot be read: {problem}")]
    BadEntry {
        /// The session.
        session: SessionKey,
        /// The number of the entry.
        seq: u64,
        /// The decode error.
        problem: String,
    },
    /// The session does not continue from the cursor, or its state there cannot be rebuilt.
    #[error("the session {session} cannot be looked at from that cursor ({reason})")]
    Gap {
        /// The session.
        session: SessionKey,
        /// The reason.
        reason: GapReason,
    },
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
}

/// A rejected input.
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
    /// The index of the event in the batch.
    pub index: usize,
    /// The id of the event.
    pub event_id: String,
    /// The reason.
    pub reason: RefusalReason,
}

/// The reason for rejecting an input.
///
/// ```
/// assert_eq!(recount_log::RefusalReason::NotWaiting.as_str(), "not_waiting");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalReason {
    /// The reply has ended.
    Late,
    /// There is an earlier answer.
    Duplicate,
    /// The session has no such reply, or the reply has no such call.
    Foreign,
    /// The call does not wait for this.
    NotWaiting,
}

impl RefusalReason {
    /// The code on the wire.
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

/// An error of a storage. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The disk or the database is full.
    #[error("there is no room for it: {0}")]
    Full(String),
    /// Another process has written to the session, so its head is not the expected one.
    #[error("another process has written to the session {0}")]
    Moved(SessionKey),
    /// Another process uses the data directory.
    #[error("{} is in use by {}", path.display(), holder(*pid))]
    Locked {
        /// The data directory.
        path: PathBuf,
        /// The id of that process, if known.
        pid: Option<u32>,
    },
    /// The file is a database of another program.
    #[error("{} is not a Recount log: {problem}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// A description of the problem.
        problem: String,
    },
    /// The log was written by a newer version.
    #[error("{} has the format {found}, and this version reads up to {newest}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The newest version that this program supports.
        newest: i64,
    },
    /// The log was written by an older version and is opened read-only, so it cannot be migrated.
    #[error("{} has the older format {found}; open it for writing once to bring it up to date", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
    },
    /// The stored data is damaged.
    #[error("the log is damaged: {0}")]
    Damaged(String),
    /// Any other failure, such as an I/O error.
    #[error("{0}")]
    Failed(String),
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("the process {pid}"))
}
