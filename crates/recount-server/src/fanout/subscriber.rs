//! Somebody who reads a session.

use std::sync::Arc;

use bytes::Bytes;
use recount_log::storage::Visibility;
use recount_log::{Cursor, Error, Frame, GapReason, Reader, Session, Start};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::StreamFormat;
use super::chunk::{ChunkBuilder, ChunkSlice};
use super::direct_write::DirectWriteGuard;
use super::encoder::Encoder;
use super::encoder_state::{encoder_after_snapshot, encoder_at, settled};
use super::feed::{Feed, FeedRead, Feeds};

/// Where a reader begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartPosition {
    /// At a place of the log.
    Log(Start),
    /// At a place that cannot be read: a gap, and then a snapshot.
    InvalidCursor,
}

/// Reads a session, from anywhere, for as long as it likes.
///
/// It reads the log by itself until it has come to what everybody gets, and takes that from then on. When it falls behind,
/// it reads the log again. Nothing is kept for it.
#[derive(Debug)]
pub(crate) struct Subscriber {
    session: Session,
    style: StreamFormat,
    feeds: Arc<Feeds>,
    feed: Arc<Feed>,
    bell: watch::Receiver<()>,
    from: StartPosition,
    at: Option<Cursor>,
    own: Option<Box<Own>>,
    lent: Option<DirectWriteGuard>,
    is_live: bool,
}

/// A reader of the log that is at another place than most.
#[derive(Debug)]
struct Own {
    reader: Reader,
    encoder: Encoder,
}

/// What a reader gets.
#[derive(Debug)]
pub(crate) enum Delivery {
    Frames(ChunkSlice),
    /// It has everything that is there; said once.
    Live(Cursor),
}

/// The same for who only sends it.
#[derive(Debug)]
pub(crate) enum SseDelivery {
    Frames(Bytes),
    Live(Cursor),
}

impl From<Delivery> for SseDelivery {
    fn from(next: Delivery) -> Self {
        match next {
            Delivery::Frames(slice) => Self::Frames(slice.bytes()),
            Delivery::Live(cursor) => Self::Live(cursor),
        }
    }
}

impl Subscriber {
    /// Begins to read.
    ///
    /// # Errors
    ///
    /// When there is no such session.
    pub(crate) async fn begin(
        feeds: &Arc<Feeds>,
        session: Session,
        style: StreamFormat,
        from: StartPosition,
    ) -> Result<Self, Error> {
        let (feed, bell) = feeds.follow(&session, &style).await?;
        let from = match from {
            StartPosition::Log(start) => StartPosition::Log(settled(&session, start).await?),
            StartPosition::InvalidCursor => StartPosition::InvalidCursor,
        };
        let feeds = Arc::clone(feeds);
        Ok(Self { session, style, feeds, feed, bell, from, at: None, own: None, lent: None, is_live: false })
    }

    /// What comes next, as soon as there is something. To give up waiting loses nothing.
    ///
    /// # Errors
    ///
    /// When the session is gone or the log is closed.
    pub(crate) async fn next(&mut self) -> Result<Delivery, Error> {
        loop {
            if let Some(next) = self.next_now().await? {
                return Ok(next);
            }
            // The feed never goes away before it has said why.
            self.bell.changed().await.map_err(|_| Error::Closed)?;
        }
    }

    /// The same for who has a connection to lend: while there is nothing to send, what comes is sent to it along with all
    /// the others. EncoderState anything else is sent, it has to be [recalled](Self::recall).
    ///
    /// # Errors
    ///
    /// When the session is gone or the log is closed.
    pub(crate) async fn next_lending(&mut self, connection: &Arc<TcpStream>) -> Result<SseDelivery, Error> {
        loop {
            if let Some(lent) = &mut self.lent {
                lent.returned().await;
                if let Some(rest) = self.recall() {
                    return Ok(SseDelivery::Frames(rest));
                }
            }
            if let Some(next) = self.next_now().await? {
                return Ok(next.into());
            }
            self.lent = self.at.and_then(|at| self.feed.lend(connection, at));
        }
    }

    /// Takes the connection back. What is left to be sent has to be sent before anything else.
    pub(crate) fn recall(&mut self) -> Option<Bytes> {
        let returned = self.lent.take()?.recall()?;
        self.at = Some(returned.at);
        Some(returned.rest).filter(|rest| !rest.is_empty())
    }

    /// What comes next, if there is something by now.
    async fn next_now(&mut self) -> Result<Option<Delivery>, Error> {
        loop {
            self.bell.mark_unchanged();
            match self.at.map(|at| (at, self.feed.take(at))) {
                Some((_, FeedRead::Frames(slice, at))) => {
                    self.own = None;
                    self.at = Some(at);
                    if !slice.is_empty() {
                        return Ok(Some(Delivery::Frames(slice)));
                    }
                }
                Some((at, FeedRead::Nothing)) => {
                    self.own = None;
                    let was_live = std::mem::replace(&mut self.is_live, true);
                    return Ok((!was_live).then_some(Delivery::Live(at)));
                }
                Some((_, FeedRead::Over(error))) => return Err(error),
                None | Some((_, FeedRead::Elsewhere)) => {
                    // Boxed, because a reader that only waits should not be as large as one that reads.
                    if let Some(slice) = Box::pin(self.read()).await? {
                        return Ok(Some(Delivery::Frames(slice)));
                    }
                }
            }
        }
    }

    /// Reads some of the log. Nothing means that there is nothing to show, and that it is worth looking at the feed again.
    async fn read(&mut self) -> Result<Option<ChunkSlice>, Error> {
        let mut out = ChunkBuilder::default();
        let show = if self.style.all { Visibility::All } else { Visibility::TopLevel };
        let mut own = match self.own.take() {
            Some(own) => own,
            None => {
                let (start, encoder) = match (self.at, self.from) {
                    (Some(at), _) => (Start::After(at), self.encoder_at(Some(at)).await?),
                    (None, StartPosition::Log(Start::After(at))) => {
                        let encoder = self.encoder_at(Some(at)).await?;
                        encoder.resumed(at, &mut out);
                        (Start::After(at), encoder)
                    }
                    (None, StartPosition::Log(start)) => (start, self.encoder_at(None).await?),
                    (None, StartPosition::InvalidCursor) => {
                        let encoder = self.encoder_at(None).await?;
                        encoder.gap(GapReason::Epoch, &mut out);
                        (Start::Snapshot, encoder)
                    }
                };
                Box::new(Own { reader: self.session.subscribe_with(start, show)?, encoder })
            }
        };
        let first = match own.reader.try_next().await? {
            Some(frame) => frame,
            None if self.at.is_none() => {
                // It has begun where there is nothing to read.
                self.at = own.reader.position();
                return Ok(slice(out, self.at));
            }
            // The feed has not come as far, or is of another history. Either of them will say something.
            None => tokio::select! {
                frame = own.reader.next() => frame?,
                _ = self.bell.changed() => {
                    self.own = Some(own);
                    return Ok(None);
                }
            },
        };
        let (mut last, mut uploads) = (self.at, Vec::new());
        let frames: Vec<Frame> = std::iter::once(first).chain(own.reader.drain_buffered()).collect();
        for frame in frames {
            match frame {
                Frame::Entry(entry) => {
                    own.encoder.entry(&entry, &mut out);
                    uploads.append(&mut own.encoder.take_uploads());
                    last = Some(entry.cursor);
                }
                Frame::Gap(reason) => self.encoder_at(None).await?.gap(reason, &mut out),
                Frame::Snapshot(snapshot) => {
                    own.encoder = encoder_after_snapshot(&self.session, &self.style, &snapshot).await?;
                    own.encoder.snapshot(&snapshot, &mut out);
                    uploads.append(&mut own.encoder.take_uploads());
                    last = Some(snapshot.cursor);
                }
                _ => {}
            }
        }
        self.feeds.media().keep(&self.session, uploads).await?;
        self.at = last;
        self.own = Some(own);
        Ok(slice(out, last))
    }

    async fn encoder_at(&self, place: Option<Cursor>) -> Result<Encoder, Error> {
        encoder_at(&self.session, &self.style, place).await
    }
}

/// The frames that were made on the way to a place, if there are any.
fn slice(out: ChunkBuilder, at: Option<Cursor>) -> Option<ChunkSlice> {
    let seq = at.map_or(0, |cursor| cursor.seq);
    (!out.is_empty()).then(|| ChunkSlice::whole(out.finish(seq)))
}
