//! Caches the folds of long open replies, so that readers do not rebuild them again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use crate::rebuild::{Rebuild, rebuild_replies};
use crate::replies::TrackedReply;
use crate::snapshot::OpenReply;
use crate::storage::{OpenReplyInfo, View};
use crate::{Cursor, Epoch, Error, SessionKey};

/// The minimum size of a session's open replies for caching. Smaller ones are rebuilt faster than they are looked up.
const MIN_BYTES: usize = 32 * 1024;
/// The maximum number of cached sessions.
const SESSIONS: usize = 64;

/// The open replies of recently read sessions.
///
/// Concurrent readers of one session wait for each other, so that only one of them rebuilds the replies.
#[derive(Debug)]
pub struct FoldCache {
    sessions: Mutex<Sessions>,
    min_bytes: usize,
}

impl Default for FoldCache {
    fn default() -> Self {
        Self::with_min_bytes(MIN_BYTES)
    }
}

/// The entry of one session. It is locked while the replies are rebuilt.
type Slot = Arc<Mutex<Option<CachedReplies>>>;

#[derive(Debug, Default)]
struct Sessions {
    /// Each slot with the lookup that last used it.
    slots: HashMap<SessionKey, (u64, Slot)>,
    /// The number of lookups so far.
    lookups: u64,
}

#[derive(Debug)]
struct CachedReplies {
    epoch: Epoch,
    seq: u64,
    tracked: Vec<TrackedReply>,
    open: Vec<OpenReply>,
}

impl FoldCache {
    /// Creates a cache for sessions whose open replies have at least this size in bytes.
    pub fn with_min_bytes(min_bytes: usize) -> Self {
        Self { sessions: Mutex::default(), min_bytes }
    }

    /// Returns the open replies of a session at its head.
    pub(crate) fn open_replies(
        &self,
        view: &dyn View,
        key: &SessionKey,
        head: Cursor,
    ) -> Result<Vec<OpenReply>, Error> {
        let slot = self.slot(key);
        let mut cached = lock(&slot);
        if let Some(CachedReplies { epoch, seq, open, .. }) = &*cached
            && (*epoch, *seq) == (head.epoch, head.seq)
        {
            return Ok(open.clone());
        }
        let tracked = match cached.take() {
            Some(CachedReplies { epoch, seq, tracked, .. }) if epoch == head.epoch && seq < head.seq => {
                advance(view, key, tracked, seq, head.seq)?
            }
            _ => rebuild_replies(view, key, view.open_replies(key)?, head.seq)?,
        };
        let open: Vec<OpenReply> = tracked.iter().map(OpenReply::from).collect();
        if open.iter().map(|reply| reply.fold.as_str().len()).sum::<usize>() >= self.min_bytes {
            *cached = Some(CachedReplies { epoch: head.epoch, seq: head.seq, tracked, open: open.clone() });
        } else {
            drop(cached);
            lock(&self.sessions).slots.remove(key);
        }
        Ok(open)
    }

    fn slot(&self, key: &SessionKey) -> Slot {
        let mut sessions = lock(&self.sessions);
        sessions.lookups += 1;
        let lookup = sessions.lookups;
        if sessions.slots.len() >= SESSIONS && !sessions.slots.contains_key(key) {
            let oldest = sessions.slots.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            oldest.and_then(|key| sessions.slots.remove(&key));
        }
        let (used, slot) = sessions.slots.entry_ref(key).or_default();
        *used = lookup;
        Arc::clone(slot)
    }
}

/// Applies the entries after `from`, up to and including `until`, to cached replies.
fn advance(
    view: &dyn View,
    key: &SessionKey,
    replies: Vec<TrackedReply>,
    from: u64,
    until: u64,
) -> Result<Vec<TrackedReply>, Error> {
    let infos: Vec<OpenReplyInfo> = view.open_reply_infos(key)?;
    let mut rebuild = Rebuild::after(from);
    for reply in replies.into_iter().filter(|reply| infos.contains(&reply.info)) {
        rebuild.resume(reply, from);
    }
    for info in infos.into_iter().filter(|info| info.start_seq > from) {
        rebuild.start(info);
    }
    rebuild.run(view, key, until)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
