//! Sessions in the making.

use crate::log::Log;
use crate::request::{AppendRequest, Appended, Request, Response};
use crate::storage::{SessionRow, StateChange};
use crate::{Error, Events, SessionKey};

/// A session in the making: history that is taken over from elsewhere, piece by piece.
///
/// Nobody sees it before it is [adopted](Self::adopt), which is one step. However long it is, no more than a piece of it is
/// in memory. If it is not adopted it is removed, at the latest when the log is opened again.
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
    /// Whether there is nothing left to remove.
    is_over: bool,
}

impl StagedSession {
    pub(crate) async fn create(log: &Log, key: SessionKey, properties: String) -> Result<Self, Error> {
        match log.request(Request::Stage { key: key.clone(), properties }).await? {
            Response::Created(row) => Ok(Self { log: log.clone(), draft: row.key, key, is_over: false }),
            _ => Err(Error::Closed),
        }
    }

    /// Appends events and waits until they are written. Inputs are not held to what replies wait for: they were taken where
    /// they come from.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub async fn append(&self, events: impl Into<Events>) -> Result<Appended, Error> {
        self.append_with(events, Vec::new()).await
    }

    /// Appends events and stores documents in the same commit.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub async fn append_with(&self, events: impl Into<Events>, states: Vec<StateChange>) -> Result<Appended, Error> {
        let mut request = AppendRequest::new(self.draft.clone(), events.into());
        request.checks_inputs = false;
        request.states = states;
        match self.log.request(Request::Append(request)).await? {
            Response::Appended(appended) => Ok(appended),
            _ => Err(Error::Closed),
        }
    }

    /// Makes the session of it.
    ///
    /// # Errors
    ///
    /// When there is one with that name. Nothing is left of the draft then.
    pub async fn publish(self) -> Result<SessionRow, Error> {
        self.end(false).await
    }

    /// Makes the session of it, in the place of one that may be there.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub async fn publish_replacing(self) -> Result<SessionRow, Error> {
        self.end(true).await
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// When the storage fails. It is gone when the log is opened again.
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
                // What cannot be removed now is removed at the next opening.
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
