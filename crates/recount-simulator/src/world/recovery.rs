//! What is left of requests that nobody answered.

use std::collections::BTreeMap;

use recount_log::storage::{View, Views};
use recount_log::{Request, SessionKey};
use recount_testkit::laws::Broken;

use super::stored::{events_after, is_taken_over, stored};
use super::writing::Sent;
use super::{Verdict, World};
use crate::model::ModelSession;

/// The documents of sessions as they may be: who stores nothing else leaves no trace of whether it came to that.
type Documents = BTreeMap<SessionKey, Vec<BTreeMap<String, String>>>;

impl World {
    /// Finds out what a process has written that died before it could answer: each request whole or not at all.
    pub(super) fn recover(&mut self, node: usize, unanswered: &[Sent]) -> Verdict {
        let storage = self.storage.clone();
        let view = storage.view().map_err(|error| Broken::new(error.to_string()))?;
        let mut documents = Documents::new();
        for sent in unanswered {
            self.recover_one(node, &*view, sent, &mut documents)?;
        }
        for (key, model) in &mut self.models {
            let found = view.states(key).map_err(|error| Broken::new(error.to_string()))?.into_iter().collect();
            if documents.get(key).is_some_and(|possible| possible.contains(&found)) {
                model.states = found;
            }
        }
        if unanswered.iter().any(|sent| matches!(sent.request, Request::Compact { .. })) {
            self.note_joined()?;
        }
        self.check_storage()
    }

    fn recover_one(&mut self, node: usize, view: &dyn View, sent: &Sent, documents: &mut Documents) -> Verdict {
        match &sent.request {
            Request::Create { key, .. } => {
                if let Some((epoch, entries)) = stored(view, key)?
                    && self.models.get(key).is_none_or(|model| model.epoch != epoch)
                {
                    if !entries.is_empty() {
                        return Err(Broken::new(format!("the session {key} is new and has entries")));
                    }
                    self.models.insert(key.clone(), ModelSession::new(epoch));
                }
            }
            Request::Adopt { draft, key, .. } => {
                let epoch = stored(view, key)?.map(|(epoch, _)| epoch);
                if self.models.get(draft).is_some_and(|model| Some(model.epoch) == epoch) {
                    let adopted = self.models.remove(draft);
                    self.models.extend(adopted.map(|model| (key.clone(), model)));
                }
            }
            Request::Delete(key) if stored(view, key)?.is_none() => {
                self.models.remove(key);
            }
            Request::Describe { key, about } => {
                let row = view.session(key).map_err(|error| Broken::new(error.to_string()))?;
                if let (Some(model), Some(row)) = (self.models.get_mut(key), row)
                    && row.about == *about
                {
                    model.about.clone_from(about);
                }
            }
            Request::Append(request) => {
                if request.lease.as_ref().is_some_and(|lease| !self.holds(node, lease)) {
                    return Ok(());
                }
                let Some(model) = self.models.get_mut(&request.key) else { return Ok(()) };
                let possible = documents.entry(request.key.clone()).or_default();
                let mut next = model.clone();
                if let Some(states) = possible.last() {
                    next.states.clone_from(states);
                }
                if next.append(request, &sent.events).is_err() {
                    return Ok(());
                }
                let written = events_after(view, &request.key, model.head().seq)?;
                match next.entries.get(model.entries.len()..).unwrap_or_default() {
                    [] => possible.push(next.states),
                    new if written.starts_with(new) => {
                        *model = next;
                        possible.clear();
                    }
                    _ => {}
                }
            }
            Request::Acquire { key, .. } => {
                let Some(model) = self.models.get_mut(key) else { return Ok(()) };
                let written = events_after(view, key, model.head().seq)?;
                if let Some(event) = written.into_iter().next().filter(is_taken_over) {
                    model.push(event);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
