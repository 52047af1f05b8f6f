//! A subscriber: one reader of a session.

use std::sync::Arc;

use bytes::Bytes;
use recount_log::{Cursor, Error, Frame, GapReason, Reader, Session, Start};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::StreamFormat;
use super::chunk::{ChunkBuilder, ChunkSlice};
use super::direct_write::DirectWriteGuard;
use super::encoder::Encoder;
use super::encoder_state::{encoder_after_snapshot, encoder_at, resolve_start};
use super::feed::{Feed, FeedRead, Feeds};

/// The position at which a reader starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartPosition {
    Log(Start),
    /// The client's cursor is invalid: it receives a gap, and then a snapshot.
    InvalidCursor,
}

/// Reads a session from any position.
///
/// A subscriber first reads the log with an encoder of its own. Once it has reached the ring of the session's feed, it takes
/// the shared frames from there. If it falls behind the ring, it reads the log again. So a slow subscriber takes no memory.
#[derive(Debug)]
pub(crate) struct Subscriber {
    session: Session,
    format: StreamFormat,
    feeds: Arc<Feeds>,
    feed: Arc<Feed>,
    updates: watch::Receiver<()>,
    start: StartPosition,
    /// The position after the frames that were returned. `None` before the first.
    position: Option<Cursor>,
    log_reader: Option<Box<LogReader>>,
    direct_write: Option<DirectWriteGuard>,
    is_live: bool,
}

/// A reader of the log, for a position that is not in the feed.
#[derive(Debug)]
struct LogReader {
    reader: Reader,
    encoder: Encoder,
}

/// An item of a subscriber.
#[derive(Debug)]
pub(crate) enum Delivery {
    Frames(ChunkSlice),
    /// All existing entries were returned. Returned once.
    Live(Cursor),
}

/// An item of a subscriber whose frames are sent as bytes.
#[derive(Debug)]
pub(crate) enum SseDelivery {
    Frames(Bytes),
    Live(Cursor),
}

impl From<Delivery> for SseDelivery {
    fn from(delivery: Delivery) -> Self {
        match delivery {
            Delivery::Frames(slice) => Self::Frames(slice.bytes()),
            Delivery::Live(cursor) => Self::Live(cursor),
        }
    }
}

impl Subscriber {
    /// Subscribes to a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the session does not exist or the log is closed.
    pub(crate) async fn subscribe(
        feeds: &Arc<Feeds>,
        session: Session,
        format: StreamFormat,
        start: StartPosition,
    ) -> Result<Self, Error> {
        let (feed, updates) = feeds.subscribe(&session, &format).await?;
        let start = match start {
            StartPosition::Log(start) => StartPosition::Log(resolve_start(&session, start).await?),
            StartPosition::InvalidCursor => StartPosition::InvalidCursor,
        };
        Ok(Self {
            session,
            format,
            feeds: Arc::clone(feeds),
            feed,
            updates,
            start,
            position: None,
            log_reader: None,
            direct_write: None,
            is_live: false,
        })
    }

    /// Waits for the next item. Cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the session was deleted or the log is closed.
    pub(crate) async fn next(&mut self) -> Result<Delivery, Error> {
        loop {
            if let Some(delivery) = self.try_next().await? {
                return Ok(delivery);
            }
            // The feed reports its error before it is dropped.
            self.updates.changed().await.map_err(|_| Error::Closed)?;
        }
    }

    /// As [`next`](Self::next). While the subscriber is up to date, the feed writes new frames to the socket directly. The
    /// socket must be [reclaimed](Self::reclaim) before anything else is sent to it.
    ///
    /// # Errors
    ///
    /// Returns an error if the session was deleted or the log is closed.
    pub(crate) async fn next_with_direct_write(&mut self, socket: &Arc<TcpStream>) -> Result<SseDelivery, Error> {
        loop {
            if let Some(direct_write) = &mut self.direct_write {
                direct_write.released().await;
                if let Some(unsent) = self.reclaim() {
                    return Ok(SseDelivery::Frames(unsent));
                }
            }
            if let Some(delivery) = self.try_next().await? {
                return Ok(delivery.into());
            }
            self.direct_write = self.position.and_then(|position| self.feed.register(socket, position));
        }
    }

    /// Takes the socket back from the feed. Returns the bytes that must be sent before anything else.
    pub(crate) fn reclaim(&mut self) -> Option<Bytes> {
        let reclaimed = self.direct_write.take()?.reclaim()?;
        self.position = Some(reclaimed.position);
        Some(reclaimed.unsent).filter(|unsent| !unsent.is_empty())
    }

    /// Returns the next item if there is one now.
    async fn try_next(&mut self) -> Result<Option<Delivery>, Error> {
        loop {
            self.updates.mark_unchanged();
            match self.position.map(|position| (position, self.feed.read(position))) {
                Some((_, FeedRead::Frames(slice, position))) => {
                    self.log_reader = None;
                    self.position = Some(position);
                    if !slice.is_empty() {
                        return Ok(Some(Delivery::Frames(slice)));
                    }
                }
                Some((position, FeedRead::UpToDate)) => {
                    self.log_reader = None;
                    let was_live = std::mem::replace(&mut self.is_live, true);
                    return Ok((!was_live).then_some(Delivery::Live(position)));
                }
                Some((_, FeedRead::Ended(error))) => return Err(error),
                None | Some((_, FeedRead::OutOfRange)) => {
                    // Boxed to keep the future of a waiting subscriber small.
                    if let Some(slice) = Box::pin(self.read_log()).await? {
                        return Ok(Some(Delivery::Frames(slice)));
                    }
                }
            }
        }
    }

    /// Reads entries from the log. `None` means that they have no frames, or that the feed has changed.
    async fn read_log(&mut self) -> Result<Option<ChunkSlice>, Error> {
        let mut out = ChunkBuilder::default();
        let mut log_reader = match self.log_reader.take() {
            Some(log_reader) => log_reader,
            None => {
                let (start, encoder) = match (self.position, self.start) {
                    (Some(position), _) => (Start::After(position), self.encoder_at(Some(position)).await?),
                    (None, StartPosition::Log(Start::After(cursor))) => {
                        let encoder = self.encoder_at(Some(cursor)).await?;
                        encoder.resumed(cursor, &mut out);
                        (Start::After(cursor), encoder)
                    }
                    (None, StartPosition::Log(start)) => (start, self.encoder_at(None).await?),
                    (None, StartPosition::InvalidCursor) => {
                        let encoder = self.encoder_at(None).await?;
                        encoder.gap(GapReason::Epoch, &mut out);
                        (Start::Snapshot, encoder)
                    }
                };
                let reader = self.session.subscribe_with(start, self.format.visibility())?;
                Box::new(LogReader { reader, encoder })
            }
        };
        let first = match log_reader.reader.try_next().await? {
            Some(frame) => frame,
            None if self.position.is_none() => {
                // There are no entries after the start position.
                self.position = log_reader.reader.position();
                return Ok(slice_of(out, self.position));
            }
            // The feed is behind this position, or has another epoch. One of them will change.
            None => tokio::select! {
                frame = log_reader.reader.next() => frame?,
                _ = self.updates.changed() => {
                    self.log_reader = Some(log_reader);
                    return Ok(None);
                }
            },
        };
        let (mut last, mut uploads) = (self.position, Vec::new());
        let frames: Vec<Frame> = std::iter::once(first).chain(log_reader.reader.drain_buffered()).collect();
        for frame in frames {
            match frame {
                Frame::Entry(entry) => {
                    log_reader.encoder.entry(&entry, &mut out);
                    uploads.append(&mut log_reader.encoder.take_uploads());
                    last = Some(entry.cursor);
                }
                Frame::Gap(reason) => self.encoder_at(None).await?.gap(reason, &mut out),
                Frame::Snapshot(snapshot) => {
                    log_reader.encoder = encoder_after_snapshot(&self.session, &self.format, &snapshot).await?;
                    log_reader.encoder.snapshot(&snapshot, &mut out);
                    uploads.append(&mut log_reader.encoder.take_uploads());
                    last = Some(snapshot.cursor);
                }
                _ => {}
            }
        }
        self.feeds.blobs().store(&self.session, uploads).await?;
        self.position = last;
        self.log_reader = Some(log_reader);
        Ok(slice_of(out, last))
    }

    async fn encoder_at(&self, position: Option<Cursor>) -> Result<Encoder, Error> {
        encoder_at(&self.session, &self.format, position).await
    }
}

fn slice_of(out: ChunkBuilder, position: Option<Cursor>) -> Option<ChunkSlice> {
    let seq = position.map_or(0, |cursor| cursor.seq);
    (!out.is_empty()).then(|| ChunkSlice::whole(out.finish(seq)))
}
