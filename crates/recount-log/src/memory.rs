//! A storage in memory, for tests and experiments, and as a simple reference implementation.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

use crate::storage::{
    Append, EntryRow, MessageRow, MessageStatus, OpenReplyRow, PageLimit, SessionRow, Storage, StorageResult, Upload,
    View, Views, Visibility, Write,
};
use crate::{Cursor, Digest, SessionKey, StorageError};

/// A storage in memory. Its content is lost when the process ends.
///
/// Clones share their content, so a test can continue with it after the log is closed.
///
/// ```
/// use recount_log::storage::{Storage, Views, Write, SessionRow};
/// use recount_log::{Epoch, MemoryStorage, SessionKey};
///
/// let mut storage = MemoryStorage::default();
/// let key = SessionKey::new("chat")?;
/// let (epoch, created_at) = (Epoch::from_random(7), String::new());
/// let row = SessionRow { key: key.clone(), epoch, head: 0, created_at, properties: "{}".to_owned() };
/// storage.commit(&[Write::Create(row.clone())])?;
/// assert_eq!(storage.view()?.session(&key)?, Some(row));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage {
    contents: Arc<RwLock<Arc<Contents>>>,
}

/// The stored data. Views share it: a commit copies the sessions that it changes, and leaves those of open views unchanged.
#[derive(Debug, Clone, Default)]
struct Contents {
    sessions: BTreeMap<SessionKey, Arc<Session>>,
    uploads: HashMap<(String, Digest), Upload>,
}

#[derive(Debug, Clone)]
struct Session {
    row: SessionRow,
    entries: BTreeMap<u64, EntryRow>,
    messages: BTreeMap<u64, (MessageRow, i64)>,
    ids: HashMap<String, u64>,
    open: BTreeMap<String, OpenReplyRow>,
    states: BTreeMap<String, String>,
    uploads: BTreeSet<Digest>,
}

impl MemoryStorage {
    /// Creates an independent copy of the current content.
    pub fn copy(&self) -> Self {
        Self { contents: Arc::new(RwLock::new(self.read())) }
    }

    /// Gives every session a new epoch, as after a power loss that may have lost entries.
    pub fn renew_epochs(&mut self, mut number: impl FnMut() -> u64) {
        self.change(|contents| {
            for session in contents.sessions.values_mut() {
                Arc::make_mut(session).row.epoch = crate::Epoch::from_random(number());
            }
        });
    }

    /// Deletes the staged sessions, as opening a storage does.
    pub fn delete_staged(&mut self) {
        self.change(|contents| contents.sessions.retain(|key, _| !key.is_staged()));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Contents) -> T) -> T {
        let mut contents = self.contents.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut contents))
    }

    fn read(&self) -> Arc<Contents> {
        Arc::clone(&self.contents.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Views for MemoryStorage {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        Ok(Box::new(MemoryView(self.read())))
    }
}

impl Storage for MemoryStorage {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        Arc::new(self.clone())
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        self.read().check(writes)?;
        self.change(|contents| {
            for write in writes {
                contents.apply(write);
            }
        });
        Ok(())
    }
}

impl Contents {
    /// Checks all writes before anything is changed.
    fn check(&self, writes: &[Write]) -> StorageResult<()> {
        let mut heads: HashMap<&SessionKey, Option<Cursor>> = HashMap::new();
        for write in writes {
            let Some(key) = write.key() else { continue };
            let stored = |key: &SessionKey| {
                let row = self.sessions.get(key).map(|session| &session.row)?;
                Some(Cursor { epoch: row.epoch, seq: row.head })
            };
            if let Write::Publish { draft, head, key } = write {
                let found = heads.entry(draft).or_insert_with(|| stored(draft)).take();
                if found != Some(*head) {
                    return Err(StorageError::Moved(draft.clone()));
                }
                if heads.entry(key).or_insert_with(|| stored(key)).replace(*head).is_some() {
                    return Err(StorageError::Moved(key.clone()));
                }
                continue;
            }
            let head = heads.entry(key).or_insert_with(|| stored(key));
            let moved = || StorageError::Moved(key.clone());
            match (write, *head) {
                (Write::Create(row), None) => *head = Some(Cursor { epoch: row.epoch, seq: 0 }),
                (Write::Delete(_), Some(_)) => *head = None,
                (Write::Append(Append { epoch, after, entries, .. }), Some(at))
                    if at == (Cursor { epoch: *epoch, seq: *after }) =>
                {
                    *head = Some(Cursor { seq: at.seq + entries.len() as u64, ..at });
                }
                (Write::Compact { epoch, rows, .. }, Some(at)) if at.epoch == *epoch => {
                    if self.sessions.get(key).is_some_and(|session| session.splits_an_entry(rows)) {
                        return Err(moved());
                    }
                }
                (Write::SetProperties { .. }, Some(_)) => {}
                _ => return Err(moved()),
            }
        }
        Ok(())
    }

    fn session_mut(&mut self, key: &SessionKey) -> Option<&mut Session> {
        self.sessions.get_mut(key).map(Arc::make_mut)
    }

    fn apply(&mut self, write: &Write) {
        match write {
            Write::Create(row) => {
                let session = Session {
                    row: SessionRow { head: 0, ..row.clone() },
                    entries: BTreeMap::new(),
                    messages: BTreeMap::new(),
                    ids: HashMap::new(),
                    open: BTreeMap::new(),
                    states: BTreeMap::new(),
                    uploads: BTreeSet::new(),
                };
                self.sessions.insert(row.key.clone(), Arc::new(session));
            }
            Write::SetProperties { key, properties } => {
                if let Some(session) = self.session_mut(key) {
                    session.row.properties.clone_from(properties);
                }
            }
            Write::Delete(key) => {
                self.sessions.remove(key);
            }
            Write::Publish { draft, key, .. } => {
                if let Some(mut session) = self.sessions.remove(draft) {
                    Arc::make_mut(&mut session).row.key = key.clone();
                    self.sessions.insert(key.clone(), session);
                }
            }
            Write::Append(append) => {
                if let Some(session) = self.session_mut(&append.key) {
                    session.append(append);
                }
            }
            Write::Compact { key, rows, .. } => {
                if let Some(session) = self.session_mut(key) {
                    for row in rows {
                        session.entries.retain(|seq, _| *seq < row.first || *seq > row.last);
                        session.entries.insert(row.last, row.clone());
                    }
                }
            }
            Write::Upload(upload) => {
                let place = (upload.tenant.clone(), upload.digest);
                let kept = self.uploads.entry(place).or_insert_with(|| upload.clone());
                kept.at = kept.at.max(upload.at);
                kept.media_type.clone_from(&upload.media_type);
            }
            Write::Sweep { before } => {
                let sessions = &self.sessions;
                self.uploads.retain(|(tenant, digest), upload| {
                    let is_named =
                        |session: &Arc<Session>| session.row.key.tenant() == tenant && session.uploads.contains(digest);
                    upload.at >= *before || sessions.values().any(is_named)
                });
            }
        }
    }
}

impl Session {
    /// Whether one of the rows would replace a part of an entry.
    fn splits_an_entry(&self, rows: &[EntryRow]) -> bool {
        let reaches_over = |edge: u64| self.entries.range(edge..).next().is_some_and(|(_, entry)| entry.first < edge);
        rows.iter().any(|row| reaches_over(row.first) || reaches_over(row.last + 1))
    }

    fn append(&mut self, append: &Append) {
        for body in &append.entries {
            self.row.head += 1;
            let seq = self.row.head;
            self.entries.insert(seq, EntryRow { first: seq, last: seq, body: body.clone() });
        }
        for opened in &append.opened {
            self.open.insert(opened.id.clone(), OpenReplyRow { info: opened.clone(), checkpoint: None });
        }
        for checkpoint in &append.checkpoints {
            if let Some(row) = self.open.get_mut(&checkpoint.id) {
                row.checkpoint = Some(checkpoint.clone());
            }
        }
        for message in &append.finished {
            self.open.remove(&message.id);
            self.ids.insert(message.id.clone(), message.start_seq);
            self.messages.insert(message.start_seq, (message.clone(), append.at));
        }
        for state in &append.states {
            match &state.body {
                Some(body) => self.states.insert(state.name.clone(), body.clone()),
                None => self.states.remove(&state.name),
            };
        }
        self.uploads.extend(&append.uploads);
    }
}

struct MemoryView(Arc<Contents>);

impl MemoryView {
    fn of(&self, key: &SessionKey) -> Option<&Session> {
        self.0.sessions.get(key).map(|session| &**session)
    }
}

impl View for MemoryView {
    fn session(&self, key: &SessionKey) -> StorageResult<Option<SessionRow>> {
        Ok(self.of(key).map(|session| session.row.clone()))
    }

    fn sessions(
        &self,
        tenant: Option<&str>,
        after: Option<&SessionKey>,
        count: usize,
    ) -> StorageResult<Vec<SessionRow>> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.0.sessions.range((start, Bound::Unbounded)).map(|(_, session)| &session.row);
        let rows = rows.filter(|row| !row.key.is_staged());
        Ok(rows.filter(|row| tenant.is_none_or(|tenant| row.key.tenant() == tenant)).take(count).cloned().collect())
    }

    fn entries(&self, key: &SessionKey, after: u64, limit: PageLimit) -> StorageResult<Vec<EntryRow>> {
        let Some(session) = self.of(key) else { return Ok(Vec::new()) };
        let mut rows = Vec::new();
        let mut bytes = 0;
        for row in session.entries.range((Bound::Excluded(after), Bound::Unbounded)).map(|(_, row)| row) {
            bytes += row.body.len();
            if rows.len() >= limit.count.max(1) || (bytes > limit.bytes && !rows.is_empty()) {
                break;
            }
            rows.push(row.clone());
        }
        Ok(rows)
    }

    fn message_status(&self, key: &SessionKey, id: &str) -> StorageResult<Option<MessageStatus>> {
        let message = self.message(key, id)?;
        Ok(message.map(|message| if message.is_reply { MessageStatus::EndedReply } else { MessageStatus::Message }))
    }

    fn messages_before(
        &self,
        key: &SessionKey,
        before: u64,
        show: Visibility,
        count: usize,
    ) -> StorageResult<Vec<MessageRow>> {
        let Some(session) = self.of(key) else { return Ok(Vec::new()) };
        let newest = session.messages.range(..before).rev().map(|(_, (message, _))| message);
        let shown = newest.filter(|message| show == Visibility::All || !message.nested);
        let mut messages: Vec<MessageRow> = shown.take(count).cloned().collect();
        messages.reverse();
        Ok(messages)
    }

    fn message(&self, key: &SessionKey, id: &str) -> StorageResult<Option<MessageRow>> {
        let found = self.of(key).and_then(|session| session.messages.get(session.ids.get(id)?));
        Ok(found.map(|(message, _)| message.clone()))
    }

    fn messages_spanning(&self, key: &SessionKey, place: u64) -> StorageResult<Vec<MessageRow>> {
        let Some(session) = self.of(key) else { return Ok(Vec::new()) };
        let begun = session.messages.range(..=place).map(|(_, (message, _))| message);
        Ok(begun.filter(|message| message.end_seq > place).cloned().collect())
    }

    fn open_replies(&self, key: &SessionKey) -> StorageResult<Vec<OpenReplyRow>> {
        let mut open: Vec<OpenReplyRow> =
            self.of(key).map(|session| session.open.values().cloned().collect()).unwrap_or_default();
        open.sort_unstable_by_key(|row| row.info.start_seq);
        Ok(open)
    }

    fn hosted_sessions(&self) -> StorageResult<Vec<SessionKey>> {
        let hosting =
            |session: &&Arc<Session>| !session.row.key.is_staged() && session.open.values().any(|row| row.info.hosted);
        Ok(self.0.sessions.values().filter(hosting).map(|session| session.row.key.clone()).collect())
    }

    fn state(&self, key: &SessionKey, name: &str) -> StorageResult<Option<String>> {
        Ok(self.of(key).and_then(|session| session.states.get(name).cloned()))
    }

    fn states(&self, key: &SessionKey) -> StorageResult<Vec<(String, String)>> {
        let states = self.of(key).map(|session| session.states.clone()).unwrap_or_default();
        Ok(states.into_iter().collect())
    }

    fn last_settled(&self, key: &SessionKey, before: i64) -> StorageResult<u64> {
        let Some(session) = self.of(key) else { return Ok(0) };
        let old = session.messages.values().filter(|(_, at)| *at < before);
        Ok(old.map(|(message, _)| message.end_seq).max().unwrap_or_default())
    }

    fn last_finished_at(&self, key: &SessionKey) -> StorageResult<Option<i64>> {
        let newest =
            self.of(key).and_then(|session| session.messages.values().max_by_key(|(message, _)| message.end_seq));
        Ok(newest.map(|(_, at)| *at))
    }

    fn upload(&self, tenant: &str, digest: Digest) -> StorageResult<Option<Upload>> {
        Ok(self.0.uploads.get(&(tenant.to_owned(), digest)).cloned())
    }

    fn referenced_uploads(&self, key: &SessionKey) -> StorageResult<Vec<Digest>> {
        Ok(self.of(key).map(|session| session.uploads.iter().copied().collect()).unwrap_or_default())
    }

    fn integrity_errors(&self) -> StorageResult<Vec<String>> {
        Ok(Vec::new())
    }
}
