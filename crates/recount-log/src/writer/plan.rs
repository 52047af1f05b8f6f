//! Planned writes that are not committed yet.

use std::fmt;

use super::live::LiveSession;
use crate::lease::SavedLeases;
use crate::request::Response;
use crate::storage::{Append, Storage, Views, Write};
use crate::{Error, SessionKey};

/// The committed data that plans are based on.
#[derive(Clone, Copy)]
pub struct PlanContext<'s> {
    /// Opens views of it.
    pub views: &'s dyn Views,
    /// Whether [other processes](Storage::is_shared) write to it too.
    pub is_shared: bool,
}

impl<'s> PlanContext<'s> {
    /// Creates the context of a storage.
    pub fn of(storage: &'s dyn Storage) -> Self {
        Self { views: storage, is_shared: storage.is_shared() }
    }
}

impl fmt::Debug for PlanContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanContext").field("is_shared", &self.is_shared).finish_non_exhaustive()
    }
}

/// The writes and responses of requests that are committed together.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The id of the plan.
    pub(super) id: u64,
    /// The time of its writes, in milliseconds since 1970. `None` before the first append.
    pub(super) at: Option<i64>,
    /// The responses by request index. Errors wait for the commit too, because they may depend on uncommitted entries.
    pub(super) responses: Vec<(usize, Result<Response, Error>)>,
    /// The writes of all requests. Entries for the same session are in one write.
    pub(super) writes: Vec<Write>,
    /// The leases before the plan changed them, in order.
    pub(super) leases: Vec<SavedLeases>,
    /// Whether no further request may be planned before this plan is settled.
    pub(super) is_closed: bool,
    /// Whether the current request is planned on committed data only.
    pub(super) is_on_committed: bool,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.responses.is_empty()
    }

    /// Empties the plan and keeps its allocations.
    pub(super) fn clear(&mut self) {
        self.at = None;
        self.responses.clear();
        self.writes.clear();
        self.leases.clear();
        self.is_closed = false;
    }

    /// Returns the index of the write for a session's entries, and adds that write if there is none.
    pub(super) fn append_of(&mut self, key: &SessionKey, live: &LiveSession, at: i64) -> usize {
        match live.planned {
            Some((planned, index)) if planned == self.id => index,
            _ => {
                self.writes.push(Write::Append(Append::after(key.clone(), live.epoch, live.head, at)));
                self.writes.len() - 1
            }
        }
    }
}
