//! What a request does, planned on what is stored and on what was planned before it.

use recount_message::{CustomEvent, CustomName, Event, Object, format_time};

use super::Writer;
use super::compact::compact;
use super::live::Live;
use crate::lease::Before;
use crate::request::{Adoption, Answer, AppendRequest, Appended, Request, Stream};
use crate::storage::{Append, SessionRow, Storage, View, Write};
use crate::{Epoch, Error, Events, SessionKey, StorageError};

/// Requests that are committed together.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Also those that were refused: what they were judged by is not certain before the commit either.
    pub(super) answers: Vec<(usize, Result<Answer, Error>)>,
    /// What all of them write. Entries for the same session are in one write.
    pub(super) writes: Vec<Write>,
    pub(super) leases: Vec<Before>,
}

impl Group {
    /// The write that a session's entries go to, and its index.
    fn append_of(&mut self, key: &SessionKey, live: &Live, turn: u64, at: i64) -> usize {
        match live.planned {
            Some((planned, index)) if planned == turn => index,
            _ => {
                self.writes.push(Write::Append(Append::after(key.clone(), live.epoch, live.head, at)));
                self.writes.len() - 1
            }
        }
    }
}

/// Why a request was not planned.
pub(super) struct Failure {
    pub(super) error: Error,
    /// The session whose state in memory is not that of what is or will be written.
    pub(super) spoilt: Option<SessionKey>,
    /// Whether somebody else has written to it, so that the request has to be looked at again.
    pub(super) is_stale: bool,
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { error: error.into(), spoilt: None, is_stale: false }
    }
}

impl Writer {
    pub(super) fn plan(
        &mut self,
        storage: &dyn Storage,
        request: &Request,
        group: &mut Group,
    ) -> Result<Answer, Failure> {
        match request {
            Request::Create { key, about } => {
                if storage.view()?.session(key)?.is_some() {
                    return Err(Error::SessionExists(key.clone()).into());
                }
                self.forget_leases(key, group);
                let row = self.new_session(key, about);
                group.writes.push(Write::Create(row.clone()));
                self.sessions.insert(key, Live::new(row.epoch));
                Ok(Answer::Created(row))
            }
            Request::Describe { key, about } => {
                existing(&*storage.view()?, key)?;
                group.writes.push(Write::Describe { key: key.clone(), about: about.clone() });
                Ok(Answer::Done)
            }
            Request::Delete(key) => {
                existing(&*storage.view()?, key)?;
                self.sessions.remove(key);
                self.forget_leases(key, group);
                group.writes.push(Write::Delete(key.clone()));
                Ok(Answer::Done)
            }
            Request::Append(request) => self.append(storage, request, group).map(Answer::Appended),
            Request::Adopt(adoption) => self.adopt(storage, adoption, group),
            Request::Acquire { key, request } => {
                existing(&*storage.view()?, key)?;
                let before = self.leases.before(key);
                let (now, token) = (self.surroundings.now(), self.surroundings.number());
                let granted = self.leases.acquire(key, request, now, token)?;
                if let Some(former) = granted.taken_from {
                    let value =
                        [("subject", request.subject.as_str()), ("holder", &request.holder), ("former", &former)];
                    let signal = CustomEvent::signal(CustomName::TakenOver.as_str(), Object::from(value));
                    let event = Event::stamped(self.surroundings.id(), format_time(now), signal);
                    let request = AppendRequest::new(key.clone(), Events::of([&event]));
                    if let Err(failure) = self.append(storage, &request, group) {
                        self.leases.restore(before);
                        return Err(failure);
                    }
                }
                group.leases.push(before);
                Ok(Answer::Granted(granted.lease))
            }
            Request::Renew { lease, time } => {
                let now = self.surroundings.now();
                self.leases.renew(lease, *time, now)?;
                Ok(Answer::Done)
            }
            Request::Release(lease) => {
                let before = self.leases.before(&lease.session);
                self.leases.release(lease)?;
                group.leases.push(before);
                Ok(Answer::Done)
            }
            Request::Upload(upload) => {
                group.writes.push(Write::Upload(upload.clone()));
                Ok(Answer::Done)
            }
            Request::Compact { key, after, before } => {
                Ok(Answer::Compacted(compact(&*storage.view()?, key, *after, *before, group)?))
            }
            Request::Sweep { before } => {
                group.writes.push(Write::Sweep { before: *before });
                Ok(Answer::Done)
            }
        }
    }

    fn new_session(&mut self, key: &SessionKey, about: &str) -> SessionRow {
        SessionRow {
            key: key.clone(),
            epoch: Epoch::from_random(self.surroundings.number()),
            head: 0,
            created_at: format_time(self.surroundings.now()),
            about: about.to_owned(),
        }
    }

    fn append(
        &mut self,
        storage: &dyn Storage,
        request: &AppendRequest,
        group: &mut Group,
    ) -> Result<Appended, Failure> {
        let key = &request.key;
        if let Some(failure) = request.stream.as_ref().and_then(Stream::failure) {
            return Err(Error::Broken(failure).into());
        }
        if let Some(lease) = &request.lease {
            if lease.session != *key {
                return Err(lease.lost().into());
            }
            self.leases.check(lease)?;
        }
        let surroundings = &mut self.surroundings;
        let at = *self.at.get_or_insert_with(|| surroundings.now().as_millisecond());
        let slot = match self.sessions.find(key) {
            Some(slot) => slot,
            None => self.sessions.insert(key, Live::load(&*storage.view()?, key)?),
        };
        let turn = self.turn;
        // What was found or inserted is there.
        let Some(live) = self.sessions.get_mut(slot) else { return Err(Error::Closed.into()) };
        let index = group.append_of(key, live, turn, at);
        let Some(Write::Append(append)) = group.writes.get_mut(index) else { return Err(Error::Closed.into()) };
        let (head, before) = (live.head, Lengths::of(append));
        let planned = live.append(request, &|id| storage.view()?.known(key, id), append);
        if planned.is_err() {
            before.restore(append);
        }
        if append.is_empty() {
            // It was begun for this request.
            group.writes.pop();
        } else {
            live.planned = Some((turn, index));
        }
        // Where entries are written the storage finds out that somebody else was there. Here it has to be asked.
        let is_unwritten = planned.as_ref().map_or(true, |appended| appended.written == 0);
        if is_unwritten && storage.is_shared() {
            let is_stored = |row: SessionRow| (row.epoch, row.head) == (live.epoch, live.stored_head);
            if !storage.view()?.session(key)?.is_some_and(is_stored) {
                let moved = StorageError::Moved(key.clone());
                return Err(Failure { error: moved.into(), spoilt: Some(key.clone()), is_stale: true });
            }
        }
        planned.map_err(|error| {
            let spoilt = (live.head != head).then(|| key.clone());
            Failure { error, spoilt, is_stale: false }
        })
    }

    /// A session that ends or begins takes no leases along.
    fn forget_leases(&mut self, key: &SessionKey, group: &mut Group) {
        group.leases.push(self.leases.before(key));
        self.leases.forget(key);
    }

    /// Makes a session of entries that exist already.
    fn adopt(&mut self, storage: &dyn Storage, adoption: &Adoption, group: &mut Group) -> Result<Answer, Failure> {
        let key = &adoption.key;
        let exists = storage.view()?.session(key)?.is_some();
        if exists && !adoption.replaces {
            return Err(Error::SessionExists(key.clone()).into());
        }
        let row = self.new_session(key, &adoption.about);
        let mut live = Live::new(row.epoch);
        let mut request = AppendRequest::new(key.clone(), adoption.events.clone());
        request.checks_inputs = false;
        request.states.clone_from(&adoption.states);
        let at = self.surroundings.now().as_millisecond();
        let mut append = Append::after(key.clone(), row.epoch, 0, at);
        // Nothing that is stored under the name is a part of what comes now.
        live.append(&request, &|_| Ok(None), &mut append)?;
        let created = SessionRow { head: live.head, ..row.clone() };
        self.forget_leases(key, group);
        if exists {
            group.writes.push(Write::Delete(key.clone()));
        }
        group.writes.push(Write::Create(row));
        group.writes.push(Write::Append(append));
        self.sessions.insert(key, live);
        Ok(Answer::Created(created))
    }
}

/// How much was to be written before a request.
struct Lengths {
    entries: usize,
    opened: usize,
    checkpoints: usize,
    finished: usize,
    states: usize,
    uploads: usize,
}

impl Lengths {
    fn of(append: &Append) -> Self {
        Self {
            entries: append.entries.len(),
            opened: append.opened.len(),
            checkpoints: append.checkpoints.len(),
            finished: append.finished.len(),
            states: append.states.len(),
            uploads: append.uploads.len(),
        }
    }

    /// Takes back what has come since.
    fn restore(&self, append: &mut Append) {
        append.entries.truncate(self.entries);
        append.opened.truncate(self.opened);
        append.checkpoints.truncate(self.checkpoints);
        append.finished.truncate(self.finished);
        append.states.truncate(self.states);
        append.uploads.truncate(self.uploads);
    }
}

pub(super) fn existing(view: &dyn View, key: &SessionKey) -> Result<SessionRow, Error> {
    view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))
}

impl Request {
    pub(super) fn stream(&self) -> Option<&Stream> {
        match self {
            Self::Append(request) => request.stream.as_ref(),
            _ => None,
        }
    }

    /// The session that the request is about.
    pub(crate) fn key(&self) -> Option<&SessionKey> {
        match self {
            Self::Create { key, .. }
            | Self::Describe { key, .. }
            | Self::Delete(key)
            | Self::Append(AppendRequest { key, .. })
            | Self::Adopt(Adoption { key, .. })
            | Self::Acquire { key, .. }
            | Self::Compact { key, .. } => Some(key),
            Self::Renew { lease, .. } | Self::Release(lease) => Some(&lease.session),
            Self::Upload(_) | Self::Sweep { .. } => None,
        }
    }

    /// Whether the request only adds entries, so that others can be committed along with it.
    pub(crate) fn is_entry(&self) -> bool {
        match self {
            Self::Append(_) | Self::Acquire { .. } | Self::Renew { .. } | Self::Release(_) | Self::Upload(_) => true,
            Self::Create { .. }
            | Self::Describe { .. }
            | Self::Delete(_)
            | Self::Adopt(_)
            | Self::Compact { .. }
            | Self::Sweep { .. } => false,
        }
    }
}

impl Write {
    /// The session that a write is for.
    pub fn key(&self) -> Option<&SessionKey> {
        match self {
            Self::Create(row) => Some(&row.key),
            Self::Describe { key, .. } | Self::Delete(key) | Self::Compact { key, .. } => Some(key),
            Self::Append(append) => Some(&append.key),
            Self::Upload(_) | Self::Sweep { .. } => None,
        }
    }
}
