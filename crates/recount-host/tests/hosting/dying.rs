//! A storage that dies after so many entries, as the machine under a process does.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use recount_log::StorageError;
use recount_log::storage::{Storage, StorageResult, View, Views, Write};
use tokio::sync::watch;

/// A storage that takes so many entries and no more.
#[derive(Debug)]
pub(crate) struct Dying<S> {
    inner: S,
    left: Arc<AtomicI64>,
    died: watch::Sender<bool>,
}

/// Tells when a storage has died, and brings it back.
#[derive(Debug)]
pub(crate) struct Death {
    left: Arc<AtomicI64>,
    died: watch::Sender<bool>,
}

impl Death {
    pub(crate) async fn came(&self) {
        let _ = self.died.subscribe().wait_for(|died| *died).await;
    }

    pub(crate) fn is_over(&self) {
        self.left.store(i64::MAX, Ordering::SeqCst);
        self.died.send_replace(false);
    }
}

impl<S> Dying<S> {
    pub(crate) fn after(entries: i64, inner: S) -> (Self, Death) {
        let (left, died) = (Arc::new(AtomicI64::new(entries)), watch::Sender::new(false));
        (Self { inner, left: Arc::clone(&left), died: died.clone() }, Death { left, died })
    }
}

impl<S: Views> Views for Dying<S> {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        self.inner.view()
    }

    fn back_up(&self, to: &Path) -> StorageResult<()> {
        self.inner.back_up(to)
    }
}

impl<S: Storage> Storage for Dying<S> {
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
        if *self.died.borrow() || self.left.fetch_sub(entries, Ordering::SeqCst) < entries {
            self.died.send_replace(true);
            return Err(StorageError::Failed("it is dead".to_owned()));
        }
        self.inner.commit(writes)
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }
}
