//! Long open replies as readers last saw them, so that the next reader need not fold them again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use crate::rebuild::{Rebuild, fold_replies};
use crate::replies::TrackedReply;
use crate::snapshot::OpenReply;
use crate::storage::{OpenReplyInfo, View};
use crate::{Cursor, Epoch, Error, SessionKey};

/// Replies that weigh less than this are folded sooner than they are looked for.
const WORTH_KEEPING: usize = 32 * 1024;
/// How many sessions are kept.
const SESSIONS: usize = 64;

/// Open replies of some sessions, folded up to a place.
///
/// Readers of the same session wait for each other here, so that of a thousand that come back at once one folds.
#[derive(Debug)]
pub struct FoldCache {
    sessions: Mutex<Sessions>,
    /// What weighs less is not kept.
    worth_keeping: usize,
}

impl Default for FoldCache {
    fn default() -> Self {
        Self::with_min_bytes(WORTH_KEEPING)
    }
}

/// Where the replies of a session are kept; who folds them holds it.
type CacheSlot = Arc<Mutex<Option<CachedFolds>>>;

#[derive(Debug, Default)]
struct Sessions {
    /// Each with the turn of its last look.
    kept: HashMap<SessionKey, (u64, CacheSlot)>,
    /// Counts the looks, to know which session was used last.
    turn: u64,
}

#[derive(Debug)]
struct CachedFolds {
    epoch: Epoch,
    seq: u64,
    replies: Vec<TrackedReply>,
    states: Vec<OpenReply>,
}

impl FoldCache {
    /// Keeps the replies of sessions in which they weigh so many bytes or more.
    pub fn with_min_bytes(bytes: usize) -> Self {
        Self { sessions: Mutex::default(), worth_keeping: bytes }
    }

    /// The open replies of a session at its head.
    pub(crate) fn open_states(&self, view: &dyn View, key: &SessionKey, head: Cursor) -> Result<Vec<OpenReply>, Error> {
        let place = self.place(key);
        let mut kept = lock(&place);
        if let Some(CachedFolds { epoch, seq, states, .. }) = &*kept
            && (*epoch, *seq) == (head.epoch, head.seq)
        {
            return Ok(states.clone());
        }
        let replies = match kept.take() {
            Some(CachedFolds { epoch, seq, replies, .. }) if epoch == head.epoch && seq < head.seq => {
                continued(view, key, replies, seq, head.seq)?
            }
            _ => fold_replies(view, key, view.open_replies(key)?, head.seq)?,
        };
        let states: Vec<OpenReply> = replies.iter().map(OpenReply::of).collect();
        if states.iter().map(|state| state.fold.len()).sum::<usize>() >= self.worth_keeping {
            *kept = Some(CachedFolds { epoch: head.epoch, seq: head.seq, replies, states: states.clone() });
        } else {
            drop(kept);
            lock(&self.sessions).kept.remove(key);
        }
        Ok(states)
    }

    fn place(&self, key: &SessionKey) -> CacheSlot {
        let mut sessions = lock(&self.sessions);
        sessions.turn += 1;
        let turn = sessions.turn;
        if sessions.kept.len() >= SESSIONS && !sessions.kept.contains_key(key) {
            let oldest = sessions.kept.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            oldest.and_then(|key| sessions.kept.remove(&key));
        }
        let (used, place) = sessions.kept.entry_ref(key).or_default();
        *used = turn;
        Arc::clone(place)
    }
}

/// Replies that were folded up to a place, folded on.
fn continued(
    view: &dyn View,
    key: &SessionKey,
    replies: Vec<TrackedReply>,
    from: u64,
    until: u64,
) -> Result<Vec<TrackedReply>, Error> {
    let opened: Vec<OpenReplyInfo> = view.open_reply_infos(key)?;
    let mut rebuild = Rebuild::after(from);
    for reply in replies.into_iter().filter(|reply| opened.contains(&reply.opened)) {
        rebuild.go_on(reply, from);
    }
    for opened in opened.into_iter().filter(|opened| opened.start_seq > from) {
        rebuild.begin(opened);
    }
    rebuild.run(view, key, until)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
