//! Connections that a feed writes to itself.
//!
//! To wake a task for each of many readers takes about as long as to send them what there is. So a reader that has everything
//! lends its connection to the feed, and whoever has encoded something sends it to all of them. A connection that does not
//! take all of it at once is given back, and its reader goes on at its own pace.

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

/// How many are sent to before others get their turn.
const AT_ONCE: usize = 32;

/// The connections that were lent to a feed.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: BTreeMap<u64, Line>,
    next: u64,
}

#[derive(Debug)]
struct Line {
    connection: Arc<TcpStream>,
    /// The place after what was sent to it.
    at: Cursor,
    /// What is still to be sent up to that place.
    rest: Bytes,
    /// Tells its reader that it is given back. Without this it has been.
    back: Option<oneshot::Sender<()>>,
}

impl Lines {
    /// Takes a connection to whose reader everything up to a place was sent.
    pub(super) fn lend(&mut self, feed: &Arc<Feed>, connection: &Arc<TcpStream>, at: Cursor) -> DirectWriteGuard {
        let (sender, back) = oneshot::channel();
        let id = self.next;
        self.next += 1;
        let line = Line { connection: Arc::clone(connection), at, rest: Bytes::new(), back: Some(sender) };
        self.lines.insert(id, line);
        DirectWriteGuard { feed: Arc::clone(feed), id, back }
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Reclaimed> {
        self.lines.remove(&id).map(|Line { at, rest, .. }| Reclaimed { at, rest })
    }

    /// Gives all of them back.
    pub(super) fn give_back(&mut self) {
        for line in self.lines.values_mut() {
            line.back = None;
        }
    }

    /// Sends to some what they do not have, and says after which one to go on; nothing when that was all.
    pub(super) fn send(&mut self, chunks: &VecDeque<Arc<Chunk>>, after: Option<u64>) -> Option<u64> {
        let range = (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let mut last = None;
        for (&id, line) in self.lines.range_mut(range).take(AT_ONCE) {
            line.send(chunks);
            last = Some(id);
        }
        last.filter(|last| self.lines.range(last + 1..).next().is_some())
    }
}

impl Line {
    fn send(&mut self, chunks: &VecDeque<Arc<Chunk>>) {
        // Usually the newest alone, so it is not worth looking at those in the middle first.
        let new = chunks.iter().rev().take_while(|chunk| chunk.last > self.at.seq).count();
        for chunk in chunks.range(chunks.len() - new..) {
            if self.back.is_none() {
                return;
            }
            let slice = ChunkSlice::after(chunk, self.at.seq);
            self.at.seq = chunk.last;
            if slice.is_empty() {
                continue;
            }
            let bytes = slice.as_bytes();
            // Not through the runtime, which would look up first whether the connection is known to take nothing: with
            // thousands of them that is never in the cache. What is wrong with one its reader finds out by itself.
            let sent = send(&self.connection, bytes, SendFlags::NOSIGNAL).unwrap_or(0);
            if sent < bytes.len() {
                self.rest = slice.bytes().slice(sent..);
                self.back = None;
            }
        }
    }
}

/// A connection that is lent to a feed, as long as this is not dropped.
#[derive(Debug)]
pub(crate) struct DirectWriteGuard {
    feed: Arc<Feed>,
    id: u64,
    back: oneshot::Receiver<()>,
}

/// What has become of a connection that was lent.
#[derive(Debug)]
pub(crate) struct Reclaimed {
    /// The place after what was sent.
    pub(super) at: Cursor,
    /// What is still to be sent up to that place.
    pub(super) rest: Bytes,
}

impl DirectWriteGuard {
    /// Returns when it is given back.
    pub(super) async fn returned(&mut self) {
        // Whether the sender says something or is gone is the same.
        let _ = (&mut self.back).await;
    }

    /// Takes it back, whether or not it was given back.
    pub(super) fn recall(self) -> Option<Reclaimed> {
        self.feed.recall(self.id)
    }
}

impl Drop for DirectWriteGuard {
    fn drop(&mut self) {
        self.feed.recall(self.id);
    }
}
