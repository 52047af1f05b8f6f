//! Checks the stored data against the model.

use std::collections::BTreeMap;

use recount_log::storage::{PageLimit, View, Views, Visibility};
use recount_log::{Cursor, Epoch, SessionKey};
use recount_message::{AgentEvent, CustomName, Event, Msg};
use recount_testkit::laws::Broken;

use super::{SESSIONS, Verdict, World};
use crate::model::{ModelSession, session_key};

impl World {
    /// Checks all stored data.
    pub(super) fn check_storage(&mut self) -> Verdict {
        let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
        let listed = view.sessions(None, None, usize::MAX).map_err(|error| Broken::new(error.to_string()))?;
        if let Some(row) = listed.iter().find(|row| row.key.is_staged()) {
            return Err(Broken::new(format!("the draft {} is seen", row.key)));
        }
        for key in self.keys() {
            let model = self.models.get(&key);
            match (stored(&*view, &key)?, model) {
                (None, None) => {}
                (Some((epoch, entries)), Some(model)) => check_session(&*view, &key, epoch, &entries, model)?,
                (stored, _) => {
                    return Err(Broken::new(format!("the session {key} is stored: {}", stored.is_some())));
                }
            }
        }
        self.check_uploads(&*view)
    }
}

impl World {
    /// Checks that exactly the sessions of the model are stored, with the same ends.
    pub(super) fn check_heads(&self) -> Verdict {
        let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
        for key in self.keys() {
            let (found, expected) = (End::of(&*view, &key)?, self.models.get(&key).map(End::of_model));
            if found != expected {
                return Err(Broken::new(format!("{key} is stored with the end {found:?}\nnot {expected:?}")));
            }
        }
        Ok(())
    }

    /// The sessions and staged sessions that may exist.
    fn keys(&self) -> impl Iterator<Item = SessionKey> {
        (0..SESSIONS).map(session_key).chain(self.drafts.iter().map(|known| known.draft.clone()))
    }
}

/// The end of a session.
#[derive(Debug, PartialEq, Eq)]
struct End {
    head: Cursor,
    entry: Option<String>,
    message: Option<String>,
    open: Vec<String>,
    states: BTreeMap<String, String>,
    properties: String,
}

impl End {
    fn of(view: &dyn View, key: &SessionKey) -> Result<Option<Self>, Broken> {
        let broken = |error: recount_log::StorageError| Broken::new(error.to_string());
        let Some(row) = view.session(key).map_err(broken)? else { return Ok(None) };
        let last = view.entries(key, row.head.saturating_sub(1), PageLimit { count: 1, bytes: 0 }).map_err(broken)?;
        // A merged entry has the id of its first delta, and is checked elsewhere.
        let entry = last.first().filter(|entry| entry.first == entry.last);
        let newest = view.messages_before(key, u64::MAX, Visibility::All, 1).map_err(broken)?;
        Ok(Some(Self {
            head: Cursor { epoch: row.epoch, seq: row.head },
            entry: entry.map(|entry| String::from_utf8_lossy(&entry.body).into_owned()),
            message: newest.into_iter().next().map(|message| message.body.into_string()),
            open: view.open_reply_infos(key).map_err(broken)?.into_iter().map(|reply| reply.id).collect(),
            states: view.states(key).map_err(broken)?.into_iter().collect(),
            properties: row.properties,
        }))
    }

    fn of_model(model: &ModelSession) -> Self {
        let last = model.entries.last().filter(|event| !model.joined.contains(&*event.id));
        Self {
            head: model.head(),
            entry: last.map(AgentEvent::to_json),
            message: model.complete().last().map(Msg::to_json),
            open: model.fold.open_replies().map(|reply| reply.message().id().to_owned()).collect(),
            states: model.states.clone(),
            properties: model.properties.clone(),
        }
    }
}

pub(super) fn is_taken_over(event: &AgentEvent) -> bool {
    event.kind.recount_name() == Some(CustomName::TakenOver)
}

pub(super) fn rows(view: &dyn View, key: &SessionKey) -> Result<Vec<recount_log::storage::EntryRow>, Broken> {
    view.entries(key, 0, PageLimit { count: usize::MAX, bytes: usize::MAX })
        .map_err(|error| Broken::new(error.to_string()))
}

pub(super) fn decode(body: &[u8]) -> Result<AgentEvent, Broken> {
    Event::from_slice(body).map(Event::into_owned).map_err(|error| Broken::new(format!("a stored entry: {error}")))
}

/// The epoch and events of a stored session.
pub(super) fn stored(view: &dyn View, key: &SessionKey) -> Result<Option<(Epoch, Vec<AgentEvent>)>, Broken> {
    let Some(row) = view.session(key).map_err(|error| Broken::new(error.to_string()))? else { return Ok(None) };
    let events = rows(view, key)?.iter().map(|row| decode(&row.body)).collect::<Result<_, _>>()?;
    Ok(Some((row.epoch, events)))
}

pub(super) fn events_after(view: &dyn View, key: &SessionKey, seq: u64) -> Result<Vec<AgentEvent>, Broken> {
    let limit = PageLimit { count: usize::MAX, bytes: usize::MAX };
    let rows = view.entries(key, seq, limit).map_err(|error| Broken::new(error.to_string()))?;
    rows.iter().map(|row| decode(&row.body)).collect()
}

pub(super) fn check_session(
    view: &dyn View,
    key: &SessionKey,
    epoch: Epoch,
    entries: &[AgentEvent],
    model: &ModelSession,
) -> Verdict {
    let rows = rows(view, key)?;
    let mut next = 1;
    for row in &rows {
        if row.first != next {
            return Err(Broken::new(format!("the entry {} of {key} follows {}", row.first, next - 1)));
        }
        // Entries that were not merged are unchanged.
        let original = usize::try_from(row.first - 1).ok().and_then(|index| model.entries.get(index));
        if row.first == row.last && original.map(AgentEvent::to_json).map(String::into_bytes) != Some(row.body.to_vec())
        {
            return Err(Broken::new(format!("the entry {} of {key} is not what was written", row.first)));
        }
        // Only entries of ended replies are merged, which ignore repeated deltas.
        if row.first < row.last
            && decode(&row.body)?
                .reply_id()
                .is_none_or(|id| model.fold.message(id).is_none_or(|message| message.finished_at().is_none()))
        {
            return Err(Broken::new(format!("the entries {} to {} of {key} were joined", row.first, row.last)));
        }
        next = row.last + 1;
    }
    if (epoch, next - 1) != (model.epoch, model.head().seq) {
        return Err(Broken::new(format!("{key} is at {next} in {epoch:?}, and the model at {}", model.head())));
    }
    let fold: recount_message::Fold = entries.iter().collect();
    if !fold.messages().eq(model.fold.messages()) {
        return Err(Broken::new(format!("the entries of {key} fold to other messages")));
    }
    let broken = |error: recount_log::StorageError| Broken::new(error.to_string());
    let finished = view.messages_before(key, u64::MAX, Visibility::All, usize::MAX).map_err(broken)?;
    let finished: Vec<&str> = finished.iter().map(|message| message.body.as_str()).collect();
    let open: Vec<String> = model.fold.open_replies().map(|reply| reply.message().id().to_owned()).collect();
    let expected: Vec<String> = model.complete().map(Msg::to_json).collect();
    if finished != expected {
        return Err(Broken::new(format!("the messages of {key} are {finished:?}\nnot {expected:?}")));
    }
    let stored: Vec<String> = view.open_replies(key).map_err(broken)?.into_iter().map(|row| row.info.id).collect();
    if stored != open {
        return Err(Broken::new(format!("the open replies of {key} are {stored:?}, not {open:?}")));
    }
    let properties = view.session(key).map_err(broken)?.map(|row| row.properties);
    if properties.as_ref() != Some(&model.properties) {
        return Err(Broken::new(format!("{key} is described as {properties:?}, not {:?}", model.properties)));
    }
    let names = view.referenced_uploads(key).map_err(broken)?;
    if !names.iter().eq(&model.names) {
        return Err(Broken::new(format!("{key} names {names:?}, not {:?}", model.names)));
    }
    let states: BTreeMap<String, String> = view.states(key).map_err(broken)?.into_iter().collect();
    if states != model.states {
        return Err(Broken::new(format!("the documents of {key} are {states:?}, not {:?}", model.states)));
    }
    let faults = recount_log::verify::session(view, key).map_err(|error| Broken::new(error.to_string()))?;
    match faults.first() {
        Some(fault) => Err(Broken::new(format!("{key}: {fault}"))),
        None => Ok(()),
    }
}
