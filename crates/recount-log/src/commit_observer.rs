//! Reports commits to a callback.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::storage::{Storage, StorageResult, View, Views, Write};

/// A successful commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitInfo {
    /// The number of entries in the commit, of all sessions.
    pub entries: usize,
    /// The time until the entries were durable.
    pub duration: Duration,
}

/// The callback for commits.
#[derive(Clone)]
pub(crate) struct CommitObserver(pub(crate) Arc<dyn Fn(CommitInfo) + Send + Sync>);

impl fmt::Debug for CommitObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommitObserver")
    }
}

/// A storage that reports its commits.
#[derive(Debug)]
pub(crate) struct ObservedStorage<S> {
    storage: S,
    observer: CommitObserver,
}

impl<S> ObservedStorage<S> {
    pub(crate) fn new(storage: S, observer: CommitObserver) -> Self {
        Self { storage, observer }
    }
}

impl<S: Storage> Views for ObservedStorage<S> {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        self.storage.view()
    }

    fn back_up(&self, to: &Path) -> StorageResult<()> {
        self.storage.back_up(to)
    }
}

impl<S: Storage> Storage for ObservedStorage<S> {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        self.storage.readers()
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        let began = Instant::now();
        self.storage.commit(writes)?;
        let entries =
            writes.iter().map(|write| if let Write::Append(append) = write { append.entries.len() } else { 0 });
        (self.observer.0)(CommitInfo { entries: entries.sum(), duration: began.elapsed() });
        Ok(())
    }

    fn is_shared(&self) -> bool {
        self.storage.is_shared()
    }

    fn shrink(&mut self) -> StorageResult<bool> {
        self.storage.shrink()
    }

    fn flush(&mut self) -> StorageResult<()> {
        self.storage.flush()
    }

    fn close(&mut self) -> StorageResult<()> {
        self.storage.close()
    }
}
