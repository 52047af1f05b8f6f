//! Defects that are planted in the log to verify that the simulator detects them.

use std::collections::VecDeque;

use recount_log::storage::{Append, PageLimit, View, Write};
use recount_log::{AppendRequest, Cursor, Digest, Events, Frame};
use recount_message::AgentEvent;

use crate::model::{ModelSession, contents};

/// A violation of the contract. It occurs once in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// An entry is acknowledged but not written.
    LosesAnEntry,
    /// An entry is written twice.
    DoublesAnEntry,
    /// Two entries are swapped.
    SwapsEntries,
    /// A complete message is not stored.
    LosesAMessage,
    /// An open reply is not stored.
    LosesAnOpenReply,
    /// A checkpoint has a later position than its content.
    MisplacesACheckpoint,
    /// A document of an append is not stored.
    LosesADocument,
    /// New properties are not stored.
    LosesADescription,
    /// The reference from an entry to an upload is not stored.
    ForgetsANamedUpload,
    /// Uploads are deleted too early.
    SweepsTooEarly,
    /// A merged entry contains only the first delta.
    SpoilsACompaction,
    /// A deleted session still exists.
    KeepsADeletedSession,
    /// Only the first half of a commit is written.
    TearsACommit,
    /// A successful commit is reported as failed.
    DeniesACommit,
    /// A commit that was not written is reported as successful.
    ClaimsACommit,
    /// Sessions keep their epochs after a power loss that lost entries.
    KeepsEpochs,
    /// Entries are appended although the session has another head than expected.
    AppendsAnywhere,
    /// A staged session is published although it has another head than expected.
    AdoptsAnything,
    /// A duplicate event is written again.
    WritesAgain,
    /// An input is accepted although no call waits for it.
    TakesAnyInput,
    /// A conditional append is written although its cursor is not the head.
    IgnoresThePlace,
    /// An append under a lost lease is written.
    IgnoresLeases,
    /// Leases are lost, so that a second one is granted while the first one is held.
    ForgetsLeases,
    /// The response to an append contains the position of the previous entry.
    TellsAnOldHead,
    /// Readers receive entries before their commit.
    ShowsTooEarly,
    /// A reader receives an entry twice.
    RepeatsAFrame,
    /// A reader misses an entry.
    SkipsAFrame,
    /// A reader does not receive the frame of a gap.
    HidesAGap,
    /// A snapshot lacks the newest complete message.
    HidesAMessage,
    /// A snapshot lacks an open reply.
    HidesAnOpenReply,
}

impl Defect {
    /// Returns the defective writes to commit instead. `None` if the defect does not apply to them.
    pub(crate) fn spoil(self, view: &dyn View, writes: &[Write]) -> Option<Vec<Write>> {
        let mut spoilt = writes.to_vec();
        let is_spoilt = match self {
            Self::TearsACommit => {
                spoilt.truncate(writes.len() / 2);
                writes.len() > 1
            }
            Self::LosesADescription => {
                spoilt.retain(|write| !matches!(write, Write::SetProperties { .. }));
                spoilt.len() < writes.len()
            }
            Self::KeepsADeletedSession => {
                spoilt.clear();
                matches!(writes, [Write::Delete(_)])
            }
            _ => spoilt.iter_mut().any(|write| self.spoil_one(view, write)),
        };
        is_spoilt.then_some(spoilt)
    }

    fn spoil_one(self, view: &dyn View, write: &mut Write) -> bool {
        match write {
            Write::Append(append) => self.spoil_append(view, append),
            Write::Publish { draft, head, .. } if self == Self::AdoptsAnything => {
                let Ok(Some(row)) = view.session(draft) else { return false };
                let found = Cursor { epoch: row.epoch, seq: row.head };
                std::mem::replace(head, found) != found
            }
            Write::Compact { key, rows, .. } if self == Self::SpoilsACompaction => {
                let Some(row) = rows.first_mut() else { return false };
                let first = view.entries(key, row.first - 1, PageLimit { count: 1, bytes: 0 });
                let first = first.ok().and_then(|first| first.into_iter().next());
                first.is_some_and(|first| std::mem::replace(&mut row.body, first.body.clone()) != first.body)
            }
            Write::Sweep { before } if self == Self::SweepsTooEarly => {
                let time = std::mem::replace(before, i64::MAX);
                contents().any(|bytes| {
                    let upload = view.upload("", Digest::of(bytes.as_bytes()));
                    upload.is_ok_and(|upload| upload.is_some_and(|upload| upload.at >= time))
                })
            }
            _ => false,
        }
    }

    fn spoil_append(self, view: &dyn View, append: &mut Append) -> bool {
        match self {
            Self::LosesAnEntry => append.entries.pop().is_some(),
            Self::DoublesAnEntry => {
                let last = append.entries.last().cloned();
                append.entries.extend(last.clone());
                last.is_some()
            }
            Self::SwapsEntries => {
                append.entries.reverse();
                append.entries.len() > 1
            }
            Self::LosesAMessage => append.finished.pop().is_some(),
            Self::LosesAnOpenReply => {
                let opened = append.opened.pop();
                opened.is_some_and(|opened| append.finished.iter().all(|message| message.id != opened.id))
            }
            Self::MisplacesACheckpoint => {
                let end = append.after + append.entries.len() as u64;
                append.checkpoints.last_mut().is_some_and(|last| std::mem::replace(&mut last.seq, end) < end)
            }
            Self::LosesADocument => append.states.pop().is_some_and(|state| state.body.is_some()),
            Self::ForgetsANamedUpload => append.uploads.pop().is_some(),
            Self::AppendsAnywhere => {
                let Ok(Some(row)) = view.session(&append.key) else { return false };
                let (epoch, after) = (append.epoch, append.after);
                (append.epoch, append.after) = (row.epoch, row.head);
                (epoch, after) != (row.epoch, row.head)
            }
            _ => false,
        }
    }

    /// Returns the defective append to request instead. `None` if the defect does not apply to it.
    pub(crate) fn spoil_request(
        self,
        model: &ModelSession,
        request: &AppendRequest,
        events: &[AgentEvent],
        is_lost: bool,
    ) -> Option<AppendRequest> {
        let mut spoilt = request.clone();
        let is_known = |event: &AgentEvent| model.entries.iter().any(|entry| entry.id == event.id);
        let is_elsewhere = request.after.is_some_and(|after| after != model.head());
        if is_lost != (self == Self::IgnoresLeases) || is_elsewhere != (self == Self::IgnoresThePlace) {
            return None;
        }
        let is_spoilt = match self {
            Self::WritesAgain => {
                let renamed = |event: &AgentEvent| event.clone().with_id(format!("{}'", event.id));
                spoilt.events = Events::of(&events.iter().map(renamed).collect::<Vec<_>>());
                !events.is_empty() && events.iter().all(is_known)
            }
            Self::TakesAnyInput => {
                spoilt.checks_inputs = false;
                request.checks_inputs && events.iter().any(|event| !is_known(event) && model.refusal(event).is_some())
            }
            Self::IgnoresThePlace => spoilt.after.take().is_some() && !events.iter().all(is_known),
            Self::IgnoresLeases => spoilt.lease.take().is_some(),
            _ => false,
        };
        is_spoilt.then_some(spoilt)
    }

    /// Applies the defect to the frames of a reader, if it is applicable.
    pub(crate) fn spoil_frames(self, frames: &VecDeque<Frame>) -> Option<VecDeque<Frame>> {
        let mut spoilt = frames.clone();
        let snapshot = spoilt.iter_mut().find_map(|frame| match frame {
            Frame::Snapshot(snapshot) => Some(snapshot),
            _ => None,
        });
        let is_spoilt = match (self, snapshot) {
            (Self::HidesAGap, _) => {
                spoilt.retain(|frame| !matches!(frame, Frame::Gap(_)));
                spoilt.len() < frames.len()
            }
            (Self::HidesAMessage, Some(snapshot)) => snapshot.messages.pop().is_some(),
            (Self::HidesAnOpenReply, Some(snapshot)) => {
                snapshot.positions.pop();
                snapshot.open.pop().is_some()
            }
            _ => false,
        };
        is_spoilt.then_some(spoilt)
    }
}

/// A defect that occurs at one of the next opportunities.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planted {
    pub(crate) defect: Defect,
    /// The number of opportunities to skip.
    after: u64,
    pub(crate) has_shown: bool,
}

impl Planted {
    /// Creates a defect whose time follows from a seed.
    pub(crate) fn new(defect: Defect, seed: u64) -> Self {
        Self { defect, after: seed % 2, has_shown: false }
    }

    /// Whether the defect occurs at this opportunity.
    pub(crate) fn shows(&mut self, defect: Defect) -> bool {
        if self.has_shown || self.defect != defect {
            return false;
        }
        self.has_shown = self.after == 0;
        self.after = self.after.saturating_sub(1);
        self.has_shown
    }
}
