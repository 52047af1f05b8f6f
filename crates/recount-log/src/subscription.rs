//! Joining a session: one operation from any place, and the same for new, live and lagging readers.
//!
//! Two state machines without I/O. A [`Tail`] is the newest entries of a session, in memory, bounded. A [`Subscription`] is where a
//! reader is. It takes what comes next from the tail if that reaches back far enough, and from the storage if not. So a
//! reader that falls behind reads at its own pace, nobody waits for it, and nothing is kept for it.

use std::collections::VecDeque;

use bytes::Bytes;

pub use crate::fold_cache::FoldCache;
use crate::snapshot::{SNAPSHOT_MESSAGES, Snapshot};
use crate::storage::{Limit, View, Visibility};
use crate::{Cursor, Epoch, Error, GapReason, SessionKey, Start};

/// How much of a session is kept in memory for those who follow it.
const TAIL: Limit = Limit { count: 1_024, bytes: 512 * 1024 };
/// How much is read at once.
const PAGE: Limit = Limit { count: 512, bytes: 512 * 1024 };

/// Something that a reader gets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame {
    /// The session at a place. What comes next is after it.
    Snapshot(Snapshot),
    /// What was read so far cannot be continued. A snapshot follows.
    Gap(GapReason),
    /// The next entry.
    Entry(Entry),
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The place after it.
    pub cursor: Cursor,
    /// The event in native JSON.
    pub event: Bytes,
}

/// The newest entries of a session.
#[derive(Debug, Default)]
pub struct Tail {
    epoch: Option<Epoch>,
    /// The number of the last entry before the first that is kept.
    after: u64,
    entries: VecDeque<Bytes>,
    bytes: usize,
}

impl Tail {
    /// Takes entries that were committed.
    pub fn push(&mut self, epoch: Epoch, after: u64, entries: &[Bytes]) {
        if self.epoch != Some(epoch) || after != self.after + self.entries.len() as u64 {
            self.clear();
            self.epoch = Some(epoch);
            self.after = after;
        }
        // A batch that does not fit would only be pushed through.
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

    /// Forgets everything, because the session is another one now, or because another process has written to it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What is after a place, if that much is kept: nothing at all where the place is the newest. What is not kept is not
    /// known.
    fn after(&self, at: Cursor) -> Option<impl Iterator<Item = Entry>> {
        if self.epoch != Some(at.epoch) || at.seq < self.after {
            return None;
        }
        let skipped = usize::try_from(at.seq - self.after).ok().filter(|&skipped| skipped <= self.entries.len())?;
        let numbered = self.entries.iter().skip(skipped).zip(at.seq + 1..);
        Some(numbered.map(move |(event, seq)| Entry { cursor: Cursor { epoch: at.epoch, seq }, event: event.clone() }))
    }
}

/// Where a reader is.
#[derive(Debug, Clone)]
pub struct Subscription {
    key: SessionKey,
    show: Visibility,
    at: At,
}

#[derive(Debug, Clone, Copy)]
enum At {
    Beginning(Start),
    After(Cursor),
}

impl Subscription {
    /// A reader that begins somewhere.
    pub fn new(key: SessionKey, start: Start) -> Self {
        Self { key, show: Visibility::All, at: At::Beginning(start) }
    }

    /// The same reader, whose snapshots show other messages.
    pub fn showing(mut self, show: Visibility) -> Self {
        self.show = show;
        self
    }

    /// The place after the last frame; nothing before the first.
    pub fn cursor(&self) -> Option<Cursor> {
        match self.at {
            At::Beginning(_) => None,
            At::After(cursor) => Some(cursor),
        }
    }

    /// Takes what comes next from the tail. Says whether the tail knows what that is, be it nothing: then there is no need
    /// to look at the storage.
    pub fn take(&mut self, tail: &Tail, frames: &mut VecDeque<Frame>) -> bool {
        let At::After(at) = self.at else { return false };
        let Some(entries) = tail.after(at) else { return false };
        for entry in entries {
            self.at = At::After(entry.cursor);
            frames.push_back(Frame::Entry(entry));
        }
        true
    }

    /// Takes what comes next from the storage: as much as is read at once, and nothing at the head. Open replies that other
    /// readers have folded are not folded again.
    ///
    /// # Errors
    ///
    /// When there is no such session, or the storage cannot be read.
    pub fn read(&mut self, view: &dyn View, folds: &FoldCache, frames: &mut VecDeque<Frame>) -> Result<(), Error> {
        let row = view.session(&self.key)?.ok_or_else(|| Error::UnknownSession(self.key.clone()))?;
        let head = Cursor { epoch: row.epoch, seq: row.head };
        let at = match self.at {
            At::Beginning(Start::Snapshot) => return self.snapshot(view, folds, frames),
            At::Beginning(Start::Beginning) => Cursor { seq: 0, ..head },
            At::Beginning(Start::Now) => head,
            At::Beginning(Start::After(cursor)) | At::After(cursor) => cursor,
        };
        let gap = if at.epoch != head.epoch {
            Some(GapReason::Epoch)
        } else if at.seq > head.seq {
            Some(GapReason::Future)
        } else {
            None
        };
        if let Some(reason) = gap {
            return self.gap(reason, view, folds, frames);
        }
        let entries = view.entries(&self.key, at.seq, PAGE)?;
        if entries.first().is_some_and(|entry| entry.first <= at.seq) {
            return self.gap(GapReason::Compacted, view, folds, frames);
        }
        self.at = At::After(at);
        for entry in entries {
            let cursor = Cursor { epoch: head.epoch, seq: entry.last };
            self.at = At::After(cursor);
            frames.push_back(Frame::Entry(Entry { cursor, event: entry.body }));
        }
        Ok(())
    }

    fn gap(
        &mut self,
        reason: GapReason,
        view: &dyn View,
        folds: &FoldCache,
        frames: &mut VecDeque<Frame>,
    ) -> Result<(), Error> {
        let length = frames.len();
        frames.push_back(Frame::Gap(reason));
        self.snapshot(view, folds, frames).inspect_err(|_| frames.truncate(length))
    }

    fn snapshot(&mut self, view: &dyn View, folds: &FoldCache, frames: &mut VecDeque<Frame>) -> Result<(), Error> {
        let snapshot = Snapshot::of(view, &self.key, self.show, SNAPSHOT_MESSAGES, folds)?;
        self.at = At::After(snapshot.cursor);
        frames.push_back(Frame::Snapshot(snapshot));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the tail says to a reader after a place: the numbers of the entries, or that it does not know.
    fn told(tail: &Tail, epoch: u64, seq: u64) -> Option<Vec<u64>> {
        let key: SessionKey = "chat".parse().unwrap();
        let mut join = Subscription::new(key, Start::After(Cursor { epoch: Epoch::from_random(epoch), seq }));
        join.at = At::After(Cursor { epoch: Epoch::from_random(epoch), seq });
        let mut frames = VecDeque::new();
        let is_known = join.take(tail, &mut frames);
        let number = |frame: Frame| match frame {
            Frame::Entry(entry) => entry.cursor.seq,
            Frame::Gap(_) | Frame::Snapshot(_) => 0,
        };
        is_known.then(|| frames.into_iter().map(number).collect())
    }

    #[test]
    fn the_tail_knows_what_comes_next_and_when_there_is_nothing() {
        let mut tail = Tail::default();
        assert_eq!(told(&tail, 7, 0), None);
        tail.push(Epoch::from_random(7), 4, &[Bytes::from_static(b"5"), Bytes::from_static(b"6")]);
        assert_eq!(told(&tail, 7, 4), Some(vec![5, 6]));
        assert_eq!(told(&tail, 7, 5), Some(vec![6]));
        assert_eq!(told(&tail, 7, 6), Some(vec![]));
        // Before what it keeps, beyond the newest, and of another history.
        assert_eq!((told(&tail, 7, 3), told(&tail, 7, 7), told(&tail, 8, 5)), (None, None, None));
        tail.clear();
        assert_eq!(told(&tail, 7, 6), None);
    }
}
