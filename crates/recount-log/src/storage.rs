//! The interface between the log and a storage backend.
//!
//! A backend implements two traits: [`Storage`] writes, and [`View`] reads what is committed. Ordering, deduplication,
//! input checks, leases and subscriptions are implemented above them, once for all backends. The contract suite in
//! `recount-simulator` tests an implementation against this documentation.

mod rows;

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

pub use rows::{
    Append, EntryRow, MessageRow, MessageStatus, OpenReplyInfo, OpenReplyRow, PageLimit, ReplyCheckpoint, SessionRow,
    StateChange, Upload, Visibility,
};

use crate::{Cursor, Digest, Epoch, SessionKey, StorageError};

/// The result of a storage operation.
pub type StorageResult<T> = Result<T, StorageError>;

/// Opens views of the committed data.
pub trait Views: Debug {
    /// Opens a view of everything that is committed. All reads of one view see the same state, and commits do not wait for
    /// open views.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn view(&self) -> StorageResult<Box<dyn View + '_>>;

    /// Writes a copy of all data to a directory and marks it as a copy.
    ///
    /// # Errors
    ///
    /// If the copy cannot be written, or the storage does not support copies.
    fn back_up(&self, to: &Path) -> StorageResult<()> {
        Err(StorageError::Failed(format!("this storage cannot be copied to {}", to.display())))
    }
}

/// The write side of a storage. There is one instance, used from one thread.
///
/// Opening a storage deletes the [staged sessions](SessionKey::is_staged) of earlier processes, if there is room to delete
/// them.
pub trait Storage: Views + Send {
    /// Returns views for readers on other threads. They stay valid while this side writes.
    fn readers(&self) -> Arc<dyn Views + Send + Sync>;

    /// Commits all writes in their order, or none of them. Returns when they are as durable as configured.
    ///
    /// # Errors
    ///
    /// If nothing was written. A storage with several writers returns [`StorageError::Moved`] if a session is not at the
    /// expected head; the caller then reads the session again and plans its writes again.
    fn commit(&mut self, writes: &[Write]) -> StorageResult<()>;

    /// Whether other processes may write to the storage at the same time. If so, the writer checks that its copy of a
    /// session is current before it responds to a request that writes nothing.
    fn is_shared(&self) -> bool {
        true
    }

    /// Returns some unused space to the file system, taking no longer than a commit. Returns whether there is more. The
    /// default does nothing.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn shrink(&mut self) -> StorageResult<bool> {
        Ok(false)
    }

    /// Moves committed data to its final place, for a storage that has two. The default does nothing.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn flush(&mut self) -> StorageResult<()> {
        Ok(())
    }

    /// Closes the storage cleanly. Dropping it without this call is equivalent to a crash and must not lose committed data.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    fn close(&mut self) -> StorageResult<()> {
        Ok(())
    }
}

/// One change. Numbers of entries that are not given follow from `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Write {
    /// Creates a session.
    Create(SessionRow),
    /// Replaces the properties of a session.
    SetProperties {
        /// The session.
        key: SessionKey,
        /// The new properties: a JSON object.
        properties: String,
    },
    /// Deletes a session with all its data.
    Delete(SessionKey),
    /// Renames a [staged session](SessionKey::is_staged) to a key that is not in use.
    Publish {
        /// The key of the staged session.
        draft: SessionKey,
        /// The expected head of the staged session. The write fails if it has another one, because the response contains it.
        head: Cursor,
        /// The new key.
        key: SessionKey,
    },
    /// Appends entries.
    Append(Append),
    /// Replaces entries by merged ones.
    Compact {
        /// The session.
        key: SessionKey,
        /// The expected epoch. The write fails if the session has another one.
        epoch: Epoch,
        /// The merged entries, in their order. Each replaces the entries that it covers. The write fails if a stored entry
        /// reaches beyond the merged one, because another process has compacted the same entries.
        rows: Vec<EntryRow>,
    },
    /// Stores uploaded bytes.
    Upload(Upload),
    /// Deletes uploads that no entry references and that are older than a time.
    Sweep {
        /// The time, in milliseconds since 1970.
        before: i64,
    },
}

impl Write {
    /// The session that a write changes. `None` for uploads.
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

/// Reads the committed data as of one moment.
///
/// Every method fails if the storage cannot be read. A session that does not exist has no entries, messages, replies,
/// documents or uploads.
pub trait View {
    /// Looks up a session.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn session(&self, key: &SessionKey) -> StorageResult<Option<SessionRow>>;

    /// Lists up to `count` sessions in the order of their keys, starting behind `after`. Staged sessions are left out.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn sessions(
        &self,
        tenant: Option<&str>,
        after: Option<&SessionKey>,
        count: usize,
    ) -> StorageResult<Vec<SessionRow>>;

    /// Counts the sessions, without staged ones.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn session_count(&self) -> StorageResult<usize> {
        let (mut count, mut after) = (0, None);
        loop {
            let page = self.sessions(None, after.as_ref(), 1_024)?;
            count += page.len();
            let Some(last) = page.last() else { return Ok(count) };
            after = Some(last.key.clone());
        }
    }

    /// Returns a page of the entries whose number is above `after`, in their order.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn entries(&self, key: &SessionKey, after: u64, limit: PageLimit) -> StorageResult<Vec<EntryRow>>;

    /// Looks up the status of a complete message by its id.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn message_status(&self, key: &SessionKey, id: &str) -> StorageResult<Option<MessageStatus>>;

    /// Returns the newest `count` complete messages that start before the entry `before`, oldest first.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn messages_before(
        &self,
        key: &SessionKey,
        before: u64,
        visibility: Visibility,
        count: usize,
    ) -> StorageResult<Vec<MessageRow>>;

    /// Looks up a complete message by its id.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn message(&self, key: &SessionKey, id: &str) -> StorageResult<Option<MessageRow>>;

    /// The number of the entry that ends a reply. `None` if the reply does not exist or is open.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn reply_end_seq(&self, key: &SessionKey, id: &str) -> StorageResult<Option<u64>> {
        Ok(self.message(key, id)?.filter(|message| message.is_reply).map(|message| message.end_seq))
    }

    /// Returns the complete messages that start at or before the entry `seq` and end after it.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn messages_spanning(&self, key: &SessionKey, seq: u64) -> StorageResult<Vec<MessageRow>>;

    /// Returns the open replies with their checkpoints, ordered by their first entry.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn open_replies(&self, key: &SessionKey) -> StorageResult<Vec<OpenReplyRow>>;

    /// Returns the open replies without their checkpoints, which may be large.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn open_reply_infos(&self, key: &SessionKey) -> StorageResult<Vec<OpenReplyInfo>> {
        Ok(self.open_replies(key)?.into_iter().map(|row| row.info).collect())
    }

    /// Lists the sessions with open replies of this service, without staged ones.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn hosted_sessions(&self) -> StorageResult<Vec<SessionKey>>;

    /// Returns a document of a session.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn state(&self, key: &SessionKey, name: &str) -> StorageResult<Option<String>>;

    /// Returns all documents of a session, ordered by name.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn states(&self, key: &SessionKey) -> StorageResult<Vec<(String, String)>>;

    /// Returns the end of the last message that was completed before a time, in milliseconds since 1970: every message that
    /// ends at or before this entry was completed before that time. 0 if there is none.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn last_settled(&self, key: &SessionKey, before: i64) -> StorageResult<u64>;

    /// Returns the time at which the last complete message was completed, in milliseconds since 1970. `None` if no message
    /// is complete.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn last_finished_at(&self, key: &SessionKey) -> StorageResult<Option<i64>>;

    /// Looks up an upload of a tenant.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn upload(&self, tenant: &str, digest: Digest) -> StorageResult<Option<Upload>>;

    /// Lists the uploads that the entries of a session reference.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn referenced_uploads(&self, key: &SessionKey) -> StorageResult<Vec<Digest>>;

    /// Checks the integrity of the storage itself. Returns a description of every error that was found.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    fn integrity_errors(&self) -> StorageResult<Vec<String>>;
}
