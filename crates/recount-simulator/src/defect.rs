//! Defects that are planted in the log, to see that the simulator finds them.

use recount_log::Cursor;
use recount_log::storage::{Append, View, Write};

/// Something that no log may do. It is done once in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// An entry is acknowledged and not written.
    LosesAnEntry,
    /// An entry is written twice.
    DoublesAnEntry,
    /// Entries stand in each other's place.
    SwapsEntries,
    /// A complete message is missing among those that are kept.
    LosesAMessage,
    /// An open reply is missing among those that are kept.
    LosesAnOpenReply,
    /// A document that came along with entries is not kept.
    LosesADocument,
    /// Another description is not kept.
    LosesADescription,
    /// Of a commit only the first half is done.
    TearsACommit,
    /// A commit is done, and said to have failed.
    DeniesACommit,
    /// Entries are appended although the session is not where they were expected to be.
    AppendsAnywhere,
    /// A draft is adopted although it is not where it was expected to be.
    AdoptsAnything,
    /// Whoever has appended is told the place of the entry before.
    TellsAnOldHead,
    /// Leases are forgotten, so that a second one is granted while the first one is held.
    ForgetsLeases,
    /// A reader gets an entry twice.
    RepeatsAFrame,
    /// A reader does not get an entry.
    SkipsAFrame,
}

impl Defect {
    /// What is committed in the place of some writes, where the defect shows in them.
    pub(crate) fn spoil(self, view: &dyn View, writes: &[Write]) -> Option<Vec<Write>> {
        let mut spoilt = writes.to_vec();
        if self == Self::TearsACommit {
            spoilt.truncate(writes.len() / 2);
            return (writes.len() > 1).then_some(spoilt);
        }
        let is_described =
            spoilt.extract_if(.., |write| self == Self::LosesADescription && matches!(write, Write::Describe { .. }));
        let is_spoilt = is_described.count() > 0 || spoilt.iter_mut().any(|write| self.spoil_one(view, write));
        is_spoilt.then_some(spoilt)
    }

    fn spoil_one(self, view: &dyn View, write: &mut Write) -> bool {
        match write {
            Write::Append(append) => self.spoil_append(view, append),
            Write::Adopt { draft, head, .. } if self == Self::AdoptsAnything => {
                let Ok(Some(row)) = view.session(draft) else { return false };
                let found = Cursor { epoch: row.epoch, seq: row.head };
                std::mem::replace(head, found) != found
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
            Self::LosesAnOpenReply => append.opened.pop().is_some(),
            Self::LosesADocument => append.states.pop().is_some_and(|state| state.body.is_some()),
            Self::AppendsAnywhere => {
                let Ok(Some(row)) = view.session(&append.key) else { return false };
                let (epoch, after) = (append.epoch, append.after);
                (append.epoch, append.after) = (row.epoch, row.head);
                (epoch, after) != (row.epoch, row.head)
            }
            Self::LosesADescription
            | Self::TearsACommit
            | Self::DeniesACommit
            | Self::AdoptsAnything
            | Self::TellsAnOldHead
            | Self::ForgetsLeases
            | Self::RepeatsAFrame
            | Self::SkipsAFrame => false,
        }
    }
}

/// A defect that shows at one of the next occasions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planted {
    pub(crate) defect: Defect,
    /// How many occasions are let pass.
    after: u64,
    pub(crate) has_shown: bool,
}

impl Planted {
    /// A defect whose moment follows from a seed.
    pub(crate) fn new(defect: Defect, seed: u64) -> Self {
        Self { defect, after: seed % 2, has_shown: false }
    }

    /// Whether a defect shows at this occasion.
    pub(crate) fn shows(&mut self, defect: Defect) -> bool {
        if self.has_shown || self.defect != defect {
            return false;
        }
        self.has_shown = self.after == 0;
        self.after = self.after.saturating_sub(1);
        self.has_shown
    }
}
