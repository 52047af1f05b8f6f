//! Plans requests, based on committed data and on the requests planned before.

use recount_message::{CustomEvent, CustomName, Event, Object, format_time};

use super::compact::compact;
use super::live::LiveSession;
use super::sessions::Slot;
use super::{Plan, PlanBase, PlanContext, RETRIES, Writer};
use crate::dedup_window::IdHash;
use crate::request::{AppendRequest, AppendSequence, Appended, Request, Response};
use crate::storage::{Append, SessionRow, View, Write};
use crate::{Cursor, Epoch, Error, Events, SessionKey, StorageError};

/// The failure of a request during planning.
struct Failure {
    error: Error,
    /// Whether the session in memory no longer matches its entries. The session is marked as invalid.
    is_invalid: bool,
    /// Whether another process may have written to the session, so that the request must be planned again.
    is_stale: bool,
}

impl Failure {
    /// The session must be read again.
    fn stale(key: &SessionKey) -> Self {
        Self { error: StorageError::Moved(key.clone()).into(), is_invalid: true, is_stale: true }
    }
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { error: error.into(), is_invalid: false, is_stale: false }
    }
}

impl Writer {
    /// Plans the requests from an index on, in order. Returns the index after the last planned one. If requests are left,
    /// the plan must be settled before they can be planned.
    pub(super) fn plan(
        &mut self,
        context: PlanContext<'_>,
        requests: &[Request],
        from: usize,
        plan: &mut Plan,
        base: PlanBase,
    ) -> usize {
        if plan.is_empty() && !plan.is_closed {
            self.last_plan_id += 1;
            plan.id = self.last_plan_id;
        }
        for (index, request) in requests.iter().enumerate().skip(from) {
            let is_on_committed = plan.is_empty() && base == PlanBase::Committed;
            plan.is_on_committed = is_on_committed;
            // A request that changes a session as a whole is planned alone, on committed data.
            if plan.is_closed || (!request.can_share_plan() && !is_on_committed) {
                return index;
            }
            let mut tries = 0;
            let planned = loop {
                match self.plan_one(context, request, plan) {
                    Err(failure) if failure.is_stale && is_on_committed && tries < RETRIES => tries += 1,
                    planned => break planned,
                }
            };
            plan.is_closed = !request.can_share_plan();
            match planned {
                Ok(response) => plan.responses.push((index, Ok(response))),
                Err(Failure { error, is_invalid, is_stale }) => {
                    let sequence = request.sequence();
                    if is_invalid || is_stale || sequence.is_some() {
                        // An error with lasting effect must follow from committed data.
                        if !is_on_committed {
                            return index;
                        }
                        if let Some(sequence) = sequence {
                            sequence.fail(&error);
                        }
                        plan.is_closed = true;
                    }
                    plan.responses.push((index, Err(error)));
                }
            }
        }
        requests.len()
    }

    fn plan_one(&mut self, context: PlanContext<'_>, request: &Request, plan: &mut Plan) -> Result<Response, Failure> {
        match request {
            Request::Create { key, properties } => {
                if context.views.view()?.session(key)?.is_some() {
                    return Err(Error::SessionExists(key.clone()).into());
                }
                self.remove_leases(key, plan);
                let row = self.new_session(key, properties);
                plan.writes.push(Write::Create(row.clone()));
                self.sessions.insert(key, LiveSession::new(row.epoch).used_by(plan.id));
                Ok(Response::Created(row))
            }
            Request::SetProperties { key, properties } => {
                existing(&*context.views.view()?, key)?;
                plan.writes.push(Write::SetProperties { key: key.clone(), properties: properties.clone() });
                Ok(Response::Done)
            }
            Request::Delete(key) => {
                existing(&*context.views.view()?, key)?;
                self.sessions.remove(key);
                self.remove_leases(key, plan);
                plan.writes.push(Write::Delete(key.clone()));
                Ok(Response::Done)
            }
            Request::Append(request) => self.append(context, request, plan).map(Response::Appended),
            Request::FindEvent { key, event_id } => self.find_event(context, key, event_id, plan).map(Response::Found),
            Request::Stage { key, properties } => {
                let draft = SessionKey::staged(key.tenant(), self.env.next_u64());
                let row = self.new_session(&draft, properties);
                plan.writes.push(Write::Create(row.clone()));
                self.sessions.insert(&draft, LiveSession::new(row.epoch).used_by(plan.id));
                Ok(Response::Created(row))
            }
            Request::Publish { draft, key, replaces } => self.adopt(context, draft, key, *replaces, plan),
            Request::Acquire { key, request } => {
                existing(&*context.views.view()?, key)?;
                let saved = self.leases.save(key);
                let (now, token) = (self.env.now(), self.env.next_u64());
                let granted = self.leases.acquire(key, request, now, token)?;
                if let Some(former) = granted.taken_from {
                    let value =
                        [("subject", request.subject.as_str()), ("holder", &request.holder), ("former", &former)];
                    let signal = CustomEvent::signal(CustomName::TakenOver.as_str(), Object::from(value));
                    let event = Event::stamped(self.env.id(), format_time(now), signal);
                    let request = AppendRequest::new(key.clone(), Events::of([&event]));
                    if let Err(failure) = self.append(context, &request, plan) {
                        self.leases.restore(saved);
                        return Err(failure);
                    }
                }
                plan.leases.push(saved);
                Ok(Response::Granted(granted.lease))
            }
            Request::Renew { lease, ttl } => {
                let now = self.env.now();
                self.leases.renew(lease, *ttl, now)?;
                Ok(Response::Done)
            }
            Request::Release(lease) => {
                let saved = self.leases.save(&lease.session);
                self.leases.release(lease)?;
                plan.leases.push(saved);
                Ok(Response::Done)
            }
            Request::Upload(upload) => {
                plan.writes.push(Write::Upload(upload.clone()));
                Ok(Response::Done)
            }
            Request::Compact { key, after, before } => {
                Ok(Response::Compacted(compact(&*context.views.view()?, key, *after, *before, plan)?))
            }
            Request::Sweep { before } => {
                plan.writes.push(Write::Sweep { before: *before });
                Ok(Response::Done)
            }
        }
    }

    fn new_session(&mut self, key: &SessionKey, properties: &str) -> SessionRow {
        SessionRow {
            key: key.clone(),
            epoch: Epoch::from_random(self.env.next_u64()),
            head: 0,
            created_at: format_time(self.env.now()),
            properties: properties.to_owned(),
        }
    }

    fn append(
        &mut self,
        context: PlanContext<'_>,
        request: &AppendRequest,
        plan: &mut Plan,
    ) -> Result<Appended, Failure> {
        let key = &request.key;
        if let Some(failure) = request.sequence.as_ref().and_then(AppendSequence::failure) {
            return Err(Error::Broken(failure).into());
        }
        if let Some(lease) = &request.lease {
            if lease.session != *key {
                return Err(lease.lost().into());
            }
            self.leases.check(lease)?;
        }
        let slot = self.load_slot(context, key, plan)?;
        let env = &mut self.env;
        // One clock reading per plan is enough.
        let at = *plan.at.get_or_insert_with(|| env.now().as_millisecond());
        // The slot was found or inserted above.
        let Some(live) = self.sessions.get_mut(slot) else { return Err(Error::Closed.into()) };
        live.used = plan.id;
        let index = plan.append_of(key, live, at);
        let Some(Write::Append(append)) = plan.writes.get_mut(index) else { return Err(Error::Closed.into()) };
        let (head, before) = (live.head, Lengths::of(append));
        let stored = |id: &str| context.views.view()?.message_status(key, id);
        let planned = live.append(request, &stored, self.checkpoint_after, append);
        // If entries are written, the storage detects writes of other processes. Otherwise this must be checked here.
        let is_written = planned.as_ref().is_ok_and(|appended| appended.written > 0);
        let is_stale = !is_written && context.is_shared && !live.is_stored(&*context.views.view()?, key)?;
        if planned.is_err() || is_stale {
            before.restore(append);
            live.is_invalid = is_stale || live.head != head;
        }
        if append.is_empty() {
            // It was added for this request.
            plan.writes.pop();
        } else {
            live.planned = Some((plan.id, index));
        }
        if is_stale {
            return Err(Failure::stale(key));
        }
        planned.map_err(|error| Failure { error, is_invalid: live.is_invalid, is_stale: false })
    }

    /// Returns the slot of a session, and reads the session from the storage if it is not in memory or invalid.
    fn load_slot(&mut self, context: PlanContext<'_>, key: &SessionKey, plan: &Plan) -> Result<Slot, Failure> {
        match self.sessions.find(key) {
            Some(slot) if !self.sessions.is_invalid(slot) => Ok(slot),
            // Some of its entries are not committed yet, so it cannot be read.
            Some(_) if !plan.is_on_committed => Err(Failure::stale(key)),
            Some(_) | None => Ok(self.sessions.insert(key, LiveSession::load(&*context.views.view()?, key)?)),
        }
    }

    fn find_event(
        &mut self,
        context: PlanContext<'_>,
        key: &SessionKey,
        event_id: &str,
        plan: &Plan,
    ) -> Result<Option<Cursor>, Failure> {
        let slot = self.load_slot(context, key, plan)?;
        // The slot was found or inserted above.
        let Some(live) = self.sessions.get_mut(slot) else { return Err(Error::Closed.into()) };
        live.used = plan.id;
        if context.is_shared && !live.is_stored(&*context.views.view()?, key)? {
            live.is_invalid = true;
            return Err(Failure::stale(key));
        }
        let seq = live.window.find(IdHash::of(event_id));
        Ok(seq.map(|seq| Cursor { epoch: live.epoch, seq }))
    }

    /// Removes the leases of a session that is created, replaced or deleted.
    fn remove_leases(&mut self, key: &SessionKey, plan: &mut Plan) {
        plan.leases.push(self.leases.save(key));
        self.leases.remove_session(key);
    }

    /// Publishes a staged session by renaming it.
    fn adopt(
        &mut self,
        context: PlanContext<'_>,
        draft: &SessionKey,
        key: &SessionKey,
        replaces: bool,
        plan: &mut Plan,
    ) -> Result<Response, Failure> {
        let view = context.views.view()?;
        let row = existing(&*view, draft)?;
        let exists = view.session(key)?.is_some();
        if exists && !replaces {
            return Err(Error::SessionExists(key.clone()).into());
        }
        self.remove_leases(key, plan);
        if exists {
            plan.writes.push(Write::Delete(key.clone()));
        }
        let head = Cursor { epoch: row.epoch, seq: row.head };
        plan.writes.push(Write::Publish { draft: draft.clone(), head, key: key.clone() });
        self.sessions.remove(key);
        if let Some(live) = self.sessions.remove(draft).filter(|live| !live.is_invalid) {
            self.sessions.insert(key, live.used_by(plan.id));
        }
        Ok(Response::Created(SessionRow { key: key.clone(), ..row }))
    }
}

/// The lengths of an append before a request, to undo the request.
struct Lengths {
    entries: usize,
    inputs: usize,
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
            inputs: append.inputs.len(),
            opened: append.opened.len(),
            checkpoints: append.checkpoints.len(),
            finished: append.finished.len(),
            states: append.states.len(),
            uploads: append.uploads.len(),
        }
    }

    /// Removes the rows that were added since.
    fn restore(&self, append: &mut Append) {
        append.entries.truncate(self.entries);
        append.inputs.truncate(self.inputs);
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
