//! A session, as programs use it.

use std::time::Duration;

use recount_message::Object;

use crate::appender::Appender;
use crate::log::{Log, before};
use crate::reader::Reader;
use crate::request::{AppendRequest, Appended, Compacted, Request, Response};
use crate::snapshot::{MessagePage, OpenReply, SNAPSHOT_MESSAGES, Snapshot, open_at};
use crate::storage::{SessionRow, StateChange, Visibility};
use crate::subscription::Subscription;
use crate::{Cursor, Error, Events, GapReason, Lease, LeaseRequest, SessionKey, Start};

/// A session of a log. It is a handle, cheap to clone.
#[derive(Debug, Clone)]
pub struct Session {
    log: Log,
    key: SessionKey,
}

impl Session {
    pub(crate) fn new(log: Log, key: SessionKey) -> Self {
        Self { log, key }
    }

    /// Its name.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// The log that it belongs to.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// What is known about it, and where its head is.
    ///
    /// # Errors
    ///
    /// When it does not exist.
    pub async fn info(&self) -> Result<SessionRow, Error> {
        let key = self.key.clone();
        self.log.read(move |view| view.session(&key)?.ok_or(Error::UnknownSession(key))).await
    }

    /// Says something else about it.
    ///
    /// # Errors
    ///
    /// When it does not exist.
    pub async fn set_properties(&self, properties: &Object) -> Result<(), Error> {
        self.log.ask(Request::SetProperties { key: self.key.clone(), properties: properties.to_json() }).await.map(drop)
    }

    /// Removes it, and all that belongs to it.
    ///
    /// # Errors
    ///
    /// When it does not exist.
    pub async fn delete(&self) -> Result<(), Error> {
        self.log.ask(Request::Delete(self.key.clone())).await.map(drop)
    }

    /// Appends events and waits until they are durable.
    ///
    /// MessageStatus events are counted and not written again, so whoever did not get the answer sends the same events again.
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
    /// When an input does not fit (nothing of the batch is written then), or the storage fails.
    pub async fn append(&self, events: impl Into<Events>) -> Result<Appended, Error> {
        self.ask(self.request(events)).await
    }

    /// Appends events if a cursor is still the head; otherwise the error has the head.
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
    /// [`Error::Moved`] when it is not, and as [`append`](Self::append).
    pub async fn append_if(&self, head: Cursor, events: impl Into<Events>) -> Result<Appended, Error> {
        self.ask(AppendRequest { after: Some(head), ..self.request(events) }).await
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
        self.ask(AppendRequest { after: Some(head), states, ..self.request(events) }).await
    }

    /// A sequence of appends, which need not be waited for one by one.
    pub fn appender(&self, lease: Option<Lease>) -> Appender {
        Appender::new(self.clone(), lease)
    }

    /// Asks for a lease.
    ///
    /// When it is taken from somebody, whose time is over or by force, an entry says so (`recount.taken_over`).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::{Error, LeaseRequest, Log};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let lease = session.lease(LeaseRequest::new("reply-7", "run 1")).await?;
    /// let taken = session.lease(LeaseRequest::new("reply-7", "run 2")).await.unwrap_err();
    /// assert!(matches!(taken, Error::LeaseHeld { holder, .. } if holder == "run 1"));
    ///
    /// session.lease(LeaseRequest::new("reply-7", "run 2").force()).await?;
    /// assert!(matches!(session.release(lease).await.unwrap_err(), Error::LeaseLost { .. }));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LeaseHeld`] when somebody else has it.
    pub async fn lease(&self, request: LeaseRequest) -> Result<Lease, Error> {
        match self.log.ask(Request::Acquire { key: self.key.clone(), request }).await? {
            Response::Granted(lease) => Ok(lease),
            _ => Err(Error::Closed),
        }
    }

    /// Begins the time of a lease anew.
    ///
    /// # Errors
    ///
    /// [`Error::LeaseLost`] when somebody else has it by now.
    pub async fn renew(&self, lease: &Lease, time: Duration) -> Result<(), Error> {
        self.log.ask(Request::Renew { lease: lease.clone(), time }).await.map(drop)
    }

    /// Gives a lease back.
    ///
    /// # Errors
    ///
    /// [`Error::LeaseLost`] when somebody else has it by now.
    pub async fn release(&self, lease: Lease) -> Result<(), Error> {
        self.log.ask(Request::Release(lease)).await.map(drop)
    }

    /// Begins to read somewhere.
    ///
    /// # Errors
    ///
    /// When the log is closed. A session that does not exist is reported by the reader.
    pub fn subscribe(&self, start: Start) -> Result<Reader, Error> {
        self.subscribe_with(start, Visibility::All)
    }

    /// Begins to read somewhere, with snapshots that show certain messages.
    ///
    /// # Errors
    ///
    /// When the log is closed.
    pub fn subscribe_with(&self, start: Start, show: Visibility) -> Result<Reader, Error> {
        let following = self.log.hub().follow(&self.key).ok_or(Error::Closed)?;
        Ok(Reader::new(self.log.clone(), Subscription::new(self.key.clone(), start).showing(show), following))
    }

    /// The session at its head.
    ///
    /// # Errors
    ///
    /// When it does not exist.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let (key, folds) = (self.key.clone(), self.log.folds());
        self.log.read(move |view| Snapshot::of(view, &key, Visibility::All, SNAPSHOT_MESSAGES, &folds)).await
    }

    /// The newest messages, or those before the one with an id; nothing when there is no message with that id.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::Log;
    /// use recount_log::storage::Visibility;
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
    /// When the session does not exist.
    pub async fn messages(
        &self,
        before: Option<&str>,
        show: Visibility,
        count: usize,
    ) -> Result<Option<MessagePage>, Error> {
        let (key, before, folds) = (self.key.clone(), before.map(str::to_owned), self.log.folds());
        self.log.read(move |view| MessagePage::of(view, &key, before.as_deref(), show, count, &folds)).await
    }

    /// The replies that were open at a cursor, as they stood then. Each is folded again from its start.
    ///
    /// # Errors
    ///
    /// [`Error::Gap`] when the cursor is of another epoch, beyond the head, or inside of what was compacted.
    pub async fn open_at(&self, cursor: Cursor) -> Result<Vec<OpenReply>, Error> {
        let key = self.key.clone();
        self.log
            .read(move |view| {
                check_cursor(view, &key, cursor)?;
                open_at(view, &key, cursor.seq)
            })
            .await
    }

    /// The replies that are open at the head, as far as they have come.
    ///
    /// # Errors
    ///
    /// When the session does not exist.
    pub async fn open_replies(&self) -> Result<Vec<OpenReply>, Error> {
        let (key, folds) = (self.key.clone(), self.log.folds());
        self.log
            .read(move |view| {
                let row = view.session(&key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
                folds.open_states(view, &key, Cursor { epoch: row.epoch, seq: row.head })
            })
            .await
    }

    /// A document that was stored along with events, such as an agent's state.
    ///
    /// # Errors
    ///
    /// When the storage cannot be read.
    pub async fn state(&self, name: &str) -> Result<Option<String>, Error> {
        let (key, name) = (self.key.clone(), name.to_owned());
        self.log.read(move |view| Ok(view.state(&key, &name)?)).await
    }

    /// Joins the deltas of what was complete so long ago.
    ///
    /// A cursor inside of a joined entry gets a gap and a snapshot from then on; no message changes.
    ///
    /// # Errors
    ///
    /// When the session does not exist, or the storage fails.
    pub async fn compact(&self, older_than: Duration) -> Result<Compacted, Error> {
        let mut total = Compacted::default();
        let mut after = Some(0);
        while let Some(from) = after {
            let request = Request::Compact { key: self.key.clone(), after: from, before: before(older_than) };
            let Response::Compacted(stretch) = self.log.ask(request).await? else { return Err(Error::Closed) };
            total.entries += stretch.entries;
            total.rows += stretch.rows;
            after = stretch.next;
        }
        Ok(total)
    }

    pub(crate) fn request(&self, events: impl Into<Events>) -> AppendRequest {
        AppendRequest::new(self.key.clone(), events.into())
    }

    pub(crate) async fn ask(&self, request: AppendRequest) -> Result<Appended, Error> {
        match self.log.ask(Request::Append(request)).await? {
            Response::Appended(appended) => Ok(appended),
            _ => Err(Error::Closed),
        }
    }
}

/// Whether a session can be looked at as it was at a cursor.
pub(crate) fn check_cursor(
    view: &dyn crate::storage::View,
    key: &SessionKey,
    cursor: Cursor,
) -> Result<SessionRow, Error> {
    let row = view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))?;
    let gap = |reason| Err(Error::Gap { session: key.clone(), reason });
    if cursor.epoch != row.epoch {
        return gap(GapReason::Epoch);
    }
    if cursor.seq > row.head {
        return gap(GapReason::Future);
    }
    let next = view.entries(key, cursor.seq, crate::storage::Limit { count: 1, bytes: 0 })?;
    if next.first().is_some_and(|entry| entry.first <= cursor.seq) {
        return gap(GapReason::Compacted);
    }
    Ok(row)
}
