//! The data that a storage holds, and the parameters of its queries.

use bytes::Bytes;

use crate::{Digest, EncodedMessage, EncodedReply, Epoch, SessionKey};

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The key.
    pub key: SessionKey,
    /// The current epoch.
    pub epoch: Epoch,
    /// The number of the last entry; 0 for an empty session.
    pub head: u64,
    /// The creation time.
    pub created_at: String,
    /// The properties, such as the title: a JSON object.
    pub properties: String,
}

/// Entries to append to a session, and the changes that are committed with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// The session.
    pub key: SessionKey,
    /// The expected epoch. The write fails if the session has another one.
    pub epoch: Epoch,
    /// The expected head. The write fails if the session has another one.
    pub after: u64,
    /// The time of the write, in milliseconds since 1970.
    pub at: i64,
    /// The entries, each an event in native JSON.
    pub entries: Vec<Bytes>,
    /// The indexes of the entries that are inputs, for subscribers. A storage ignores them.
    pub inputs: Vec<usize>,
    /// The replies that start with these entries.
    pub opened: Vec<OpenReplyInfo>,
    /// New checkpoints of open replies. Each replaces the earlier one of its reply.
    pub checkpoints: Vec<ReplyCheckpoint>,
    /// The messages that these entries complete. A reply among them is no longer open.
    pub finished: Vec<MessageRow>,
    /// Changes to the session's documents.
    pub states: Vec<StateChange>,
    /// The uploads that the entries reference.
    pub uploads: Vec<Digest>,
}

impl Append {
    /// Creates an empty append.
    pub fn after(key: SessionKey, epoch: Epoch, after: u64, at: i64) -> Self {
        Self {
            key,
            epoch,
            after,
            at,
            entries: Vec::new(),
            inputs: Vec::new(),
            opened: Vec::new(),
            checkpoints: Vec::new(),
            finished: Vec::new(),
            states: Vec::new(),
            uploads: Vec::new(),
        }
    }

    /// Whether the append changes nothing.
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

/// An open reply, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReplyInfo {
    /// The id of the reply.
    pub id: String,
    /// The number of its first entry.
    pub start_seq: u64,
    /// Whether a run of this service writes the reply: it was started under a lease.
    pub hosted: bool,
    /// Whether the reply belongs to a sub-agent and is part of another reply.
    pub nested: bool,
}

/// The fold of an open reply after an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyCheckpoint {
    /// The id of the reply.
    pub id: String,
    /// The number of the last entry that the fold contains.
    pub seq: u64,
    /// The fold.
    pub fold: EncodedReply,
    /// The inputs that were accepted so far, which the fold does not record: a JSON object.
    pub inputs: String,
}

/// An open reply as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReplyRow {
    /// The reply.
    pub info: OpenReplyInfo,
    /// The last checkpoint, if one was written.
    pub checkpoint: Option<ReplyCheckpoint>,
}

/// A complete message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// The id of the message.
    pub id: String,
    /// The number of the first entry. Messages are ordered by it.
    pub start_seq: u64,
    /// The number of the entry that completes the message.
    pub end_seq: u64,
    /// Whether the message is a reply, made of several entries. Other messages are one entry.
    pub is_reply: bool,
    /// Whether the message is a sub-agent's and part of another reply.
    pub nested: bool,
    /// The message.
    pub body: EncodedMessage,
}

/// A change to a document of a session, such as an agent's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// The name of the document.
    pub name: String,
    /// The new content; `None` deletes the document.
    pub body: Option<String>,
}

/// Uploaded bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The tenant that owns them.
    pub tenant: String,
    /// The digest of the bytes.
    pub digest: Digest,
    /// The media type.
    pub media_type: String,
    /// The time of the last upload, in milliseconds since 1970.
    pub at: i64,
    /// The bytes.
    pub bytes: Bytes,
}

/// An entry as it is stored. After compaction an entry may cover several numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryRow {
    /// The first number that the entry covers.
    pub first: u64,
    /// The last number that the entry covers, which is also its own.
    pub last: u64,
    /// The event in native JSON.
    pub body: Bytes,
}

/// The size of one page: as many entries as fit both limits, and at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit {
    /// The maximum number of entries.
    pub count: usize,
    /// The maximum number of bytes.
    pub bytes: usize,
}

/// The kind of a complete message that has a certain id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageStatus {
    /// A reply that has ended.
    EndedReply,
    /// A message that is one entry.
    Message,
}

/// Selects messages by whether they are part of another reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Visibility {
    /// All messages, including those of sub-agents.
    #[default]
    All,
    /// Only messages that are not part of another reply.
    TopLevel,
}
