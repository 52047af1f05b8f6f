//! The numbers of running and waiting replies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The current load of a host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostLoad {
    /// The number of replies that an agent is working on.
    pub running: usize,
    /// The number of replies that wait for a confirmation or an external result.
    pub waiting: usize,
}

/// The numbers of running and waiting replies of all runs.
#[derive(Debug, Default)]
pub(crate) struct RunCounts {
    running: AtomicUsize,
    waiting: AtomicUsize,
}

impl RunCounts {
    pub(crate) fn load(&self) -> HostLoad {
        HostLoad { running: self.running.load(Ordering::Relaxed), waiting: self.waiting.load(Ordering::Relaxed) }
    }

    fn counter(&self, status: RunStatus) -> Option<&AtomicUsize> {
        match status {
            RunStatus::Idle => None,
            RunStatus::Running => Some(&self.running),
            RunStatus::Waiting => Some(&self.waiting),
        }
    }
}

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunStatus {
    Idle,
    Running,
    Waiting,
}

/// Counts one run under its current status. Dropping it removes the run from the counts.
#[derive(Debug)]
pub(crate) struct CountedRun {
    counts: Arc<RunCounts>,
    status: RunStatus,
}

impl CountedRun {
    pub(crate) fn new(counts: Arc<RunCounts>) -> Self {
        Self { counts, status: RunStatus::Idle }
    }

    pub(crate) fn set(&mut self, status: RunStatus) {
        if status == self.status {
            return;
        }
        if let Some(counter) = self.counts.counter(self.status) {
            counter.fetch_sub(1, Ordering::Relaxed);
        }
        if let Some(counter) = self.counts.counter(status) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.status = status;
    }
}

impl Drop for CountedRun {
    fn drop(&mut self) {
        self.set(RunStatus::Idle);
    }
}
