//! The messages and open replies of a session at one position.

use std::fmt::Display;

use recount_message::wire::ObjectWriter;
use recount_message::{Checkpoint, CheckpointReply, DecodeError, Fold, Json};

use crate::fold_cache::FoldCache;
use crate::rebuild::rebuild_replies;
use crate::replies::TrackedReply;
use crate::storage::{MessageRow, OpenReplyInfo, OpenReplyRow, View, Visibility};
use crate::{Cursor, EncodedMessage, EncodedReply, Error, SessionKey};

/// The maximum number of complete messages in a snapshot.
pub const SNAPSHOT_MESSAGES: usize = 50;

/// A session at its head: the newest complete messages, and all open replies.
///
/// Applying the entries after [`cursor`](Self::cursor) to it gives the same messages as applying all entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The position of the snapshot.
    pub cursor: Cursor,
    /// The newest complete messages, oldest first.
    pub messages: Vec<EncodedMessage>,
    /// The open replies, ordered by their first entry.
    pub open: Vec<OpenReply>,
    /// The id of the oldest message in the snapshot. `None` if there are no older messages.
    pub before: Option<String>,
    /// For each open reply, its index among [`messages`](Self::messages) and [`open`](Self::open) together, ordered by
    /// first entry.
    pub positions: Vec<usize>,
}

/// An item of a [`Snapshot`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotItem<'s> {
    /// A complete message.
    Message(&'s EncodedMessage),
    /// An open reply.
    OpenReply(&'s OpenReply),
}

/// An open reply and its content so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReply {
    /// The id of the reply.
    pub id: String,
    /// The number of its first entry.
    pub start_seq: u64,
    /// Whether a run of this service writes the reply.
    pub hosted: bool,
    /// Whether the reply belongs to a sub-agent and is part of another reply.
    pub nested: bool,
    /// The fold of its entries.
    pub fold: EncodedReply,
}

/// A page of a session's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePage {
    /// The messages, oldest first, including open replies as they are now.
    pub messages: Vec<EncodedMessage>,
    /// The position of the page.
    pub cursor: Cursor,
    /// The id of the oldest message of the page. `None` if there are no older messages.
    pub before: Option<String>,
}

/// A message of a session, found by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMessage {
    /// The position of its first entry.
    pub start: Cursor,
    /// Whether the message is a reply.
    pub is_reply: bool,
    /// The message. `None` for an open reply.
    pub body: Option<EncodedMessage>,
}

impl Snapshot {
    /// Reads the snapshot of a session.
    pub(crate) fn read(
        view: &dyn View,
        key: &SessionKey,
        visibility: Visibility,
        count: usize,
        cache: &FoldCache,
    ) -> Result<Self, Error> {
        let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
        let mut messages = view.messages_before(key, u64::MAX, visibility, count + 1)?;
        let before = drop_oldest(&mut messages, count, |message| &message.id);
        let cursor = Cursor { epoch: row.epoch, seq: row.head };
        let mut open = cache.open_replies(view, key, cursor)?;
        open.retain(|reply| visibility == Visibility::All || !reply.nested);
        let position = |(index, reply): (usize, &OpenReply)| {
            index + messages.partition_point(|message| message.start_seq < reply.start_seq)
        };
        let positions = open.iter().enumerate().map(position).collect();
        let messages = messages.into_iter().map(|message| message.body).collect();
        Ok(Self { cursor, messages, open, before, positions })
    }

    /// Returns the messages and open replies, ordered by their first entry.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{Log, SnapshotItem};
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let message = |text: &str| Event::new(CustomEvent::message(&Msg::user("Alice", text)));
    /// let reply = Event::from_json(r#"{"type":"REPLY_START","session_id":"chat","reply_id":"r1","name":"Friday"}"#)?;
    /// session.append([&message("Hello"), &reply, &message("Are you there?")]).await?;
    ///
    /// let snapshot = session.snapshot().await?;
    /// let is_open: Vec<bool> = snapshot.items().map(|item| matches!(item, SnapshotItem::OpenReply(_))).collect();
    /// assert_eq!(is_open, [false, true, false]);
    /// # Ok(()) }
    /// ```
    pub fn items(&self) -> impl Iterator<Item = SnapshotItem<'_>> {
        let mut messages = self.messages.iter();
        let mut open = self.positions.iter().zip(&self.open).peekable();
        (0..self.messages.len() + self.open.len()).filter_map(move |index| {
            match open.next_if(|(position, _)| **position <= index) {
                Some((_, reply)) => Some(SnapshotItem::OpenReply(reply)),
                None => messages.next().map(SnapshotItem::Message),
            }
        })
    }

    /// Decodes the snapshot into a fold, which can apply the entries after the snapshot.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{Frame, Log, Start};
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let hello = Msg::user("Alice", "Hello");
    /// session.append([&Event::new(CustomEvent::message(&hello))]).await?;
    ///
    /// let snapshot = session.snapshot().await?;
    /// let fold = snapshot.to_fold()?;
    /// assert_eq!(fold.cursor(), snapshot.cursor.seq);
    /// assert!(fold.messages().eq([&hello]));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If a message or an open reply cannot be decoded.
    pub fn to_fold(&self) -> Result<Fold, DecodeError> {
        let replies = self.items().map(|item| match item {
            SnapshotItem::Message(message) => Ok(CheckpointReply { message: message.decode()?, call_floor: None }),
            SnapshotItem::OpenReply(reply) => reply.fold.checkpoint_reply(),
        });
        let replies = replies.collect::<Result<_, DecodeError>>()?;
        Ok(Fold::resume(Checkpoint { cursor: self.cursor.seq, replies, taken: Vec::new() }))
    }

    /// Encodes the snapshot as the frame that clients receive: `{messages, open, before}`. The field `places` is added only
    /// if the order of the open replies does not follow from the other fields.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::Log;
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let hello = Msg::user("Alice", "Hello");
    /// session.append([&Event::new(CustomEvent::message(&hello))]).await?;
    ///
    /// let frame = session.snapshot().await?.to_json();
    /// assert_eq!(frame, format!(r#"{{"messages":[{}],"open":{{}},"before":null}}"#, hello.to_json()));
    /// # Ok(()) }
    /// ```
    pub fn to_json(&self) -> String {
        let open = by_id(self.open.iter().map(|reply| (&*reply.id, &reply.fold)));
        let before = self.before.as_deref().map_or_else(Json::null, Json::from);
        let frame =
            ObjectWriter::new().array("messages", &self.messages).raw("open", open).raw("before", before.as_raw());
        if self.has_usual_order() {
            return frame.finish();
        }
        let positions = self.open.iter().zip(&self.positions);
        frame.raw("places", by_id(positions.map(|(reply, position)| (&*reply.id, position)))).finish()
    }

    /// Whether at most one reply is open, and it is the newest item. With two open replies the order is ambiguous, because
    /// not every JSON implementation keeps the order of an object's keys.
    fn has_usual_order(&self) -> bool {
        match self.positions.as_slice() {
            [] => true,
            [position] => *position == self.messages.len(),
            _ => false,
        }
    }
}

impl MessagePage {
    /// Reads the newest messages, or those before the message with an id. `None` if no message has that id.
    pub(crate) fn read(
        view: &dyn View,
        key: &SessionKey,
        before: Option<&str>,
        visibility: Visibility,
        count: usize,
        cache: &FoldCache,
    ) -> Result<Option<Self>, Error> {
        let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
        let cursor = Cursor { epoch: row.epoch, seq: row.head };
        let end = match before {
            None => u64::MAX,
            Some(id) => match start_of_message(view, key, id)? {
                Some(seq) => seq,
                None => return Ok(None),
            },
        };
        // One more than requested, to find out whether there are older messages.
        let complete = view.messages_before(key, end, visibility, count + 1)?.into_iter();
        let complete = complete.map(|MessageRow { id, start_seq, body, .. }| (start_seq, id, body));
        let mut open = cache.open_replies(view, key, cursor)?;
        open.retain(|reply| reply.start_seq < end && (visibility == Visibility::All || !reply.nested));
        let open = open.into_iter().filter_map(|reply| Some((reply.start_seq, reply.id, reply.fold.message()?)));
        let mut all: Vec<(u64, String, EncodedMessage)> = complete.chain(open).collect();
        all.sort_unstable_by_key(|(start_seq, ..)| *start_seq);
        let before = drop_oldest(&mut all, count, |(_, id, _)| id);
        Ok(Some(Self { messages: all.into_iter().map(|(_, _, body)| body).collect(), cursor, before }))
    }
}

impl FoundMessage {
    /// Looks up a message by its id, complete or open.
    pub(crate) fn read(view: &dyn View, key: &SessionKey, id: &str) -> Result<Option<Self>, Error> {
        let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
        let at = |seq| Cursor { epoch: row.epoch, seq };
        if let Some(reply) = view.open_reply_infos(key)?.into_iter().find(|reply| reply.id == id) {
            return Ok(Some(Self { start: at(reply.start_seq), is_reply: true, body: None }));
        }
        Ok(view.message(key, id)?.map(|MessageRow { start_seq, is_reply, body, .. }| Self {
            start: at(start_seq),
            is_reply,
            body: Some(body),
        }))
    }
}

/// Encodes an object from ids and values that are JSON already.
fn by_id<'i>(values: impl Iterator<Item = (&'i str, impl Display)>) -> String {
    values.fold(ObjectWriter::new(), |writer, (id, value)| writer.raw(id, value)).finish()
}

/// Drops the oldest items beyond `count`. Returns the id of the oldest item that is left, if any was dropped.
fn drop_oldest<T>(items: &mut Vec<T>, count: usize, id: impl Fn(&T) -> &String) -> Option<String> {
    let hidden = items.len().saturating_sub(count);
    items.drain(..hidden);
    items.first().filter(|_| hidden > 0).map(|item| id(item).clone())
}

/// The number of the first entry of a message, complete or open.
pub(crate) fn start_of_message(view: &dyn View, key: &SessionKey, id: &str) -> Result<Option<u64>, Error> {
    Ok(FoundMessage::read(view, key, id)?.map(|message| message.start.seq))
}

impl From<&TrackedReply> for OpenReply {
    fn from(reply: &TrackedReply) -> Self {
        let OpenReplyInfo { id, start_seq, hosted, nested } = reply.info.clone();
        Self { id, start_seq, hosted, nested, fold: EncodedReply::from(&reply.fold) }
    }
}

/// Rebuilds the replies that were open at an entry, as they were then.
pub(crate) fn open_replies_at(view: &dyn View, key: &SessionKey, seq: u64) -> Result<Vec<OpenReply>, Error> {
    let mut rows = view.open_replies(key)?;
    rows.retain(|row| row.info.start_seq <= seq);
    for MessageRow { id, start_seq, nested, .. } in view.messages_spanning(key, seq)? {
        let info = OpenReplyInfo { id, start_seq, hosted: false, nested };
        rows.push(OpenReplyRow { info, checkpoint: None });
    }
    Ok(rebuild_replies(view, key, rows, seq)?.iter().map(OpenReply::from).collect())
}
