//! Delivers committed entries to the subscribers of each session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hashbrown::HashMap;
use tokio::sync::{broadcast, watch};

use crate::input_tail::{InputTail, RawInput};
use crate::subscription::Tail;
use crate::{Cursor, Epoch, SessionKey};

/// The number of [`Activity`] notifications that are buffered for a slow receiver.
const ACTIVITY: usize = 1_024;

/// Entries that were committed to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The session.
    pub session: SessionKey,
    /// The head of the session after these entries.
    pub head: Cursor,
    /// The events in native JSON.
    pub entries: Vec<Bytes>,
}

/// The channels of all sessions that have subscribers.
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
    open: HashMap<SessionKey, OpenChannel>,
    is_closed: bool,
}

#[derive(Debug)]
struct OpenChannel {
    channel: Arc<Channel>,
    subscribers: usize,
}

/// The newest entries of a session, and the signals that wake its subscribers.
#[derive(Debug)]
struct Channel {
    tail: Mutex<Tail>,
    /// Signals every commit.
    commits: watch::Sender<Signal>,
    inputs: Mutex<InputTail>,
    /// Signals commits that contain inputs, and those after which the inputs must be read from the storage.
    input_commits: watch::Sender<Signal>,
}

impl Channel {
    fn new() -> Self {
        Self {
            tail: Mutex::default(),
            commits: watch::Sender::new(Signal::Changed),
            inputs: Mutex::default(),
            input_commits: watch::Sender::new(Signal::Changed),
        }
    }

    fn close(&self) {
        self.commits.send_replace(Signal::Closed);
        self.input_commits.send_replace(Signal::Closed);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    /// There are new entries, or the session was replaced.
    Changed,
    /// The log is closed; no more entries will be committed.
    Closed,
}

/// Entries that were committed to a session, as the writer reports them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewEntries<'e> {
    pub(crate) epoch: Epoch,
    /// The number of the last entry before these.
    pub(crate) after: u64,
    pub(crate) entries: &'e [Bytes],
    /// The indexes of the entries that are inputs.
    pub(crate) inputs: &'e [usize],
}

/// A subscription to all entries of a session. The channel is dropped together with its last subscriber.
#[derive(Debug)]
pub(crate) struct Subscriber {
    membership: Membership,
    commits: watch::Receiver<Signal>,
}

impl Subscriber {
    /// Locks the newest entries. Commits from here on wake [`changed`](Self::changed).
    pub(crate) fn tail(&mut self) -> MutexGuard<'_, Tail> {
        self.commits.mark_unchanged();
        lock(&self.membership.channel.tail)
    }

    /// Whether the log is closed.
    pub(crate) fn is_closed(&self) -> bool {
        *self.commits.borrow() == Signal::Closed
    }

    /// Waits for the next commit, or until the log is closed.
    pub(crate) async fn changed(&mut self) {
        wait(&mut self.commits).await;
    }
}

/// A subscription to the inputs of a session.
#[derive(Debug)]
pub(crate) struct InputSubscriber {
    membership: Membership,
    commits: watch::Receiver<Signal>,
}

impl InputSubscriber {
    /// Returns the inputs after a cursor and the newest position that they cover. `None` if the inputs in memory do not
    /// reach back to the cursor. Commits from here on wake [`changed`](Self::changed).
    pub(crate) fn inputs_after(&mut self, at: Cursor) -> Option<(Vec<RawInput>, Cursor)> {
        self.commits.mark_unchanged();
        lock(&self.membership.channel.inputs).after(at)
    }

    /// Whether the log is closed.
    pub(crate) fn is_closed(&self) -> bool {
        *self.commits.borrow() == Signal::Closed
    }

    /// Waits for the next input, until the storage must be read, or until the log is closed.
    pub(crate) async fn changed(&mut self) {
        wait(&mut self.commits).await;
    }
}

async fn wait(commits: &mut watch::Receiver<Signal>) {
    // `Closed` may have been marked as seen together with an earlier change.
    if *commits.borrow() != Signal::Closed {
        // The channel holds the sender and is held by the subscriber, so this cannot fail.
        let _ = commits.changed().await;
    }
}

/// Keeps a channel open.
#[derive(Debug)]
struct Membership {
    hub: Arc<Hub>,
    key: SessionKey,
    channel: Arc<Channel>,
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut channels = lock(&self.hub.channels);
        let Some(open) = channels.open.get_mut(&self.key) else { return };
        open.subscribers -= 1;
        if open.subscribers == 0 {
            channels.open.remove(&self.key);
        }
    }
}

impl Hub {
    /// Subscribes to all entries of a session. `None` if the log is closed.
    pub(crate) fn subscribe(self: &Arc<Self>, key: &SessionKey) -> Option<Subscriber> {
        let membership = self.enter(key)?;
        let commits = membership.channel.commits.subscribe();
        Some(Subscriber { membership, commits })
    }

    /// Subscribes to the inputs of a session. `None` if the log is closed.
    pub(crate) fn subscribe_inputs(self: &Arc<Self>, key: &SessionKey) -> Option<InputSubscriber> {
        let membership = self.enter(key)?;
        let commits = membership.channel.input_commits.subscribe();
        Some(InputSubscriber { membership, commits })
    }

    fn enter(self: &Arc<Self>, key: &SessionKey) -> Option<Membership> {
        let mut channels = lock(&self.channels);
        if channels.is_closed {
            return None;
        }
        let new = || OpenChannel { channel: Arc::new(Channel::new()), subscribers: 0 };
        let open = channels.open.entry_ref(key).or_insert_with(new);
        open.subscribers += 1;
        Some(Membership { hub: Arc::clone(self), key: key.clone(), channel: Arc::clone(&open.channel) })
    }

    /// Subscribes to the commits of all sessions.
    pub(crate) fn activity(&self) -> broadcast::Receiver<Activity> {
        self.activity.subscribe()
    }

    /// Delivers committed entries.
    pub(crate) fn push(&self, key: &SessionKey, new: NewEntries<'_>) {
        let NewEntries { epoch, after, entries, .. } = new;
        if self.activity.receiver_count() > 0 {
            let head = Cursor { epoch, seq: after + entries.len() as u64 };
            // The last receiver may have been dropped since.
            let _ = self.activity.send(Activity { session: key.clone(), head, entries: entries.to_vec() });
        }
        let Some(channel) = self.channel(key) else { return };
        lock(&channel.tail).push(epoch, after, entries);
        channel.commits.send_replace(Signal::Changed);
        let must_wake = lock(&channel.inputs).push(new);
        if must_wake {
            channel.input_commits.send_replace(Signal::Changed);
        }
    }

    /// Drops the entries of a session that was replaced or deleted.
    pub(crate) fn clear(&self, key: &SessionKey) {
        let Some(channel) = self.channel(key) else { return };
        lock(&channel.tail).clear();
        channel.commits.send_replace(Signal::Changed);
        lock(&channel.inputs).clear();
        channel.input_commits.send_replace(Signal::Changed);
    }

    /// Ends all subscriptions, because the log is closed.
    pub(crate) fn close(&self) {
        let mut channels = lock(&self.channels);
        channels.is_closed = true;
        for (_, open) in channels.open.drain() {
            open.channel.close();
        }
    }

    /// The channel of a session, if the session has subscribers.
    fn channel(&self, key: &SessionKey) -> Option<Arc<Channel>> {
        lock(&self.channels).open.get(key).map(|open| Arc::clone(&open.channel))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_is_dropped_with_its_last_subscriber() {
        let hub = Arc::new(Hub::default());
        let keys: Vec<SessionKey> = (0..100).map(|number| format!("s{number}").parse().unwrap()).collect();
        for key in &keys {
            let (first, second) = (hub.subscribe(key).unwrap(), hub.subscribe_inputs(key).unwrap());
            let entries = [Bytes::from_static(b"1")];
            hub.push(key, NewEntries { epoch: Epoch::from_random(7), after: 0, entries: &entries, inputs: &[] });
            drop(first);
            assert!(hub.channel(key).is_some(), "a second subscriber is left");
            drop(second);
        }
        assert_eq!(lock(&hub.channels).open.len(), 0);
    }

    #[test]
    fn subscribers_see_that_the_log_is_closed() {
        let hub = Arc::new(Hub::default());
        let key = "chat".parse().unwrap();
        let mut subscriber = hub.subscribe(&key).unwrap();
        let inputs = hub.subscribe_inputs(&key).unwrap();
        drop(subscriber.tail());
        assert!(!subscriber.is_closed());
        hub.close();
        assert!(subscriber.is_closed() && inputs.is_closed());
        assert!(hub.subscribe(&key).is_none());
    }
}
