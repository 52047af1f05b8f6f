//! Plans the next requests while a commit is in progress.

use super::{LoadedSession, Plan, PlanBase, PlanContext, Writer, WriterOutput};
use crate::request::Request;
use crate::storage::{Storage, StorageResult, Write};
use crate::{SessionKey, StorageError};

/// A [`Writer`] that plans further requests while at most one commit is in progress.
///
/// The caller drives it: it pushes requests, commits the returned writes, possibly on another thread, and passes the result
/// back.
///
/// ```
/// use recount_log::storage::Storage;
/// use recount_log::writer::{PlanContext, SessionUpdate, WriterOutput, Pipeline};
/// use recount_log::{Response, Error, MemoryStorage, Request, SessionKey, Env, Writer};
///
/// struct Count(usize);
///
/// impl WriterOutput for Count {
///     fn respond(&mut self, _: usize, answer: Result<Response, Error>) {
///         self.0 += usize::from(answer.is_ok());
///     }
///     fn publish(&mut self, _: SessionUpdate<'_>) {}
/// }
///
/// let (mut storage, mut answered) = (MemoryStorage::default(), Count(0));
/// let mut pipeline = Pipeline::new(Writer::new(Env::default()));
/// pipeline.push(Request::Create { key: SessionKey::new("chat")?, properties: "{}".to_owned() });
/// let writes = pipeline.advance(PlanContext::of(&storage), &mut answered).unwrap();
/// // The commit is in progress. Requests that are pushed now are planned on top of it.
/// let result = storage.commit(&writes);
/// assert_eq!(answered.0, 0);
/// let next = pipeline.finish(writes, result, &mut storage, &mut answered);
/// // A next commit would be started before the responses of this one are sent.
/// assert_eq!(next, None);
/// pipeline.deliver(&mut answered);
/// assert_eq!(answered.0, 1);
/// # Ok::<(), recount_log::KeyError>(())
/// ```
#[derive(Debug)]
pub struct Pipeline {
    writer: Writer,
    /// The requests that are not part of a commit yet.
    requests: Vec<Request>,
    /// The number of these requests that are planned.
    planned: usize,
    plan: Plan,
    in_flight: Option<InFlight>,
    /// A finished commit whose responses are not sent yet.
    done: Option<InFlight>,
    /// The number of the first of `requests`.
    next: usize,
    /// Kept to reuse its allocations.
    spare: InFlight,
}

/// A plan whose commit is in progress, and its requests.
#[derive(Debug, Default)]
struct InFlight {
    requests: Vec<Request>,
    plan: Plan,
    /// The number of the first request.
    first: usize,
}

impl Pipeline {
    /// Creates an empty pipeline.
    pub fn new(writer: Writer) -> Self {
        Self {
            writer,
            requests: Vec::new(),
            planned: 0,
            plan: Plan::default(),
            in_flight: None,
            done: None,
            next: 0,
            spare: InFlight::default(),
        }
    }

    /// Adds a request. The index of its response is the number of requests added before.
    pub fn push(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// The number of requests that are not part of a commit yet.
    pub fn queued(&self) -> usize {
        self.requests.len()
    }

    /// Whether a commit is in progress.
    pub fn is_committing(&self) -> bool {
        self.in_flight.is_some()
    }

    /// Plans as many requests as possible. If no commit is in progress, returns the writes of the next one, which the caller
    /// must commit. `None` if there is nothing to commit.
    pub fn advance(&mut self, context: PlanContext<'_>, output: &mut dyn WriterOutput) -> Option<Vec<Write>> {
        loop {
            self.deliver(output);
            self.plan(context);
            if self.in_flight.is_some() || self.plan.is_empty() {
                return None;
            }
            let started = self.start();
            if started.is_some() {
                return started;
            }
        }
    }

    /// Finishes the commit in progress. If the next one is planned already, returns its writes, so that the caller can start
    /// it before [`deliver`](Self::deliver) sends the responses of this one.
    ///
    /// After a failure each request of the commit is tried again alone, in order, and later requests are planned again.
    pub fn finish(
        &mut self,
        writes: Vec<Write>,
        result: StorageResult<()>,
        storage: &mut dyn Storage,
        output: &mut dyn WriterOutput,
    ) -> Option<Vec<Write>> {
        let mut done = self.in_flight.take()?;
        done.plan.writes = writes;
        if let Err(error) = result {
            self.recover(done, error, storage, output);
            return None;
        }
        self.done = Some(done);
        if self.plan.writes.is_empty() { None } else { self.start() }
    }

    /// Sends the responses of the finished commit and publishes its changes.
    pub fn deliver(&mut self, output: &mut dyn WriterOutput) {
        let Some(mut done) = self.done.take() else { return };
        self.writer.settle(&mut done.plan, done.first, output);
        done.requests.clear();
        self.spare = done;
        self.writer.sessions.evict_idle(self.writer.last_plan_id);
    }

    /// Turns the plan into the commit in progress. A plan without writes is finished immediately.
    fn start(&mut self) -> Option<Vec<Write>> {
        let mut started = std::mem::take(&mut self.spare);
        started.first = self.next;
        std::mem::swap(&mut started.plan, &mut self.plan);
        std::mem::swap(&mut started.requests, &mut self.requests);
        self.requests.extend(started.requests.drain(self.planned..));
        self.next += self.planned;
        self.planned = 0;
        if started.plan.writes.is_empty() {
            self.done = Some(started);
            return None;
        }
        let writes = std::mem::take(&mut started.plan.writes);
        self.in_flight = Some(started);
        Some(writes)
    }

    fn recover(
        &mut self,
        mut failed: InFlight,
        error: StorageError,
        storage: &mut dyn Storage,
        output: &mut dyn WriterOutput,
    ) {
        self.writer.discard(&mut self.plan);
        self.writer.discard(&mut failed.plan);
        self.planned = 0;
        self.writer.run_each(storage, &failed.requests, failed.first, error, output);
        // Planned immediately, so that the sessions of these requests stay in memory.
        self.plan(PlanContext::of(storage));
    }

    fn plan(&mut self, context: PlanContext<'_>) {
        let base = match &self.in_flight {
            None => PlanBase::Committed,
            Some(in_flight) if in_flight.plan.is_closed => return,
            Some(_) => PlanBase::InFlight,
        };
        if self.planned < self.requests.len() {
            self.planned = self.writer.plan(context, &self.requests, self.planned, &mut self.plan, base);
        }
    }

    /// As [`Writer::needs_load`].
    pub fn needs_load(&self, request: &Request) -> bool {
        self.writer.needs_load(request)
    }

    /// As [`Writer::insert_loaded`].
    pub fn insert_loaded(&mut self, key: &SessionKey, loaded: LoadedSession) {
        self.writer.insert_loaded(key, loaded);
    }

    /// As [`Writer::write_final_checkpoints`]. No commit may be in progress.
    ///
    /// # Errors
    ///
    /// If the storage fails.
    pub fn write_final_checkpoints(&mut self, storage: &mut dyn Storage) -> StorageResult<()> {
        self.writer.write_final_checkpoints(storage)
    }
}
