//! Slow and reconnecting readers.

use std::collections::VecDeque;

use recount_log::storage::{View, Views};
use recount_log::subscription::Subscription;
use recount_log::{
    Cursor, EncodedMessage, Entry, Epoch, Error, Frame, GapReason, SNAPSHOT_MESSAGES, SessionKey, Snapshot,
    SnapshotItem, Start, StorageError,
};
use recount_message::{AgentEvent, Msg};
use recount_testkit::laws::Broken;

use super::stored::{decode, rows};
use super::{NODES, Node, Verdict, World};
use crate::client::Client;
use crate::defect::Defect;
use crate::model::ModelSession;

/// A reader of a session.
pub(super) struct Reader {
    pub(super) key: SessionKey,
    pub(super) node: usize,
    pub(super) join: Subscription,
    pub(super) frames: VecDeque<Frame>,
    pub(super) client: Client,
    /// The content of the client after it has received all frames.
    pub(super) has: Has,
}

/// The part of a session that a reader has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Has {
    /// All entries from the beginning, without a snapshot.
    Whole,
    /// A snapshot and the entries after it.
    Snapshot,
    /// Entries after a position in the middle. They can be checked, but their messages are incomplete.
    Part,
}

impl Reader {
    /// Whether the reader has received everything up to an entry.
    pub(super) fn is_at(&self, key: &SessionKey, epoch: Epoch, seq: u64) -> bool {
        self.key == *key && self.frames.is_empty() && self.join.position() == Some(Cursor { epoch, seq })
    }

    pub(super) fn rejoin(&mut self) {
        self.frames.clear();
        self.client.reconnect();
        let start = match self.client.cursor {
            Some(cursor) => Start::After(cursor),
            None => Start::Snapshot,
        };
        self.join = Subscription::new(self.key.clone(), start);
    }
}

impl World {
    /// Starts a reader at a random position.
    pub(super) fn join(&mut self) {
        let key = self.key();
        let Some(model) = self.models.get(&key) else { return };
        let head = model.head();
        let (start, has) = match self.random.below(8) {
            0..3 => (Start::Snapshot, Has::Snapshot),
            3 => (Start::Beginning, Has::Whole),
            4 => (Start::After(Cursor { seq: head.seq + 1_000_000, ..head }), Has::Part),
            5 => (Start::After(Cursor { epoch: Epoch::from_random(self.random.number()), ..head }), Has::Part),
            6 => {
                let seq = self.random.below(model.entries.len() + 1) as u64;
                (Start::After(Cursor { seq, ..head }), Has::Part)
            }
            _ => (Start::Now, Has::Part),
        };
        let client = match start {
            Start::After(cursor) => Client::at(cursor),
            _ => Client::default(),
        };
        let node = self.random.below(NODES);
        let join = Subscription::new(key.clone(), start);
        self.readers.push(Reader { key, node, join, frames: VecDeque::new(), client, has });
        if self.readers.len() > 12 {
            self.readers.swap_remove(self.random.below(12));
        }
    }

    /// Disconnects a reader, which resumes at its cursor, possibly at another process.
    pub(super) fn vanish(&mut self) {
        if self.readers.is_empty() {
            return;
        }
        let index = self.random.below(self.readers.len());
        let node = self.random.below(NODES);
        if self.random.chance(20) {
            self.readers.swap_remove(index);
            return;
        }
        let reader = &mut self.readers[index];
        reader.node = node;
        reader.rejoin();
    }

    pub(super) fn read(&mut self) -> Verdict {
        if self.readers.is_empty() {
            return Ok(());
        }
        let index = self.random.below(self.readers.len());
        self.read_some(index).map(drop)
    }

    /// Lets all readers of a session receive some frames.
    pub(super) fn read_by_all(&mut self, key: &SessionKey) -> Verdict {
        // In reverse order, because removing a reader moves the last one.
        for index in (0..self.readers.len()).rev() {
            if self.readers.get(index).is_some_and(|reader| reader.key == *key) {
                self.read_some(index)?;
            }
        }
        Ok(())
    }

    /// Lets a reader receive some frames. Returns whether there were any.
    pub(super) fn read_some(&mut self, index: usize) -> Result<bool, Broken> {
        let broken = |error: StorageError| Broken::new(error.to_string());
        let Some(reader) = self.readers.get_mut(index) else { return Ok(false) };
        let is_new = reader.frames.is_empty();
        if is_new {
            let Node { tails, folds, .. } = &self.nodes[reader.node];
            let is_taken = match tails.get(&reader.key) {
                Some(tail) => reader.join.read_tail(tail, &mut reader.frames),
                None => false,
            };
            if !is_taken {
                let view = self.storage.view().map_err(broken)?;
                match reader.join.read_storage(&*view, folds, &mut reader.frames) {
                    Ok(()) => {}
                    Err(Error::UnknownSession(key)) if !self.models.contains_key(&key) => {
                        drop(view);
                        self.readers.swap_remove(index);
                        return Ok(false);
                    }
                    Err(error) => return Err(Broken::new(format!("a reader failed: {error}"))),
                }
            }
        }
        let Some(model) = self.models.get(&reader.key) else { return Ok(false) };
        if is_new {
            self.storage.spoil_frames(&mut reader.frames);
            let view = self.storage.view().map_err(broken)?;
            self.tally.snapshots += check_frames(&*view, reader, model)?;
        }
        if reader.frames.is_empty() {
            // A reader without frames takes the position of its subscription.
            reader.client.cursor = reader.client.cursor.or(reader.join.position());
            if reader.client.cursor != Some(model.head()) {
                let (at, head) = (reader.client.cursor, model.head());
                return Err(Broken::new(format!("a reader got nothing more at {at:?}, and the head is {head}")));
            }
            self.tally.agreements += 1;
            match reader.has {
                Has::Whole => reader.client.agrees(model, true)?,
                Has::Snapshot => reader.client.agrees(model, false)?,
                Has::Part => {}
            }
            return Ok(false);
        }
        // A slow reader takes one frame, a fast one takes all.
        let count = if self.random.chance(30) { 1 } else { reader.frames.len() };
        for frame in reader.frames.drain(..count) {
            self.tally.frames += 1;
            match &frame {
                Frame::Entry(entry) => {
                    if self.storage.shows(Defect::SkipsAFrame) {
                        continue;
                    }
                    check_next(entry, reader.client.cursor, model)?;
                    if self.storage.shows(Defect::RepeatsAFrame) {
                        reader.client.take(&frame)?;
                    }
                }
                Frame::Snapshot(_) => reader.has = Has::Snapshot,
                _ => self.tally.gaps += 1,
            }
            reader.client.take(&frame)?;
        }
        Ok(true)
    }
}

/// Checks the frames of a reader: a gap exactly if there is one, correct snapshots, and the right entries. Returns the number
/// of snapshots.
fn check_frames(view: &dyn View, reader: &Reader, model: &ModelSession) -> Result<usize, Broken> {
    let told = reader.frames.iter().find_map(|frame| match frame {
        Frame::Gap(reason) => Some(*reason),
        _ => None,
    });
    let expected = gap_after(view, reader, model)?;
    // A reader inside of a merged entry may find the original entries in memory.
    if told != expected && (told, expected) != (None, Some(GapReason::Compacted)) {
        let at = reader.client.cursor;
        return Err(Broken::new(format!("a reader at {at:?} received the gap {told:?}, expected {expected:?}")));
    }
    let snapshots: Vec<&Snapshot> = reader.frames.iter().filter_map(snapshot_in).collect();
    if !snapshots.is_empty() && told.is_none() && reader.client.cursor.is_some() {
        return Err(Broken::new(format!("a reader at {:?} was shown a snapshot", reader.client.cursor)));
    }
    snapshots.iter().try_for_each(|snapshot| check_snapshot(snapshot, model))?;
    Ok(snapshots.len())
}

fn snapshot_in(frame: &Frame) -> Option<&Snapshot> {
    match frame {
        Frame::Snapshot(snapshot) => Some(snapshot),
        _ => None,
    }
}

/// The reason why a session does not continue from the position of a reader. `None` if it does.
fn gap_after(view: &dyn View, reader: &Reader, model: &ModelSession) -> Result<Option<GapReason>, Broken> {
    let Some(cursor) = reader.client.cursor else { return Ok(None) };
    let head = model.head();
    if cursor.epoch != head.epoch {
        return Ok(Some(GapReason::Epoch));
    }
    if cursor.seq > head.seq {
        return Ok(Some(GapReason::Future));
    }
    let is_inside = rows(view, &reader.key)?.iter().any(|row| row.first <= cursor.seq && cursor.seq < row.last);
    Ok(is_inside.then_some(GapReason::Compacted))
}

/// Checks that a snapshot contains the newest complete messages and all open replies, in their positions.
fn check_snapshot(snapshot: &Snapshot, model: &ModelSession) -> Verdict {
    let complete: Vec<&Msg> = model.complete().collect();
    let hidden = complete.len().saturating_sub(SNAPSHOT_MESSAGES);
    let shown = complete.get(hidden..).unwrap_or_default();
    let before = shown.first().filter(|_| hidden > 0).map(|message| message.id().to_owned());
    let messages: Vec<EncodedMessage> = shown.iter().map(|message| EncodedMessage::from(*message)).collect();
    let open: Vec<(String, String)> = model
        .fold
        .open_replies()
        .map(|reply| {
            let (message, floor) = (reply.message(), reply.call_floor());
            let fold = format!(r#"{{"message":{},"call_floor":{floor}}}"#, message.to_json());
            (message.id().to_owned(), fold)
        })
        .collect();
    let found: Vec<(String, String)> =
        snapshot.open.iter().map(|reply| (reply.id.clone(), reply.fold.to_string())).collect();
    let is_right = snapshot.cursor == model.head()
        && (&snapshot.messages, &snapshot.before) == (&messages, &before)
        && found == open
        && items(snapshot) == places(model, hidden);
    if is_right {
        return Ok(());
    }
    Err(Broken::new(format!("a snapshot is {snapshot:?}\nnot of {messages:?}\nand {open:?}\nat {}", model.head())))
}

/// The items of a snapshot in order: whether each is open.
fn items(snapshot: &Snapshot) -> Vec<bool> {
    snapshot.items().map(|shown| matches!(shown, SnapshotItem::OpenReply(_))).collect()
}

/// The expected items, without the oldest complete messages.
fn places(model: &ModelSession, mut hidden: usize) -> Vec<bool> {
    let mut places = Vec::new();
    for message in model.fold.messages() {
        let is_open = model.fold.open_reply(message.id()).is_some();
        if !is_open && hidden > 0 {
            hidden -= 1;
        } else {
            places.push(is_open);
        }
    }
    places
}

/// Checks that an entry follows a position. A merged entry has the id of its first delta.
fn check_next(entry: &Entry, after: Option<Cursor>, model: &ModelSession) -> Verdict {
    // The entry was read before the session was replaced.
    if entry.cursor.epoch != model.epoch {
        return Ok(());
    }
    let after = after.map_or(0, |cursor| cursor.seq);
    let next = usize::try_from(after).ok().and_then(|after| model.entries.get(after));
    let is_joined = entry.cursor.seq > after + 1;
    let is_right = match next {
        Some(event) if is_joined => event.id == decode(&entry.event)?.id && entry.cursor.seq <= model.head().seq,
        Some(event) => event.to_json().as_bytes() == &entry.event[..],
        None => false,
    };
    if is_right {
        return Ok(());
    }
    let next = next.map(AgentEvent::to_json);
    Err(Broken::new(format!("after {after} a reader got {:?} at {}, not {next:?}", entry.event, entry.cursor)))
}
