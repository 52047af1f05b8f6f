//! The thread of the writer: it takes what has come in the meantime and commits it at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::hub::Hub;
use crate::loading::Loading;
use crate::request::{Answer, Request};
use crate::storage::Storage;
use crate::writer::{Loaded, Notice, Outbox, Writer};
use crate::{Error, SessionKey, StorageError};

/// How many requests are committed at once.
const GROUP: usize = 2_048;

/// Something for the thread to do.
pub(crate) enum Job {
    Request {
        request: Box<Request>,
        /// Whom to tell what has become of it. Deltas are not waited for.
        answer: Option<Answering>,
        /// The room that the request takes up until it is answered.
        _room: OwnedSemaphorePermit,
    },
    /// A session has been read into memory, if that was possible.
    Loaded {
        key: SessionKey,
        loaded: Option<Box<Loaded>>,
    },
    /// Some room is given back. The answer is whether there is more.
    Shrink(oneshot::Sender<Result<bool, Error>>),
    /// Everything is moved to where it is kept in the end.
    Flush(oneshot::Sender<Result<(), Error>>),
    Close(oneshot::Sender<Result<(), Error>>),
}

/// Who is told what has become of a request, and the room that it takes up until then.
pub(crate) type Waiting = (Option<Answering>, OwnedSemaphorePermit);

/// The way to somebody who waits for an answer.
pub(crate) type Answering = oneshot::Sender<Result<Answer, Error>>;

/// Starts the thread. It ends when it is told to, or when nobody can ask it any more.
pub(crate) fn start(
    storage: Box<dyn Storage>,
    writer: Writer,
    jobs: mpsc::Receiver<Job>,
    queue: &mpsc::Sender<Job>,
    hub: Arc<Hub>,
) -> Result<(), Error> {
    let loading = Loading::new(storage.readers(), queue.downgrade());
    let batch = Batch { requests: Vec::with_capacity(GROUP), waiting: Vec::with_capacity(GROUP) };
    let desk = Desk { storage, writer, jobs, hub, loading, batch };
    std::thread::Builder::new()
        .name("recount-writer".to_owned())
        .spawn(move || desk.run())
        .map(drop)
        .map_err(|error| StorageError::Failed(format!("cannot start a thread: {error}")).into())
}

struct Desk {
    storage: Box<dyn Storage>,
    writer: Writer,
    jobs: mpsc::Receiver<Job>,
    hub: Arc<Hub>,
    loading: Loading,
    batch: Batch,
}

/// Requests that are handed to the writer together, and who waits for each.
struct Batch {
    requests: Vec<Request>,
    waiting: Vec<Option<Waiting>>,
}

impl Batch {
    fn push(&mut self, (request, waiting): (Request, Waiting)) {
        self.requests.push(request);
        self.waiting.push(Some(waiting));
    }
}

impl Desk {
    fn run(mut self) {
        while let Some(job) = self.jobs.blocking_recv() {
            let other = self.gather(job);
            self.write();
            match other {
                Some(Job::Loaded { key, loaded }) => {
                    if let Some(loaded) = loaded {
                        self.writer.take(&key, *loaded);
                    }
                    for request in self.loading.loaded(&key) {
                        self.batch.push(request);
                    }
                    self.write();
                }
                Some(Job::Shrink(answer)) => {
                    let _ = answer.send(self.storage.shrink().map_err(Error::from));
                }
                Some(Job::Flush(answer)) => {
                    let _ = answer.send(self.storage.flush().map_err(Error::from));
                }
                Some(Job::Close(answer)) => {
                    self.jobs.close();
                    let hub = Arc::clone(&self.hub);
                    // The lock is free when the caller knows that it is closed.
                    let result = self.end();
                    hub.close();
                    let _ = answer.send(result.map_err(Error::from));
                    return;
                }
                Some(Job::Request { .. }) | None => {}
            }
        }
        let hub = Arc::clone(&self.hub);
        // Nobody is left to be told.
        let _ = self.end();
        hub.close();
    }

    /// Takes what else is there, without waiting for it, up to something that is no request.
    fn gather(&mut self, first: Job) -> Option<Job> {
        let mut next = Some(first);
        while let Some(job) = next {
            let Job::Request { request, answer, _room } = job else { return Some(job) };
            let must_load = self.writer.must_load(&request);
            if let Some(request) = self.loading.put_aside(*request, (answer, _room), must_load) {
                // Whether the next one's session has to be read is only known when this one is done.
                let is_last = !request.0.is_entry();
                self.batch.push(request);
                if is_last {
                    return None;
                }
            }
            next = if self.batch.requests.len() < GROUP { self.jobs.try_recv().ok() } else { None };
        }
        None
    }

    fn write(&mut self) {
        let Batch { requests, waiting } = &mut self.batch;
        if requests.is_empty() {
            return;
        }
        let mut outbox = Delivery { waiting, hub: &self.hub };
        self.writer.run(&mut *self.storage, requests, &mut outbox);
        requests.clear();
        waiting.clear();
    }

    /// Does what has been put aside, and ends in good order.
    fn end(mut self) -> Result<(), StorageError> {
        for request in self.loading.take_all() {
            self.batch.push(request);
        }
        self.write();
        // It saves time at the next start, and nothing is lost without it.
        let _ = self.writer.farewell(&mut *self.storage);
        self.storage.close()
    }
}

struct Delivery<'d> {
    waiting: &'d mut Vec<Option<Waiting>>,
    hub: &'d Hub,
}

impl Outbox for Delivery<'_> {
    fn answer(&mut self, index: usize, answer: Result<Answer, Error>) {
        if let Some((waiting, _room)) = self.waiting.get_mut(index).and_then(Option::take) {
            // Whoever has stopped waiting need not be told.
            let _ = waiting.map(|waiting| waiting.send(answer));
        }
    }

    fn notice(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Appended { key, epoch, after, entries } => self.hub.push(key, epoch, after, entries),
            Notice::Replaced(key) => self.hub.clear(key),
        }
    }
}
