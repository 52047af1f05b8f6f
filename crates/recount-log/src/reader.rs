//! A reader of a session.

use std::collections::VecDeque;
use std::fmt;

use crate::hub::Subscriber;
use crate::log::Log;
use crate::subscription::{Frame, Subscription};
use crate::{Cursor, Error};

/// Somebody who reads a session: what is there, and then what comes.
///
/// It may be as slow as it likes. It is never dropped for it, it slows nobody down, and what is kept for it is bounded: a
/// reader that is behind reads the storage at its own pace.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use recount_log::{Frame, Log, Start};
/// use recount_message::{CustomEvent, Event, Msg};
///
/// let session = Log::in_memory().create("chat".parse()?).await?;
/// let message = |text: &str| Event::new(CustomEvent::message(&Msg::user("Alice", text)));
/// session.append([&message("Hello")]).await?;
///
/// let mut reader = session.subscribe(Start::Snapshot)?;
/// let Frame::Snapshot(snapshot) = reader.next().await? else { unreachable!() };
/// assert_eq!(snapshot.messages.len(), 1);
///
/// let event = message("Are you there?");
/// session.append([&event]).await?;
/// let Frame::Entry(entry) = reader.next().await? else { unreachable!() };
/// assert_eq!(entry.event, event.to_json());
///
/// // Dropped, and back at the cursor it had: nothing is missing and nothing comes twice.
/// let mut reader = session.subscribe(Start::After(snapshot.cursor))?;
/// assert_eq!(reader.next().await?, Frame::Entry(entry));
/// # Ok(()) }
/// ```
pub struct Reader {
    log: Log,
    join: Subscription,
    following: Subscriber,
    frames: VecDeque<Frame>,
}

impl Reader {
    pub(crate) fn new(log: Log, join: Subscription, following: Subscriber) -> Self {
        Self { log, join, following, frames: VecDeque::new() }
    }

    /// The next frame, as soon as there is one. To give up waiting loses nothing.
    ///
    /// # Errors
    ///
    /// When the session does not exist (any more), the storage cannot be read, or the log is closed.
    pub async fn next(&mut self) -> Result<Frame, Error> {
        loop {
            // What was committed before the end is read to the end.
            let is_over = self.following.is_over();
            if let Some(frame) = self.try_next().await? {
                return Ok(frame);
            }
            if is_over {
                return Err(Error::Closed);
            }
            self.following.rung().await;
        }
    }

    /// The next frame, if there is one by now. Nothing means that the reader has everything that is committed.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn try_next(&mut self) -> Result<Option<Frame>, Error> {
        if self.frames.is_empty() {
            let is_known = self.join.take(&self.following.tail(), &mut self.frames);
            if !is_known {
                let (mut join, folds) = (self.join.clone(), self.log.folds());
                let (join, frames) = self
                    .log
                    .read(move |view| {
                        let mut frames = VecDeque::new();
                        join.read(view, &folds, &mut frames)?;
                        Ok((join, frames))
                    })
                    .await?;
                self.join = join;
                self.frames = frames;
            }
        }
        Ok(self.frames.pop_front())
    }

    /// Frames that have been read already, without waiting for anything: what can be sent in one piece.
    pub fn drain_buffered(&mut self) -> impl Iterator<Item = Frame> {
        self.frames.drain(..)
    }

    /// The place after the last frame that was read ahead; nothing before the first.
    pub fn position(&self) -> Option<Cursor> {
        self.join.cursor()
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("join", &self.join).finish_non_exhaustive()
    }
}
