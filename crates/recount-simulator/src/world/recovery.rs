//! Determines the effects of requests without a response.

use std::collections::BTreeMap;

use recount_log::storage::{View, Views};
use recount_log::{Request, SessionKey, StorageError};
use recount_testkit::laws::Broken;

use super::stored::{events_after, is_taken_over, stored};
use super::writing::Sent;
use super::{Verdict, World};
use crate::model::ModelSession;

/// The possible documents of sessions. A request that only stores documents may or may not have been committed.
type Documents = BTreeMap<SessionKey, Vec<BTreeMap<String, String>>>;

/// The effect of a request.
enum Trace {
    /// The request was committed.
    Written,
    /// The request was not committed.
    Missing,
    /// The request has no detectable effect.
    Nothing,
}

impl Trace {
    fn of(is_written: bool) -> Self {
        if is_written { Self::Written } else { Self::Missing }
    }
}

impl World {
    /// Determines which requests of a dead process were committed: each one completely or not at all, and none without the earlier
    /// ones.
    pub(super) fn recover(&mut self, node: usize, unanswered: &[Sent]) -> Verdict {
        let storage = self.storage.clone();
        let view = storage.view().map_err(|error| Broken::new(error.to_string()))?;
        let mut documents = Documents::new();
        let mut missing = None;
        for sent in unanswered {
            match (self.recover_one(node, &*view, sent, &mut documents)?, missing) {
                (Trace::Missing, None) => missing = Some(&sent.request),
                (Trace::Written, Some(missing)) => {
                    return Err(Broken::new(format!("{:?}\nis written without\n{missing:?}", sent.request)));
                }
                _ => {}
            }
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

    fn recover_one(
        &mut self,
        node: usize,
        view: &dyn View,
        sent: &Sent,
        documents: &mut Documents,
    ) -> Result<Trace, Broken> {
        let broken = |error: StorageError| Broken::new(error.to_string());
        Ok(match &sent.request {
            Request::Create { key, .. } => match (stored(view, key)?, self.models.get(key)) {
                (Some((epoch, entries)), model) if model.is_none_or(|model| model.epoch != epoch) => {
                    if !entries.is_empty() {
                        return Err(Broken::new(format!("the session {key} is new and has entries")));
                    }
                    self.models.insert(key.clone(), ModelSession::new(epoch));
                    Trace::Written
                }
                (None, None) => Trace::Missing,
                _ => Trace::Nothing,
            },
            Request::Publish { draft, key, .. } => {
                let epoch = stored(view, key)?.map(|(epoch, _)| epoch);
                if self.models.get(draft).is_some_and(|model| Some(model.epoch) == epoch) {
                    let adopted = self.models.remove(draft);
                    self.models.extend(adopted.map(|model| (key.clone(), model)));
                    Trace::Written
                } else {
                    Trace::Nothing
                }
            }
            Request::Delete(key) if self.models.contains_key(key) => {
                let is_gone = stored(view, key)?.is_none();
                if is_gone {
                    self.models.remove(key);
                }
                Trace::of(is_gone)
            }
            Request::SetProperties { key, properties } => {
                let row = view.session(key).map_err(broken)?;
                if let (Some(model), Some(row)) = (self.models.get_mut(key), row)
                    && row.properties == *properties
                {
                    model.properties.clone_from(properties);
                }
                Trace::Nothing
            }
            Request::Append(request) => {
                if request.lease.as_ref().is_some_and(|lease| !self.holds(node, lease)) {
                    return Ok(Trace::Nothing);
                }
                let Some(model) = self.models.get_mut(&request.key) else { return Ok(Trace::Nothing) };
                let possible = documents.entry(request.key.clone()).or_default();
                let mut next = model.clone();
                if let Some(states) = possible.last() {
                    next.states.clone_from(states);
                }
                if next.append(request, &sent.events).is_err() {
                    return Ok(Trace::Nothing);
                }
                let written = events_after(view, &request.key, model.head().seq)?;
                match next.entries.get(model.entries.len()..).unwrap_or_default() {
                    [] => {
                        possible.push(next.states);
                        Trace::Nothing
                    }
                    new if written.starts_with(new) => {
                        *model = next;
                        possible.clear();
                        Trace::Written
                    }
                    _ => Trace::Missing,
                }
            }
            Request::Acquire { key, .. } => {
                let Some(model) = self.models.get_mut(key) else { return Ok(Trace::Nothing) };
                let written = events_after(view, key, model.head().seq)?;
                match written.into_iter().next().filter(is_taken_over) {
                    Some(event) => {
                        model.push(event);
                        Trace::Written
                    }
                    None => Trace::Nothing,
                }
            }
            // A repeated upload at the same time has no detectable effect.
            Request::Upload(upload) if self.uploads.get(&upload.digest).is_none_or(|at| *at < upload.at) => {
                let found = view.upload(&upload.tenant, upload.digest).map_err(broken)?;
                let is_written = found.is_some_and(|found| found.at >= upload.at);
                if is_written {
                    self.uploaded(upload);
                }
                Trace::of(is_written)
            }
            Request::Sweep { before } => {
                let is_gone = |digest| view.upload("", digest).map(|upload| upload.is_none());
                for digest in self.uploads.keys().copied().collect::<Vec<_>>() {
                    if is_gone(digest).map_err(broken)? {
                        self.swept(*before);
                        break;
                    }
                }
                Trace::Nothing
            }
            _ => Trace::Nothing,
        })
    }
}
