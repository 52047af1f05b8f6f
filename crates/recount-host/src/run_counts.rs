//! How many runs are at work, and how many wait for somebody.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a host is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostLoad {
    /// Replies that an agent is at work on.
    pub running: usize,
    /// Replies that wait for somebody.
    pub waiting: usize,
}

/// What all runs are doing.
#[derive(Debug, Default)]
pub(crate) struct RunCounts {
    running: AtomicUsize,
    waiting: AtomicUsize,
}

impl RunCounts {
    pub(crate) fn load(&self) -> HostLoad {
        HostLoad { running: self.running.load(Ordering::Relaxed), waiting: self.waiting.load(Ordering::Relaxed) }
    }

    fn of(&self, state: RunStatus) -> Option<&AtomicUsize> {
        match state {
            RunStatus::Idle => None,
            RunStatus::Running => Some(&self.running),
            RunStatus::Waiting => Some(&self.waiting),
        }
    }
}

/// What one run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunStatus {
    Idle,
    Running,
    Waiting,
}

/// One run, as it is counted.
#[derive(Debug)]
pub(crate) struct CountedRun {
    tally: Arc<RunCounts>,
    state: RunStatus,
}

impl CountedRun {
    pub(crate) fn new(tally: Arc<RunCounts>) -> Self {
        Self { tally, state: RunStatus::Idle }
    }

    pub(crate) fn set(&mut self, state: RunStatus) {
        if state == self.state {
            return;
        }
        if let Some(count) = self.tally.of(self.state) {
            count.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(count) = self.tally.of(state) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.state = state;
    }
}

impl Drop for CountedRun {
    fn drop(&mut self) {
        self.set(RunStatus::Idle);
    }
}
