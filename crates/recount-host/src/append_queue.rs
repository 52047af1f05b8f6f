//! What is on its way to the log: in order, without waiting, and bounded.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::storage::StateChange;
use recount_log::{Appended, Error, Events, Lease, Session};
use tokio::sync::{Notify, oneshot, watch};
use tracing::Instrument as _;

use crate::telemetry::RunTraces;

/// An agent is not asked on while more events than these wait to be written.
const MOST_EVENTS: usize = 1_024;
/// The same in bytes.
const MOST_BYTES: usize = 1 << 20;

/// What is on its way to the log. Clones are the same.
///
/// Whoever puts something in does not wait for it, so that there is one order for all that is said in a session by its run.
/// One task takes out what has come in the meantime and commits it at once.
#[derive(Debug, Clone)]
pub(crate) struct AppendQueue {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queue: Mutex<Queue>,
    bell: Notify,
    progress: watch::Sender<Progress>,
}

#[derive(Debug, Default)]
struct Queue {
    parcels: VecDeque<AppendBatch>,
    events: usize,
    bytes: usize,
    pushed: u64,
    is_closed: bool,
}

/// How far the commits have come.
#[derive(Debug, Clone, Default)]
struct Progress {
    committed: u64,
    failure: Option<Error>,
}

/// Events and documents that are committed together.
#[derive(Debug, Default)]
struct AppendBatch {
    events: Events,
    states: Vec<StateChange>,
    /// Who wants to know what became of it. It travels alone then.
    answer: Option<oneshot::Sender<Result<Appended, Error>>>,
}

/// Parcels that are committed together.
struct Load {
    parcel: AppendBatch,
    count: u64,
}

impl AppendQueue {
    /// Begins to write to a session under a lease, at most so many events at once.
    pub(crate) fn open(session: Session, lease: Lease, batch: usize, traces: RunTraces) -> Self {
        let inner = Inner { queue: Mutex::default(), bell: Notify::new(), progress: watch::Sender::default() };
        let outbox = Self { inner: Arc::new(inner) };
        tokio::spawn(outbox.clone().deliver(session, lease, batch.max(1), traces));
        outbox
    }

    /// Puts events and documents in.
    pub(crate) fn push(&self, events: Events, states: Vec<StateChange>) {
        self.put(AppendBatch { events, states, answer: None });
    }

    /// Puts events and documents in that may be refused, and says what became of them.
    pub(crate) async fn ask(&self, events: Events, states: Vec<StateChange>) -> Result<Appended, Error> {
        let (answer, answered) = oneshot::channel();
        self.put(AppendBatch { events, states, answer: Some(answer) });
        answered.await.unwrap_or_else(|_| Err(self.failure().unwrap_or(Error::Closed)))
    }

    fn put(&self, parcel: AppendBatch) {
        let mut queue = self.lock();
        if queue.is_closed {
            return;
        }
        queue.events += parcel.events.len();
        queue.bytes += parcel.events.bytes();
        queue.pushed += 1;
        queue.parcels.push_back(parcel);
        drop(queue);
        self.inner.bell.notify_one();
    }

    /// Comes to its end when all that was put in until now is committed.
    pub(crate) fn committed(&self) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let wanted = self.lock().pushed;
        let mut progress = self.inner.progress.subscribe();
        async move {
            let reached = |now: &Progress| now.committed >= wanted || now.failure.is_some();
            match progress.wait_for(reached).await.as_deref() {
                Ok(Progress { failure: Some(failure), .. }) => Err(failure.clone()),
                Ok(_) => Ok(()),
                Err(_) => Err(Error::Closed),
            }
        }
    }

    /// Comes to its end when there is room for more.
    pub(crate) async fn room(&self) {
        let mut progress = self.inner.progress.subscribe();
        let _ = progress.wait_for(|now| now.failure.is_some() || self.has_room()).await;
    }

    fn has_room(&self) -> bool {
        let queue = self.lock();
        queue.events < MOST_EVENTS && queue.bytes < MOST_BYTES
    }

    /// Why nothing is written any more.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.inner.progress.borrow().failure.clone()
    }

    /// Comes to its end when nothing can be written any more.
    pub(crate) async fn failed(&self) -> Error {
        let mut progress = self.inner.progress.subscribe();
        match progress.wait_for(|now| now.failure.is_some()).await.as_deref() {
            Ok(Progress { failure: Some(failure), .. }) => failure.clone(),
            _ => Error::Closed,
        }
    }

    /// Takes nothing more. What is in it is written.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.inner.bell.notify_one();
    }

    /// Takes nothing more, and throws away what is in it.
    pub(crate) fn abandon(&self, why: Error) {
        let mut queue = self.lock();
        queue.is_closed = true;
        queue.parcels.clear();
        drop(queue);
        self.inner.progress.send_modify(|now| {
            now.failure.get_or_insert(why);
        });
        self.inner.bell.notify_one();
    }

    async fn deliver(self, session: Session, lease: Lease, batch: usize, traces: RunTraces) {
        loop {
            let Some(load) = self.next(batch) else {
                if self.lock().is_closed {
                    return;
                }
                self.inner.bell.notified().await;
                continue;
            };
            let Load { parcel: AppendBatch { events, states, answer }, count } = load;
            // Each load is a sequence of its own: one that is refused takes nothing else along.
            let span = traces.commit(events.len());
            let outcome = session.appender(Some(lease.clone())).append_with(events, states).instrument(span).await;
            let failure = outcome.as_ref().err().filter(|error| answer.is_none() || !is_refusal(error)).cloned();
            if let Some(answer) = answer {
                // Who asked may have gone.
                let _ = answer.send(outcome);
            }
            if let Some(failure) = failure {
                return self.abandon(failure);
            }
            self.inner.progress.send_modify(|now| now.committed += count);
        }
    }

    /// What is committed next: one parcel that wants an answer, or as many others as fit.
    fn next(&self, batch: usize) -> Option<Load> {
        let mut queue = self.lock();
        let mut load = Load { parcel: queue.parcels.pop_front()?, count: 1 };
        while load.parcel.answer.is_none()
            && queue
                .parcels
                .front()
                .is_some_and(|next| next.answer.is_none() && load.parcel.events.len() + next.events.len() <= batch)
            && let Some(AppendBatch { events, states, .. }) = queue.parcels.pop_front()
        {
            load.parcel.events.extend(events);
            for change in states {
                load.parcel.states.retain(|before| before.name != change.name);
                load.parcel.states.push(change);
            }
            load.count += 1;
        }
        queue.events = queue.events.saturating_sub(load.parcel.events.len());
        queue.bytes = queue.bytes.saturating_sub(load.parcel.events.bytes());
        Some(load)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.inner.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an error is about the request, and not about the log.
fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Refused(_) | Error::Moved { .. })
}
