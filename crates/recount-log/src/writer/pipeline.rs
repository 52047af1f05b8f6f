//! A writer that plans on while a commit is under way.

use super::{Beneath, LoadedSession, Plan, PlanContext, Writer, WriterOutput};
use crate::request::Request;
use crate::storage::{Storage, StorageResult, Write};
use crate::{SessionKey, StorageError};

/// A [`Writer`] with one commit under way, at most, while it plans what comes next.
///
/// It does nothing by itself. Whoever drives it pushes requests, hands the writes that it gives to the storage, on another
/// thread perhaps, and tells it what has become of them:
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
/// // The commit is under way. What is pushed now is planned on top of it.
/// let result = storage.commit(&writes);
/// assert_eq!(answered.0, 0);
/// let next = pipeline.finish(writes, result, &mut storage, &mut answered);
/// // If there were a next commit, it would be begun before anybody is told of this one.
/// assert_eq!(next, None);
/// pipeline.deliver(&mut answered);
/// assert_eq!(answered.0, 1);
/// # Ok::<(), recount_log::KeyError>(())
/// ```
#[derive(Debug)]
pub struct Pipeline {
    writer: Writer,
    /// Those that are not under way.
    requests: Vec<Request>,
    /// How many of them are planned.
    planned: usize,
    plan: Plan,
    under_way: Option<InFlight>,
    /// What is committed, and nobody has been told yet.
    done: Option<InFlight>,
    /// The number of the first request that is not under way.
    next: usize,
    /// Room that is used again.
    spare: InFlight,
}

/// What is being committed.
#[derive(Debug, Default)]
struct InFlight {
    requests: Vec<Request>,
    plan: Plan,
    /// The number of the first request.
    first: usize,
}

impl Pipeline {
    /// A pipeline with nothing in it.
    pub fn new(writer: Writer) -> Self {
        Self {
            writer,
            requests: Vec::new(),
            planned: 0,
            plan: Plan::default(),
            under_way: None,
            done: None,
            next: 0,
            spare: InFlight::default(),
        }
    }

    /// Takes a request. The number of its answer is that of the requests before it.
    pub fn push(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// How many requests are not under way yet.
    pub fn queued(&self) -> usize {
        self.requests.len()
    }

    /// Whether a commit is under way.
    pub fn is_committing(&self) -> bool {
        self.under_way.is_some()
    }

    /// Plans as much as can be planned by now. If no commit is under way, gives the writes of the next one, which then is;
    /// nothing when there is nothing to write.
    pub fn advance(&mut self, ground: PlanContext<'_>, output: &mut dyn WriterOutput) -> Option<Vec<Write>> {
        loop {
            self.deliver(output);
            self.plan(ground);
            if self.under_way.is_some() || self.plan.is_empty() {
                return None;
            }
            let started = self.start();
            if started.is_some() {
                return started;
            }
        }
    }

    /// Takes what has become of the commit that is under way, and the writes that it was given. If the next one is planned
    /// already, gives its writes, and it is under way: who commits need not wait for the answers, which
    /// [`deliver`](Self::deliver) gives.
    ///
    /// After a failure everything that was in it is tried again, each request by itself and in its order, and what was
    /// planned on top is planned anew.
    pub fn finish(
        &mut self,
        writes: Vec<Write>,
        result: StorageResult<()>,
        storage: &mut dyn Storage,
        output: &mut dyn WriterOutput,
    ) -> Option<Vec<Write>> {
        let mut done = self.under_way.take()?;
        done.plan.writes = writes;
        if let Err(error) = result {
            self.recover(done, error, storage, output);
            return None;
        }
        self.done = Some(done);
        if self.plan.writes.is_empty() { None } else { self.start() }
    }

    /// Tells everybody what has become of the commit that is over.
    pub fn deliver(&mut self, output: &mut dyn WriterOutput) {
        let Some(mut done) = self.done.take() else { return };
        self.writer.settle(&mut done.plan, done.first, output);
        done.requests.clear();
        self.spare = done;
        self.writer.sessions.forget_idle(self.writer.turn);
    }

    /// What is planned is under way. Without writes it is over, too.
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
        self.under_way = Some(started);
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
        // At once, so that what is in memory is what these requests need.
        self.plan(PlanContext::of(storage));
    }

    fn plan(&mut self, ground: PlanContext<'_>) {
        let beneath = match &self.under_way {
            None => Beneath::Nothing,
            Some(under_way) if under_way.plan.is_closed => return,
            Some(_) => Beneath::CommitInfo,
        };
        if self.planned < self.requests.len() {
            self.planned = self.writer.plan(ground, &self.requests, self.planned, &mut self.plan, beneath);
        }
    }

    /// Whether a request [needs](Writer::needs_load) a session that is not in memory yet.
    pub fn needs_load(&self, request: &Request) -> bool {
        self.writer.needs_load(request)
    }

    /// Takes a session that was [read elsewhere](Writer::take).
    pub fn insert_loaded(&mut self, key: &SessionKey, loaded: LoadedSession) {
        self.writer.insert_loaded(key, loaded);
    }

    /// Writes down how far long open replies have come, as [`Writer::write_final_checkpoints`]. Nothing may be under way.
    ///
    /// # Errors
    ///
    /// When the storage fails.
    pub fn write_final_checkpoints(&mut self, storage: &mut dyn Storage) -> StorageResult<()> {
        self.writer.write_final_checkpoints(storage)
    }
}
