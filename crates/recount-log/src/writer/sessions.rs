//! The sessions in the writer's memory.

use hashbrown::HashMap;

use super::live::LiveSession;
use crate::SessionKey;

/// The maximum number of sessions in memory.
const COUNT: usize = 4_096;
/// The maximum size of their deduplication windows in bytes.
const BYTES: usize = 128 << 20;

/// The index of a session in memory. It is valid until a session is inserted or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(usize);

/// Sessions in memory. A session is looked up by its key once, and then accessed by its slot.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    slots: HashMap<SessionKey, Slot>,
    sessions: Vec<Option<LiveSession>>,
    free: Vec<Slot>,
    /// The size of the windows, updated by [`Sessions::measure`].
    bytes: usize,
}

impl Sessions {
    pub(super) fn find(&self, key: &SessionKey) -> Option<Slot> {
        self.slots.get(key).copied()
    }

    pub(super) fn get_mut(&mut self, slot: Slot) -> Option<&mut LiveSession> {
        self.sessions.get_mut(slot.0)?.as_mut()
    }

    /// Whether a session must be read again.
    pub(super) fn is_invalid(&self, slot: Slot) -> bool {
        self.sessions.get(slot.0).and_then(Option::as_ref).is_none_or(|live| live.is_invalid)
    }

    /// Records that the entries of a plan are committed.
    pub(super) fn settle(&mut self, key: &SessionKey, head: u64, plan_id: u64) {
        let Some(slot) = self.find(key) else { return };
        if let Some(live) = self.get_mut(slot) {
            live.settle(head, plan_id);
        }
        self.measure(slot);
    }

    pub(super) fn insert(&mut self, key: &SessionKey, live: LiveSession) -> Slot {
        self.remove(key);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.sessions.push(None);
            Slot(self.sessions.len() - 1)
        });
        if let Some(place) = self.sessions.get_mut(slot.0) {
            *place = Some(live);
        }
        self.slots.insert(key.clone(), slot);
        self.measure(slot);
        slot
    }

    pub(super) fn remove(&mut self, key: &SessionKey) -> Option<LiveSession> {
        let slot = self.slots.remove(key)?;
        self.free.push(slot);
        let mut live = self.sessions.get_mut(slot.0).and_then(Option::take)?;
        self.bytes -= std::mem::take(&mut live.weighed);
        Some(live)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&SessionKey, &mut LiveSession)> {
        let mut keys: Vec<Option<&SessionKey>> = vec![None; self.sessions.len()];
        for (key, slot) in &self.slots {
            if let Some(place) = keys.get_mut(slot.0) {
                *place = Some(key);
            }
        }
        keys.into_iter().zip(&mut self.sessions).filter_map(|(key, live)| Some((key?, live.as_mut()?)))
    }

    /// Updates the size of a session.
    pub(super) fn measure(&mut self, slot: Slot) {
        let Some(live) = self.sessions.get_mut(slot.0).and_then(Option::as_mut) else { return };
        let bytes = live.window.bytes();
        self.bytes = self.bytes + bytes - live.weighed;
        live.weighed = bytes;
    }

    /// Evicts the less recently used half of the sessions if a limit is exceeded. Sessions of the newest plan stay, because
    /// their entries may not be stored yet.
    pub(super) fn evict_idle(&mut self, newest_plan: u64) {
        if self.slots.len() <= COUNT && self.bytes <= BYTES {
            return;
        }
        let mut used: Vec<u64> = self.sessions.iter().flatten().map(|live| live.used).collect();
        let middle = used.len() / 2;
        let (_, middle, _) = used.select_nth_unstable(middle);
        let newest = *middle;
        self.retain(|live| live.used > newest || live.used >= newest_plan);
    }

    /// Evicts the sessions that were used by a plan or a later one.
    pub(super) fn evict_since(&mut self, plan: u64) {
        self.retain(|live| live.used < plan);
    }

    fn retain(&mut self, is_kept: impl Fn(&LiveSession) -> bool) {
        let live = |slot: &Slot| self.sessions.get(slot.0).and_then(Option::as_ref);
        let gone = self.slots.iter().filter(|(_, slot)| !live(slot).is_some_and(&is_kept));
        let gone: Vec<SessionKey> = gone.map(|(key, _)| key.clone()).collect();
        for key in gone {
            self.remove(&key);
        }
    }
}
