//! The writer: the one that orders what is written.
//!
//! It is a state machine. Requests go in, writes go to the storage that is passed in, and answers come out after their
//! commit; time and chance come from its [`Surroundings`]. It starts no thread, waits for nothing and keeps no clock, so
//! that a simulation can drive it step by step, and a thread can drive it for real.

use bytes::Bytes;
use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;
use recount_message::{CustomEvent, CustomName, Event, EventKind, Object, format_time};

use crate::inputs::{is_input, refusal};
use crate::join_deltas::join_deltas;
use crate::lease::{Before, Leases};
use crate::replies::{Change, OpenReply, Replies};
use crate::request::{Adoption, Answer, AppendRequest, Appended, Compacted, Ignored, Request, Stream};
use crate::storage::{Append, Known, Limit, OpenRow, SessionRow, Storage, View, Write};
use crate::window::{WINDOW, Window};
use crate::{Cursor, Digest, Epoch, Error, Events, Refusal, SessionKey, StorageError, Surroundings};

/// How many sessions are kept in memory.
const SESSIONS: usize = 4_096;
/// How much is read at once.
const PAGE: Limit = Limit { count: 4_096, bytes: 4 << 20 };
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

/// The one that orders what is written.
#[derive(Debug)]
pub struct Writer {
    surroundings: Surroundings,
    sessions: HashMap<SessionKey, Live>,
    leases: Leases,
    /// Counts the commits, to know which session was used last.
    turn: u64,
    /// When the requests at hand came, in milliseconds since 1970. To ask for each of them would cost more than it says.
    at: Option<i64>,
}

/// A session in memory: what is needed to judge the next event.
#[derive(Debug)]
struct Live {
    epoch: Epoch,
    head: u64,
    /// The head that is stored, unless somebody else has moved it.
    stored_head: u64,
    replies: Replies,
    window: Window,
    used: u64,
}

/// Requests that are committed together.
#[derive(Default)]
struct Group {
    /// Also those that were refused: what they were judged by is not certain before the commit either.
    answers: Vec<(usize, Result<Answer, Error>)>,
    writes: Vec<Write>,
    leases: Vec<Before>,
}

impl Group {
    /// With room for so many requests: they are large, and moving them about would cost as much as planning them.
    fn of(count: usize) -> Self {
        Self { answers: Vec::with_capacity(count), writes: Vec::with_capacity(count), leases: Vec::new() }
    }
}

/// Why a request was not planned.
struct Failure {
    error: Error,
    /// The session whose state in memory is not that of what is or will be written.
    spoilt: Option<SessionKey>,
    /// Whether somebody else has written to it, so that the request has to be looked at again.
    is_stale: bool,
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { error: error.into(), spoilt: None, is_stale: false }
    }
}

impl Writer {
    /// A writer that knows nothing yet.
    pub fn new(surroundings: Surroundings) -> Self {
        Self { surroundings, sessions: HashMap::new(), leases: Leases::default(), turn: 0, at: None }
    }

    /// Does what is asked, in as few commits as possible, and answers every request.
    pub fn run(&mut self, storage: &mut dyn Storage, requests: &[Request], outbox: &mut dyn Outbox) {
        let all: Vec<usize> = (0..requests.len()).collect();
        self.at = None;
        self.attempt(storage, requests, &all, outbox, 0);
        self.forget_idle();
    }

    fn attempt(
        &mut self,
        storage: &mut dyn Storage,
        requests: &[Request],
        indices: &[usize],
        outbox: &mut dyn Outbox,
        tries: usize,
    ) {
        let mut group = Group::of(indices.len());
        for &index in indices {
            let Some(request) = requests.get(index) else { continue };
            // What changes a session as a whole is planned on nothing that is not committed.
            if !request.is_entry() {
                self.commit(storage, requests, std::mem::take(&mut group), outbox, tries);
            }
            match self.plan(&*storage, request, &mut group) {
                Ok(answer) => group.answers.push((index, Ok(answer))),
                Err(failure) => {
                    let must_be_certain = failure.spoilt.is_some() || request.stream().is_some();
                    if let Some(key) = failure.spoilt {
                        self.sessions.remove(&key);
                    }
                    if failure.is_stale && tries < TRIES {
                        self.commit(storage, requests, std::mem::take(&mut group), outbox, tries);
                        self.attempt(storage, requests, &[index], outbox, tries + 1);
                    } else if !must_be_certain {
                        group.answers.push((index, Err(failure.error)));
                    } else if group.answers.is_empty() {
                        fail(request, index, failure.error, outbox);
                    } else {
                        self.commit(storage, requests, std::mem::take(&mut group), outbox, tries);
                        self.attempt(storage, requests, &[index], outbox, tries);
                    }
                }
            }
            if !request.is_entry() {
                self.commit(storage, requests, std::mem::take(&mut group), outbox, tries);
            }
        }
        self.commit(storage, requests, group, outbox, tries);
    }

    fn commit(
        &mut self,
        storage: &mut dyn Storage,
        requests: &[Request],
        group: Group,
        outbox: &mut dyn Outbox,
        tries: usize,
    ) {
        self.turn += 1;
        let result = if group.writes.is_empty() { Ok(()) } else { storage.commit(&group.writes) };
        let Err(error) = result else { return self.committed(group, outbox) };
        for key in group.writes.iter().filter_map(Write::key) {
            self.sessions.remove(key);
        }
        for before in group.leases.into_iter().rev() {
            self.leases.restore(before);
        }
        // One request that cannot be written must not take the others with it.
        let is_alone = group.answers.len() <= 1;
        let is_worth_a_try = matches!(error, StorageError::Moved(_)) && tries < TRIES;
        for (index, _) in group.answers {
            if !is_alone || is_worth_a_try {
                self.attempt(storage, requests, &[index], outbox, tries + usize::from(is_alone));
            } else if let Some(request) = requests.get(index) {
                fail(request, index, error.clone().into(), outbox);
            }
        }
    }

    fn committed(&mut self, group: Group, outbox: &mut dyn Outbox) {
        for write in &group.writes {
            match write {
                Write::Append(append) => {
                    let Append { key, epoch, after, entries, .. } = append;
                    if let Some(live) = self.sessions.get_mut(key) {
                        live.stored_head = after + entries.len() as u64;
                        live.replies.committed();
                        live.used = self.turn;
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
        for (index, answer) in group.answers {
            outbox.answer(index, answer);
        }
    }

    fn plan(&mut self, storage: &dyn Storage, request: &Request, group: &mut Group) -> Result<Answer, Failure> {
        match request {
            Request::Create { key, about } => {
                if storage.view()?.session(key)?.is_some() {
                    return Err(Error::SessionExists(key.clone()).into());
                }
                self.forget_leases(key, group);
                let row = self.new_session(key, about);
                group.writes.push(Write::Create(row.clone()));
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
        if let Some(failure) = request.stream.as_ref().and_then(Stream::failure) {
            return Err(Error::Broken(failure).into());
        }
        if let Some(lease) = &request.lease {
            if lease.session != request.key {
                return Err(lease.lost().into());
            }
            self.leases.check(lease)?;
        }
        let surroundings = &mut self.surroundings;
        let at = *self.at.get_or_insert_with(|| surroundings.now().as_millisecond());
        let live = match self.sessions.entry_ref(&request.key) {
            EntryRef::Occupied(entry) => entry.into_mut(),
            EntryRef::Vacant(entry) => {
                let live = Live::load(&*storage.view()?, &request.key, surroundings.number())?;
                entry.insert(live)
            }
        };
        let head = live.head;
        let planned = live.append(storage, request, at);
        // Where entries are written the storage finds out that somebody else was there. Here it has to be asked.
        let is_unwritten = planned.as_ref().map_or(true, |(append, _)| append.entries.is_empty());
        let is_stored = |row: SessionRow| (row.epoch, row.head) == (live.epoch, live.stored_head);
        if is_unwritten && !storage.view()?.session(&request.key)?.is_some_and(is_stored) {
            let moved = StorageError::Moved(request.key.clone());
            return Err(Failure { error: moved.into(), spoilt: Some(request.key.clone()), is_stale: true });
        }
        match planned {
            Ok((append, appended)) => {
                if !append.entries.is_empty() || !append.states.is_empty() {
                    group.writes.push(Write::Append(append));
                }
                Ok(appended)
            }
            Err(error) => {
                let spoilt = (live.head != head).then(|| request.key.clone());
                Err(Failure { error, spoilt, is_stale: false })
            }
        }
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
        let mut live = Live::new(row.epoch, self.surroundings.number());
        let mut request = AppendRequest::new(key.clone(), adoption.events.clone());
        request.checks_inputs = false;
        request.states.clone_from(&adoption.states);
        let at = self.surroundings.now().as_millisecond();
        // Nothing that is stored under the name is a part of what comes now.
        let (append, _) = live.append_with(&request, at, &|_| Ok(None))?;
        let created = SessionRow { head: live.head, ..row.clone() };
        self.forget_leases(key, group);
        if exists {
            group.writes.push(Write::Delete(key.clone()));
        }
        group.writes.push(Write::Create(row));
        group.writes.push(Write::Append(append));
        self.sessions.insert(key.clone(), live);
        Ok(Answer::Created(created))
    }

    /// Leaves only the sessions in memory that were used last.
    fn forget_idle(&mut self) {
        if self.sessions.len() <= SESSIONS {
            return;
        }
        let mut used: Vec<u64> = self.sessions.values().map(|live| live.used).collect();
        let (_, middle, _) = used.select_nth_unstable(SESSIONS / 2);
        let newest = *middle;
        self.sessions.retain(|_, live| live.used > newest);
    }
}

fn fail(request: &Request, index: usize, error: Error, outbox: &mut dyn Outbox) {
    if let Some(stream) = request.stream() {
        stream.fail(&error);
    }
    outbox.answer(index, Err(error));
}

fn existing(view: &dyn View, key: &SessionKey) -> Result<SessionRow, Error> {
    view.session(key)?.ok_or_else(|| Error::UnknownSession(key.clone()))
}

impl Live {
    fn new(epoch: Epoch, window_key: u64) -> Self {
        let (replies, window) = (Replies::default(), Window::new(window_key));
        Self { epoch, head: 0, stored_head: 0, replies, window, used: 0 }
    }

    /// What is stored of a session, in memory.
    fn load(view: &dyn View, key: &SessionKey, window_key: u64) -> Result<Self, Error> {
        let row = existing(view, key)?;
        let mut live = Self::new(row.epoch, window_key);
        live.head = row.head;
        live.stored_head = row.head;
        for reply in fold_replies(view, key, view.open(key)?, row.head)? {
            live.replies.insert(reply);
        }
        let mut after = row.head.saturating_sub(WINDOW);
        while after < row.head {
            let entries = view.entries(key, after, PAGE)?;
            for entry in &entries {
                let event = decode(key, entry.last, &entry.body)?;
                let probe = live.window.probe(&event.id);
                live.window.insert(probe, entry.last);
            }
            after = entries.last().map_or(row.head, |entry| entry.last);
        }
        Ok(live)
    }

    fn append(&mut self, storage: &dyn Storage, request: &AppendRequest, at: i64) -> Result<(Append, Appended), Error> {
        self.append_with(request, at, &|id| storage.view()?.known(&request.key, id))
    }

    fn append_with(
        &mut self,
        request: &AppendRequest,
        at: i64,
        stored: crate::replies::Lookup<'_>,
    ) -> Result<(Append, Appended), Error> {
        let key = &request.key;
        let mut append = Append::after(key.clone(), self.epoch, self.head, at);
        append.entries.reserve_exact(request.events.len());
        let mut last = self.head;
        let mut duplicates = 0;
        let mut ignored = Vec::new();
        for (index, text) in request.events.texts().iter().enumerate() {
            let event = decode(key, self.head + 1, text)?;
            let probe = self.window.probe(&event.id);
            if let Some(seq) = self.window.find(probe, self.head) {
                duplicates += 1;
                last = seq;
                continue;
            }
            let here = Cursor { epoch: self.epoch, seq: append.after };
            if request.after.is_some_and(|after| after != here) {
                return Err(Error::Moved { session: key.clone(), head: here });
            }
            if request.checks_inputs
                && is_input(&event)
                && let Some(reason) = refusal(&self.replies, &event, stored)?
            {
                return Err(Refusal { index, event_id: event.id.to_string(), reason }.into());
            }
            let seq = self.head + 1;
            let effect = self.replies.apply(seq, &event, text.len(), request.lease.is_some(), stored)?;
            let is_written = !effect.is_repetition();
            if let Some(reason) = effect.outcome.reason() {
                let (reason, message) = (reason.code(), reason.to_string());
                ignored.push(Ignored { index, event_id: event.id.to_string(), reason, message, is_written });
            }
            if !is_written {
                last = self.head;
                continue;
            }
            match effect.change {
                Change::Nothing => {}
                Change::Began(opened) => append.opened.push(opened),
                Change::Finished(message) => append.finished.push(message),
            }
            append.checkpoints.extend(effect.checkpoint);
            if may_name_uploads(&event.kind) {
                // What cannot be read as text was no event.
                append.uploads.extend(std::str::from_utf8(text).into_iter().flat_map(Digest::all_in));
            }
            append.entries.push(text.clone());
            self.window.insert(probe, seq);
            self.head = seq;
            last = seq;
        }
        append.states.clone_from(&request.states);
        let written = append.entries.len();
        let cursor = Cursor { epoch: self.epoch, seq: last };
        Ok((append, Appended { written, duplicates, cursor, ignored }))
    }
}

/// Replies folded from their last checkpoint or from their start up to an entry, in the order in which they began.
pub(crate) fn fold_replies(
    view: &dyn View,
    key: &SessionKey,
    rows: Vec<OpenRow>,
    until: u64,
) -> Result<Vec<OpenReply>, Error> {
    let mut waiting = HashMap::new();
    let mut from = u64::MAX;
    for row in rows {
        let seq = row.checkpoint.as_ref().filter(|checkpoint| checkpoint.seq <= until).map(|checkpoint| checkpoint.seq);
        let resumed = if seq.is_some() { OpenReply::resume(&row) } else { Ok(None) };
        let resumed = resumed.map_err(StorageError::Damaged)?;
        from = from.min(seq.unwrap_or(row.opened.place.saturating_sub(1)));
        waiting.insert(row.opened.id.clone(), (seq.unwrap_or_default(), row.opened, resumed));
    }
    while from < until && !waiting.is_empty() {
        let entries = view.entries(key, from, PAGE)?;
        let Some(last) = entries.last() else { break };
        from = last.last;
        for entry in entries.iter().take_while(|entry| entry.first <= until) {
            let event = decode(key, entry.last, &entry.body)?;
            let Some(id) = folded_reply(&event) else { continue };
            let Some((folded_to, opened, reply)) = waiting.get_mut(&*id) else { continue };
            if entry.last <= *folded_to {
                continue;
            }
            match reply {
                Some(reply) => {
                    let _ = reply.apply(&event, entry.body.len());
                }
                None => {
                    if let Some(fold) = recount_message::ReplyFold::start(&event) {
                        *reply = Some(OpenReply::begin(opened.clone(), fold));
                    }
                }
            }
        }
    }
    let mut replies: Vec<OpenReply> = waiting.into_values().filter_map(|(_, _, reply)| reply).collect();
    replies.sort_unstable_by_key(|reply| reply.opened.place);
    Ok(replies)
}

/// The reply that an event changes.
fn folded_reply<'e>(event: &'e Event<'_>) -> Option<std::borrow::Cow<'e, str>> {
    match &event.kind {
        EventKind::Custom(custom) => match custom.own_name() {
            Some(CustomName::Block | CustomName::Call) => Some(custom.value.get("reply_id")?.to_text()?.into()),
            _ => None,
        },
        kind => kind.reply_id().map(Into::into),
    }
}

pub(crate) fn decode<'b>(key: &SessionKey, seq: u64, body: &'b [u8]) -> Result<Event<'b>, Error> {
    let bad = |problem: String| Error::BadEntry { session: key.clone(), seq, problem };
    Event::from_slice(body).map_err(|error| bad(error.to_string()))
}

/// Whether an event can hold a URL. Deltas of text cannot, and they are most of what is written.
fn may_name_uploads(kind: &EventKind<'_>) -> bool {
    !matches!(
        kind,
        EventKind::TextBlockStart(_)
            | EventKind::TextBlockDelta(_)
            | EventKind::ThinkingBlockStart(_)
            | EventKind::ThinkingBlockDelta(_)
            | EventKind::ToolCallStart(_)
            | EventKind::ToolCallDelta(_)
            | EventKind::ToolResultTextDelta(_)
    )
}

/// Joins the deltas of a stretch of a session.
fn compact(view: &dyn View, key: &SessionKey, after: u64, before: i64, group: &mut Group) -> Result<Compacted, Error> {
    existing(view, key)?;
    // A checkpoint of an open reply is at an entry, and that one has to stay.
    let open = view.open(key)?.into_iter().map(|row| row.opened.place.saturating_sub(1)).min();
    let until = view.settled(key, before)?.min(open.unwrap_or(u64::MAX));
    let mut entries = view.entries(key, after, PAGE)?;
    entries.retain(|entry| entry.last <= until);
    // The ids of joined deltas are forgotten. Of a reply that has ended they are not needed: it refuses what comes late.
    let mut ended: HashMap<String, bool> = HashMap::new();
    let joined = join_deltas(&entries, |reply| match ended.get(reply) {
        Some(&has_ended) => has_ended,
        None => {
            let has_ended = matches!(view.known(key, reply), Ok(Some(Known::Reply)));
            ended.insert(reply.to_owned(), has_ended);
            has_ended
        }
    });
    let next = entries.last().map(|entry| entry.last).filter(|&last| last < until);
    let counts = Compacted { entries: entries.len() as u64, rows: joined.len() as u64, next };
    let rows: Vec<_> = joined.into_iter().filter(|joined| joined.of > 1).map(|joined| joined.row).collect();
    if !rows.is_empty() {
        group.writes.push(Write::Compact { key: key.clone(), rows });
    }
    Ok(counts)
}

impl Request {
    fn stream(&self) -> Option<&Stream> {
        match self {
            Self::Append(request) => request.stream.as_ref(),
            _ => None,
        }
    }

    /// Whether the request only adds entries, so that others can be committed along with it.
    fn is_entry(&self) -> bool {
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
