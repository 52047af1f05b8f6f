//! The writer: the one that orders what is written.
//!
//! It is a state machine. Requests go in, writes go to the storage that is passed in, and answers come out after their
//! commit; time and chance come from its [`Surroundings`]. It starts no thread, waits for nothing and keeps no clock, so
//! that a simulation can drive it step by step, and a thread can drive it for real.

mod compact;
mod live;
mod plan;
mod sessions;

use std::ops::Range;

use bytes::Bytes;

use crate::lease::Leases;
use crate::request::{Answer, AppendRequest, Request};
use crate::storage::{Append, Storage, View, Write};
use crate::{Epoch, Error, SessionKey, StorageError, Surroundings};
use live::Live;
use plan::{Failure, Group};
use sessions::Sessions;

/// How often a request is planned anew when somebody else has written to its session in between.
const TRIES: usize = 16;

/// Takes what comes out of the writer. It is called after the commit.
pub trait Outbox {
    /// What has become of the request with an index.
    fn answer(&mut self, index: usize, answer: Result<Answer, Error>);

    /// Something is new in a session.
    fn notice(&mut self, notice: Notice<'_>);
}

/// Something that is new in a session.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Notice<'a> {
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
    },
    /// The session is another one now, or gone.
    Replaced(&'a SessionKey),
}

/// A session that has been read into memory, for a [`Writer`].
#[derive(Debug)]
pub struct Loaded(Live);

impl Loaded {
    /// Reads a session: the ids of its last entries, and its open replies.
    ///
    /// # Errors
    ///
    /// When there is no such session, or the storage cannot be read.
    pub fn read(view: &dyn View, key: &SessionKey) -> Result<Self, Error> {
        Live::load(view, key).map(Self)
    }
}

/// The one that orders what is written.
#[derive(Debug)]
pub struct Writer {
    surroundings: Surroundings,
    sessions: Sessions,
    leases: Leases,
    /// Counts the commits, to know which session was used last.
    turn: u64,
    /// When the requests at hand came, in milliseconds since 1970. To ask for each of them would cost more than it says.
    at: Option<i64>,
    /// An empty group whose room is used again.
    spare: Group,
}

impl Writer {
    /// A writer that knows nothing yet.
    pub fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            sessions: Sessions::default(),
            leases: Leases::default(),
            turn: 0,
            at: None,
            spare: Group::default(),
        }
    }

    /// Does what is asked, in as few commits as possible, and answers every request.
    pub fn run(&mut self, storage: &mut dyn Storage, requests: &[Request], outbox: &mut dyn Outbox) {
        self.at = None;
        self.attempt(storage, requests, 0..requests.len(), outbox, 0);
        self.sessions.forget_idle();
    }

    fn attempt(
        &mut self,
        storage: &mut dyn Storage,
        requests: &[Request],
        indices: Range<usize>,
        outbox: &mut dyn Outbox,
        tries: usize,
    ) {
        let mut group = std::mem::take(&mut self.spare);
        for index in indices {
            let Some(request) = requests.get(index) else { continue };
            // What changes a session as a whole is planned on nothing that is not committed.
            if !request.is_entry() {
                self.commit(storage, requests, &mut group, outbox, tries);
            }
            match self.plan(&*storage, request, &mut group) {
                Ok(answer) => group.answers.push((index, Ok(answer))),
                Err(failure) => {
                    let Failure { error, spoilt, is_stale } = failure;
                    let must_be_certain = spoilt.is_some() || request.stream().is_some();
                    if let Some(key) = spoilt {
                        self.sessions.remove(&key);
                    }
                    if is_stale && tries < TRIES {
                        self.commit(storage, requests, &mut group, outbox, tries);
                        self.attempt(storage, requests, index..index + 1, outbox, tries + 1);
                    } else if !must_be_certain {
                        group.answers.push((index, Err(error)));
                    } else if group.answers.is_empty() {
                        fail(request, index, error, outbox);
                    } else {
                        self.commit(storage, requests, &mut group, outbox, tries);
                        self.attempt(storage, requests, index..index + 1, outbox, tries);
                    }
                }
            }
            if !request.is_entry() {
                self.commit(storage, requests, &mut group, outbox, tries);
            }
        }
        self.commit(storage, requests, &mut group, outbox, tries);
        self.spare = group;
    }

    fn commit(
        &mut self,
        storage: &mut dyn Storage,
        requests: &[Request],
        group: &mut Group,
        outbox: &mut dyn Outbox,
        tries: usize,
    ) {
        self.turn += 1;
        let result = if group.writes.is_empty() { Ok(()) } else { storage.commit(&group.writes) };
        let Err(error) = result else { return self.committed(group, outbox) };
        let Group { answers, writes, leases } = std::mem::take(group);
        for key in writes.iter().filter_map(Write::key) {
            self.sessions.remove(key);
        }
        for before in leases.into_iter().rev() {
            self.leases.restore(before);
        }
        // One request that cannot be written must not take the others with it.
        let is_alone = answers.len() <= 1;
        let is_worth_a_try = matches!(error, StorageError::Moved(_)) && tries < TRIES;
        for (index, _) in answers {
            if !is_alone || is_worth_a_try {
                self.attempt(storage, requests, index..index + 1, outbox, tries + usize::from(is_alone));
            } else if let Some(request) = requests.get(index) {
                fail(request, index, error.clone().into(), outbox);
            }
        }
    }

    fn committed(&mut self, group: &mut Group, outbox: &mut dyn Outbox) {
        for write in &group.writes {
            match write {
                Write::Append(append) => {
                    let Append { key, epoch, after, entries, .. } = append;
                    if let Some(slot) = self.sessions.find(key) {
                        if let Some(live) = self.sessions.get_mut(slot) {
                            live.committed(after + entries.len() as u64, self.turn);
                        }
                        self.sessions.weigh(slot);
                    }
                    if !entries.is_empty() {
                        outbox.notice(Notice::Appended { key, epoch: *epoch, after: *after, entries });
                    }
                }
                Write::Create(row) => outbox.notice(Notice::Replaced(&row.key)),
                Write::Delete(key) => outbox.notice(Notice::Replaced(key)),
                Write::Describe { .. } | Write::Compact { .. } | Write::Upload(_) | Write::Sweep { .. } => {}
            }
        }
        for (index, answer) in group.answers.drain(..) {
            outbox.answer(index, answer);
        }
        group.writes.clear();
        group.leases.clear();
    }

    /// Whether a request needs a session that is not in memory yet. The writer then reads it, up to
    /// [`WINDOW`](crate::WINDOW) entries; whoever does not want to wait for that has it [read](Loaded::read) elsewhere and
    /// hands it [over](Self::take) before.
    pub fn must_load(&self, request: &Request) -> bool {
        match request {
            Request::Append(AppendRequest { key, .. }) | Request::Acquire { key, .. } => {
                self.sessions.find(key).is_none()
            }
            Request::Create { .. }
            | Request::Describe { .. }
            | Request::Delete(_)
            | Request::Adopt(_)
            | Request::Renew { .. }
            | Request::Release(_)
            | Request::Upload(_)
            | Request::Compact { .. }
            | Request::Sweep { .. } => false,
        }
    }

    /// Takes a session that was read elsewhere, unless it is in memory by now. Nothing may have been written to it in the
    /// meantime.
    pub fn take(&mut self, key: &SessionKey, loaded: Loaded) {
        if self.sessions.find(key).is_none() {
            self.sessions.insert(key, loaded.0);
        }
    }

    /// Writes down how far long open replies have come, so that whoever opens the log next need not fold them again.
    ///
    /// # Errors
    ///
    /// When the storage fails. Nothing is lost by that: it will only take longer then.
    pub fn farewell(&mut self, storage: &mut dyn Storage) -> Result<(), StorageError> {
        let at = self.surroundings.now().as_millisecond();
        for (key, live) in self.sessions.iter_mut() {
            if let Some(append) = live.farewell(key, at) {
                storage.commit(&[Write::Append(append)])?;
            }
        }
        Ok(())
    }
}

fn fail(request: &Request, index: usize, error: Error, outbox: &mut dyn Outbox) {
    if let Some(stream) = request.stream() {
        stream.fail(&error);
    }
    outbox.answer(index, Err(error));
}
