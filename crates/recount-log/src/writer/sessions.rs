//! The sessions that the writer has in memory.

use hashbrown::HashMap;

use super::live::LiveSession;
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
    lives: Vec<Option<LiveSession>>,
    free: Vec<Slot>,
    /// What the windows weigh, as far as [`Sessions::weigh`] was told.
    bytes: usize,
}

impl Sessions {
    pub(super) fn find(&self, key: &SessionKey) -> Option<Slot> {
        self.slots.get(key).copied()
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut LiveSession> {
        self.lives.get_mut(slot.0)?.as_mut()
    }

    /// Whether a session is not what is or will be stored.
    pub(super) fn is_spoilt(&self, slot: Slot) -> bool {
        self.lives.get(slot.0).and_then(Option::as_ref).is_none_or(|live| live.is_spoilt)
    }

    /// What a plan wrote to a session, up to an entry, is stored.
    pub(super) fn settle(&mut self, key: &SessionKey, head: u64, turn: u64) {
        let Some(slot) = self.find(key) else { return };
        if let Some(live) = self.get_mut(slot) {
            live.settle(head, turn);
        }
        self.weigh(slot);
    }

    pub(super) fn insert(&mut self, key: &SessionKey, live: LiveSession) -> Slot {
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

    pub(super) fn remove(&mut self, key: &SessionKey) -> Option<LiveSession> {
        let slot = self.slots.remove(key)?;
        self.free.push(slot);
        let mut live = self.lives.get_mut(slot.0).and_then(Option::take)?;
        self.bytes -= std::mem::take(&mut live.weighed);
        Some(live)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&SessionKey, &mut LiveSession)> {
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

    /// Leaves only the half in memory that was used last, when there are too many or they are too large. Those that the
    /// newest plan uses stay in any case: what it has written to them may not be stored yet.
    pub(super) fn forget_idle(&mut self, newest_plan: u64) {
        if self.slots.len() <= COUNT && self.bytes <= BYTES {
            return;
        }
        let mut used: Vec<u64> = self.lives.iter().flatten().map(|live| live.used).collect();
        let middle = used.len() / 2;
        let (_, middle, _) = used.select_nth_unstable(middle);
        let newest = *middle;
        self.retain(|live| live.used > newest || live.used >= newest_plan);
    }

    /// Forgets the sessions that a plan or one after it has used.
    pub(super) fn forget_since(&mut self, plan: u64) {
        self.retain(|live| live.used < plan);
    }

    fn retain(&mut self, is_kept: impl Fn(&LiveSession) -> bool) {
        let live = |slot: &Slot| self.lives.get(slot.0).and_then(Option::as_ref);
        let gone = self.slots.iter().filter(|(_, slot)| !live(slot).is_some_and(&is_kept));
        let gone: Vec<SessionKey> = gone.map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.remove(&key);
        }
    }
}
