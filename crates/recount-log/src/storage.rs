//! What a log needs of the place where it is kept.
//!
//! A backend implements two traits: [`Storage`] for the one that writes, and [`View`] for a look at what is committed.
//! Everything else (ordering, idempotency, inputs, leases, joining) is above them and the same for all backends. The
//! contract suite in `recount-simulator` holds an implementation to what is said here.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::{Cursor, Digest, Epoch, SessionKey, StorageError};

/// The result of asking a storage.
pub type Stored<T> = Result<T, StorageError>;

/// Gives views of what is committed.
pub trait Views: Debug {
    /// A look at everything that is committed by now. All that one view is asked belongs to the same moment, and commits do
    /// not wait for it.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn view(&self) -> Stored<Box<dyn View + '_>>;

    /// Writes a copy of everything to another place, marked as a copy.
    ///
    /// # Errors
    ///
    /// When the copy cannot be written, or this storage cannot be copied.
    fn back_up(&self, to: &Path) -> Stored<()> {
        Err(StorageError::Failed(format!("this storage cannot be copied to {}", to.display())))
    }
}

/// The writing side of a storage. There is one, and it is used from one thread.
///
/// A storage that is opened holds no [drafts](SessionKey::is_draft): whoever made them is gone.
pub trait Storage: Views + Send {
    /// Views for readers on other threads, while this side goes on writing.
    fn readers(&self) -> Arc<dyn Views + Send + Sync>;

    /// Does all of the writes or none of them, in their order, and returns when they are as durable as was promised.
    ///
    /// # Errors
    ///
    /// When nothing was written. A storage that others write to as well answers [`StorageError::Moved`] when a session
    /// is not at the place that a write expects; the caller then looks again and plans anew.
    fn commit(&mut self, writes: &[Write]) -> Stored<()>;

    /// Whether others may write to it while this one does. Then what is known of a session has to be looked at again
    /// where an answer follows from it and nothing is written.
    fn is_shared(&self) -> bool {
        true
    }

    /// Gives back some of the room that is not used any more, as much as takes no longer than a commit. Says whether there
    /// is more. A storage that does so by itself does nothing here.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn shrink(&mut self) -> Stored<bool> {
        Ok(false)
    }

    /// Moves what was committed to where it is kept in the end, if a storage has two places for it.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn flush(&mut self) -> Stored<()> {
        Ok(())
    }

    /// Ends the work in good order. Not to be called is to be killed: nothing that was committed may be lost by it.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn close(&mut self) -> Stored<()> {
        Ok(())
    }
}

/// One change. Numbers of entries that are not given follow from `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Write {
    /// A new session.
    Create(SessionRow),
    /// What is known about a session, in other words.
    Describe {
        /// The session.
        key: SessionKey,
        /// A JSON object.
        about: String,
    },
    /// The end of a session and of all that belongs to it.
    Delete(SessionKey),
    /// Another name for a [draft](SessionKey::is_draft), under which there is no session.
    Adopt {
        /// The draft.
        draft: SessionKey,
        /// Its history and its last entry. If it is elsewhere, nothing is written: whoever adopts it is told where it ends.
        head: Cursor,
        /// What it is called from now on.
        key: SessionKey,
    },
    /// Entries, and what follows from them.
    Append(Append),
    /// Entries that were joined.
    Compact {
        /// The session.
        key: SessionKey,
        /// Its history. If that is another one by now, nothing is written.
        epoch: Epoch,
        /// What stands in the place of the entries that they cover, in their order. If one of those covers more than it does,
        /// because somebody else has joined them, nothing is written.
        rows: Vec<Row>,
    },
    /// Bytes that somebody has uploaded.
    Upload(Upload),
    /// Forgets uploads that no entry names and that were made before a time, and bytes that nobody needs any more.
    Sweep {
        /// The time, in milliseconds since 1970.
        before: i64,
    },
}

impl Write {
    /// The session that a write is for.
    pub fn key(&self) -> Option<&SessionKey> {
        match self {
            Self::Create(row) => Some(&row.key),
            Self::Describe { key, .. } | Self::Delete(key) | Self::Adopt { key, .. } | Self::Compact { key, .. } => {
                Some(key)
            }
            Self::Append(append) => Some(&append.key),
            Self::Upload(_) | Self::Sweep { .. } => None,
        }
    }
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its name.
    pub key: SessionKey,
    /// Its history.
    pub epoch: Epoch,
    /// The number of its last entry.
    pub head: u64,
    /// When it was made.
    pub created_at: String,
    /// What else is known about it: a JSON object.
    pub about: String,
}

/// Entries for the end of a session's log, and what is committed together with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The session.
    pub key: SessionKey,
    /// Its history. If that is another one by now, nothing is written.
    pub epoch: Epoch,
    /// The number of the last entry before these. If the session is elsewhere, nothing is written.
    pub after: u64,
    /// When they are written, in milliseconds since 1970.
    pub at: i64,
    /// The entries, each an event in native JSON.
    pub entries: Vec<Bytes>,
    /// Replies that begin with these entries.
    pub opened: Vec<OpenedReply>,
    /// What has become of open replies, so that nobody has to fold them from their start.
    pub checkpoints: Vec<ReplyCheckpoint>,
    /// Messages that are complete with these entries. Those that were open replies are open no more.
    pub finished: Vec<FinishedMessage>,
    /// Documents of the session.
    pub states: Vec<StateChange>,
    /// Uploads that the entries name.
    pub uploads: Vec<Digest>,
}

impl Append {
    /// Nothing yet, after an entry.
    pub fn after(key: SessionKey, epoch: Epoch, after: u64, at: i64) -> Self {
        Self {
            key,
            epoch,
            after,
            at,
            entries: Vec::new(),
            opened: Vec::new(),
            checkpoints: Vec::new(),
            finished: Vec::new(),
            states: Vec::new(),
            uploads: Vec::new(),
        }
    }

    /// Whether it would change nothing.
    pub fn is_empty(&self) -> bool {
        let Self { entries, opened, checkpoints, finished, states, uploads, .. } = self;
        entries.is_empty()
            && opened.is_empty()
            && checkpoints.is_empty()
            && finished.is_empty()
            && states.is_empty()
            && uploads.is_empty()
    }
}

/// A reply that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedReply {
    /// Its id.
    pub id: String,
    /// The number of the entry that begins it.
    pub place: u64,
    /// Whether it came under a lease, so that a run of this service writes it.
    pub hosted: bool,
    /// Whether it is a part of another reply.
    pub nested: bool,
}

/// What has become of an open reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyCheckpoint {
    /// Id of the reply.
    pub id: String,
    /// The number of the last entry that is in it.
    pub seq: u64,
    /// The fold, as an item of a checkpoint's `replies`.
    pub fold: String,
    /// What the fold does not say: which inputs were taken. A JSON object.
    pub inputs: String,
}

/// An open reply, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRow {
    /// How it began.
    pub opened: OpenedReply,
    /// Its last checkpoint.
    pub checkpoint: Option<ReplyCheckpoint>,
}

/// A message that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedMessage {
    /// Its id.
    pub id: String,
    /// The number of the entry that begins it. Messages are ordered by it.
    pub place: u64,
    /// The number of the entry that completes it.
    pub last: u64,
    /// Whether it was a reply; otherwise it came whole.
    pub is_reply: bool,
    /// Whether it is a part of another reply.
    pub nested: bool,
    /// The message in native JSON.
    pub body: String,
}

/// A document of a session, such as an agent's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// What it is called.
    pub name: String,
    /// The document; nothing to remove it.
    pub body: Option<String>,
}

/// Bytes that somebody has uploaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Whose they are.
    pub tenant: String,
    /// What they are named by.
    pub digest: Digest,
    /// What they are.
    pub media_type: String,
    /// When they came, in milliseconds since 1970.
    pub at: i64,
    /// The bytes.
    pub bytes: Bytes,
}

/// An entry, as it is stored. After compaction one may cover several numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The first number that it covers.
    pub first: u64,
    /// The last number that it covers, which is also its own.
    pub last: u64,
    /// The event in native JSON.
    pub body: Bytes,
}

/// How much is read at once: as many entries as fit both limits, and at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// How many.
    pub count: usize,
    /// How many bytes.
    pub bytes: usize,
}

/// What a message id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// A reply that has ended.
    Reply,
    /// A message that came whole.
    Message,
}

/// Which messages are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Show {
    /// All of them, those of sub-agents too.
    #[default]
    All,
    /// Those that are not part of another reply.
    TopLevel,
}

/// A look at what is committed, at one moment.
pub trait View {
    /// A session.
    ///
    /// # Errors
    ///
    /// As for all of these, when the storage cannot be read.
    fn session(&self, key: &SessionKey) -> Stored<Option<SessionRow>>;

    /// Sessions in the order of their keys, from the one after `after`, at most so many. Drafts are not among them.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn sessions(&self, tenant: Option<&str>, after: Option<&SessionKey>, count: usize) -> Stored<Vec<SessionRow>>;

    /// How many sessions there are. Drafts are none.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn session_count(&self) -> Stored<usize> {
        let (mut count, mut after) = (0, None);
        loop {
            let page = self.sessions(None, after.as_ref(), 1_024)?;
            count += page.len();
            let Some(last) = page.last() else { return Ok(count) };
            after = Some(last.key.clone());
        }
    }

    /// Entries whose number is above `after`, in their order.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn entries(&self, key: &SessionKey, after: u64, limit: Limit) -> Stored<Vec<Row>>;

    /// What a message id stands for, if it is that of a complete message.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn known(&self, key: &SessionKey, id: &str) -> Stored<Option<Known>>;

    /// The newest complete messages that begin before a place, oldest first, at most so many.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn finished(&self, key: &SessionKey, before: u64, show: Show, count: usize) -> Stored<Vec<FinishedMessage>>;

    /// The complete message with an id.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn message(&self, key: &SessionKey, id: &str) -> Stored<Option<FinishedMessage>>;

    /// The complete messages that begin at or before a place and end after it.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn spanning(&self, key: &SessionKey, place: u64) -> Stored<Vec<FinishedMessage>>;

    /// The replies that have not ended, in the order in which they began.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn open(&self, key: &SessionKey) -> Stored<Vec<OpenRow>>;

    /// The same replies without their checkpoints, which may be large.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn opened(&self, key: &SessionKey) -> Stored<Vec<OpenedReply>> {
        Ok(self.open(key)?.into_iter().map(|row| row.opened).collect())
    }

    /// The sessions that have open replies of this service.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn hosting(&self) -> Stored<Vec<SessionKey>>;

    /// A document of a session.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn state(&self, key: &SessionKey, name: &str) -> Stored<Option<String>>;

    /// All documents of a session, in the order of their names.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn states(&self, key: &SessionKey) -> Stored<Vec<(String, String)>>;

    /// The number of the last entry that was complete before a time: all messages that end at or before it were
    /// finished earlier than that.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn settled(&self, key: &SessionKey, before: i64) -> Stored<u64>;

    /// What a tenant has uploaded.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn upload(&self, tenant: &str, digest: Digest) -> Stored<Option<Upload>>;

    /// The uploads that the entries of a session name.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn named_uploads(&self, key: &SessionKey) -> Stored<Vec<Digest>>;

    /// Whether the storage itself is sound: everything wrong that it finds, in words.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn faults(&self) -> Stored<Vec<String>>;
}
