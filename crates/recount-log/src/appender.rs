//! Ordered appends that need not be awaited one by one.

use crate::request::{AppendRequest, AppendSequence, Appended, Request};
use crate::session::Session;
use crate::storage::StateChange;
use crate::{Cursor, Error, Events, Lease};

/// Appends events to a session in order and without holes.
///
/// [`send`](Self::send) queues events and does not wait for their commit, for deltas. [`append`](Self::append) waits; when it
/// returns, all events that were sent before are durable too. After one append fails, all later ones fail, so no entry is
/// missing in the middle.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use recount_log::{LeaseRequest, Log};
/// use recount_message::{ReplyEnd, ReplyWriter, Stamps};
///
/// let session = Log::in_memory().create("chat".parse()?).await?;
/// let lease = session.lease(LeaseRequest::new("the reply", "run 1")).await?;
/// let appender = session.appender(Some(lease));
///
/// let mut events = Vec::new();
/// let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "chat", "Friday");
/// reply.text("Hello");
/// reply.end(ReplyEnd::completed());
///
/// let (last, deltas) = events.split_last().unwrap();
/// for delta in deltas {
///     appender.send(delta).await?;
/// }
/// let appended = appender.append(last).await?;
/// assert_eq!(appended.cursor.seq, events.len() as u64);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Appender {
    session: Session,
    lease: Option<Lease>,
    sequence: AppendSequence,
}

impl Appender {
    pub(crate) fn new(session: Session, lease: Option<Lease>) -> Self {
        Self { session, lease, sequence: AppendSequence::default() }
    }

    /// Queues events. Their order is fixed when this returns, and they are durable after the next [`append`](Self::append) or
    /// [`flush`](Self::flush). It only waits if the writer's queue is full.
    ///
    /// # Errors
    ///
    /// If an earlier append is known to have failed.
    pub async fn send(&self, events: impl Into<Events>) -> Result<(), Error> {
        if let Some(failure) = self.sequence.failure() {
            return Err(Error::Broken(failure));
        }
        self.session.log().send(Request::Append(self.request(events)), None).await
    }

    /// Appends events and waits until they and all earlier ones are durable.
    ///
    /// # Errors
    ///
    /// As [`Session::append`]; also if the lease is lost, or an earlier append has failed.
    pub async fn append(&self, events: impl Into<Events>) -> Result<Appended, Error> {
        self.session.request_append(self.request(events)).await
    }

    /// Appends events and stores documents in the same commit.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use recount_log::storage::StateChange;
    /// use recount_log::{Events, Log};
    ///
    /// let session = Log::in_memory().create("chat".parse()?).await?;
    /// let state = StateChange { name: "agent".to_owned(), body: Some(r#"{"iteration":3}"#.to_owned()) };
    /// session.appender(None).append_with(Events::default(), vec![state]).await?;
    /// assert_eq!(session.state("agent").await?.as_deref(), Some(r#"{"iteration":3}"#));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn append_with(&self, events: impl Into<Events>, states: Vec<StateChange>) -> Result<Appended, Error> {
        self.session.request_append(AppendRequest { states, ..self.request(events) }).await
    }

    /// Waits until all events that were sent are durable. Returns the head.
    ///
    /// # Errors
    ///
    /// If an earlier append failed.
    pub async fn flush(&self) -> Result<Cursor, Error> {
        Ok(self.append(Events::default()).await?.cursor)
    }

    fn request(&self, events: impl Into<Events>) -> AppendRequest {
        let (lease, sequence) = (self.lease.clone(), Some(self.sequence.clone()));
        AppendRequest { lease, sequence, ..self.session.append_request(events) }
    }
}
