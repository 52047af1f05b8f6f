//! Answers, held to the model; and what is left of requests that nobody answered.

use std::collections::HashSet;

use recount_log::storage::Views;
use recount_log::{Answer, AppendRequest, Appended, Cursor, Error, Lease, LeaseRequest, Request, SessionKey};
use recount_message::AgentEvent;
use recount_testkit::laws::Broken;

use super::stored::{decode, events_after, is_taken_over, rows, stored};
use super::writing::Sent;
use super::{Known, KnownDraft, Verdict, World};
use crate::model::{ModelSession, is_storage_failure, same_answer};
use crate::script::note;

impl World {
    /// Holds an answer to the model, which then is what the log must be.
    pub(super) fn judge(&mut self, node: usize, sent: &Sent, answer: &Result<Answer, Error>) -> Verdict {
        if let Err(error) = answer
            && is_storage_failure(error)
        {
            self.tally.full += 1;
            return Ok(());
        }
        let wrong =
            |expected: &str| Err(Broken::new(format!("{:?}\nanswered {answer:?}\nnot {expected}", sent.request)));
        match (&sent.request, answer) {
            (Request::Append(request), answer) => return self.judge_append(node, request, &sent.events, answer),
            (Request::Create { key, .. }, Ok(Answer::Created(row))) if !self.models.contains_key(key) => {
                self.models.insert(key.clone(), ModelSession::new(row.epoch));
                self.scripts.remove(key);
                self.void_leases(node, key);
            }
            (Request::Create { key, .. }, Err(Error::SessionExists(_))) if self.models.contains_key(key) => {}
            (Request::Delete(key), Ok(_)) if self.models.contains_key(key) => {
                self.models.remove(key);
                self.drafts.retain(|known| known.draft != *key);
                self.void_leases(node, key);
            }
            (Request::Describe { key, .. }, Ok(_)) if self.models.contains_key(key) => {}
            (Request::Compact { key, .. }, Ok(Answer::Compacted(compacted))) if self.models.contains_key(key) => {
                self.tally.joined += usize::try_from(compacted.entries - compacted.rows).unwrap_or_default();
                self.note_joined()?;
            }
            (Request::Draft { key, .. }, Ok(Answer::Created(row))) if row.key.is_draft() => {
                let missing = sent.events.iter().cloned().collect();
                self.drafts.push(KnownDraft { node, draft: row.key.clone(), key: key.clone(), missing });
                self.models.insert(row.key.clone(), ModelSession::new(row.epoch));
            }
            (Request::Adopt { draft, key, replaces }, Ok(Answer::Created(row))) => {
                if self.models.contains_key(key) && !replaces {
                    return wrong("that it exists");
                }
                if self.models.get(draft).map(ModelSession::head) != Some(Cursor { epoch: row.epoch, seq: row.head }) {
                    return wrong("what the draft was");
                }
                self.adopted(draft, key);
                self.void_leases(node, key);
            }
            (Request::Adopt { draft, key, replaces }, Err(Error::SessionExists(_))) => {
                if !self.models.contains_key(key) || *replaces || !self.models.contains_key(draft) {
                    return wrong("a new session");
                }
            }
            (Request::Acquire { key, request }, answer) => return self.judge_lease(node, key, request, answer),
            (Request::Renew { lease, .. }, answer) => {
                let (now, is_held) = (self.now(), self.holds(node, lease));
                if answer.is_ok() != is_held {
                    return wrong("what the leases say");
                }
                let known = self.leases.iter_mut().find(|known| is_held && &known.lease == lease);
                if let Some(known) = known {
                    known.until = now + 5_000;
                }
            }
            (Request::Release(lease), answer) => {
                if answer.is_ok() != self.holds(node, lease) {
                    return wrong("what the leases say");
                }
                for known in self.leases.iter_mut().filter(|known| known.node == node && &known.lease == lease) {
                    known.is_held = false;
                }
            }
            (
                Request::Delete(key)
                | Request::Describe { key, .. }
                | Request::Compact { key, .. }
                | Request::Adopt { draft: key, .. },
                Err(Error::UnknownSession(_)),
            ) if !self.models.contains_key(key) => {}
            _ => return wrong("what the contract says"),
        }
        Ok(())
    }

    /// Notes which entries are not there any more by themselves.
    pub(super) fn note_joined(&mut self) -> Verdict {
        let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
        for (key, model) in &mut self.models {
            let mut kept = HashSet::new();
            model.moved.clear();
            for row in rows(&*view, key)? {
                let id = decode(&row.body)?.id.into_owned();
                if row.first < row.last {
                    model.moved.insert(id.clone(), row.last);
                }
                kept.insert(id);
            }
            let gone = model.entries.iter().filter(|event| !kept.contains(&*event.id));
            model.joined = gone.map(|event| event.id.to_string()).collect();
        }
        Ok(())
    }

    /// A draft is a session from now on.
    fn adopted(&mut self, draft: &SessionKey, key: &SessionKey) {
        self.tally.adopted += 1;
        self.drafts.retain(|known| known.draft != *draft);
        if let Some(model) = self.models.remove(draft) {
            self.models.insert(key.clone(), model);
        }
    }

    pub(super) fn void_leases(&mut self, node: usize, key: &SessionKey) {
        for known in self.leases.iter_mut().filter(|known| known.node == node && known.lease.session() == key) {
            known.is_held = false;
        }
    }

    pub(super) fn holds(&self, node: usize, lease: &Lease) -> bool {
        self.leases.iter().any(|known| known.is_held && known.node == node && &known.lease == lease)
    }

    pub(super) fn judge_append(
        &mut self,
        node: usize,
        request: &AppendRequest,
        events: &[AgentEvent],
        answer: &Result<Answer, Error>,
    ) -> Verdict {
        let answer = match answer {
            Ok(Answer::Appended(appended)) => Ok(appended.clone()),
            Ok(other) => return Err(Broken::new(format!("an append was answered {other:?}"))),
            Err(error) => Err(error.clone()),
        };
        let lost = request.lease.as_ref().filter(|lease| !self.holds(node, lease));
        if lost.is_some() {
            self.tally.lost_leases += 1;
        }
        if self.was_right(lost, request, events, &answer) {
            return Ok(());
        }
        let expected = expected(self.models.get_mut(&request.key), lost, request, events, &answer);
        if !same_answer(&answer, &expected) {
            let texts: Vec<String> = events.iter().map(AgentEvent::to_json).collect();
            return Err(Broken::new(format!(
                "appending to {}\n{}\nanswered {answer:?}\nnot      {expected:?}",
                request.key,
                texts.join("\n")
            )));
        }
        match answer {
            Ok(appended) => {
                self.tally.written += appended.written;
                self.tally.duplicates += appended.duplicates;
            }
            Err(Error::Refused(_)) => self.tally.refused += 1,
            Err(_) => {}
        }
        Ok(())
    }

    /// Whether an answer to an append that wrote nothing was right before another process wrote something, while this one
    /// was at it.
    fn was_right(
        &self,
        lost: Option<&Lease>,
        request: &AppendRequest,
        events: &[AgentEvent],
        answer: &Result<Appended, Error>,
    ) -> bool {
        let Some(earlier) = &self.earlier else { return false };
        let is_unwritten = answer.as_ref().map_or(true, |appended| appended.written == 0);
        let changes_nothing = is_unwritten && (answer.is_err() || request.states.is_empty());
        let mut model = earlier.get(&request.key).cloned();
        changes_nothing && same_answer(answer, &expected(model.as_mut(), lost, request, events, answer))
    }

    pub(super) fn judge_lease(
        &mut self,
        node: usize,
        key: &SessionKey,
        request: &LeaseRequest,
        answer: &Result<Answer, Error>,
    ) -> Verdict {
        let now = self.now();
        let holder = self.leases.iter_mut().find(|known| {
            known.is_held
                && known.node == node
                && known.lease.session() == key
                && known.lease.subject() == request.subject
        });
        let is_free = holder.as_ref().is_none_or(|known| request.by_force || known.until <= now);
        let was_there = self.earlier.as_ref().map(|earlier| earlier.contains_key(key));
        match (answer, self.models.get_mut(key)) {
            (Err(Error::UnknownSession(_)), None) => Ok(()),
            (Err(Error::UnknownSession(_)), Some(_)) if was_there == Some(false) => Ok(()),
            (Ok(Answer::Granted(lease)), None) if was_there == Some(true) && is_free => {
                self.leases.push(Known { node, lease: lease.clone(), until: now + 5_000, is_held: true });
                Ok(())
            }
            (Err(Error::LeaseHeld { .. }), Some(_)) if !is_free => Ok(()),
            // It was held until another process removed the session, in this very step.
            (Err(Error::LeaseHeld { .. }), None) if was_there == Some(true) => Ok(()),
            (Ok(Answer::Granted(lease)), Some(model)) if is_free => {
                if let Some(known) = holder {
                    known.is_held = false;
                    let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
                    let row = view.session(key).map_err(|error| Broken::new(error.to_string()))?;
                    let is_gone = row.is_none_or(|row| row.epoch != model.epoch);
                    let written = events_after(&*view, key, model.head().seq)?;
                    let found = written.into_iter().next().filter(is_taken_over);
                    // A later request of the same group may have removed the session, and with it what has to be found.
                    let Some(event) = found.or_else(|| is_gone.then(|| note("gone"))) else {
                        return Err(Broken::new("a lease was taken over and no entry says so"));
                    };
                    model.push(event);
                }
                self.leases.push(Known { node, lease: lease.clone(), until: now + 5_000, is_held: true });
                Ok(())
            }
            _ => Err(Broken::new(format!("asking for a lease on {key} was answered {answer:?}"))),
        }
    }

    /// Finds out what a process has written that died before it could answer: each request whole or not at all.
    pub(super) fn recover(&mut self, unanswered: &[&Sent]) -> Verdict {
        let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
        for sent in unanswered {
            let key = match &sent.request {
                Request::Create { key, .. } => key,
                Request::Adopt { draft, key, .. } => {
                    if self.models.contains_key(draft) && stored(&*view, draft)?.is_none() {
                        let Some(model) = self.models.remove(draft) else { continue };
                        self.models.insert(key.clone(), model);
                    }
                    continue;
                }
                Request::Delete(key) => {
                    if stored(&*view, key)?.is_none() {
                        self.models.remove(key);
                    }
                    continue;
                }
                Request::Append(request) => {
                    let Some(model) = self.models.get(&request.key) else { continue };
                    let written = events_after(&*view, &request.key, model.head().seq)?;
                    let mut next = model.clone();
                    if next.append(request, &sent.events).is_ok()
                        && next.entries.get(model.entries.len()..).is_some_and(|new| written.starts_with(new))
                    {
                        self.models.insert(request.key.clone(), next);
                    }
                    continue;
                }
                Request::Acquire { key, .. } => {
                    let Some(model) = self.models.get_mut(key) else { continue };
                    let written = events_after(&*view, key, model.head().seq)?;
                    if let Some(event) = written.into_iter().next().filter(is_taken_over) {
                        model.push(event);
                    }
                    continue;
                }
                _ => continue,
            };
            let Some((epoch, entries)) = stored(&*view, key)? else { continue };
            if self.models.get(key).is_none_or(|model| model.epoch != epoch) {
                if !entries.is_empty() {
                    return Err(Broken::new(format!("the session {key} is new and has entries")));
                }
                self.models.insert(key.clone(), ModelSession::new(epoch));
            }
        }
        // A document may have been stored by a commit that nobody was told of.
        for (key, model) in &mut self.models {
            model.states = view.states(key).map_err(|error| Broken::new(error.to_string()))?.into_iter().collect();
        }
        drop(view);
        self.note_joined()?;
        self.check_storage()
    }
}

/// What an append must be answered. The session is what it is afterwards.
fn expected(
    model: Option<&mut ModelSession>,
    lost: Option<&Lease>,
    request: &AppendRequest,
    events: &[AgentEvent],
    answer: &Result<Appended, Error>,
) -> Result<Appended, Error> {
    if let Some(lease) = lost {
        let subject = lease.subject().to_owned();
        return Err(Error::LeaseLost { session: request.key.clone(), subject });
    }
    let Some(model) = model else { return Err(Error::UnknownSession(request.key.clone())) };
    // A writer may know the ids of entries that were joined, or not.
    if !model.joined.is_empty() {
        let mut forgetful = model.clone();
        let expected = forgetful.append_knowing(false, request, events);
        if same_answer(answer, &expected) {
            *model = forgetful;
            return expected;
        }
    }
    model.append(request, events)
}
