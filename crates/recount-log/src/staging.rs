//! Sessions that are written in pieces before they become visible.

use crate::log::Log;
use crate::request::{AppendRequest, Appended, Request, Response};
use crate::storage::{SessionRow, StateChange};
use crate::{Error, Events, SessionKey};

/// A session that is hidden until it is published, for history that is imported in pieces.
///
/// [`publish`](Self::publish) makes it visible in one step. Only one piece at a time is in memory. A staged session that is
/// not published is deleted, at the latest when the log is opened again.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use recount_log::Log;
/// use recount_message::{CustomEvent, Event, Msg, Object};
///
/// let log = Log::in_memory();
/// let draft = log.stage("chat".parse()?, &Object::new()).await?;
/// for number in 0..3 {
///     let message = Msg::user("Alice", format!("message {number}"));
///     draft.append([&Event::new(CustomEvent::message(&message))]).await?;
/// }
/// assert!(log.sessions(None, None, 10).await?.is_empty());
///
/// let row = draft.publish().await?;
/// assert_eq!((row.key.name(), row.head), ("chat", 3));
/// assert_eq!(log.sessions(None, None, 10).await?, [row]);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct StagedSession {
    log: Log,
    draft: SessionKey,
    key: SessionKey,
    /// Whether the staged session was published or deleted.
    is_over: bool,
}

impl StagedSession {
    pub(crate) async fn create(log: &Log, key: SessionKey, properties: String) -> Result<Self, Error> {
        match log.request(Request::Stage { key: key.clone(), properties }).await? {
            Response::Created(row) => Ok(Self { log: log.clone(), draft: row.key, key, is_over: false }),
            _ => Err(Error::Closed),
        }
    }

    /// Appends events and waits until they are committed. Inputs are not validated, because they were accepted before.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub async fn append(&self, events: impl Into<Events>) -> Result<Appended, Error> {
        self.append_with(events, Vec::new()).await
    }

    /// Appends events and stores documents in the same commit.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub async fn append_with(&self, events: impl Into<Events>, states: Vec<StateChange>) -> Result<Appended, Error> {
        let mut request = AppendRequest::new(self.draft.clone(), events.into());
        request.checks_inputs = false;
        request.states = states;
        match self.log.request(Request::Append(request)).await? {
            Response::Appended(appended) => Ok(appended),
            _ => Err(Error::Closed),
        }
    }

    /// Publishes the session.
    ///
    /// # Errors
    ///
    /// [`Error::SessionExists`] if the key is in use. The staged session is deleted then.
    pub async fn publish(self) -> Result<SessionRow, Error> {
        self.end(false).await
    }

    /// Publishes the session and replaces an existing one with the same key.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub async fn publish_replacing(self) -> Result<SessionRow, Error> {
        self.end(true).await
    }

    /// Deletes the staged session.
    ///
    /// # Errors
    ///
    /// If the storage fails. The staged session is deleted when the log is opened again.
    pub async fn discard(mut self) -> Result<(), Error> {
        self.is_over = true;
        self.log.request(Request::Delete(self.draft.clone())).await.map(drop)
    }

    async fn end(mut self, replaces: bool) -> Result<SessionRow, Error> {
        let (draft, key) = (self.draft.clone(), self.key.clone());
        match self.log.request(Request::Publish { draft, key, replaces }).await {
            Ok(Response::Created(row)) => {
                self.is_over = true;
                Ok(row)
            }
            Ok(_) => Err(Error::Closed),
            Err(error) => {
                // If it cannot be deleted now, it is deleted when the log is opened again.
                let _ = self.discard().await;
                Err(error)
            }
        }
    }
}

impl Drop for StagedSession {
    fn drop(&mut self) {
        if !self.is_over {
            self.log.try_send(Request::Delete(self.draft.clone()));
        }
    }
}
