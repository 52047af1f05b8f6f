//! The queue of events on their way to the log: ordered and bounded.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::storage::StateChange;
use recount_log::{Appended, Error, Events, Lease, Session};
use tokio::sync::{Notify, oneshot, watch};
use tracing::Instrument as _;

use crate::telemetry::RunTraces;

/// The agent is paused while this many events are queued.
const MAX_EVENTS: usize = 1_024;
/// The agent is paused while this many bytes are queued.
const MAX_BYTES: usize = 1 << 20;

/// A queue of events and state changes to append to a session's log. Clones share the queue.
///
/// Producers do not wait, so the events of a run have one order. A task drains the queue and commits everything that has
/// accumulated at once.
#[derive(Debug, Clone)]
pub(crate) struct AppendQueue {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queue: Mutex<Queue>,
    changed: Notify,
    progress: watch::Sender<Progress>,
}

#[derive(Debug, Default)]
struct Queue {
    batches: VecDeque<AppendBatch>,
    /// The total number of queued events.
    events: usize,
    /// The total size of the queued events.
    bytes: usize,
    /// How many batches were pushed so far.
    pushed: u64,
    is_closed: bool,
}

/// The progress of the commits.
#[derive(Debug, Clone, Default)]
struct Progress {
    /// How many batches were committed so far.
    committed: u64,
    failure: Option<Error>,
}

/// Events and state changes that are committed together.
#[derive(Debug, Default)]
struct AppendBatch {
    events: Events,
    states: Vec<StateChange>,
    /// Receives the result. Such a batch has a commit of its own, because it may be rejected.
    response: Option<oneshot::Sender<Result<Appended, Error>>>,
}

/// One or more batches, merged into one commit.
struct CommitGroup {
    batch: AppendBatch,
    /// The number of merged batches.
    count: u64,
}

impl AppendQueue {
    /// Creates a queue, and spawns the task that commits at most `max_batch` events at once under a lease.
    pub(crate) fn spawn(session: Session, lease: Lease, max_batch: usize, traces: RunTraces) -> Self {
        let inner = Inner { queue: Mutex::default(), changed: Notify::new(), progress: watch::Sender::default() };
        let queue = Self { inner: Arc::new(inner) };
        tokio::spawn(queue.clone().drain(session, lease, max_batch.max(1), traces));
        queue
    }

    /// Queues events and state changes.
    pub(crate) fn push(&self, events: Events, states: Vec<StateChange>) {
        self.enqueue(AppendBatch { events, states, response: None });
    }

    /// Queues events and state changes that the log may reject, and waits for the result.
    pub(crate) async fn append(&self, events: Events, states: Vec<StateChange>) -> Result<Appended, Error> {
        let (response, result) = oneshot::channel();
        self.enqueue(AppendBatch { events, states, response: Some(response) });
        result.await.unwrap_or_else(|_| Err(self.failure().unwrap_or(Error::Closed)))
    }

    fn enqueue(&self, batch: AppendBatch) {
        let mut queue = self.lock();
        if queue.is_closed {
            return;
        }
        queue.events += batch.events.len();
        queue.bytes += batch.events.bytes();
        queue.pushed += 1;
        queue.batches.push_back(batch);
        drop(queue);
        self.inner.changed.notify_one();
    }

    /// Waits until everything that was queued before this call is committed.
    pub(crate) fn flush(&self) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let pushed = self.lock().pushed;
        let mut progress = self.inner.progress.subscribe();
        async move {
            let is_done = |progress: &Progress| progress.committed >= pushed || progress.failure.is_some();
            match progress.wait_for(is_done).await.as_deref() {
                Ok(Progress { failure: Some(failure), .. }) => Err(failure.clone()),
                Ok(_) => Ok(()),
                Err(_) => Err(Error::Closed),
            }
        }
    }

    /// Waits until the queue is below its limits.
    pub(crate) async fn wait_for_capacity(&self) {
        let mut progress = self.inner.progress.subscribe();
        let _ = progress.wait_for(|progress| progress.failure.is_some() || self.has_capacity()).await;
    }

    fn has_capacity(&self) -> bool {
        let queue = self.lock();
        queue.events < MAX_EVENTS && queue.bytes < MAX_BYTES
    }

    /// The error after which nothing more is appended.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.inner.progress.borrow().failure.clone()
    }

    /// Waits until appending fails.
    pub(crate) async fn wait_for_failure(&self) -> Error {
        let mut progress = self.inner.progress.subscribe();
        match progress.wait_for(|progress| progress.failure.is_some()).await.as_deref() {
            Ok(Progress { failure: Some(failure), .. }) => failure.clone(),
            _ => Error::Closed,
        }
    }

    /// Accepts nothing more. Queued batches are still committed.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.inner.changed.notify_one();
    }

    /// Accepts nothing more, and discards queued batches.
    pub(crate) fn abort(&self, reason: Error) {
        let mut queue = self.lock();
        queue.is_closed = true;
        queue.batches.clear();
        drop(queue);
        self.inner.progress.send_modify(|progress| {
            progress.failure.get_or_insert(reason);
        });
        self.inner.changed.notify_one();
    }

    /// Commits queued batches until the queue is closed and empty, or the log fails.
    async fn drain(self, session: Session, lease: Lease, max_batch: usize, traces: RunTraces) {
        loop {
            let Some(group) = self.next_group(max_batch) else {
                if self.lock().is_closed {
                    return;
                }
                self.inner.changed.notified().await;
                continue;
            };
            let CommitGroup { batch: AppendBatch { events, states, response }, count } = group;
            // Each group has an appender of its own, so that a rejected group does not fail the following ones.
            let span = traces.commit_span(events.len());
            let result = session.appender(Some(lease.clone())).append_with(events, states).instrument(span).await;
            let failure = result.as_ref().err().filter(|error| response.is_none() || !is_rejection(error)).cloned();
            if let Some(response) = response {
                // The caller may have been cancelled.
                let _ = response.send(result);
            }
            if let Some(failure) = failure {
                return self.abort(failure);
            }
            self.inner.progress.send_modify(|progress| progress.committed += count);
        }
    }

    /// Takes the next batch, merged with as many of the following ones as fit into `max_batch` events. A batch with a response
    /// channel is not merged.
    fn next_group(&self, max_batch: usize) -> Option<CommitGroup> {
        let mut queue = self.lock();
        let mut group = CommitGroup { batch: queue.batches.pop_front()?, count: 1 };
        while group.batch.response.is_none()
            && queue.batches.front().is_some_and(|next| {
                next.response.is_none() && group.batch.events.len() + next.events.len() <= max_batch
            })
            && let Some(AppendBatch { events, states, .. }) = queue.batches.pop_front()
        {
            group.batch.events.extend(events);
            for change in states {
                group.batch.states.retain(|earlier| earlier.name != change.name);
                group.batch.states.push(change);
            }
            group.count += 1;
        }
        queue.events = queue.events.saturating_sub(group.batch.events.len());
        queue.bytes = queue.bytes.saturating_sub(group.batch.events.bytes());
        Some(group)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.inner.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the log rejected the request, as opposed to having failed.
fn is_rejection(error: &Error) -> bool {
    matches!(error, Error::Refused(_) | Error::Moved { .. })
}
