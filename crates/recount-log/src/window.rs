//! The window of idempotency: which of the last events a session has.

use std::hash::{DefaultHasher, Hasher};

use hashbrown::HashMap;

/// How many of the last entries are remembered.
pub const WINDOW: u64 = 65_536;

/// Where the events with some ids are, for the last entries.
///
/// An id is kept as 96 bits of its hash: one in 10^24 events would be taken for another's repetition.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    key: u64,
    places: HashMap<u64, Place>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    check: u32,
    /// The last digits of the entry's number. The window is far smaller than what they can count.
    seq: u32,
}

/// An id, hashed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Probe {
    hash: u64,
    check: u32,
}

impl Window {
    /// A window that knows nothing; the key keeps outsiders from guessing which ids have the same hash.
    pub(crate) fn new(key: u64) -> Self {
        Self { key, places: HashMap::new() }
    }

    /// What an id is looked up by.
    pub(crate) fn probe(&self, id: &str) -> Probe {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        hasher.write(id.as_bytes());
        let hash = hasher.finish();
        hasher.write_u8(0);
        Probe { hash, check: low(hasher.finish()) }
    }

    /// The number of the entry with an id.
    pub(crate) fn find(&self, probe: Probe, head: u64) -> Option<u64> {
        let place = self.places.get(&probe.hash).filter(|place| place.check == probe.check)?;
        let age = (low(head)).wrapping_sub(place.seq);
        head.checked_sub(u64::from(age)).filter(|&seq| seq > 0 && head - seq < WINDOW)
    }

    /// Remembers the entry with an id.
    pub(crate) fn insert(&mut self, probe: Probe, seq: u64) {
        self.places.insert(probe.hash, Place { check: probe.check, seq: low(seq) });
        // All at once and seldom, so that an entry costs the same whether or not the window is full.
        if self.places.len() as u64 >= 2 * WINDOW {
            let now = low(seq);
            self.places.retain(|_, place| u64::from(now.wrapping_sub(place.seq)) < WINDOW);
        }
    }
}

fn low(number: u64) -> u32 {
    (number & u64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_the_last_entries_and_no_more() {
        let mut window = Window::new(7);
        let last = 3 * WINDOW + 5;
        for seq in 1..=last {
            window.insert(window.probe(&format!("e{seq}")), seq);
        }
        let find = |id: &str| window.find(window.probe(id), last);
        assert_eq!(find(&format!("e{last}")), Some(last));
        let oldest = last - WINDOW + 1;
        assert_eq!(find(&format!("e{oldest}")), Some(oldest));
        assert_eq!(find(&format!("e{}", oldest - 1)), None);
        assert_eq!(find("another"), None);
        assert!(window.places.len() as u64 <= 2 * WINDOW);
    }
}
