//! What a log needs of the place where it is kept.
//!
//! A backend implements two traits: [`Storage`] for the one that writes, and [`View`] for a look at what is committed.
//! Everything else (ordering, idempotency, inputs, leases, joining) is above them and the same for all backends. The
//! contract suite in `recount-simulator` holds an implementation to what is said here.

mod rows;

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

pub use rows::{
    Append, EntryRow, Limit, MessageRow, MessageStatus, OpenReplyInfo, OpenReplyRow, ReplyCheckpoint, SessionRow,
    StateChange, Upload, Visibility,
};

use crate::{Cursor, Digest, Epoch, SessionKey, StorageError};

/// The result of asking a storage.
pub type StorageResult<T> = Result<T, StorageError>;

/// Gives views of what is committed.
pub trait Views: Debug {
    /// A look at everything that is committed by now. All that one view is asked belongs to the same moment, and commits do
    /// not wait for it.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn view(&self) -> StorageResult<Box<dyn View + '_>>;

    /// Writes a copy of everything to another place, marked as a copy.
    ///
    /// # Errors
    ///
    /// When the copy cannot be written, or this storage cannot be copied.
    fn back_up(&self, to: &Path) -> StorageResult<()> {
        Err(StorageError::Failed(format!("this storage cannot be copied to {}", to.display())))
    }
}

/// The writing side of a storage. There is one, and it is used from one thread.
///
/// A storage that is opened holds no [drafts](SessionKey::is_staged), if there is room to remove them: whoever made them is
/// gone.
pub trait Storage: Views + Send {
    /// Views for readers on other threads, while this side goes on writing.
    fn readers(&self) -> Arc<dyn Views + Send + Sync>;

    /// Does all of the writes or none of them, in their order, and returns when they are as durable as was promised.
    ///
    /// # Errors
    ///
    /// When nothing was written. A storage that others write to as well answers [`StorageError::Moved`] when a session
    /// is not at the place that a write expects; the caller then looks again and plans anew.
    fn commit(&mut self, writes: &[Write]) -> StorageResult<()>;

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
    fn shrink(&mut self) -> StorageResult<bool> {
        Ok(false)
    }

    /// Moves what was committed to where it is kept in the end, if a storage has two places for it.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn flush(&mut self) -> StorageResult<()> {
        Ok(())
    }

    /// Ends the work in good order. Not to be called is to be killed: nothing that was committed may be lost by it.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    fn close(&mut self) -> StorageResult<()> {
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
    SetProperties {
        /// The session.
        key: SessionKey,
        /// A JSON object.
        properties: String,
    },
    /// The end of a session and of all that belongs to it.
    Delete(SessionKey),
    /// Another name for a [draft](SessionKey::is_staged), under which there is no session.
    Publish {
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
        rows: Vec<EntryRow>,
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
            Self::SetProperties { key, .. }
            | Self::Delete(key)
            | Self::Publish { key, .. }
            | Self::Compact { key, .. } => Some(key),
            Self::Append(append) => Some(&append.key),
            Self::Upload(_) | Self::Sweep { .. } => None,
        }
    }
}

/// A look at what is committed, at one moment.
pub trait View {
    /// A session.
    ///
    /// # Errors
    ///
    /// As for all of these, when the storage cannot be read.
    fn session(&self, key: &SessionKey) -> StorageResult<Option<SessionRow>>;

    /// Sessions in the order of their keys, from the one after `after`, at most so many. Drafts are not among them.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn sessions(
        &self,
        tenant: Option<&str>,
        after: Option<&SessionKey>,
        count: usize,
    ) -> StorageResult<Vec<SessionRow>>;

    /// How many sessions there are. Drafts are none.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn session_count(&self) -> StorageResult<usize> {
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
    fn entries(&self, key: &SessionKey, after: u64, limit: Limit) -> StorageResult<Vec<EntryRow>>;

    /// What a message id stands for, if it is that of a complete message.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn message_status(&self, key: &SessionKey, id: &str) -> StorageResult<Option<MessageStatus>>;

    /// The newest complete messages that begin before a place, oldest first, at most so many.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn messages_before(
        &self,
        key: &SessionKey,
        before: u64,
        show: Visibility,
        count: usize,
    ) -> StorageResult<Vec<MessageRow>>;

    /// The complete message with an id.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn message(&self, key: &SessionKey, id: &str) -> StorageResult<Option<MessageRow>>;

    /// The number of the entry that ends a reply; nothing where there is no such reply, or it has not ended.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn reply_end_seq(&self, key: &SessionKey, id: &str) -> StorageResult<Option<u64>> {
        Ok(self.message(key, id)?.filter(|message| message.is_reply).map(|message| message.end_seq))
    }

    /// The complete messages that begin at or before a place and end after it.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn messages_spanning(&self, key: &SessionKey, place: u64) -> StorageResult<Vec<MessageRow>>;

    /// The replies that have not ended, in the order in which they began.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn open_replies(&self, key: &SessionKey) -> StorageResult<Vec<OpenReplyRow>>;

    /// The same replies without their checkpoints, which may be large.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn open_reply_infos(&self, key: &SessionKey) -> StorageResult<Vec<OpenReplyInfo>> {
        Ok(self.open_replies(key)?.into_iter().map(|row| row.opened).collect())
    }

    /// The sessions that have open replies of this service. Drafts are not among them.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn hosted_sessions(&self) -> StorageResult<Vec<SessionKey>>;

    /// A document of a session.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn state(&self, key: &SessionKey, name: &str) -> StorageResult<Option<String>>;

    /// All documents of a session, in the order of their names.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn states(&self, key: &SessionKey) -> StorageResult<Vec<(String, String)>>;

    /// The number of the last entry that was complete before a time: all messages that end at or before it were
    /// finished earlier than that.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn last_settled(&self, key: &SessionKey, before: i64) -> StorageResult<u64>;

    /// When the last message that is complete was so, in milliseconds since 1970; nothing where there is none.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn last_finished_at(&self, key: &SessionKey) -> StorageResult<Option<i64>>;

    /// What a tenant has uploaded.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn upload(&self, tenant: &str, digest: Digest) -> StorageResult<Option<Upload>>;

    /// The uploads that the entries of a session name.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn referenced_uploads(&self, key: &SessionKey) -> StorageResult<Vec<Digest>>;

    /// Whether the storage itself is sound: everything wrong that it finds, in words.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    fn integrity_errors(&self) -> StorageResult<Vec<String>>;
}
