//! Who follows which session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hashbrown::HashMap;
use tokio::sync::{broadcast, watch};

use crate::subscription::Tail;
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
struct Channel {
    tail: Mutex<Tail>,
    bell: watch::Sender<Bell>,
}

/// What a bell rings for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bell {
    /// Something is new.
    News,
    /// Nothing will be new any more.
    Over,
}

/// Somebody who follows a session. When the last one is gone, nothing of the session is kept here any more.
#[derive(Debug)]
pub(crate) struct Subscriber {
    hub: Arc<Hub>,
    key: SessionKey,
    channel: Arc<Channel>,
    bell: watch::Receiver<Bell>,
}

impl Subscriber {
    /// The newest entries. What is committed from here on rings the bell again.
    pub(crate) fn tail(&mut self) -> MutexGuard<'_, Tail> {
        self.bell.mark_unchanged();
        lock(&self.channel.tail)
    }

    /// Whether nothing will be new any more.
    pub(crate) fn is_over(&self) -> bool {
        *self.bell.borrow() == Bell::Over
    }

    /// Waits until something is new, or nothing will be.
    pub(crate) async fn rung(&mut self) {
        // That it is over may have been heard along with something else.
        if !self.is_over() {
            // The other end is held here too, so it cannot be gone.
            let _ = self.bell.changed().await;
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let mut channels = lock(&self.hub.channels);
        // The one that goes still counts.
        if self.channel.bell.receiver_count() == 1 {
            channels.open.remove(&self.key);
        }
    }
}

impl Hub {
    /// Begins to follow a session; nothing when the log is closed.
    pub(crate) fn follow(self: &Arc<Self>, key: &SessionKey) -> Option<Subscriber> {
        let mut channels = lock(&self.channels);
        if channels.is_closed {
            return None;
        }
        let new = || Arc::new(Channel { tail: Mutex::default(), bell: watch::Sender::new(Bell::News) });
        let channel = Arc::clone(channels.open.entry_ref(key).or_insert_with(new));
        let bell = channel.bell.subscribe();
        Some(Subscriber { hub: Arc::clone(self), key: key.clone(), channel, bell })
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
        channel.bell.send_replace(Bell::News);
    }

    pub(crate) fn clear(&self, key: &SessionKey) {
        let Some(channel) = self.followed(key) else { return };
        lock(&channel.tail).clear();
        channel.bell.send_replace(Bell::News);
    }

    /// Nothing will be written any more.
    pub(crate) fn close(&self) {
        let mut channels = lock(&self.channels);
        channels.is_closed = true;
        for (_, channel) in channels.open.drain() {
            channel.bell.send_replace(Bell::Over);
        }
    }

    /// The channel of a session, if somebody follows it.
    fn followed(&self, key: &SessionKey) -> Option<Arc<Channel>> {
        lock(&self.channels).open.get(key).map(Arc::clone)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_a_session_that_nobody_follows_any_more() {
        let hub = Arc::new(Hub::default());
        let keys: Vec<SessionKey> = (0..100).map(|number| format!("s{number}").parse().unwrap()).collect();
        for key in &keys {
            let (first, second) = (hub.follow(key).unwrap(), hub.follow(key).unwrap());
            hub.push(key, Epoch::from_random(7), 0, &[Bytes::from_static(b"1")]);
            drop(first);
            assert!(hub.followed(key).is_some(), "there is another one");
            drop(second);
        }
        assert_eq!(lock(&hub.channels).open.len(), 0);
    }

    #[test]
    fn who_follows_a_session_is_told_that_nothing_will_be_new() {
        let hub = Arc::new(Hub::default());
        let key = "chat".parse().unwrap();
        let mut following = hub.follow(&key).unwrap();
        drop(following.tail());
        assert!(!following.is_over());
        hub.close();
        assert!(following.is_over());
        assert!(hub.follow(&key).is_none());
    }
}
