//! The thread of the writer: it takes what has come in the meantime, plans it, and has it committed at once.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::commit_thread::{CommitOutcome, CommitThread};
use crate::hub::Hub;
use crate::inbox::{Inbox, Jobs, Room};
use crate::request::{Request, Response};
use crate::session_loader::SessionLoader;
use crate::storage::{Storage, Write};
use crate::writer::{LoadedSession, Pipeline, PlanContext, SessionUpdate, Writer, WriterOutput};
use crate::{Error, SessionKey, StorageError};

/// How many requests are committed at once.
const GROUP: usize = 2_048;
/// Fewer requests than this are not worth the way to another thread.
const FEW: usize = 64;

/// Something for the thread to do.
#[derive(Debug)]
pub(crate) enum Job {
    Request(Request, PendingResponse),
    /// A session has been read into memory, if that was possible.
    Loaded {
        key: SessionKey,
        loaded: Option<Box<LoadedSession>>,
    },
    /// Some room is given back. The answer is whether there is more.
    Shrink(oneshot::Sender<Result<bool, Error>>),
    Flush(oneshot::Sender<Result<(), Error>>),
    Close(oneshot::Sender<Result<(), Error>>),
}

/// What waits for the end of a request.
#[derive(Debug)]
pub(crate) struct PendingResponse {
    /// Whom to tell what has become of it. Deltas are not waited for.
    pub(crate) answer: Option<ResponseSender>,
    /// What the request takes up until then.
    pub(crate) room: Room,
}

/// The way to somebody who waits for an answer.
pub(crate) type ResponseSender = oneshot::Sender<Result<Response, Error>>;

/// Starts the thread. It ends when it is told to, or when nobody can ask it any more.
pub(crate) fn start(storage: Box<dyn Storage>, writer: Writer, inbox: &Arc<Inbox>, hub: Arc<Hub>) -> Result<(), Error> {
    let storage = CommitThread::start(storage)?;
    let loading = SessionLoader::new(storage.readers(), Arc::downgrade(inbox));
    let delivery = Delivery { waiting: VecDeque::with_capacity(2 * GROUP), first: 0, room: Room::default(), hub };
    let jobs = Jobs::of(Arc::clone(inbox));
    let desk = WriterThread { storage, pipeline: Pipeline::new(writer), jobs, loading, delivery };
    std::thread::Builder::new()
        .name("recount-writer".to_owned())
        .spawn(move || desk.run())
        .map(drop)
        .map_err(|error| StorageError::Failed(format!("cannot start a thread: {error}")).into())
}

struct WriterThread {
    storage: CommitThread,
    pipeline: Pipeline,
    jobs: Jobs,
    loading: SessionLoader,
    delivery: Delivery,
}

/// What was taken, and whether it has to be done before anything else is.
enum Gathered {
    Some,
    UpToAWhole,
    /// What comes next is no request.
    UpTo(Box<Job>),
}

impl WriterThread {
    fn run(mut self) {
        while let Some(job) = self.next() {
            let other = match self.gather(job) {
                Gathered::Some => {
                    self.advance();
                    continue;
                }
                Gathered::UpToAWhole => None,
                Gathered::UpTo(other) => Some(*other),
            };
            self.drain();
            match other {
                Some(Job::Loaded { key, loaded }) => {
                    if let Some(loaded) = loaded {
                        self.pipeline.take(&key, *loaded);
                    }
                    for request in self.loading.loaded(&key) {
                        self.push(request);
                    }
                    self.advance();
                }
                Some(Job::Shrink(answer)) => {
                    let _ = answer.send(self.storage.shrink().map_err(Error::from));
                }
                Some(Job::Flush(answer)) => {
                    let _ = answer.send(self.storage.flush().map_err(Error::from));
                }
                Some(Job::Close(answer)) => {
                    let hub = Arc::clone(&self.delivery.hub);
                    // The lock is free when the caller knows that it is closed.
                    let result = self.end();
                    hub.close();
                    let _ = answer.send(result.map_err(Error::from));
                    return;
                }
                Some(Job::Request(..)) | None => {}
            }
        }
        let hub = Arc::clone(&self.delivery.hub);
        // Nobody is left to be told.
        let _ = self.end();
        hub.close();
    }

    /// The next job. While there is none, what is under way is waited for.
    fn next(&mut self) -> Option<Job> {
        loop {
            self.jobs.give_back(std::mem::take(&mut self.delivery.room));
            if !self.pipeline.is_under_way() {
                return self.jobs.next();
            }
            if let Some(job) = self.jobs.next_now() {
                return Some(job);
            }
            self.finish();
        }
    }

    /// Takes what else is there, without waiting for it, up to something that is no request.
    fn gather(&mut self, first: Job) -> Gathered {
        let mut next = Some(first);
        while let Some(job) = next {
            let Job::Request(request, waiting) = job else { return Gathered::UpTo(Box::new(job)) };
            let needs_load = self.pipeline.needs_load(&request);
            if let Some(request) = self.loading.put_aside(request, waiting, needs_load) {
                // Whether the next one's session has to be read is only known when this one is done.
                let is_whole = !request.0.is_entry();
                self.push(request);
                if is_whole {
                    return Gathered::UpToAWhole;
                }
            }
            next = if self.pipeline.waiting() < GROUP { self.jobs.next_now() } else { None };
        }
        Gathered::Some
    }

    fn push(&mut self, (request, waiting): (Request, PendingResponse)) {
        self.pipeline.push(request);
        self.delivery.waiting.push_back(Some(waiting));
    }

    /// Plans what was taken and begins to commit it. Waits for the commit before it if there is enough for the next one.
    fn advance(&mut self) {
        loop {
            let count = self.pipeline.waiting();
            if let Some(writes) = self.pipeline.advance(PlanContext::of(&self.storage), &mut self.delivery) {
                let is_quiet = count + self.jobs.waiting() < FEW;
                if is_quiet { self.commit(writes) } else { self.begin(writes) }
            } else if self.pipeline.is_under_way() && self.pipeline.waiting() >= GROUP {
                self.finish();
                return;
            } else {
                return;
            }
        }
    }

    /// Commits on this thread.
    fn commit(&mut self, writes: Vec<Write>) {
        let result = self.storage.commit(&writes);
        self.end_commit(CommitOutcome { writes, result });
    }

    /// Commits on the other thread.
    fn begin(&mut self, writes: Vec<Write>) {
        if let Err(committed) = self.storage.begin(writes) {
            self.end_commit(committed);
        }
    }

    /// Waits for the commit that is under way, and begins the next one.
    fn finish(&mut self) {
        let committed = self.storage.wait();
        self.end_commit(committed);
        if let Some(writes) = self.pipeline.advance(PlanContext::of(&self.storage), &mut self.delivery) {
            self.begin(writes);
        }
    }

    /// Takes what has become of a commit. The next one begins before anybody is told.
    fn end_commit(&mut self, CommitOutcome { writes, result }: CommitOutcome) {
        if let Some(writes) = self.pipeline.finish(writes, result, &mut self.storage, &mut self.delivery) {
            self.begin(writes);
        }
        self.pipeline.deliver(&mut self.delivery);
    }

    /// Does everything that was taken.
    fn drain(&mut self) {
        self.advance();
        while self.pipeline.is_under_way() {
            self.finish();
        }
    }

    /// Does what has been put aside, and ends in good order.
    fn end(mut self) -> Result<(), StorageError> {
        let aside: Vec<_> = self.loading.take_all().collect();
        for request in aside {
            self.push(request);
        }
        self.drain();
        // It saves time at the next start, and nothing is lost without it.
        let _ = self.pipeline.final_checkpoint(&mut self.storage);
        self.storage.close()
    }
}

/// Brings answers to those who wait for them, and entries to those who follow a session.
struct Delivery {
    waiting: VecDeque<Option<PendingResponse>>,
    /// The number of the first of those who wait.
    first: usize,
    /// What those duration up who have their answers.
    room: Room,
    hub: Arc<Hub>,
}

impl WriterOutput for Delivery {
    fn respond(&mut self, index: usize, answer: Result<Response, Error>) {
        let place = index.checked_sub(self.first).and_then(|place| self.waiting.get_mut(place));
        if let Some(PendingResponse { answer: waiting, room }) = place.and_then(Option::take) {
            // Whoever has stopped waiting need not be told.
            let _ = waiting.map(|waiting| waiting.send(answer));
            self.room += room;
        }
        while self.waiting.front().is_some_and(Option::is_none) {
            self.waiting.pop_front();
            self.first += 1;
        }
    }

    fn publish(&mut self, notice: SessionUpdate<'_>) {
        match notice {
            SessionUpdate::Appended { key, epoch, after, entries } => self.hub.push(key, epoch, after, entries),
            SessionUpdate::Replaced(key) => self.hub.clear(key),
        }
    }
}
