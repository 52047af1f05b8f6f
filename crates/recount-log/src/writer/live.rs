//! A session in the writer's memory: the state that the next event is checked against.

use super::planning::existing;
use crate::dedup_window::{DedupWindow, IdHash, WINDOW};
use crate::inputs::{InputKind, refusal};
use crate::rebuild::{decode, rebuild_replies};
use crate::replies::{NewEntry, Replies, StatusLookup, is_repetition};
use crate::request::{AppendRequest, Appended, Ignored};
use crate::storage::{Append, PageLimit, StorageResult, View};
use crate::{Cursor, Epoch, Error, Refusal, SessionKey};

/// How much is read from the storage at once.
const PAGE: PageLimit = PageLimit { count: 4_096, bytes: 4 << 20 };

/// A session in memory.
#[derive(Debug)]
pub(crate) struct LiveSession {
    pub(super) epoch: Epoch,
    pub(super) head: u64,
    /// The head after the last commit of this process.
    pub(super) stored_head: u64,
    replies: Replies,
    pub(super) window: DedupWindow,
    /// The size of the window when it was last measured.
    pub(super) weighed: usize,
    /// The id of the plan that last used the session.
    pub(super) used: u64,
    /// The write that receives the session's entries: the id of its plan, and its index in that plan.
    pub(super) planned: Option<(u64, usize)>,
    /// Whether the state does not match the stored and planned entries, so that the session must be read again.
    pub(super) is_invalid: bool,
}

impl LiveSession {
    pub(super) fn new(epoch: Epoch) -> Self {
        Self {
            epoch,
            head: 0,
            stored_head: 0,
            replies: Replies::default(),
            window: DedupWindow::default(),
            weighed: 0,
            used: 0,
            planned: None,
            is_invalid: false,
        }
    }

    /// Records the plan that uses the session.
    pub(super) fn used_by(mut self, plan_id: u64) -> Self {
        self.used = plan_id;
        self
    }

    /// Reads a session from the storage.
    pub(super) fn load(view: &dyn View, key: &SessionKey) -> Result<Self, Error> {
        let row = existing(view, key)?;
        let mut live = Self::new(row.epoch);
        live.head = row.head;
        live.stored_head = row.head;
        for reply in rebuild_replies(view, key, view.open_replies(key)?, row.head)? {
            live.replies.insert(reply);
        }
        let mut after = row.head.saturating_sub(WINDOW);
        while after < row.head {
            let entries = view.entries(key, after, PAGE)?;
            for entry in &entries {
                let event = decode(key, entry.last, &entry.body)?;
                live.window.insert(IdHash::of(&event.id), entry.last);
            }
            after = entries.last().map_or(row.head, |entry| entry.last);
        }
        Ok(live)
    }

    /// Checks events and adds the new ones to an append.
    ///
    /// After an error the caller must undo the changes of the append. If the head has changed, the session is invalid.
    pub(super) fn append(
        &mut self,
        request: &AppendRequest,
        stored: StatusLookup<'_>,
        checkpoint_after: u64,
        append: &mut Append,
    ) -> Result<Appended, Error> {
        let (key, plan_id) = (&request.key, self.used);
        let first = self.head;
        let here = Cursor { epoch: self.epoch, seq: first };
        let is_at_other_head = request.after.is_some_and(|after| after != here);
        let moved = || Error::Moved { session: key.clone(), head: here };
        let hosted = request.lease.is_some();
        let mut last = self.head;
        let mut duplicates = 0;
        let mut ignored = Vec::new();
        append.entries.reserve(request.events.len());
        for (index, item) in request.events.items().iter().enumerate() {
            if let Some(seq) = self.window.find(item.id) {
                duplicates += 1;
                last = seq;
                continue;
            }
            let seq = self.head + 1;
            let event = decode(key, seq, &item.text)?;
            if is_at_other_head {
                return Err(moved());
            }
            let kind = InputKind::of(&event);
            if request.checks_inputs
                && kind.is_some()
                && let Some(reason) = refusal(&self.replies, &event, stored)?
            {
                return Err(Refusal { index, event_id: event.id.to_string(), reason }.into());
            }
            let entry = NewEntry { seq, bytes: item.text.len(), hosted, stored, plan: plan_id, checkpoint_after };
            let outcome = self.replies.apply(&event, &entry, append)?;
            ignored.extend(Ignored::of(index, &event, &outcome));
            if is_repetition(&outcome) {
                last = self.head;
                continue;
            }
            if request.events.names_uploads() {
                append.uploads.extend(request.events.uploads_of(index));
            }
            if kind.is_some() {
                append.inputs.push(append.entries.len());
            }
            append.entries.push(item.text.clone());
            self.window.insert(item.id, seq);
            self.head = seq;
            last = seq;
        }
        if is_at_other_head && request.events.is_empty() {
            return Err(moved());
        }
        // At another head all events were duplicates. Their documents were stored with them and may have changed since.
        if !is_at_other_head {
            append.states.extend_from_slice(&request.states);
        }
        let written = usize::try_from(self.head - first).unwrap_or(usize::MAX);
        Ok(Appended { written, duplicates, cursor: Cursor { epoch: self.epoch, seq: last }, ignored })
    }

    /// Records that the entries of a plan are committed.
    pub(super) fn settle(&mut self, head: u64, plan_id: u64) {
        self.stored_head = head;
        self.replies.commit(plan_id);
    }

    /// Whether the stored session is the one that this process has written, without entries of other processes.
    pub(super) fn is_stored(&self, view: &dyn View, key: &SessionKey) -> StorageResult<bool> {
        let row = view.session(key)?;
        Ok(row.is_some_and(|row| (row.epoch, row.head) == (self.epoch, self.stored_head)))
    }

    /// Returns checkpoints of long open replies as an append without entries. `None` if there are none.
    pub(super) fn final_checkpoints(&mut self, key: &SessionKey, at: i64, checkpoint_after: u64) -> Option<Append> {
        if self.is_invalid {
            return None;
        }
        let checkpoints = self.replies.final_checkpoints(self.head, checkpoint_after);
        let append = Append::after(key.clone(), self.epoch, self.head, at);
        (!checkpoints.is_empty()).then_some(Append { checkpoints, ..append })
    }
}
