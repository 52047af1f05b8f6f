//! The handle of one session.

use std::time::Duration;

use recount_message::Object;

use crate::appender::Appender;
use crate::frame_stream::FrameStream;
use crate::input_reader::InputReader;
use crate::log::{Log, before};
use crate::reader::Reader;
use crate::rebuild::{RebuiltReplies, rebuild_without_late_inputs};
use crate::request::{AppendRequest, Appended, Compacted, Request, Response};
use crate::snapshot::{FoundMessage, MessagePage, OpenReply, SNAPSHOT_MESSAGES, Snapshot, open_replies_at};
use crate::storage::{OpenReplyInfo, PageLimit, SessionRow, StateChange, View, Visibility};
use crate::subscription::Subscription;
use crate::{Cursor, Error, Events, GapReason, Lease, LeaseRequest, SessionKey, Start};

/// A session of a log. The handle is cheap to clone.
#[derive(Debug, Clone)]
pub struct Session {
    log: Log,
    key: SessionKey,
}

impl Session {
    pub(crate) fn new(log: Log, key: SessionKey) -> Self {
        Self { log, key }
    }

    /// The key of the session.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// The log that the session belongs to.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the session's properties and head.
    ///
    /// # Errors
    ///
    /// If the session does not exist.
    pub async fn info(&self) -> Result<SessionRow, Error> {
        let key = self.key.clone();
        self.log.read(move |view| view.session(&key)?.ok_or(Error::UnknownSession(key))).await
    }

    /// Replaces the session's properties.
    ///
    /// # Errors
    ///
    /// If the session does not exist.
    pub async fn set_properties(&self, properties: &Object) -> Result<(), Error> {
        let (key, properties) = (self.key.clone(), properties.to_json());
        self.log.request(Request::SetProperties { key, properties }).await.map(drop)
    }

    /// Deletes the session with all its data.
    ///
    /// # Errors
    ///
    /// If the session does not exist.
    pub async fn delete(&self) -> Result<(), Error> {
        self.log.request(Request::Delete(self.key.clone())).await.map(drop)
    }

    /// Appends events and waits until they are durable.
    ///
    /// Events that the log already has are counted and not written again. A caller that received no response can therefore
    /// send the same events again.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::Log;
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let hello = Event::new(CustomEvent::message(&Msg::user("Alice", "Hello")));
    /// let first = session.append([&hello]).await?;
    /// let again = session.append([&hello]).await?;
    /// assert_eq!((first.written, first.duplicates), (1, 0));
    /// assert_eq!((again.written, again.duplicates), (0, 1));
    /// assert_eq!(again.cursor, first.cursor);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if an input is invalid, in which case nothing of the batch is written; otherwise if the storage
    /// fails.
    pub async fn append(&self, events: impl Into<Events>) -> Result<Appended, Error> {
        self.request_append(self.append_request(events)).await
    }

    /// Appends events if a cursor is still the head.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{Error, Log};
    /// use recount_message::{CustomEvent, Event, Object};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let note = || Event::new(CustomEvent::signal("note", Object::new()));
    /// let head = session.append([&note()]).await?.cursor;
    /// session.append_if(head, [&note()]).await?;
    /// let late = session.append_if(head, [&note()]).await.unwrap_err();
    /// assert!(matches!(late, Error::Moved { head: now, .. } if now.seq == 2));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Moved`] with the current head if the cursor is not the head; otherwise as [`append`](Self::append).
    pub async fn append_if(&self, head: Cursor, events: impl Into<Events>) -> Result<Appended, Error> {
        self.request_append(AppendRequest { after: Some(head), ..self.append_request(events) }).await
    }

    /// Appends events and stores documents in the same commit, if a cursor is still the head.
    ///
    /// # Errors
    ///
    /// As [`append_if`](Self::append_if).
    pub async fn append_if_with(
        &self,
        head: Cursor,
        events: impl Into<Events>,
        states: Vec<StateChange>,
    ) -> Result<Appended, Error> {
        self.request_append(AppendRequest { after: Some(head), states, ..self.append_request(events) }).await
    }

    /// Creates an appender, whose appends keep their order and need not be awaited one by one.
    pub fn appender(&self, lease: Option<Lease>) -> Appender {
        Appender::new(self.clone(), lease)
    }

    /// Acquires a lease.
    ///
    /// Taking over the lease of another holder, by force or after it expired, appends a `recount.taken_over` entry.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{Error, LeaseRequest, Log};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let lease = session.lease(LeaseRequest::new("reply-7", "run 1")).await?;
    /// let held = session.lease(LeaseRequest::new("reply-7", "run 2")).await.unwrap_err();
    /// assert!(matches!(held, Error::LeaseHeld { holder, .. } if holder == "run 1"));
    ///
    /// session.lease(LeaseRequest::new("reply-7", "run 2").force()).await?;
    /// assert!(matches!(session.release(lease).await.unwrap_err(), Error::LeaseLost { .. }));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LeaseHeld`] if another holder has an unexpired lease.
    pub async fn lease(&self, request: LeaseRequest) -> Result<Lease, Error> {
        match self.log.request(Request::Acquire { key: self.key.clone(), request }).await? {
            Response::Granted(lease) => Ok(lease),
            _ => Err(Error::Closed),
        }
    }

    /// Renews a lease. It expires after `ttl` from now.
    ///
    /// # Errors
    ///
    /// [`Error::LeaseLost`] if the lease was taken over or released.
    pub async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<(), Error> {
        self.log.request(Request::Renew { lease: lease.clone(), ttl }).await.map(drop)
    }

    /// Releases a lease.
    ///
    /// # Errors
    ///
    /// [`Error::LeaseLost`] if the lease was taken over or released.
    pub async fn release(&self, lease: Lease) -> Result<(), Error> {
        self.log.request(Request::Release(lease)).await.map(drop)
    }

    /// Subscribes to the session from a start position.
    ///
    /// # Errors
    ///
    /// If the log is closed. If the session does not exist, the reader returns the error.
    pub fn subscribe(&self, start: Start) -> Result<Reader, Error> {
        self.subscribe_with(start, Visibility::All)
    }

    /// Subscribes to the session from a start position. `visibility` applies to snapshots only; entries are never filtered.
    ///
    /// # Errors
    ///
    /// As [`subscribe`](Self::subscribe).
    pub fn subscribe_with(&self, start: Start, visibility: Visibility) -> Result<Reader, Error> {
        let subscriber = self.log.hub().subscribe(&self.key).ok_or(Error::Closed)?;
        let subscription = Subscription::new(self.key.clone(), start).with_visibility(visibility);
        Ok(Reader::new(self.log.clone(), subscription, subscriber))
    }

    /// Subscribes to the session as a stream of frames.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::future::poll_fn;
    /// use std::pin::pin;
    ///
    /// use futures_core::Stream as _;
    /// use recount_log::{Frame, Log, Start};
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let hello = Event::new(CustomEvent::message(&Msg::user("Alice", "Hello")));
    /// session.append([&hello]).await?;
    ///
    /// let mut frames = pin!(session.follow(Start::Beginning)?);
    /// let frame = poll_fn(|context| frames.as_mut().poll_next(context)).await;
    /// assert!(matches!(frame, Some(Ok(Frame::Entry(entry))) if entry.decode()? == hello));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`subscribe`](Self::subscribe).
    pub fn follow(&self, start: Start) -> Result<FrameStream, Error> {
        self.subscribe(start).map(FrameStream::new)
    }

    /// Subscribes to the inputs of the session after a cursor.
    ///
    /// # Errors
    ///
    /// If the log is closed.
    pub fn subscribe_inputs(&self, after: Cursor) -> Result<InputReader, Error> {
        let subscriber = self.log.hub().subscribe_inputs(&self.key).ok_or(Error::Closed)?;
        Ok(InputReader::new(self.log.clone(), self.key.clone(), subscriber, after))
    }

    /// Reads a snapshot of the session at its head.
    ///
    /// # Errors
    ///
    /// If the session does not exist.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let (key, cache) = (self.key.clone(), self.log.fold_cache());
        self.log.read(move |view| Snapshot::read(view, &key, Visibility::All, SNAPSHOT_MESSAGES, &cache)).await
    }

    /// Reads the newest messages, or those before the message with the id `before`. `None` if no message has that id.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{Log, Visibility};
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// for number in 1..=3 {
    ///     let message = Msg::user("Alice", format!("message {number}")).with_id(format!("m{number}"));
    ///     session.append([&Event::new(CustomEvent::message(&message))]).await?;
    /// }
    /// let newest = session.messages(None, Visibility::All, 2).await?.unwrap();
    /// assert_eq!((newest.messages.len(), newest.before.as_deref()), (2, Some("m2")));
    /// let oldest = session.messages(Some("m2"), Visibility::All, 2).await?.unwrap();
    /// assert_eq!((oldest.messages.len(), oldest.before), (1, None));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the session does not exist.
    pub async fn messages(
        &self,
        before: Option<&str>,
        visibility: Visibility,
        count: usize,
    ) -> Result<Option<MessagePage>, Error> {
        let (key, before, cache) = (self.key.clone(), before.map(str::to_owned), self.log.fold_cache());
        self.log.read(move |view| MessagePage::read(view, &key, before.as_deref(), visibility, count, &cache)).await
    }

    /// Looks up a message by its id, complete or open.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::Log;
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let hello = Msg::user("Alice", "Hello").with_id("m1");
    /// session.append([&Event::new(CustomEvent::message(&hello))]).await?;
    ///
    /// let found = session.find_message("m1").await?.unwrap();
    /// assert_eq!((found.start.seq, found.body.unwrap().decode()?), (1, hello));
    /// assert_eq!(session.find_message("m2").await?, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the session does not exist.
    pub async fn find_message(&self, id: &str) -> Result<Option<FoundMessage>, Error> {
        let (key, id) = (self.key.clone(), id.to_owned());
        self.log.read(move |view| FoundMessage::read(view, &key, &id)).await
    }

    /// Looks up an event by its id among the last [`WINDOW`](crate::WINDOW) entries. Returns the position after its entry.
    ///
    /// The result is consistent with deduplication: appending an event that was found writes nothing.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::Log;
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let hello = Event::new(CustomEvent::message(&Msg::user("Alice", "Hello")));
    /// let appended = session.append([&hello]).await?;
    /// assert_eq!(session.find_event(&hello.id).await?, Some(appended.cursor));
    /// assert_eq!(session.find_event("another").await?, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the session does not exist, or the storage fails.
    pub async fn find_event(&self, id: &str) -> Result<Option<Cursor>, Error> {
        let (key, event_id) = (self.key.clone(), id.to_owned());
        match self.log.request(Request::FindEvent { key, event_id }).await? {
            Response::Found(cursor) => Ok(cursor),
            _ => Err(Error::Closed),
        }
    }

    /// Rebuilds the replies that were open at a cursor, as they were then.
    ///
    /// # Errors
    ///
    /// [`Error::Gap`] if the cursor belongs to another epoch, is beyond the head, or is inside of compacted entries.
    pub async fn open_replies_at(&self, cursor: Cursor) -> Result<Vec<OpenReply>, Error> {
        let key = self.key.clone();
        let open = self.log.read(move |view| {
            check_cursor(view, &key, cursor)?;
            open_replies_at(view, &key, cursor.seq)
        });
        open.await
    }

    /// Returns the replies that are open at the head.
    ///
    /// # Errors
    ///
    /// If the session does not exist.
    pub async fn open_replies(&self) -> Result<Vec<OpenReply>, Error> {
        let (key, cache) = (self.key.clone(), self.log.fold_cache());
        let open = self.log.read(move |view| {
            let row = view.session(&key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
            cache.open_replies(view, &key, Cursor { epoch: row.epoch, seq: row.head })
        });
        open.await
    }

    /// Rebuilds the selected open replies, leaving out the inputs after the entry `inputs_until`.
    ///
    /// This is what an agent needs to resume its reply: the fold without the inputs that it has not handled yet, and those
    /// inputs in order. [`subscribe_inputs`](Self::subscribe_inputs) with the returned cursor continues from there.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::Log;
    /// use recount_message::{Event, UserInterruptEvent};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"chat","reply_id":"r1","name":"Friday"}"#)?;
    /// session.append([&start, &Event::new(UserInterruptEvent::new("r1"))]).await?;
    ///
    /// let rebuilt = session.rebuild_open_replies(|reply| reply.id == "r1", 1).await?;
    /// assert_eq!(rebuilt.replies[0].fold.message().id(), "r1");
    /// assert_eq!(rebuilt.pending_inputs[0].cursor.seq, 2);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// If the session does not exist, or an entry cannot be decoded.
    pub async fn rebuild_open_replies(
        &self,
        select: impl Fn(&OpenReplyInfo) -> bool + Send + 'static,
        inputs_until: u64,
    ) -> Result<RebuiltReplies, Error> {
        let key = self.key.clone();
        self.log.read(move |view| rebuild_without_late_inputs(view, &key, select, inputs_until)).await
    }

    /// Returns a document that was stored with events, such as an agent's state.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    pub async fn state(&self, name: &str) -> Result<Option<String>, Error> {
        let (key, name) = (self.key.clone(), name.to_owned());
        self.log.read(move |view| Ok(view.state(&key, &name)?)).await
    }

    /// Compacts the session: merges the deltas of replies that ended at least this long ago.
    ///
    /// Messages do not change. A cursor inside of a merged entry gets a gap and a snapshot from then on.
    ///
    /// # Errors
    ///
    /// If the session does not exist, or the storage fails.
    pub async fn compact(&self, older_than: Duration) -> Result<Compacted, Error> {
        let mut total = Compacted::default();
        let mut after = Some(0);
        while let Some(from) = after {
            let request = Request::Compact { key: self.key.clone(), after: from, before: before(older_than) };
            let Response::Compacted(page) = self.log.request(request).await? else { return Err(Error::Closed) };
            total.entries += page.entries;
            total.rows += page.rows;
            after = page.next;
        }
        Ok(total)
    }

    pub(crate) fn append_request(&self, events: impl Into<Events>) -> AppendRequest {
        AppendRequest::new(self.key.clone(), events.into())
    }

    pub(crate) async fn request_append(&self, request: AppendRequest) -> Result<Appended, Error> {
        match self.log.request(Request::Append(request)).await? {
            Response::Appended(appended) => Ok(appended),
            _ => Err(Error::Closed),
        }
    }
}

/// Checks that the state of a session at a cursor can be rebuilt.
pub(crate) fn check_cursor(view: &dyn View, key: &SessionKey, cursor: Cursor) -> Result<SessionRow, Error> {
    let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
    let gap = |reason| Err(Error::Gap { session: key.clone(), reason });
    if cursor.epoch != row.epoch {
        return gap(GapReason::Epoch);
    }
    if cursor.seq > row.head {
        return gap(GapReason::Future);
    }
    let next = view.entries(key, cursor.seq, PageLimit { count: 1, bytes: 0 })?;
    if next.first().is_some_and(|entry| entry.first <= cursor.seq) {
        return gap(GapReason::Compacted);
    }
    Ok(row)
}
