//! The sessions that the writer has in memory.

use hashbrown::HashMap;

use super::live::Live;
use crate::SessionKey;

/// How many sessions are kept in memory.
const COUNT: usize = 4_096;
/// How many bytes of their windows.
const BYTES: usize = 128 << 20;

/// Where a session is among those in memory, until one is removed or added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(usize);

/// Sessions in memory, found by their keys once and by their slots from then on.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    slots: HashMap<SessionKey, Slot>,
    lives: Vec<Option<Live>>,
    free: Vec<Slot>,
    /// What the windows weigh, as far as [`Sessions::weigh`] was told.
    bytes: usize,
}

impl Sessions {
    pub(super) fn find(&self, key: &SessionKey) -> Option<Slot> {
        self.slots.get(key).copied()
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut Live> {
        self.lives.get_mut(slot.0)?.as_mut()
    }

    pub(super) fn insert(&mut self, key: &SessionKey, live: Live) -> Slot {
        self.remove(key);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.lives.push(None);
            Slot(self.lives.len() - 1)
        });
        if let Some(place) = self.lives.get_mut(slot.0) {
            *place = Some(live);
        }
        self.slots.insert(key.clone(), slot);
        self.weigh(slot);
        slot
    }

    pub(super) fn remove(&mut self, key: &SessionKey) {
        let Some(slot) = self.slots.remove(key) else { return };
        if let Some(live) = self.lives.get_mut(slot.0).and_then(Option::take) {
            self.bytes -= live.weighed;
        }
        self.free.push(slot);
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&SessionKey, &mut Live)> {
        let mut keys: Vec<Option<&SessionKey>> = vec![None; self.lives.len()];
        for (key, slot) in &self.slots {
            if let Some(place) = keys.get_mut(slot.0) {
                *place = Some(key);
            }
        }
        keys.into_iter().zip(&mut self.lives).filter_map(|(key, live)| Some((key?, live.as_mut()?)))
    }

    /// Notes how large a session has become.
    pub(super) fn weigh(&mut self, slot: Slot) {
        let Some(live) = self.lives.get_mut(slot.0).and_then(Option::as_mut) else { return };
        let bytes = live.window.bytes();
        self.bytes = self.bytes + bytes - live.weighed;
        live.weighed = bytes;
    }

    /// Leaves only the half in memory that was used last, when there are too many or they are too large.
    pub(super) fn forget_idle(&mut self) {
        if self.slots.len() <= COUNT && self.bytes <= BYTES {
            return;
        }
        let mut used: Vec<u64> = self.lives.iter().flatten().map(|live| live.used).collect();
        let middle = used.len() / 2;
        let (_, middle, _) = used.select_nth_unstable(middle);
        let newest = *middle;
        let is_idle =
            |slot: &Slot| self.lives.get(slot.0).and_then(Option::as_ref).is_some_and(|live| live.used <= newest);
        let idle: Vec<SessionKey> =
            self.slots.iter().filter(|(_, slot)| is_idle(slot)).map(|(key, _)| key.clone()).collect();
        for key in idle {
            self.remove(&key);
        }
    }
}
