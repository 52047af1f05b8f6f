//! Checks responses against the model.

use std::collections::HashSet;

use recount_log::storage::Views;
use recount_log::{Cursor, Error, Request, Response, SessionKey};
use recount_testkit::laws::Broken;

use super::stored::{decode, rows};
use super::writing::Sent;
use super::{KnownDraft, Verdict, World};
use crate::model::{ModelSession, is_storage_failure};

impl World {
    /// Checks a response against the model, and applies its request to the model.
    pub(super) fn judge(
        &mut self,
        node: usize,
        index: usize,
        sent: &Sent,
        answer: &Result<Response, Error>,
    ) -> Verdict {
        let wrong =
            |expected: &str| Err(Broken::new(format!("{:?}\nanswered {answer:?}\nnot {expected}", sent.request)));
        if let Err(error) = answer
            && is_storage_failure(error)
        {
            self.tally.full += 1;
            return if self.storage.explain_failure() { Ok(()) } else { wrong("what the storage said") };
        }
        match (&sent.request, answer) {
            (Request::Append(request), answer) => return self.judge_append(node, index, request, &sent.events, answer),
            (Request::Create { key, .. }, Ok(Response::Created(row)))
                if !self.models.contains_key(key) && (&row.key, row.head) == (key, 0) =>
            {
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
            (Request::SetProperties { key, properties }, Ok(_)) if self.models.contains_key(key) => {
                self.models.entry(key.clone()).and_modify(|model| model.properties.clone_from(properties));
            }
            (Request::Compact { key, .. }, Ok(Response::Compacted(compacted))) if self.models.contains_key(key) => {
                self.tally.joined += usize::try_from(compacted.entries - compacted.rows).unwrap_or_default();
                self.note_joined()?;
                self.check_storage()?;
            }
            (Request::Stage { key, .. }, Ok(Response::Created(row)))
                if row.key.is_staged() && row.head == 0 && !self.models.contains_key(&row.key) =>
            {
                let missing = sent.events.iter().cloned().collect();
                self.drafts.push(KnownDraft { node, draft: row.key.clone(), key: key.clone(), missing });
                self.models.insert(row.key.clone(), ModelSession::new(row.epoch));
            }
            (Request::Publish { draft, key, replaces }, Ok(Response::Created(row))) => {
                if self.models.contains_key(key) && !replaces {
                    return wrong("that it exists");
                }
                let head = self.models.get(draft).map(ModelSession::head);
                if row.key != *key || head != Some(Cursor { epoch: row.epoch, seq: row.head }) {
                    return wrong("what the draft was");
                }
                self.adopted(draft, key);
                self.void_leases(node, key);
            }
            (Request::Publish { draft, key, replaces }, Err(Error::SessionExists(_))) => {
                if !self.models.contains_key(key) || *replaces || !self.models.contains_key(draft) {
                    return wrong("a new session");
                }
            }
            (Request::Upload(upload), Ok(Response::Done)) => self.uploaded(upload),
            (Request::Sweep { before }, Ok(Response::Done)) => {
                self.swept(*before);
                self.check_storage()?;
            }
            (Request::Acquire { key, request }, answer) => return self.judge_lease(node, index, key, request, answer),
            (Request::Renew { lease, .. }, answer) => {
                let (now, is_held) = (self.now(), self.holds(node, lease));
                if answer.is_ok() != is_held || !matches!(answer, Ok(Response::Done) | Err(Error::LeaseLost { .. })) {
                    return wrong("what the leases say");
                }
                let known = self.leases.iter_mut().find(|known| is_held && &known.lease == lease);
                if let Some(known) = known {
                    known.until = now + 5_000;
                }
            }
            (Request::Release(lease), answer) => {
                let is_held = self.holds(node, lease);
                if answer.is_ok() != is_held || !matches!(answer, Ok(Response::Done) | Err(Error::LeaseLost { .. })) {
                    return wrong("what the leases say");
                }
                for known in self.leases.iter_mut().filter(|known| known.node == node && &known.lease == lease) {
                    known.is_held = false;
                }
            }
            (
                Request::Delete(key)
                | Request::SetProperties { key, .. }
                | Request::Compact { key, .. }
                | Request::Publish { draft: key, .. },
                Err(Error::UnknownSession(unknown)),
            ) if unknown == key && !self.models.contains_key(key) => {}
            _ => return wrong("what the contract says"),
        }
        Ok(())
    }

    /// Records the entries that were merged into others.
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

    /// Turns the model of a staged session into that of a session.
    fn adopted(&mut self, draft: &SessionKey, key: &SessionKey) {
        self.tally.adopted += 1;
        self.drafts.retain(|known| known.draft != *draft);
        if let Some(model) = self.models.remove(draft) {
            self.models.insert(key.clone(), model);
        }
    }
}
