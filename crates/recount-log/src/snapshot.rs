//! What a session looks like at a place.

use std::fmt::Display;
use std::sync::Arc;

use recount_message::wire::ObjectWriter;
use recount_message::{Json, Msg, Object};

use crate::fold_cache::FoldCache;
use crate::rebuild::fold_replies;
use crate::replies::TrackedReply;
use crate::storage::{MessageRow, OpenReplyInfo, OpenReplyRow, View, Visibility};
use crate::{Cursor, Error, SessionKey};

/// How many complete messages a snapshot shows.
pub const SNAPSHOT_MESSAGES: usize = 50;

/// A session at its head: its newest complete messages, and the replies that are open, as far as they have come.
///
/// Whoever folds the entries after its cursor on top of it has what everybody else has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Where it is true.
    pub cursor: Cursor,
    /// The newest complete messages in native JSON, oldest first.
    pub messages: Vec<String>,
    /// The open replies, in the order in which they began.
    pub open: Vec<OpenReply>,
    /// Id of the oldest message shown, if there are older ones.
    pub before: Option<String>,
    /// Where each of the open replies stands: its index among `messages` and `open` together, in the order in which they
    /// began.
    pub positions: Vec<usize>,
}

/// What a snapshot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotItem<'s> {
    /// A complete message in native JSON.
    Message(&'s str),
    /// An open reply.
    OpenReply(&'s OpenReply),
}

/// An open reply as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReply {
    /// Id of the reply.
    pub id: String,
    /// The number of the entry that began it.
    pub start_seq: u64,
    /// Whether a run of this service writes it.
    pub hosted: bool,
    /// Whether it is a part of another reply.
    pub nested: bool,
    /// Its fold, as an item of a checkpoint's `replies`: `{message, call_floor}`. Shared by all who ask at the same place,
    /// since a long reply weighs as much as everything before it.
    pub fold: Arc<str>,
}

/// Some messages of a session, and where to ask for older ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePage {
    /// The messages in native JSON, oldest first; open replies as they stand.
    pub messages: Vec<String>,
    /// Where this is true.
    pub cursor: Cursor,
    /// Id of the oldest message here, if there are older ones.
    pub before: Option<String>,
}

impl Snapshot {
    /// The snapshot of a session in a view.
    pub(crate) fn of(
        view: &dyn View,
        key: &SessionKey,
        show: Visibility,
        count: usize,
        folds: &FoldCache,
    ) -> Result<Self, Error> {
        let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
        let (messages, before) = page(view, key, u64::MAX, show, count)?;
        let cursor = Cursor { epoch: row.epoch, seq: row.head };
        let mut open = folds.open_states(view, key, cursor)?;
        open.retain(|reply| show == Visibility::All || !reply.nested);
        let place = |(index, reply): (usize, &OpenReply)| {
            index + messages.partition_point(|message| message.start_seq < reply.start_seq)
        };
        let positions = open.iter().enumerate().map(place).collect();
        let messages = messages.into_iter().map(|message| message.body).collect();
        Ok(Self { cursor, messages, open, before, positions })
    }

    /// Everything that it shows, in the order in which it began.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{Log, SnapshotItem};
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let say = |text: &str| Event::new(CustomEvent::message(&Msg::user("Alice", text)));
    /// let reply = Event::from_json(r#"{"type":"REPLY_START","session_id":"chat","reply_id":"r1","name":"Friday"}"#)?;
    /// session.append([&say("Hello"), &reply, &say("Are you there?")]).await?;
    ///
    /// let snapshot = session.snapshot().await?;
    /// let is_open: Vec<bool> = snapshot.items().map(|shown| matches!(shown, SnapshotItem::OpenReply(_))).collect();
    /// assert_eq!(is_open, [false, true, false]);
    /// # Ok(()) }
    /// ```
    pub fn items(&self) -> impl Iterator<Item = SnapshotItem<'_>> {
        let mut messages = self.messages.iter();
        let mut open = self.positions.iter().zip(&self.open).peekable();
        (0..self.messages.len() + self.open.len()).filter_map(move |index| {
            match open.next_if(|(place, _)| **place <= index) {
                Some((_, reply)) => Some(SnapshotItem::OpenReply(reply)),
                None => messages.next().map(|message| SnapshotItem::Message(message)),
            }
        })
    }

    /// The snapshot as the frame that clients get: `{messages, open, before}`. Only where an open reply is not simply the
    /// newest of all, `places` says where each of them stands.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{Log, Options};
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let log = Log::in_memory();
    /// let session = log.create("chat".parse()?).await?;
    /// let hello = Msg::user("Alice", "Hello");
    /// session.append([&Event::new(CustomEvent::message(&hello))]).await?;
    ///
    /// let frame = session.snapshot().await?.to_json();
    /// assert_eq!(frame, format!(r#"{{"messages":[{}],"open":{{}},"before":null}}"#, hello.to_json()));
    /// # Ok(()) }
    /// ```
    pub fn to_json(&self) -> String {
        let open = object_by_id(self.open.iter().map(|reply| (&*reply.id, &*reply.fold)));
        let json = ObjectWriter::new()
            .array("messages", &self.messages)
            .raw("open", open)
            .raw("before", Json::from(self.before.as_deref()));
        if self.has_usual_order() {
            return json.finish();
        }
        let places = self.open.iter().zip(&self.positions);
        json.raw("places", object_by_id(places.map(|(reply, place)| (&*reply.id, place)))).finish()
    }

    /// Whether nothing is open, or one reply that is the newest of all. The keys of an object have no order that everybody
    /// keeps, so of two open ones it has to be said.
    fn has_usual_order(&self) -> bool {
        match self.positions.as_slice() {
            [] => true,
            [place] => *place == self.messages.len(),
            _ => false,
        }
    }
}

/// Returns an object with a field for each id. The values display as JSON.
fn object_by_id<'i>(values: impl Iterator<Item = (&'i str, impl Display)>) -> String {
    values.fold(ObjectWriter::new(), |object, (id, value)| object.raw(id, value)).finish()
}

impl MessagePage {
    /// The messages before the one with an id, or the newest ones.
    pub(crate) fn of(
        view: &dyn View,
        key: &SessionKey,
        before: Option<&str>,
        show: Visibility,
        count: usize,
        folds: &FoldCache,
    ) -> Result<Option<Self>, Error> {
        let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
        let cursor = Cursor { epoch: row.epoch, seq: row.head };
        let place = match before {
            None => u64::MAX,
            Some(id) => match place_of(view, key, id)? {
                Some(place) => place,
                None => return Ok(None),
            },
        };
        let open = folds.open_states(view, key, cursor)?;
        // One more than is shown tells whether there are older ones.
        let finished = view.messages_before(key, place, show, count + 1)?.into_iter().map(|message| {
            let MessageRow { id, start_seq: place, body, .. } = message;
            (place, id, body)
        });
        let open =
            open.into_iter().filter(|reply| reply.start_seq < place && (show == Visibility::All || !reply.nested));
        let mut all: Vec<(u64, String, String)> =
            finished.chain(open.map(|reply| (reply.start_seq, reply.id, message_in(&reply.fold)))).collect();
        all.sort_unstable_by_key(|(place, ..)| *place);
        let hidden = all.len().saturating_sub(count);
        all.drain(..hidden);
        let before = all.first().filter(|_| hidden > 0).map(|(_, id, _)| id.clone());
        Ok(Some(Self { messages: all.into_iter().map(|(_, _, body)| body).collect(), cursor, before }))
    }
}

/// The number of the entry that begins a message, complete or open.
pub(crate) fn place_of(view: &dyn View, key: &SessionKey, id: &str) -> Result<Option<u64>, Error> {
    if let Some(reply) = view.open_reply_infos(key)?.into_iter().find(|reply| reply.id == id) {
        return Ok(Some(reply.start_seq));
    }
    Ok(view.message(key, id)?.map(|message| message.start_seq))
}

/// The message in an item of a checkpoint's `replies`.
fn message_in(fold: &str) -> String {
    let message = Object::parse(fold).ok().and_then(|item| item.get("message").cloned());
    message
        .and_then(|message| Msg::from_json(message.as_raw()).ok())
        .map(|message| message.to_json())
        .unwrap_or_default()
}

/// The newest messages before a place, and the oldest one's id if there are older ones.
fn page(
    view: &dyn View,
    key: &SessionKey,
    place: u64,
    show: Visibility,
    count: usize,
) -> Result<(Vec<MessageRow>, Option<String>), Error> {
    let mut messages = view.messages_before(key, place, show, count + 1)?;
    let hidden = messages.len().saturating_sub(count);
    messages.drain(..hidden);
    let before = messages.first().filter(|_| hidden > 0).map(|message| message.id.clone());
    Ok((messages, before))
}

impl OpenReply {
    pub(crate) fn of(reply: &TrackedReply) -> Self {
        let OpenReplyInfo { id, start_seq, hosted, nested } = reply.opened.clone();
        Self { id, start_seq, hosted, nested, fold: reply.to_json().into() }
    }
}

/// The replies that were open at an entry, as they stood then. They are folded again from their start.
pub(crate) fn open_at(view: &dyn View, key: &SessionKey, seq: u64) -> Result<Vec<OpenReply>, Error> {
    let mut rows: Vec<OpenReplyRow> =
        view.open_replies(key)?.into_iter().filter(|row| row.opened.start_seq <= seq).collect();
    for message in view.messages_spanning(key, seq)? {
        let opened =
            OpenReplyInfo { id: message.id, start_seq: message.start_seq, hosted: false, nested: message.nested };
        rows.push(OpenReplyRow { opened, checkpoint: None });
    }
    Ok(fold_replies(view, key, rows, seq)?.iter().map(OpenReply::of).collect())
}
