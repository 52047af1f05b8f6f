//! Readers: slow ones, and ones that come back.

use std::collections::VecDeque;

use recount_log::join::Join;
use recount_log::storage::{View, Views};
use recount_log::{Cursor, Entry, Epoch, Error, Frame, GapReason, SessionKey, Start};
use recount_testkit::laws::Broken;

use super::stored::{decode, rows};
use super::{NODES, Verdict, World};
use crate::client::Client;
use crate::defect::Defect;
use crate::model::ModelSession;

/// Somebody who reads a session.
pub(super) struct Reader {
    pub(super) key: SessionKey,
    pub(super) node: usize,
    pub(super) join: Join,
    pub(super) frames: VecDeque<Frame>,
    pub(super) client: Client,
    /// Whether it has folded everything from the beginning, and no snapshot.
    pub(super) is_whole: bool,
    /// In which epoch it has last looked at the session.
    pub(super) epoch: Option<Epoch>,
}

impl Reader {
    pub(super) fn rejoin(&mut self) {
        self.frames.clear();
        self.client.reconnect();
        let start = match self.client.cursor {
            Some(cursor) => Start::After(cursor),
            None => Start::Snapshot,
        };
        self.is_whole &= self.client.cursor.is_some();
        self.epoch = None;
        self.join = Join::new(self.key.clone(), start);
    }
}

impl World {
    /// Somebody begins to read somewhere.
    pub(super) fn join(&mut self) {
        let key = self.key();
        let Some(model) = self.models.get(&key) else { return };
        let head = model.head();
        // Who begins in the middle without a snapshot cannot have everything, and could not be compared with anything.
        let start = match self.random.below(6) {
            0..3 => Start::Snapshot,
            3 => Start::Beginning,
            4 => Start::After(Cursor { seq: head.seq + 1_000_000, ..head }),
            _ => Start::After(Cursor { epoch: Epoch::from_random(self.random.number()), ..head }),
        };
        let client = match start {
            Start::After(cursor) => Client::at(cursor),
            _ => Client::default(),
        };
        let node = self.random.below(NODES);
        let is_whole = start == Start::Beginning;
        let join = Join::new(key.clone(), start);
        self.readers.push(Reader { key, node, join, frames: VecDeque::new(), client, is_whole, epoch: None });
        if self.readers.len() > 12 {
            self.readers.swap_remove(self.random.below(12));
        }
    }

    /// A reader is cut off, and comes back with the cursor that it has, perhaps to another process.
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

    /// Lets a reader take some frames. Says whether there were any.
    pub(super) fn read_some(&mut self, index: usize) -> Result<bool, Broken> {
        let Some(reader) = self.readers.get_mut(index) else { return Ok(false) };
        let is_new = reader.frames.is_empty();
        if is_new {
            let is_taken = match self.nodes[reader.node].tails.get(&reader.key) {
                Some(tail) => reader.join.take(tail, &mut reader.frames),
                None => false,
            };
            if !is_taken {
                let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
                match reader.join.read(&*view, &mut reader.frames) {
                    Ok(()) => {}
                    Err(Error::UnknownSession(key)) if !self.models.contains_key(&key) => {
                        drop(view);
                        self.readers.swap_remove(index);
                        return Ok(false);
                    }
                    Err(error) => return Err(Broken::new(format!("a reader was told {error}"))),
                }
            }
        }
        let Some(model) = self.models.get(&reader.key) else { return Ok(false) };
        let gap = reader.frames.iter().find_map(|frame| match frame {
            Frame::Gap(reason) => Some(*reason),
            _ => None,
        });
        if let Some(reason) = gap.filter(|_| is_new) {
            let view = self.storage.view().map_err(|error| Broken::new(error.to_string()))?;
            if gap_after(&*view, reader, model)? != Some(reason) {
                return Err(Broken::new(format!(
                    "a reader at {:?} was told of a gap ({reason})",
                    reader.client.cursor
                )));
            }
        }
        reader.epoch = Some(model.epoch);
        if reader.frames.is_empty() {
            if reader.client.cursor.is_some_and(|cursor| cursor != model.head()) {
                let (at, head) = (reader.client.cursor, model.head());
                return Err(Broken::new(format!("a reader got nothing more at {at:?}, and the head is {head}")));
            }
            self.tally.agreements += 1;
            reader.client.agrees(model, reader.is_whole)?;
            return Ok(false);
        }
        // A slow one takes one, a fast one all that there is.
        let count = if self.random.chance(30) { 1 } else { reader.frames.len() };
        for frame in reader.frames.drain(..count) {
            self.tally.frames += 1;
            self.tally.gaps += usize::from(matches!(frame, Frame::Gap(_)));
            reader.is_whole &= matches!(frame, Frame::Entry(_));
            if let Frame::Entry(entry) = &frame {
                if self.storage.shows(Defect::SkipsAFrame) {
                    continue;
                }
                check_next(entry, reader.client.cursor, model)?;
                if self.storage.shows(Defect::RepeatsAFrame) {
                    reader.client.take(&frame)?;
                }
            }
            reader.client.take(&frame)?;
        }
        Ok(true)
    }
}

/// Why a reader cannot go on where it is, if it cannot.
fn gap_after(view: &dyn View, reader: &Reader, model: &ModelSession) -> Result<Option<GapReason>, Broken> {
    let beginning = reader.epoch.map(|epoch| Cursor { epoch, seq: 0 });
    let Some(cursor) = reader.client.cursor.or(beginning) else { return Ok(None) };
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

/// Whether an entry is the one that follows a place. What was joined has the id of its first entry.
fn check_next(entry: &Entry, after: Option<Cursor>, model: &ModelSession) -> Verdict {
    // It was read before the session became another one.
    if entry.cursor.epoch != model.epoch {
        return Ok(());
    }
    let after = after.map_or(0, |cursor| cursor.seq);
    let id = decode(&entry.event)?.id;
    let next = usize::try_from(after).ok().and_then(|after| model.entries.get(after));
    if next.is_some_and(|event| event.id == id) {
        return Ok(());
    }
    Err(Broken::new(format!(
        "after {after} a reader got {id} at {}, not {:?}",
        entry.cursor,
        next.map(|event| &event.id)
    )))
}
