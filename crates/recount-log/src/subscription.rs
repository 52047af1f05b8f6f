//! The position of a reader in a session, and the entries in memory that it reads from.
//!
//! Both types are state machines without I/O. A [`Tail`] holds the newest entries of a session, up to a limit. A
//! [`Subscription`] reads from the tail if the tail reaches back to its position, and otherwise from the storage.

use std::collections::VecDeque;

use bytes::Bytes;
use recount_message::{DecodeError, Event};

pub use crate::fold_cache::FoldCache;
use crate::snapshot::{SNAPSHOT_MESSAGES, Snapshot};
use crate::storage::{PageLimit, View, Visibility};
use crate::{Cursor, Epoch, Error, GapReason, SessionKey, Start};

/// The entries of a session that are kept in memory for its subscribers.
const TAIL: PageLimit = PageLimit { count: 1_024, bytes: 512 * 1024 };
/// How much is read from the storage at once.
const PAGE: PageLimit = PageLimit { count: 512, bytes: 512 * 1024 };

/// One item that a reader receives.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// The state of the session at a position. Entries after that position follow.
    Snapshot(Snapshot),
    /// The session does not continue from the reader's position. A snapshot follows.
    Gap(GapReason),
    /// The next entry.
    Entry(Entry),
}

/// An entry of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The position after the entry.
    pub cursor: Cursor,
    /// The event in native JSON.
    pub event: Bytes,
}

impl Entry {
    /// Decodes the event. It borrows from the entry.
    ///
    /// # Errors
    ///
    /// If the stored text is not an event.
    pub fn decode(&self) -> Result<Event<'_>, DecodeError> {
        Event::from_slice(&self.event)
    }
}

/// The newest entries of a session.
#[derive(Debug, Default)]
pub struct Tail {
    epoch: Option<Epoch>,
    /// The number of the entry before the oldest one in the tail.
    after: u64,
    entries: VecDeque<Bytes>,
    bytes: usize,
}

impl Tail {
    /// Adds committed entries. If they do not continue the tail, the older entries are dropped.
    pub fn push(&mut self, epoch: Epoch, after: u64, entries: &[Bytes]) {
        if self.epoch != Some(epoch) || after != self.after + self.entries.len() as u64 {
            self.clear();
            self.epoch = Some(epoch);
            self.after = after;
        }
        // Only the last entries of a large batch fit.
        let skipped = entries.len().saturating_sub(TAIL.count);
        if skipped > 0 {
            self.clear();
            self.epoch = Some(epoch);
            self.after = after + skipped as u64;
        }
        for entry in entries.iter().skip(skipped) {
            self.bytes += entry.len();
            self.entries.push_back(entry.clone());
        }
        while self.entries.len() > TAIL.count || self.bytes > TAIL.bytes {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= oldest.len();
            self.after += 1;
        }
    }

    /// Drops all entries, because the session was replaced or another process has written to it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the entries after a position. `None` if the tail does not reach back to it.
    fn after(&self, at: Cursor) -> Option<impl Iterator<Item = Entry>> {
        if self.epoch != Some(at.epoch) || at.seq < self.after {
            return None;
        }
        let skipped = usize::try_from(at.seq - self.after).ok().filter(|&skipped| skipped <= self.entries.len())?;
        let numbered = self.entries.iter().skip(skipped).zip(at.seq + 1..);
        Some(numbered.map(move |(event, seq)| Entry { cursor: Cursor { epoch: at.epoch, seq }, event: event.clone() }))
    }
}

/// The position of a reader.
#[derive(Debug, Clone)]
pub struct Subscription {
    key: SessionKey,
    visibility: Visibility,
    at: Position,
}

#[derive(Debug, Clone, Copy)]
enum Position {
    NotStarted(Start),
    After(Cursor),
}

impl Subscription {
    /// Creates a subscription that starts at a position.
    pub fn new(key: SessionKey, start: Start) -> Self {
        Self { key, visibility: Visibility::All, at: Position::NotStarted(start) }
    }

    /// Sets the messages that snapshots contain.
    pub fn with_visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// The position after the last frame. `None` before the first frame.
    pub fn position(&self) -> Option<Cursor> {
        match self.at {
            Position::NotStarted(_) => None,
            Position::After(cursor) => Some(cursor),
        }
    }

    /// Reads the next entries from the tail. Returns `false` if the tail does not reach back to the position, so that the
    /// storage must be read.
    pub fn read_tail(&mut self, tail: &Tail, frames: &mut VecDeque<Frame>) -> bool {
        let Position::After(at) = self.at else { return false };
        let Some(entries) = tail.after(at) else { return false };
        for entry in entries {
            self.at = Position::After(entry.cursor);
            frames.push_back(Frame::Entry(entry));
        }
        true
    }

    /// Reads the next page from the storage; no frames at the head. Snapshots use the open replies in the cache.
    ///
    /// # Errors
    ///
    /// If the session does not exist, or the storage cannot be read.
    pub fn read_storage(
        &mut self,
        view: &dyn View,
        cache: &FoldCache,
        frames: &mut VecDeque<Frame>,
    ) -> Result<(), Error> {
        let row = view.session(&self.key)?.ok_or_else(|| Error::UnknownSession(self.key.clone()))?;
        let head = Cursor { epoch: row.epoch, seq: row.head };
        let at = match self.at {
            Position::NotStarted(Start::Snapshot) => return self.read_snapshot(view, cache, frames),
            Position::NotStarted(Start::Beginning) => Cursor { seq: 0, ..head },
            Position::NotStarted(Start::Now) => head,
            Position::NotStarted(Start::After(cursor)) | Position::After(cursor) => cursor,
        };
        let gap = if at.epoch != head.epoch {
            Some(GapReason::Epoch)
        } else if at.seq > head.seq {
            Some(GapReason::Future)
        } else {
            None
        };
        if let Some(reason) = gap {
            return self.read_after_gap(reason, view, cache, frames);
        }
        let entries = view.entries(&self.key, at.seq, PAGE)?;
        if entries.first().is_some_and(|entry| entry.first <= at.seq) {
            return self.read_after_gap(GapReason::Compacted, view, cache, frames);
        }
        self.at = Position::After(at);
        for entry in entries {
            let cursor = Cursor { epoch: head.epoch, seq: entry.last };
            self.at = Position::After(cursor);
            frames.push_back(Frame::Entry(Entry { cursor, event: entry.body }));
        }
        Ok(())
    }

    fn read_after_gap(
        &mut self,
        reason: GapReason,
        view: &dyn View,
        cache: &FoldCache,
        frames: &mut VecDeque<Frame>,
    ) -> Result<(), Error> {
        let length = frames.len();
        frames.push_back(Frame::Gap(reason));
        self.read_snapshot(view, cache, frames).inspect_err(|_| frames.truncate(length))
    }

    fn read_snapshot(&mut self, view: &dyn View, cache: &FoldCache, frames: &mut VecDeque<Frame>) -> Result<(), Error> {
        let snapshot = Snapshot::read(view, &self.key, self.visibility, SNAPSHOT_MESSAGES, cache)?;
        self.at = Position::After(snapshot.cursor);
        frames.push_back(Frame::Snapshot(snapshot));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the entries that the tail returns after a position. `None` if the storage must be read.
    fn seqs_after(tail: &Tail, epoch: u64, seq: u64) -> Option<Vec<u64>> {
        let key: SessionKey = "chat".parse().unwrap();
        let cursor = Cursor { epoch: Epoch::from_random(epoch), seq };
        let mut subscription = Subscription { key, visibility: Visibility::All, at: Position::After(cursor) };
        let mut frames = VecDeque::new();
        let is_known = subscription.read_tail(tail, &mut frames);
        let seq = |frame: Frame| match frame {
            Frame::Entry(entry) => entry.cursor.seq,
            Frame::Gap(_) | Frame::Snapshot(_) => 0,
        };
        is_known.then(|| frames.into_iter().map(seq).collect())
    }

    #[test]
    fn tail_returns_entries_only_for_positions_that_it_covers() {
        let mut tail = Tail::default();
        assert_eq!(seqs_after(&tail, 7, 0), None);
        tail.push(Epoch::from_random(7), 4, &[Bytes::from_static(b"5"), Bytes::from_static(b"6")]);
        assert_eq!(seqs_after(&tail, 7, 4), Some(vec![5, 6]));
        assert_eq!(seqs_after(&tail, 7, 5), Some(vec![6]));
        assert_eq!(seqs_after(&tail, 7, 6), Some(vec![]));
        let (before, beyond, other_epoch) = (seqs_after(&tail, 7, 3), seqs_after(&tail, 7, 7), seqs_after(&tail, 8, 5));
        assert_eq!((before, beyond, other_epoch), (None, None, None));
        tail.clear();
        assert_eq!(seqs_after(&tail, 7, 6), None);
    }
}
