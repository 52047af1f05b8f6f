//! What is said in a session from now on, encoded once for all who are shown the same.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::storage::Visibility;
use recount_log::{Cursor, Epoch, Error, Frame, Reader, Session, SessionKey, Start};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::StreamFormat;
use super::chunk::{Chunk, ChunkBuilder, ChunkSlice};
use super::direct_write::{DirectWriteGuard, Lines, Reclaimed};
use super::encoder::Encoder;
use super::encoder_state::encoder_after_snapshot;
use crate::media::BlobCache;

/// How much of a feed is kept. Who falls behind it reads the log.
const KEPT: usize = 512 * 1024;

/// All feeds that somebody follows.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    feeds: Mutex<HashMap<(SessionKey, StreamFormat), Arc<Feed>>>,
    media: BlobCache,
}

/// The newest frames of a session in one style, and the bell that rings when there are more.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    bell: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Ring {
    /// Nothing as long as it has not begun.
    epoch: Option<Epoch>,
    /// The last entry before the first that is kept.
    after: u64,
    /// The last entry that was looked at.
    head: u64,
    chunks: VecDeque<Arc<Chunk>>,
    weight: usize,
    /// The connections of those who have everything.
    lines: Lines,
    /// Why nothing more comes.
    end: Option<Error>,
}

/// What a feed has for somebody at a place.
#[derive(Debug)]
pub(crate) enum FeedRead {
    /// Frames, and the place after them.
    Frames(ChunkSlice, Cursor),
    /// There is nothing after that place yet.
    Nothing,
    /// It does not reach back that far.
    Elsewhere,
    /// Nothing more comes.
    Over(Error),
}

impl Feeds {
    /// The bytes that readers are told the URLs of.
    pub(crate) fn media(&self) -> &BlobCache {
        &self.media
    }

    /// Follows a session. What is said from now on is in the feed when this is there.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        session: &Session,
        style: &StreamFormat,
    ) -> Result<(Arc<Feed>, watch::Receiver<()>), Error> {
        let (feed, mut bell) = self.get(session, style);
        loop {
            bell.mark_unchanged();
            {
                let ring = lock(&feed.ring);
                if let Some(error) = &ring.end {
                    return Err(error.clone());
                }
                if ring.epoch.is_some() {
                    break;
                }
            }
            bell.changed().await.map_err(|_| Error::Closed)?;
        }
        Ok((feed, bell))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        lock(&self.feeds).len()
    }

    fn get(self: &Arc<Self>, session: &Session, style: &StreamFormat) -> (Arc<Feed>, watch::Receiver<()>) {
        let mut feeds = lock(&self.feeds);
        let key = (session.key().clone(), style.clone());
        if let Some(feed) = feeds.get(&key) {
            return (Arc::clone(feed), feed.bell.subscribe());
        }
        let (bell, receiver) = watch::channel(());
        let feed = Arc::new(Feed { ring: Mutex::default(), bell });
        feeds.insert(key.clone(), Arc::clone(&feed));
        let (feeds, pumped, session) = (Arc::clone(self), Arc::clone(&feed), session.clone());
        tokio::spawn(async move {
            let error = tokio::select! {
                error = pump(&session, &key.1, &pumped, &feeds.media) => error,
                () = feeds.abandoned(&key, &pumped) => return,
            };
            // Whoever comes now begins anew.
            lock(&feeds.feeds).remove(&key);
            pumped.end(error);
        });
        (feed, receiver)
    }

    /// Returns when nobody follows a feed any more, and it has been forgotten.
    async fn abandoned(&self, key: &(SessionKey, StreamFormat), feed: &Feed) {
        loop {
            feed.bell.closed().await;
            let mut feeds = lock(&self.feeds);
            if feed.bell.receiver_count() == 0 {
                feeds.remove(key);
                return;
            }
        }
    }
}

/// Encodes what is said, until there is nothing more to come.
async fn pump(session: &Session, style: &StreamFormat, feed: &Feed, media: &BlobCache) -> Error {
    match try_pump(session, style, feed, media).await {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

async fn try_pump(
    session: &Session,
    style: &StreamFormat,
    feed: &Feed,
    media: &BlobCache,
) -> Result<std::convert::Infallible, Error> {
    let show = if style.all { Visibility::All } else { Visibility::TopLevel };
    let start = if style.needs_fold() { Start::Snapshot } else { Start::Now };
    let mut reader = session.subscribe_with(start, show)?;
    let mut encoder = begin(session, style, feed, &mut reader).await?;
    loop {
        let first = reader.next().await?;
        let mut chunk = ChunkBuilder::default();
        let frames: Vec<Frame> = std::iter::once(first).chain(reader.drain_buffered()).collect();
        for frame in frames {
            match frame {
                Frame::Entry(entry) => {
                    encoder.entry(&entry, &mut chunk);
                    feed.note(entry.cursor);
                }
                // The session is another one now. Whoever was at a place of the former finds out by reading the log.
                Frame::Snapshot(snapshot) => {
                    chunk = ChunkBuilder::default();
                    encoder = encoder_after_snapshot(session, style, &snapshot).await?;
                    feed.restart(snapshot.cursor);
                }
                _ => {}
            }
        }
        media.keep(session, encoder.take_uploads()).await?;
        feed.push(chunk);
        feed.send().await;
    }
}

/// Finds the place where a feed begins.
async fn begin(session: &Session, style: &StreamFormat, feed: &Feed, reader: &mut Reader) -> Result<Encoder, Error> {
    let first = reader.try_next().await?;
    let (cursor, encoder) = match first {
        Some(Frame::Snapshot(snapshot)) => (snapshot.cursor, encoder_after_snapshot(session, style, &snapshot).await?),
        _ => {
            let cursor = reader.position().ok_or(Error::Closed)?;
            (cursor, super::encoder_at(session, style, Some(cursor)).await?)
        }
    };
    feed.restart(cursor);
    Ok(encoder)
}

impl Feed {
    /// What is after a place.
    pub(crate) fn take(&self, at: Cursor) -> FeedRead {
        let ring = lock(&self.ring);
        if ring.epoch == Some(at.epoch) && at.seq >= ring.after {
            let index = ring.chunks.partition_point(|chunk| chunk.last <= at.seq);
            if let Some(chunk) = ring.chunks.get(index) {
                return FeedRead::Frames(ChunkSlice::after(chunk, at.seq), Cursor { seq: chunk.last, ..at });
            }
            return match &ring.end {
                Some(error) => FeedRead::Over(error.clone()),
                None => FeedRead::Nothing,
            };
        }
        match &ring.end {
            Some(error) => FeedRead::Over(error.clone()),
            None => FeedRead::Elsewhere,
        }
    }

    /// Lends the connection of a reader that has everything up to a place, which may be further than this has come. Nothing
    /// if there is something after it.
    pub(crate) fn lend(self: &Arc<Self>, connection: &Arc<TcpStream>, at: Cursor) -> Option<DirectWriteGuard> {
        let mut ring = lock(&self.ring);
        let newest = ring.chunks.back().map_or(ring.after, |chunk| chunk.last);
        let has_everything = ring.epoch == Some(at.epoch) && at.seq >= newest && ring.end.is_none();
        has_everything.then(|| ring.lines.lend(self, connection, at))
    }

    /// Takes a connection back.
    pub(super) fn recall(&self, id: u64) -> Option<Reclaimed> {
        lock(&self.ring).lines.remove(id)
    }

    /// Begins, or begins anew, at a place. Whoever was at another one has to find its way from there.
    fn restart(&self, cursor: Cursor) {
        let mut ring = lock(&self.ring);
        ring.lines.give_back();
        let lines = std::mem::take(&mut ring.lines);
        *ring = Ring { epoch: Some(cursor.epoch), after: cursor.seq, head: cursor.seq, lines, ..Ring::default() };
        drop(ring);
        self.bell.send_replace(());
    }

    /// Nothing more comes.
    fn end(&self, error: Error) {
        let mut ring = lock(&self.ring);
        ring.lines.give_back();
        ring.end = Some(error);
        drop(ring);
        self.bell.send_replace(());
    }

    /// An entry was looked at.
    fn note(&self, cursor: Cursor) {
        lock(&self.ring).head = cursor.seq;
    }

    /// Keeps what was encoded since the last chunk.
    fn push(&self, chunk: ChunkBuilder) {
        let mut ring = lock(&self.ring);
        let (after, last) = (ring.chunks.back().map_or(ring.after, |chunk| chunk.last), ring.head);
        if last == after {
            return;
        }
        let chunk = chunk.finish(last);
        ring.weight += chunk.weight();
        ring.chunks.push_back(Arc::new(chunk));
        while ring.weight > KEPT && ring.chunks.len() > 1 {
            let Some(oldest) = ring.chunks.pop_front() else { break };
            ring.weight -= oldest.weight();
            ring.after = oldest.last;
        }
        drop(ring);
        self.bell.send_replace(());
    }

    /// Sends what was kept to those who have lent their connections.
    async fn send(&self) {
        let mut sent = self.send_some(None);
        while sent.is_some() {
            tokio::task::yield_now().await;
            sent = self.send_some(sent);
        }
    }

    fn send_some(&self, after: Option<u64>) -> Option<u64> {
        let mut ring = lock(&self.ring);
        let Ring { lines, chunks, .. } = &mut *ring;
        lines.send(chunks, after)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
