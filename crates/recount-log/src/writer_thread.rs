//! The writer thread: drains the inbox, plans one batch, and hands it to the commit thread.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::commit_thread::{CommitOutcome, CommitThread};
use crate::hub::{Hub, NewEntries};
use crate::inbox::{Inbox, JobReceiver, Permits};
use crate::request::{Request, Response};
use crate::session_loader::SessionLoader;
use crate::storage::{Storage, StorageResult, Write};
use crate::writer::{LoadedSession, Pipeline, PlanContext, SessionUpdate, Writer, WriterOutput};
use crate::{Error, SessionKey, StorageError};

/// The maximum number of requests in one commit.
const MAX_BATCH: usize = 2_048;
/// Below this number of queued requests, commits run on the writer thread: handing them over costs more than it saves.
const MIN_CONCURRENT_BATCH: usize = 64;

/// A job for the writer thread.
#[derive(Debug)]
pub(crate) enum Job {
    Request(Request, PendingResponse),
    /// A session was read into memory. `None` if that failed.
    Loaded {
        key: SessionKey,
        loaded: Option<Box<LoadedSession>>,
    },
    /// Returns some unused space. The response is whether there is more.
    Shrink(oneshot::Sender<Result<bool, Error>>),
    Flush(oneshot::Sender<Result<(), Error>>),
    Close(oneshot::Sender<Result<(), Error>>),
}

/// A request without a response yet.
#[derive(Debug)]
pub(crate) struct PendingResponse {
    /// Receives the result. `None` for deltas, which are not awaited.
    pub(crate) response: Option<ResponseSender>,
    pub(crate) permits: Permits,
}

/// Sends the result of a request to its caller.
pub(crate) type ResponseSender = oneshot::Sender<Result<Response, Error>>;

/// Starts the writer thread. It ends with [`Job::Close`], or when the inbox is closed and empty.
pub(crate) fn start(storage: Box<dyn Storage>, writer: Writer, inbox: &Arc<Inbox>, hub: Arc<Hub>) -> Result<(), Error> {
    let storage = CommitThread::start(storage)?;
    let loader = SessionLoader::new(storage.readers(), Arc::downgrade(inbox));
    let output =
        OutputQueue { pending: VecDeque::with_capacity(2 * MAX_BATCH), first: 0, released: Permits::default(), hub };
    let jobs = JobReceiver::new(Arc::clone(inbox));
    let thread = WriterThread { storage, pipeline: Pipeline::new(writer), jobs, loader, output };
    std::thread::Builder::new()
        .name("recount-writer".to_owned())
        .spawn(move || thread.run())
        .map(drop)
        .map_err(|error| StorageError::Failed(format!("cannot start a thread: {error}")).into())
}

struct WriterThread {
    storage: CommitThread,
    pipeline: Pipeline,
    jobs: JobReceiver,
    loader: SessionLoader,
    output: OutputQueue,
}

/// Why collecting a batch ended, and so what must happen next.
enum BatchEnd {
    /// The queue is empty or the batch is full: plan and commit the batch.
    Full,
    /// The last request must be committed before further ones are collected.
    Barrier,
    /// The next job is not a request. It runs after everything before it is committed.
    OtherJob(Box<Job>),
}

impl WriterThread {
    fn run(mut self) {
        while let Some(job) = self.next_job() {
            let other = match self.collect_batch(job) {
                BatchEnd::Full => {
                    self.advance();
                    continue;
                }
                BatchEnd::Barrier => None,
                BatchEnd::OtherJob(other) => Some(*other),
            };
            self.drain();
            match other {
                Some(Job::Loaded { key, loaded }) => {
                    if let Some(loaded) = loaded {
                        self.pipeline.insert_loaded(&key, *loaded);
                    }
                    for request in self.loader.finish(&key) {
                        self.push(request);
                    }
                    self.advance();
                }
                Some(Job::Shrink(response)) => {
                    let _ = response.send(self.storage.shrink().map_err(Error::from));
                }
                Some(Job::Flush(response)) => {
                    let _ = response.send(self.storage.flush().map_err(Error::from));
                }
                Some(Job::Close(response)) => {
                    let hub = Arc::clone(&self.output.hub);
                    // The storage is closed and its lock released before the caller gets the response.
                    let result = self.close();
                    hub.close();
                    let _ = response.send(result.map_err(Error::from));
                    return;
                }
                Some(Job::Request(..)) | None => {}
            }
        }
        let hub = Arc::clone(&self.output.hub);
        // All handles are dropped, so no caller receives this result.
        let _ = self.close();
        hub.close();
    }

    /// Returns the next job. Finishes the commit in progress while the queue is empty.
    fn next_job(&mut self) -> Option<Job> {
        loop {
            self.jobs.release(std::mem::take(&mut self.output.released));
            if !self.pipeline.is_committing() {
                return self.jobs.next();
            }
            if let Some(job) = self.jobs.try_next() {
                return Some(job);
            }
            self.finish_commit();
        }
    }

    /// Adds queued requests to the pipeline without waiting for more.
    fn collect_batch(&mut self, first: Job) -> BatchEnd {
        let mut next = Some(first);
        while let Some(job) = next {
            let Job::Request(request, pending) = job else { return BatchEnd::OtherJob(Box::new(job)) };
            let needs_load = self.pipeline.needs_load(&request);
            if let Some(request) = self.loader.defer(request, pending, needs_load) {
                // Whether a later request needs its session loaded may depend on this one.
                let is_barrier = !request.0.can_share_plan();
                self.push(request);
                if is_barrier {
                    return BatchEnd::Barrier;
                }
            }
            next = if self.pipeline.queued() < MAX_BATCH { self.jobs.try_next() } else { None };
        }
        BatchEnd::Full
    }

    fn push(&mut self, (request, pending): (Request, PendingResponse)) {
        self.pipeline.push(request);
        self.output.pending.push_back(Some(pending));
    }

    /// Plans the queued requests and starts to commit them. Waits for the commit in progress if the next batch is full.
    fn advance(&mut self) {
        loop {
            let count = self.pipeline.queued();
            if let Some(writes) = self.pipeline.advance(PlanContext::of(&self.storage), &mut self.output) {
                let is_small = count + self.jobs.len() < MIN_CONCURRENT_BATCH;
                if is_small { self.commit(writes) } else { self.start_commit(writes) }
            } else if self.pipeline.is_committing() && self.pipeline.queued() >= MAX_BATCH {
                self.finish_commit();
                return;
            } else {
                return;
            }
        }
    }

    /// Commits on this thread.
    fn commit(&mut self, writes: Vec<Write>) {
        let result = self.storage.commit(&writes);
        self.handle_outcome(CommitOutcome { writes, result });
    }

    /// Commits on the commit thread.
    fn start_commit(&mut self, writes: Vec<Write>) {
        if let Err(outcome) = self.storage.start_commit(writes) {
            self.handle_outcome(outcome);
        }
    }

    /// Waits for the commit in progress and starts the next one.
    fn finish_commit(&mut self) {
        let outcome = self.storage.wait();
        self.handle_outcome(outcome);
        if let Some(writes) = self.pipeline.advance(PlanContext::of(&self.storage), &mut self.output) {
            self.start_commit(writes);
        }
    }

    /// Handles a finished commit. The next commit starts before the responses of this one are sent.
    fn handle_outcome(&mut self, CommitOutcome { writes, result }: CommitOutcome) {
        if let Some(writes) = self.pipeline.finish(writes, result, &mut self.storage, &mut self.output) {
            self.start_commit(writes);
        }
        self.pipeline.deliver(&mut self.output);
    }

    /// Commits everything that is queued in the pipeline.
    fn drain(&mut self) {
        self.advance();
        while self.pipeline.is_committing() {
            self.finish_commit();
        }
    }

    /// Handles the deferred requests and closes the storage.
    fn close(mut self) -> StorageResult<()> {
        let deferred: Vec<_> = self.loader.take_all().collect();
        for request in deferred {
            self.push(request);
        }
        self.drain();
        // The final checkpoints only make the next start faster.
        let _ = self.pipeline.write_final_checkpoints(&mut self.storage);
        self.storage.close()
    }
}

/// Sends responses to callers, and committed entries to subscribers.
struct OutputQueue {
    /// The requests without a response, in order. `None` for those that are done.
    pending: VecDeque<Option<PendingResponse>>,
    /// The number of the first pending request.
    first: usize,
    /// The permits of finished requests, which are not returned to the inbox yet.
    released: Permits,
    hub: Arc<Hub>,
}

impl WriterOutput for OutputQueue {
    fn respond(&mut self, index: usize, result: Result<Response, Error>) {
        let pending = index.checked_sub(self.first).and_then(|index| self.pending.get_mut(index));
        if let Some(PendingResponse { response, permits }) = pending.and_then(Option::take) {
            // The caller may have dropped the receiver.
            let _ = response.map(|response| response.send(result));
            self.released += permits;
        }
        while self.pending.front().is_some_and(Option::is_none) {
            self.pending.pop_front();
            self.first += 1;
        }
    }

    fn publish(&mut self, update: SessionUpdate<'_>) {
        match update {
            SessionUpdate::Appended { key, epoch, after, entries, inputs } => {
                self.hub.push(key, NewEntries { epoch, after, entries, inputs });
            }
            SessionUpdate::Replaced(key) => self.hub.clear(key),
        }
    }
}
