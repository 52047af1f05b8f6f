//! The writer, which orders all writes.
//!
//! It is a state machine without I/O: requests become a plan, the writes of the plan go to the storage, and responses are
//! returned after the commit. Time and random numbers come from its [`Env`]. So a simulation can drive it step by step, and
//! threads drive it in production.
//!
//! After a successful commit a plan is settled. After a failed one it is discarded, and the sessions that it used are read
//! again. The [`Pipeline`] plans further requests during a commit, and discards both plans if the commit fails.

mod compact;
mod live;
mod pipeline;
mod plan;
mod planning;
mod sessions;

use bytes::Bytes;

pub use pipeline::Pipeline;
pub use plan::PlanContext;

use crate::lease::Leases;
use crate::request::{AppendRequest, Request, Response};
use crate::storage::{Append, Storage, StorageResult, View, Write};
use crate::{Env, Epoch, Error, SessionKey, StorageError};
use live::LiveSession;
use plan::Plan;
use sessions::Sessions;

/// The default for [`Writer::checkpoint_after`].
const CHECKPOINT_AFTER: u64 = 4_096;
/// The maximum size of one commit of final checkpoints.
const FINAL_CHECKPOINT_BYTES: usize = 4 << 20;
/// The number of retries of a request after another process has written to its session.
const RETRIES: usize = 16;

/// Receives the results of the writer. It is called after the commit.
pub trait WriterOutput {
    /// Receives the response to the request with an index.
    fn respond(&mut self, index: usize, response: Result<Response, Error>);

    /// Receives a change of a session, for its subscribers.
    fn publish(&mut self, update: SessionUpdate<'_>);
}

/// A committed change of a session.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SessionUpdate<'a> {
    /// Entries were committed.
    Appended {
        /// The session.
        key: &'a SessionKey,
        /// The epoch of the session.
        epoch: Epoch,
        /// The number of the last entry before them.
        after: u64,
        /// The entries.
        entries: &'a [Bytes],
        /// The indexes of the entries that are inputs.
        inputs: &'a [usize],
    },
    /// The session was replaced or deleted.
    Replaced(&'a SessionKey),
}

/// A session that was read into memory for a [`Writer`].
#[derive(Debug)]
pub struct LoadedSession(LiveSession);

impl LoadedSession {
    /// Reads the ids of the last entries and the open replies of a session.
    ///
    /// # Errors
    ///
    /// If the session does not exist, or the storage cannot be read.
    pub fn read(view: &dyn View, key: &SessionKey) -> Result<Self, Error> {
        LiveSession::load(view, key).map(Self)
    }
}

/// Orders all writes of a log.
#[derive(Debug)]
pub struct Writer {
    env: Env,
    sessions: Sessions,
    leases: Leases,
    /// The id of the newest plan. Ids are counted upwards.
    last_plan_id: u64,
    /// An empty plan, kept to reuse its allocations.
    spare: Plan,
    checkpoint_after: u64,
}

impl Writer {
    /// Creates a writer without sessions in memory.
    pub fn new(env: Env) -> Self {
        Self {
            env,
            sessions: Sessions::default(),
            leases: Leases::default(),
            last_plan_id: 0,
            spare: Plan::default(),
            checkpoint_after: CHECKPOINT_AFTER,
        }
    }

    /// Sets the minimum number of entries between two checkpoints of an open reply. A checkpoint is also delayed until the
    /// entries are as large as the last one.
    pub fn checkpoint_after(mut self, entries: u64) -> Self {
        self.checkpoint_after = entries;
        self
    }

    /// Handles requests in as few commits as possible, waiting for each commit. Every request gets a response.
    pub fn run(&mut self, storage: &mut dyn Storage, requests: &[Request], output: &mut dyn WriterOutput) {
        let mut from = 0;
        while from < requests.len() {
            let mut plan = std::mem::take(&mut self.spare);
            let until = self.plan(PlanContext::of(storage), requests, from, &mut plan, PlanBase::Committed);
            let result = if plan.writes.is_empty() { Ok(()) } else { storage.commit(&plan.writes) };
            match result {
                Ok(()) => self.settle(&mut plan, 0, output),
                Err(error) => {
                    self.discard(&mut plan);
                    self.run_each(storage, requests.get(from..until).unwrap_or_default(), from, error, output);
                }
            }
            self.spare = plan;
            from = until;
        }
        self.sessions.evict_idle(self.last_plan_id);
    }

    /// Commits each request of a failed plan alone, so that one request that cannot be written does not fail the others.
    fn run_each(
        &mut self,
        storage: &mut dyn Storage,
        requests: &[Request],
        first: usize,
        error: StorageError,
        output: &mut dyn WriterOutput,
    ) {
        // A request that was alone in its plan is not tried again.
        let mut known = Some(error).filter(|_| requests.len() == 1);
        for (offset, request) in requests.iter().enumerate() {
            let number = first + offset;
            let mut tries = 0;
            loop {
                let error = match known.take() {
                    Some(error) => error,
                    None => match self.run_one(storage, request, number, output) {
                        Ok(()) => break,
                        Err(error) => error,
                    },
                };
                if !matches!(error, StorageError::Moved(_)) || tries == RETRIES {
                    fail(request, number, error.into(), output);
                    break;
                }
                tries += 1;
            }
        }
    }

    fn run_one(
        &mut self,
        storage: &mut dyn Storage,
        request: &Request,
        number: usize,
        output: &mut dyn WriterOutput,
    ) -> StorageResult<()> {
        let mut plan = Plan::default();
        self.plan(PlanContext::of(storage), std::slice::from_ref(request), 0, &mut plan, PlanBase::Committed);
        let result = if plan.writes.is_empty() { Ok(()) } else { storage.commit(&plan.writes) };
        match &result {
            Ok(()) => self.settle(&mut plan, number, output),
            Err(_) => self.discard(&mut plan),
        }
        result
    }

    /// Completes a committed plan: publishes the changes, sends the responses, and empties the plan.
    fn settle(&mut self, plan: &mut Plan, first: usize, output: &mut dyn WriterOutput) {
        for write in &plan.writes {
            match write {
                Write::Append(append) => {
                    let Append { key, epoch, after, entries, inputs, .. } = append;
                    self.sessions.settle(key, after + entries.len() as u64, plan.id);
                    if !entries.is_empty() {
                        output.publish(SessionUpdate::Appended { key, epoch: *epoch, after: *after, entries, inputs });
                    }
                }
                Write::Create(row) => output.publish(SessionUpdate::Replaced(&row.key)),
                Write::Delete(key) | Write::Publish { key, .. } => output.publish(SessionUpdate::Replaced(key)),
                Write::SetProperties { .. } | Write::Compact { .. } | Write::Upload(_) | Write::Sweep { .. } => {}
            }
        }
        for (index, response) in plan.responses.drain(..) {
            output.respond(first + index, response);
        }
        plan.clear();
    }

    /// Undoes a plan that was not committed, and empties it. Of several plans the newest must be discarded first.
    fn discard(&mut self, plan: &mut Plan) {
        self.sessions.evict_since(plan.id);
        for saved in plan.leases.drain(..).rev() {
            self.leases.restore(saved);
        }
        plan.clear();
    }

    /// Whether a request needs a session that is not in memory. The writer would read up to [`WINDOW`](crate::WINDOW)
    /// entries of it. To avoid that delay, [read](LoadedSession::read) the session on another thread and
    /// [insert](Self::insert_loaded) it first.
    pub fn needs_load(&self, request: &Request) -> bool {
        match request {
            Request::Append(AppendRequest { key, .. })
            | Request::FindEvent { key, .. }
            | Request::Acquire { key, .. } => self.sessions.find(key).is_none(),
            Request::Create { .. }
            | Request::SetProperties { .. }
            | Request::Delete(_)
            | Request::Stage { .. }
            | Request::Publish { .. }
            | Request::Renew { .. }
            | Request::Release(_)
            | Request::Upload(_)
            | Request::Compact { .. }
            | Request::Sweep { .. } => false,
        }
    }

    /// Inserts a session that was read on another thread, unless it is in memory already. The session must not have been
    /// written to since it was read.
    pub fn insert_loaded(&mut self, key: &SessionKey, loaded: LoadedSession) {
        if self.sessions.find(key).is_none() {
            self.sessions.insert(key, loaded.0.used_by(self.last_plan_id));
        }
    }

    /// Writes checkpoints of long open replies, so that they need not be rebuilt after the next start.
    ///
    /// # Errors
    ///
    /// If the storage fails. Nothing is lost; the next start only takes longer.
    pub fn write_final_checkpoints(&mut self, storage: &mut dyn Storage) -> Result<(), StorageError> {
        let at = self.env.now().as_millisecond();
        let (mut writes, mut bytes) = (Vec::new(), 0);
        for (key, live) in self.sessions.iter_mut() {
            let Some(append) = live.final_checkpoints(key, at, self.checkpoint_after) else { continue };
            bytes += append.checkpoints.iter().map(|checkpoint| checkpoint.fold.as_str().len()).sum::<usize>();
            writes.push(Write::Append(append));
            if bytes >= FINAL_CHECKPOINT_BYTES {
                storage.commit(&writes)?;
                writes.clear();
                bytes = 0;
            }
        }
        if writes.is_empty() { Ok(()) } else { storage.commit(&writes) }
    }
}

/// The state that a plan is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanBase {
    /// Committed data only.
    Committed,
    /// Data whose commit is in progress and may fail.
    InFlight,
}

fn fail(request: &Request, index: usize, error: Error, output: &mut dyn WriterOutput) {
    if let Some(sequence) = request.sequence() {
        sequence.fail(&error);
    }
    output.respond(index, Err(error));
}
