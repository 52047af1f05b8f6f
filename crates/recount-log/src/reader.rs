//! The reader of a session.

use std::collections::VecDeque;
use std::fmt;

use crate::hub::Subscriber;
use crate::log::Log;
use crate::subscription::{Frame, Subscription};
use crate::{Cursor, Error};

/// Reads a session from a start position: first the existing entries, then new ones as they are committed.
///
/// A slow reader is never dropped and never delays others, and its buffer is bounded: a reader that has fallen behind the
/// entries in memory reads from the storage.
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
/// assert_eq!(entry.decode()?, event);
///
/// // A reader that resumes at its last cursor misses nothing and receives nothing twice.
/// let mut reader = session.subscribe(Start::After(snapshot.cursor))?;
/// assert_eq!(reader.next().await?, Frame::Entry(entry));
/// # Ok(()) }
/// ```
pub struct Reader {
    log: Log,
    subscription: Subscription,
    subscriber: Subscriber,
    frames: VecDeque<Frame>,
}

impl Reader {
    pub(crate) fn new(log: Log, subscription: Subscription, subscriber: Subscriber) -> Self {
        Self { log, subscription, subscriber, frames: VecDeque::new() }
    }

    /// Waits for the next frame. Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// If the session does not exist or was deleted, the storage cannot be read, or the log is closed.
    pub async fn next(&mut self) -> Result<Frame, Error> {
        loop {
            // Checked before the entries are read, so that nothing committed before the end is missed.
            let is_closed = self.subscriber.is_closed();
            if let Some(frame) = self.try_next().await? {
                return Ok(frame);
            }
            if is_closed {
                return Err(Error::Closed);
            }
            self.subscriber.changed().await;
        }
    }

    /// Returns the next frame without waiting for new entries. `None` if the reader has received everything that is
    /// committed.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn try_next(&mut self) -> Result<Option<Frame>, Error> {
        if self.frames.is_empty() {
            let is_known = self.subscription.read_tail(&self.subscriber.tail(), &mut self.frames);
            if !is_known {
                let (mut subscription, cache) = (self.subscription.clone(), self.log.fold_cache());
                let (subscription, frames) = self
                    .log
                    .read(move |view| {
                        let mut frames = VecDeque::new();
                        subscription.read_storage(view, &cache, &mut frames)?;
                        Ok((subscription, frames))
                    })
                    .await?;
                self.subscription = subscription;
                self.frames = frames;
            }
        }
        Ok(self.frames.pop_front())
    }

    /// Returns the frames that are buffered, without waiting or reading, so that they can be sent together.
    pub fn drain_buffered(&mut self) -> impl Iterator<Item = Frame> {
        self.frames.drain(..)
    }

    /// The position after the last frame that was read, including buffered ones. `None` before the first frame.
    pub fn position(&self) -> Option<Cursor> {
        self.subscription.position()
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("subscription", &self.subscription).finish_non_exhaustive()
    }
}
