//! What a storage keeps, and what it is asked for.

use bytes::Bytes;

use crate::{Digest, Epoch, SessionKey};

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
    pub properties: String,
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
    pub opened: Vec<OpenReplyInfo>,
    /// What has become of open replies, so that nobody has to fold them from their start.
    pub checkpoints: Vec<ReplyCheckpoint>,
    /// Messages that are complete with these entries. Those that were open replies are open no more.
    pub finished: Vec<MessageRow>,
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
pub struct OpenReplyInfo {
    /// Its id.
    pub id: String,
    /// The number of the entry that begins it.
    pub start_seq: u64,
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
pub struct OpenReplyRow {
    /// How it began.
    pub opened: OpenReplyInfo,
    /// Its last checkpoint.
    pub checkpoint: Option<ReplyCheckpoint>,
}

/// A message that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// Its id.
    pub id: String,
    /// The number of the entry that begins it. Messages are ordered by it.
    pub start_seq: u64,
    /// The number of the entry that completes it.
    pub end_seq: u64,
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
pub struct EntryRow {
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
pub enum MessageStatus {
    /// A reply that has ended.
    EndedReply,
    /// A message that came whole.
    Message,
}

/// Which messages are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Visibility {
    /// All of them, those of sub-agents too.
    #[default]
    All,
    /// Those that are not part of another reply.
    TopLevel,
}
