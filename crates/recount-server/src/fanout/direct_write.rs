//! Direct writes: the feed writes new frames to the sockets of its subscribers.
//!
//! Waking a task for each of many subscribers takes about as long as sending the frames. So a subscriber that is up to date
//! registers its socket with the feed, and the task that has encoded a chunk writes it to all registered sockets. A socket
//! that does not accept all bytes at once is released, and its subscriber continues on its own.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use recount_log::Cursor;
use rustix::net::{SendFlags, send};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::chunk::{Chunk, ChunkSlice};
use super::feed::Feed;

/// The number of sockets written to before the task yields.
const BATCH: usize = 32;

/// The sockets that are registered with a feed.
#[derive(Debug, Default)]
pub(super) struct DirectWriters {
    writers: BTreeMap<u64, DirectWriter>,
    next_id: u64,
}

#[derive(Debug)]
struct DirectWriter {
    socket: Arc<TcpStream>,
    /// The position after the chunks that were written.
    position: Cursor,
    /// The bytes up to that position that the socket did not accept.
    unsent: Bytes,
    /// Dropped to notify the subscriber that the socket was released. `None` afterwards.
    registered: Option<oneshot::Sender<()>>,
}

impl DirectWriters {
    /// Registers the socket of a subscriber that has received everything up to a position.
    pub(super) fn register(&mut self, feed: &Arc<Feed>, socket: &Arc<TcpStream>, position: Cursor) -> DirectWriteGuard {
        let (registered, released) = oneshot::channel();
        let id = self.next_id;
        self.next_id += 1;
        let socket = Arc::clone(socket);
        self.writers.insert(id, DirectWriter { socket, position, unsent: Bytes::new(), registered: Some(registered) });
        DirectWriteGuard { feed: Arc::clone(feed), id, released }
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Reclaimed> {
        self.writers.remove(&id).map(|DirectWriter { position, unsent, .. }| Reclaimed { position, unsent })
    }

    /// Releases all sockets to their subscribers.
    pub(super) fn release_all(&mut self) {
        for writer in self.writers.values_mut() {
            writer.registered = None;
        }
    }

    /// Writes new chunks to one batch of sockets, those after the id `after`. Returns the id to continue after; `None` when
    /// all sockets were written to.
    pub(super) fn write_batch(&mut self, chunks: &VecDeque<Arc<Chunk>>, after: Option<u64>) -> Option<u64> {
        let range = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let mut last = None;
        for (&id, writer) in self.writers.range_mut(range).take(BATCH) {
            writer.write(chunks);
            last = Some(id);
        }
        last.filter(|last| self.writers.range(last + 1..).next().is_some())
    }
}

impl DirectWriter {
    fn write(&mut self, chunks: &VecDeque<Arc<Chunk>>) {
        // Usually only the newest chunk is new, so the search starts there.
        let new = chunks.iter().rev().take_while(|chunk| chunk.last > self.position.seq).count();
        for chunk in chunks.range(chunks.len() - new..) {
            if self.registered.is_none() {
                return;
            }
            let slice = ChunkSlice::after(chunk, self.position.seq);
            self.position.seq = chunk.last;
            if slice.is_empty() {
                continue;
            }
            let bytes = slice.as_bytes();
            // A direct system call, because the runtime would first look up the socket's readiness, which with thousands of
            // sockets is never in the CPU cache. The subscriber detects errors when it continues.
            let sent = send(&self.socket, bytes, SendFlags::NOSIGNAL).unwrap_or(0);
            if sent < bytes.len() {
                self.unsent = slice.bytes().slice(sent..);
                self.registered = None;
            }
        }
    }
}

/// Registers a socket with a feed until it is dropped.
#[derive(Debug)]
pub(crate) struct DirectWriteGuard {
    feed: Arc<Feed>,
    id: u64,
    released: oneshot::Receiver<()>,
}

/// The state of a socket that was taken back from a feed.
#[derive(Debug)]
pub(crate) struct Reclaimed {
    /// The position after the chunks that were written.
    pub(super) position: Cursor,
    /// The bytes up to that position that must be sent first.
    pub(super) unsent: Bytes,
}

impl DirectWriteGuard {
    /// Waits until the feed releases the socket.
    pub(super) async fn released(&mut self) {
        // The sender is only ever dropped.
        let _ = (&mut self.released).await;
    }

    /// Takes the socket back, whether or not the feed has released it.
    pub(super) fn reclaim(self) -> Option<Reclaimed> {
        self.feed.remove_writer(self.id)
    }
}

impl Drop for DirectWriteGuard {
    fn drop(&mut self) {
        self.feed.remove_writer(self.id);
    }
}
