//! Who follows which session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hashbrown::HashMap;
use tokio::sync::{broadcast, watch};

use crate::join::Tail;
use crate::{Cursor, Epoch, SessionKey};

/// How much activity is kept for somebody who is slow to look at it.
const ACTIVITY: usize = 1_024;

/// Entries that were committed, of any session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The session.
    pub session: SessionKey,
    /// Its head, with these entries.
    pub head: Cursor,
    /// The events, in native JSON.
    pub entries: Vec<Bytes>,
}

/// The sessions that somebody follows.
#[derive(Debug)]
pub(crate) struct Hub {
    channels: Mutex<Channels>,
    activity: broadcast::Sender<Activity>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { channels: Mutex::default(), activity: broadcast::Sender::new(ACTIVITY) }
    }
}

#[derive(Debug, Default)]
struct Channels {
    open: HashMap<SessionKey, Arc<Channel>>,
    is_closed: bool,
}

/// The newest entries of a session, and the bell that rings when there are more.
#[derive(Debug)]
pub(crate) struct Channel {
    tail: Mutex<Tail>,
    bell: watch::Sender<()>,
}

impl Hub {
    /// The channel of a session, for as long as somebody holds it; nothing when the log is closed.
    pub(crate) fn follow(&self, key: &SessionKey) -> Option<(Arc<Channel>, watch::Receiver<()>)> {
        let mut channels = lock(&self.channels);
        if channels.is_closed {
            return None;
        }
        let new = || Arc::new(Channel { tail: Mutex::default(), bell: watch::Sender::new(()) });
        let channel = channels.open.entry_ref(key).or_insert_with(new);
        Some((Arc::clone(channel), channel.bell.subscribe()))
    }

    /// What is committed from now on, of all sessions.
    pub(crate) fn activity(&self) -> broadcast::Receiver<Activity> {
        self.activity.subscribe()
    }

    pub(crate) fn push(&self, key: &SessionKey, epoch: Epoch, after: u64, entries: &[Bytes]) {
        if self.activity.receiver_count() > 0 {
            let head = Cursor { epoch, seq: after + entries.len() as u64 };
            // Nobody listening any more is no fault.
            let _ = self.activity.send(Activity { session: key.clone(), head, entries: entries.to_vec() });
        }
        let Some(channel) = self.followed(key) else { return };
        lock(&channel.tail).push(epoch, after, entries);
        channel.bell.send_replace(());
    }

    pub(crate) fn clear(&self, key: &SessionKey) {
        let Some(channel) = self.followed(key) else { return };
        lock(&channel.tail).clear();
        channel.bell.send_replace(());
    }

    /// Nothing will be written any more.
    pub(crate) fn close(&self) {
        let mut channels = lock(&self.channels);
        channels.is_closed = true;
        channels.open.clear();
    }

    /// The channel of a session, if somebody follows it. One that nobody follows any more is forgotten.
    fn followed(&self, key: &SessionKey) -> Option<Arc<Channel>> {
        let mut channels = lock(&self.channels);
        let channel = channels.open.get(key)?;
        if channel.bell.receiver_count() == 0 {
            channels.open.remove(key);
            return None;
        }
        Some(Arc::clone(channel))
    }
}

impl Channel {
    pub(crate) fn tail(&self) -> MutexGuard<'_, Tail> {
        lock(&self.tail)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
