//! Commits on a thread of its own, so that the writer thread can plan the next batch meanwhile.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::StorageError;
use crate::storage::{Storage, StorageResult, View, Views, Write};

/// A storage with a thread for commits. All other operations run on the calling thread; none of them may be used while a
/// commit is in progress.
#[derive(Debug)]
pub(crate) struct CommitThread {
    storage: Arc<Mutex<Box<dyn Storage>>>,
    readers: Arc<dyn Views + Send + Sync>,
    is_shared: bool,
    /// `None` once the thread was asked to end.
    batches: Option<SyncSender<Vec<Write>>>,
    outcomes: Receiver<CommitOutcome>,
    thread: Option<JoinHandle<()>>,
}

/// The result of a commit, and its writes.
pub(crate) struct CommitOutcome {
    pub(crate) writes: Vec<Write>,
    pub(crate) result: StorageResult<()>,
}

impl CommitThread {
    pub(crate) fn start(storage: Box<dyn Storage>) -> StorageResult<Self> {
        let (readers, is_shared) = (storage.readers(), storage.is_shared());
        let storage = Arc::new(Mutex::new(storage));
        let (batches, batch_receiver) = sync_channel::<Vec<Write>>(1);
        let (outcome_sender, outcomes) = sync_channel(1);
        let shared = Arc::clone(&storage);
        let run = move || {
            for writes in batch_receiver {
                let result = lock(&shared).commit(&writes);
                if outcome_sender.send(CommitOutcome { writes, result }).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("recount-commit".to_owned())
            .spawn(run)
            .map_err(|error| StorageError::Failed(format!("cannot start a thread: {error}")))?;
        Ok(Self { storage, readers, is_shared, batches: Some(batches), outcomes, thread: Some(thread) })
    }

    /// Starts a commit. No other one may be in progress. Returns the failed outcome if the thread has ended.
    pub(crate) fn start_commit(&self, writes: Vec<Write>) -> Result<(), CommitOutcome> {
        let failed = |writes| CommitOutcome { writes, result: Err(thread_ended()) };
        let Some(batches) = &self.batches else { return Err(failed(writes)) };
        batches.send(writes).map_err(|unsent| failed(unsent.0))
    }

    /// Waits for the commit in progress.
    pub(crate) fn wait(&self) -> CommitOutcome {
        self.outcomes.recv().unwrap_or_else(|_| CommitOutcome { writes: Vec::new(), result: Err(thread_ended()) })
    }
}

impl Drop for CommitThread {
    fn drop(&mut self) {
        self.batches = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported as a failed commit.
            let _ = thread.join();
        }
    }
}

fn thread_ended() -> StorageError {
    StorageError::Failed("the commit thread has ended".to_owned())
}

fn lock(storage: &Mutex<Box<dyn Storage>>) -> MutexGuard<'_, Box<dyn Storage>> {
    storage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Views show the committed data, also while a commit is in progress.
impl Views for CommitThread {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        self.readers.view()
    }

    fn back_up(&self, to: &Path) -> StorageResult<()> {
        self.readers.back_up(to)
    }
}

impl Storage for CommitThread {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        Arc::clone(&self.readers)
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        lock(&self.storage).commit(writes)
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn shrink(&mut self) -> StorageResult<bool> {
        lock(&self.storage).shrink()
    }

    fn flush(&mut self) -> StorageResult<()> {
        lock(&self.storage).flush()
    }

    fn close(&mut self) -> StorageResult<()> {
        lock(&self.storage).close()
    }
}
