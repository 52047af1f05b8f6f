//! A storage whose commits somebody looks at.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::storage::{Storage, Stored, View, Views, Write};

/// A commit that has been made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commit {
    /// How many entries it had, of all sessions together.
    pub entries: usize,
    /// How long it took until they were as durable as was promised.
    pub took: Duration,
}

/// Somebody who looks at commits.
#[derive(Clone)]
pub(crate) struct Observer(pub(crate) Arc<dyn Fn(Commit) + Send + Sync>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// A storage, and somebody who looks at its commits.
#[derive(Debug)]
pub(crate) struct Observed<S> {
    storage: S,
    observer: Observer,
}

impl<S> Observed<S> {
    pub(crate) fn new(storage: S, observer: Observer) -> Self {
        Self { storage, observer }
    }
}

impl<S: Storage> Views for Observed<S> {
    fn view(&self) -> Stored<Box<dyn View + '_>> {
        self.storage.view()
    }

    fn back_up(&self, to: &Path) -> Stored<()> {
        self.storage.back_up(to)
    }
}

impl<S: Storage> Storage for Observed<S> {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        self.storage.readers()
    }

    fn commit(&mut self, writes: &[Write]) -> Stored<()> {
        let began = Instant::now();
        self.storage.commit(writes)?;
        let entries =
            writes.iter().map(|write| if let Write::Append(append) = write { append.entries.len() } else { 0 });
        (self.observer.0)(Commit { entries: entries.sum(), took: began.elapsed() });
        Ok(())
    }

    fn is_shared(&self) -> bool {
        self.storage.is_shared()
    }

    fn shrink(&mut self) -> Stored<bool> {
        self.storage.shrink()
    }

    fn flush(&mut self) -> Stored<()> {
        self.storage.flush()
    }

    fn close(&mut self) -> Stored<()> {
        self.storage.close()
    }
}
