//! Feeds: the newest frames of a session in one format, encoded once for all subscribers.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::{Cursor, Epoch, Error, Frame, Reader, Session, SessionKey, Start};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::StreamFormat;
use super::chunk::{Chunk, ChunkBuilder, ChunkSlice};
use super::direct_write::{DirectWriteGuard, DirectWriters, Reclaimed};
use super::encoder::Encoder;
use super::encoder_state::{encoder_after_snapshot, encoder_at};
use crate::media::BlobCache;

/// The size of a feed's ring, in bytes. A subscriber that falls further behind reads the log.
const RING_SIZE: usize = 512 * 1024;

type FeedKey = (SessionKey, StreamFormat);

/// The feeds that have subscribers.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    feeds: Mutex<HashMap<FeedKey, Arc<Feed>>>,
    blobs: BlobCache,
}

/// The newest frames of a session in one format.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    /// Changes when the ring does.
    updates: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Ring {
    /// `None` until the feed has a position.
    epoch: Option<Epoch>,
    /// The sequence number of the entry before the first chunk.
    after: u64,
    /// The sequence number of the last entry that was encoded.
    head: u64,
    chunks: VecDeque<Arc<Chunk>>,
    weight: usize,
    writers: DirectWriters,
    /// The error that has ended the feed.
    error: Option<Error>,
}

/// The result of reading a feed at a position.
#[derive(Debug)]
pub(crate) enum FeedRead {
    /// Frames, and the position after them.
    Frames(ChunkSlice, Cursor),
    /// There is no entry after the position yet.
    UpToDate,
    /// The position is before the ring or of another epoch. The log has its entries.
    OutOfRange,
    /// The feed has ended.
    Ended(Error),
}

impl Feeds {
    /// The blobs whose URLs occur in frames.
    pub(crate) fn blobs(&self) -> &BlobCache {
        &self.blobs
    }

    /// Subscribes to a session. Entries committed after this returns are in the feed.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        session: &Session,
        format: &StreamFormat,
    ) -> Result<(Arc<Feed>, watch::Receiver<()>), Error> {
        let (feed, mut updates) = self.get_or_start(session, format);
        loop {
            updates.mark_unchanged();
            {
                let ring = lock(&feed.ring);
                if let Some(error) = &ring.error {
                    return Err(error.clone());
                }
                if ring.epoch.is_some() {
                    break;
                }
            }
            updates.changed().await.map_err(|_| Error::Closed)?;
        }
        Ok((feed, updates))
    }

    pub(crate) fn count(&self) -> usize {
        lock(&self.feeds).len()
    }

    fn get_or_start(self: &Arc<Self>, session: &Session, format: &StreamFormat) -> (Arc<Feed>, watch::Receiver<()>) {
        let mut feeds = lock(&self.feeds);
        let key = (session.key().clone(), format.clone());
        if let Some(feed) = feeds.get(&key) {
            return (Arc::clone(feed), feed.updates.subscribe());
        }
        let (updates, receiver) = watch::channel(());
        let feed = Arc::new(Feed { ring: Mutex::default(), updates });
        feeds.insert(key.clone(), Arc::clone(&feed));
        let (feeds, started, session) = (Arc::clone(self), Arc::clone(&feed), session.clone());
        tokio::spawn(async move {
            let error = tokio::select! {
                error = run(&session, &key.1, &started, &feeds.blobs) => error,
                () = feeds.remove_when_unused(&key, &started) => return,
            };
            // The next subscriber starts a new feed.
            lock(&feeds.feeds).remove(&key);
            started.end(error);
        });
        (feed, receiver)
    }

    /// Waits until a feed has no subscribers, and removes it.
    async fn remove_when_unused(&self, key: &FeedKey, feed: &Feed) {
        loop {
            feed.updates.closed().await;
            let mut feeds = lock(&self.feeds);
            if feed.updates.receiver_count() == 0 {
                feeds.remove(key);
                return;
            }
        }
    }
}

/// Encodes new entries until the session or the log ends.
async fn run(session: &Session, format: &StreamFormat, feed: &Feed, blobs: &BlobCache) -> Error {
    match try_run(session, format, feed, blobs).await {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

async fn try_run(
    session: &Session,
    format: &StreamFormat,
    feed: &Feed,
    blobs: &BlobCache,
) -> Result<Infallible, Error> {
    let start = if format.needs_fold() { Start::Snapshot } else { Start::Now };
    let mut reader = session.subscribe_with(start, format.visibility())?;
    let mut encoder = start_encoder(session, format, feed, &mut reader).await?;
    loop {
        let first = reader.next().await?;
        let mut chunk = ChunkBuilder::default();
        let frames: Vec<Frame> = std::iter::once(first).chain(reader.drain_buffered()).collect();
        for frame in frames {
            match frame {
                Frame::Entry(entry) => {
                    encoder.entry(&entry, &mut chunk);
                    feed.advance(entry.cursor);
                }
                // The session was replaced. Subscribers with a cursor of the old epoch find a gap in the log.
                Frame::Snapshot(snapshot) => {
                    chunk = ChunkBuilder::default();
                    encoder = encoder_after_snapshot(session, format, &snapshot).await?;
                    feed.reset(snapshot.cursor);
                }
                _ => {}
            }
        }
        blobs.store(session, encoder.take_uploads()).await?;
        feed.push(chunk);
        feed.write_direct().await;
    }
}

/// Sets the feed's position to that of the reader and returns an encoder for it.
async fn start_encoder(
    session: &Session,
    format: &StreamFormat,
    feed: &Feed,
    reader: &mut Reader,
) -> Result<Encoder, Error> {
    let first = reader.try_next().await?;
    let (cursor, encoder) = match first {
        Some(Frame::Snapshot(snapshot)) => (snapshot.cursor, encoder_after_snapshot(session, format, &snapshot).await?),
        _ => {
            let cursor = reader.position().ok_or(Error::Closed)?;
            (cursor, encoder_at(session, format, Some(cursor)).await?)
        }
    };
    feed.reset(cursor);
    Ok(encoder)
}

impl Feed {
    /// Returns the frames after a position.
    pub(crate) fn read(&self, position: Cursor) -> FeedRead {
        let ring = lock(&self.ring);
        let is_in_range = ring.epoch == Some(position.epoch) && position.seq >= ring.after;
        if is_in_range {
            let index = ring.chunks.partition_point(|chunk| chunk.last <= position.seq);
            if let Some(chunk) = ring.chunks.get(index) {
                let slice = ChunkSlice::after(chunk, position.seq);
                return FeedRead::Frames(slice, Cursor { seq: chunk.last, ..position });
            }
        }
        match &ring.error {
            Some(error) => FeedRead::Ended(error.clone()),
            None if is_in_range => FeedRead::UpToDate,
            None => FeedRead::OutOfRange,
        }
    }

    /// Registers the socket of a subscriber that has received everything up to a position, which may be ahead of the feed.
    /// Returns `None` if there are frames after the position.
    pub(crate) fn register(self: &Arc<Self>, socket: &Arc<TcpStream>, position: Cursor) -> Option<DirectWriteGuard> {
        let mut ring = lock(&self.ring);
        let newest = ring.chunks.back().map_or(ring.after, |chunk| chunk.last);
        let is_up_to_date = ring.epoch == Some(position.epoch) && position.seq >= newest && ring.error.is_none();
        is_up_to_date.then(|| ring.writers.register(self, socket, position))
    }

    pub(super) fn remove_writer(&self, id: u64) -> Option<Reclaimed> {
        lock(&self.ring).writers.remove(id)
    }

    /// Clears the ring and sets its position. Subscribers at other positions read the log.
    fn reset(&self, cursor: Cursor) {
        let mut ring = lock(&self.ring);
        ring.writers.release_all();
        let writers = std::mem::take(&mut ring.writers);
        *ring = Ring { epoch: Some(cursor.epoch), after: cursor.seq, head: cursor.seq, writers, ..Ring::default() };
        drop(ring);
        self.updates.send_replace(());
    }

    fn end(&self, error: Error) {
        let mut ring = lock(&self.ring);
        ring.writers.release_all();
        ring.error = Some(error);
        drop(ring);
        self.updates.send_replace(());
    }

    /// Records that an entry was encoded, even if it has no frame.
    fn advance(&self, cursor: Cursor) {
        lock(&self.ring).head = cursor.seq;
    }

    /// Appends a chunk, and drops the oldest ones beyond [`RING_SIZE`].
    fn push(&self, chunk: ChunkBuilder) {
        let mut ring = lock(&self.ring);
        let (after, last) = (ring.chunks.back().map_or(ring.after, |chunk| chunk.last), ring.head);
        if last == after {
            return;
        }
        let chunk = chunk.finish(last);
        ring.weight += chunk.weight();
        ring.chunks.push_back(Arc::new(chunk));
        while ring.weight > RING_SIZE && ring.chunks.len() > 1 {
            let Some(oldest) = ring.chunks.pop_front() else { break };
            ring.weight -= oldest.weight();
            ring.after = oldest.last;
        }
        drop(ring);
        self.updates.send_replace(());
    }

    /// Writes new chunks to all registered sockets, and yields between batches.
    async fn write_direct(&self) {
        let mut last = self.write_batch(None);
        while last.is_some() {
            tokio::task::yield_now().await;
            last = self.write_batch(last);
        }
    }

    fn write_batch(&self, after: Option<u64>) -> Option<u64> {
        let mut ring = lock(&self.ring);
        let Ring { writers, chunks, .. } = &mut *ring;
        writers.write_batch(chunks, after)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
