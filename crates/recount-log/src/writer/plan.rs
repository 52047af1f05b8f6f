//! What was planned and is not certain yet.

use std::fmt;

use super::live::LiveSession;
use crate::lease::Before;
use crate::request::Response;
use crate::storage::{Append, Storage, Views, Write};
use crate::{Error, SessionKey};

/// What is planned on: what is committed.
#[derive(Clone, Copy)]
pub struct PlanContext<'s> {
    /// Looks at it.
    pub views: &'s dyn Views,
    /// Whether [others](Storage::is_shared) write to it too.
    pub is_shared: bool,
}

impl<'s> PlanContext<'s> {
    /// What is committed in a storage.
    pub fn of(storage: &'s dyn Storage) -> Self {
        Self { views: storage, is_shared: storage.is_shared() }
    }
}

impl fmt::Debug for PlanContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanContext").field("is_shared", &self.is_shared).finish_non_exhaustive()
    }
}

/// Requests that are committed together.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Its number.
    pub(super) turn: u64,
    /// When its requests came, in milliseconds since 1970.
    pub(super) at: Option<i64>,
    /// Also those that were refused: what they were judged by is not certain before the commit either.
    pub(super) answers: Vec<(usize, Result<Response, Error>)>,
    /// What all of them write. Entries for the same session are in one write.
    pub(super) writes: Vec<Write>,
    pub(super) leases: Vec<Before>,
    /// Whether nothing may be planned on top of it before it is settled.
    pub(super) is_closed: bool,
    /// Whether all is committed that the request at hand is planned on.
    pub(super) is_certain: bool,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Makes it empty and keeps its room.
    pub(super) fn clear(&mut self) {
        self.at = None;
        self.answers.clear();
        self.writes.clear();
        self.leases.clear();
        self.is_closed = false;
    }

    /// The index of the write that a session's entries go to.
    pub(super) fn append_of(&mut self, key: &SessionKey, live: &LiveSession, at: i64) -> usize {
        match live.planned {
            Some((planned, index)) if planned == self.turn => index,
            _ => {
                self.writes.push(Write::Append(Append::after(key.clone(), live.epoch, live.head, at)));
                self.writes.len() - 1
            }
        }
    }
}
