//! The writer: the one that orders what is written.
//!
//! It is a state machine. Requests go in and become a plan, the writes of the plan go to the storage, and answers come out
//! after their commit; time and chance come from its [`Env`]. It starts no thread, waits for nothing and keeps no
//! clock, so that a simulation can drive it step by step, and threads can drive it for real.
//!
//! A plan is settled when its commit has come back, or discarded when that has failed; then the sessions that it touched
//! are read again. The [`Pipeline`] plans the next requests while a commit is under way, and discards both plans if that
//! fails.

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

/// After how many entries a checkpoint of an open reply is due at the earliest, unless something else is said.
const CHECKPOINT_AFTER: u64 = 4_096;
/// How much is written at once when the writer ends.
const FAREWELL_BYTES: usize = 4 << 20;
/// How often a request is planned anew when somebody else has written to its session in between.
const TRIES: usize = 16;

/// Takes what comes out of the writer. It is called after the commit.
pub trait WriterOutput {
    /// What has become of the request with an index.
    fn respond(&mut self, index: usize, answer: Result<Response, Error>);

    /// Something is new in a session.
    fn publish(&mut self, notice: SessionUpdate<'_>);
}

/// Something that is new in a session.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SessionUpdate<'a> {
    /// Entries were committed.
    Appended {
        /// The session.
        key: &'a SessionKey,
        /// Its history.
        epoch: Epoch,
        /// The number of the last entry before them.
        after: u64,
        /// The entries.
        entries: &'a [Bytes],
        /// The indexes of the entries that are inputs.
        inputs: &'a [usize],
    },
    /// The session is another one now, or gone.
    Replaced(&'a SessionKey),
}

/// A session that has been read into memory, for a [`Writer`].
#[derive(Debug)]
pub struct LoadedSession(LiveSession);

impl LoadedSession {
    /// Reads a session: the ids of its last entries, and its open replies.
    ///
    /// # Errors
    ///
    /// When there is no such session, or the storage cannot be read.
    pub fn read(view: &dyn View, key: &SessionKey) -> Result<Self, Error> {
        LiveSession::load(view, key).map(Self)
    }
}

/// The one that orders what is written.
#[derive(Debug)]
pub struct Writer {
    env: Env,
    sessions: Sessions,
    leases: Leases,
    /// Counts the plans. A plan that is not begun yet has the next number.
    turn: u64,
    /// An empty plan whose room is used again.
    spare: Plan,
    checkpoint_after: u64,
}

impl Writer {
    /// A writer that knows nothing yet.
    pub fn new(env: Env) -> Self {
        Self {
            env,
            sessions: Sessions::default(),
            leases: Leases::default(),
            turn: 0,
            spare: Plan::default(),
            checkpoint_after: CHECKPOINT_AFTER,
        }
    }

    /// The same writer, with checkpoints of open replies after so many entries, if those weigh as much as the last one did.
    pub fn checkpoint_after(mut self, entries: u64) -> Self {
        self.checkpoint_after = entries;
        self
    }

    /// Does what is asked, in as few commits as possible, and answers every request. It waits for each commit.
    pub fn run(&mut self, storage: &mut dyn Storage, requests: &[Request], output: &mut dyn WriterOutput) {
        let mut from = 0;
        while from < requests.len() {
            let mut plan = std::mem::take(&mut self.spare);
            let until = self.plan(PlanContext::of(storage), requests, from, &mut plan, Beneath::Nothing);
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
        self.sessions.forget_idle(self.turn);
    }

    /// Does what was planned together and could not be committed, each by itself: one request that cannot be written must
    /// not take the others with it.
    fn run_each(
        &mut self,
        storage: &mut dyn Storage,
        requests: &[Request],
        first: usize,
        error: StorageError,
        output: &mut dyn WriterOutput,
    ) {
        // One that was alone has had its turn.
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
                if !matches!(error, StorageError::Moved(_)) || tries == TRIES {
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
        self.plan(PlanContext::of(storage), std::slice::from_ref(request), 0, &mut plan, Beneath::Nothing);
        let result = if plan.writes.is_empty() { Ok(()) } else { storage.commit(&plan.writes) };
        match &result {
            Ok(()) => self.settle(&mut plan, number, output),
            Err(_) => self.discard(&mut plan),
        }
        result
    }

    /// What was planned is committed: readers are told of it, and everybody gets an answer. The plan is empty afterwards.
    fn settle(&mut self, plan: &mut Plan, first: usize, output: &mut dyn WriterOutput) {
        for write in &plan.writes {
            match write {
                Write::Append(append) => {
                    let Append { key, epoch, after, entries, inputs, .. } = append;
                    self.sessions.settle(key, after + entries.len() as u64, plan.turn);
                    if !entries.is_empty() {
                        output.publish(SessionUpdate::Appended { key, epoch: *epoch, after: *after, entries, inputs });
                    }
                }
                Write::Create(row) => output.publish(SessionUpdate::Replaced(&row.key)),
                Write::Delete(key) | Write::Publish { key, .. } => output.publish(SessionUpdate::Replaced(key)),
                Write::SetProperties { .. } | Write::Compact { .. } | Write::Upload(_) | Write::Sweep { .. } => {}
            }
        }
        for (index, answer) in plan.answers.drain(..) {
            output.respond(first + index, answer);
        }
        plan.clear();
    }

    /// What was planned is not committed and will not be. Of several plans the newest goes first. The plan is empty
    /// afterwards.
    fn discard(&mut self, plan: &mut Plan) {
        self.sessions.forget_since(plan.turn);
        for before in plan.leases.drain(..).rev() {
            self.leases.restore(before);
        }
        plan.clear();
    }

    /// Whether a request needs a session that is not in memory yet. The writer then reads it, up to
    /// [`WINDOW`](crate::WINDOW) entries; whoever does not want to wait for that has it [read](LoadedSession::read) elsewhere and
    /// hands it [over](Self::take) before.
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

    /// Takes a session that was read elsewhere, unless it is in memory by now. Nothing may have been written to it in the
    /// meantime.
    pub fn insert_loaded(&mut self, key: &SessionKey, loaded: LoadedSession) {
        if self.sessions.find(key).is_none() {
            self.sessions.insert(key, loaded.0.used_by(self.turn));
        }
    }

    /// Writes down how far long open replies have come, so that whoever opens the log next need not fold them again.
    ///
    /// # Errors
    ///
    /// When the storage fails. Nothing is lost by that: it will only take longer then.
    pub fn write_final_checkpoints(&mut self, storage: &mut dyn Storage) -> Result<(), StorageError> {
        let at = self.env.now().as_millisecond();
        let (mut writes, mut bytes) = (Vec::new(), 0);
        for (key, live) in self.sessions.iter_mut() {
            let Some(append) = live.final_checkpoints(key, at, self.checkpoint_after) else { continue };
            bytes += append.checkpoints.iter().map(|checkpoint| checkpoint.fold.as_str().len()).sum::<usize>();
            writes.push(Write::Append(append));
            if bytes >= FAREWELL_BYTES {
                storage.commit(&writes)?;
                writes.clear();
                bytes = 0;
            }
        }
        if writes.is_empty() { Ok(()) } else { storage.commit(&writes) }
    }
}

/// What is under a plan and not certain yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beneath {
    /// Everything is committed.
    Nothing,
    /// A commit is under way.
    CommitInfo,
}

fn fail(request: &Request, index: usize, error: Error, output: &mut dyn WriterOutput) {
    if let Some(sequence) = request.sequence() {
        sequence.fail(&error);
    }
    output.respond(index, Err(error));
}
