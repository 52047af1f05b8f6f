//! A storage that fails after a number of entries, as in a crash of the machine.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use recount_log::StorageError;
use recount_log::storage::{Storage, StorageResult, View, Views, Write};
use tokio::sync::watch;

/// A storage that accepts a number of entries and then fails.
#[derive(Debug)]
pub(crate) struct FailingStorage<S> {
    inner: S,
    remaining: Arc<AtomicI64>,
    failed: watch::Sender<bool>,
}

/// Observes the failure of a storage, and ends it.
#[derive(Debug)]
pub(crate) struct StorageFailure {
    remaining: Arc<AtomicI64>,
    failed: watch::Sender<bool>,
}

impl StorageFailure {
    pub(crate) async fn wait(&self) {
        let _ = self.failed.subscribe().wait_for(|failed| *failed).await;
    }

    pub(crate) fn recover(&self) {
        self.remaining.store(i64::MAX, Ordering::SeqCst);
        self.failed.send_replace(false);
    }
}

impl<S> FailingStorage<S> {
    pub(crate) fn after(entries: i64, inner: S) -> (Self, StorageFailure) {
        let (remaining, failed) = (Arc::new(AtomicI64::new(entries)), watch::Sender::new(false));
        (
            Self { inner, remaining: Arc::clone(&remaining), failed: failed.clone() },
            StorageFailure { remaining, failed },
        )
    }
}

impl<S: Views> Views for FailingStorage<S> {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        self.inner.view()
    }

    fn back_up(&self, to: &Path) -> StorageResult<()> {
        self.inner.back_up(to)
    }
}

impl<S: Storage> Storage for FailingStorage<S> {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        self.inner.readers()
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        let entries: i64 = writes
            .iter()
            .map(|write| match write {
                Write::Append(append) => append.entries.len() as i64,
                _ => 0,
            })
            .sum();
        if *self.failed.borrow() || self.remaining.fetch_sub(entries, Ordering::SeqCst) < entries {
            self.failed.send_replace(true);
            return Err(StorageError::Failed("the storage has failed".to_owned()));
        }
        self.inner.commit(writes)
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }
}
