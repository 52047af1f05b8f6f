//! The deduplication window: the ids of the last events of a session.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use hashbrown::HashTable;

/// The number of entries in the deduplication window.
pub const WINDOW: u64 = 65_536;

/// The hash of an event id. About one in 10^14 events is mistaken for a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdHash(u64);

/// Hashes ids with a random key per process, so that clients cannot choose ids with the same hash.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl IdHash {
    /// Marks an unused place.
    const NONE: Self = Self(0);

    pub(crate) fn of(id: &str) -> Self {
        Self(HASHER.hash_one(id).max(1))
    }
}

/// Finds the entries of the last event ids.
///
/// Every session has a window, so it is small: eight bytes per entry and three per place in the table. Looking up an unknown
/// id, which is the usual case, touches one cache line.
#[derive(Debug, Clone, Default)]
pub(crate) struct DedupWindow {
    /// The ids of entries, each at the index `seq % WINDOW`.
    ids: Vec<IdHash>,
    /// Indexes into `ids`, found by the hash at that index.
    places: HashTable<u16>,
    /// The number of the newest entry.
    newest: u64,
}

impl DedupWindow {
    /// Returns the number of the entry with an id.
    pub(crate) fn find(&self, id: IdHash) -> Option<u64> {
        let place = *self.places.find(id.0, |&place| self.at(place) == id)?;
        Some(self.newest - u64::from(low(self.newest).wrapping_sub(place)))
    }

    /// Adds an entry. Its number must be above all earlier ones; numbers may be skipped.
    pub(crate) fn insert(&mut self, id: IdHash, seq: u64) {
        for passed in (self.newest + 1).max(seq.saturating_sub(WINDOW - 1))..=seq {
            self.forget(low(passed));
        }
        self.newest = seq;
        let place = low(seq);
        let index = usize::from(place);
        if index >= self.ids.len() {
            self.ids.resize(index + 1, IdHash::NONE);
        }
        if let Some(slot) = self.ids.get_mut(index) {
            *slot = id;
        }
        let ids = &self.ids;
        self.places.insert_unique(id.0, place, |&place| ids.get(usize::from(place)).map_or(0, |id| id.0));
    }

    /// The size of the window in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.ids.capacity() * size_of::<IdHash>() + self.places.allocation_size()
    }

    fn at(&self, place: u16) -> IdHash {
        self.ids.get(usize::from(place)).copied().unwrap_or(IdHash::NONE)
    }

    /// Removes the entry at an index, which has left the window.
    fn forget(&mut self, place: u16) {
        let id = self.at(place);
        if id == IdHash::NONE {
            return;
        }
        if let Ok(found) = self.places.find_entry(id.0, |&other| other == place) {
            found.remove();
        }
        if let Some(slot) = self.ids.get_mut(usize::from(place)) {
            *slot = IdHash::NONE;
        }
    }
}

/// The index of an entry in the window.
fn low(number: u64) -> u16 {
    (number % WINDOW) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(seq: u64) -> IdHash {
        IdHash::of(&format!("e{seq}"))
    }

    #[test]
    fn window_keeps_exactly_the_last_entries() {
        let mut window = DedupWindow::default();
        let last = 3 * WINDOW + 5;
        for seq in 1..=last {
            assert_eq!(window.find(hash(seq)), None);
            window.insert(hash(seq), seq);
        }
        assert_eq!(window.find(hash(last)), Some(last));
        let oldest = last - WINDOW + 1;
        assert_eq!(window.find(hash(oldest)), Some(oldest));
        assert_eq!(window.find(hash(oldest - 1)), None);
        assert_eq!(window.find(IdHash::of("another")), None);
        assert_eq!(window.places.len() as u64, WINDOW);
        assert!(window.bytes() < 1 << 20, "{}", window.bytes());
    }

    #[test]
    fn insert_accepts_skipped_numbers() {
        let mut window = DedupWindow::default();
        for seq in [10, 11, 40_000, 65_547, 65_548, 1_000_000, 1_000_003] {
            window.insert(hash(seq), seq);
            assert_eq!(window.find(hash(seq)), Some(seq));
            if seq == 65_547 {
                assert_eq!((window.find(hash(11)), window.find(hash(40_000))), (None, Some(40_000)));
            }
        }
        assert_eq!(window.find(hash(65_548)), None);
        assert_eq!(window.find(hash(1_000_000)), Some(1_000_000));
        assert_eq!(window.places.len(), 2);
    }
}
