//! The storage of a writer, and the thread that commits to it while the writer plans on.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::StorageError;
use crate::storage::{Storage, StorageResult, View, Views, Write};

/// A storage with a thread of its own for commits that are not waited for. While one is under way the storage is left
/// alone; everything else is done by whoever asks.
#[derive(Debug)]
pub(crate) struct CommitThread {
    storage: Arc<Mutex<Box<dyn Storage>>>,
    readers: Arc<dyn Views + Send + Sync>,
    is_shared: bool,
    /// Nothing when the thread is to end.
    begun: Option<SyncSender<Vec<Write>>>,
    done: Receiver<CommitOutcome>,
    thread: Option<JoinHandle<()>>,
}

/// What has become of a commit, and what was in it.
pub(crate) struct CommitOutcome {
    pub(crate) writes: Vec<Write>,
    pub(crate) result: StorageResult<()>,
}

impl CommitThread {
    pub(crate) fn start(storage: Box<dyn Storage>) -> StorageResult<Self> {
        let (readers, is_shared) = (storage.readers(), storage.is_shared());
        let storage = Arc::new(Mutex::new(storage));
        let (begun, to_do) = sync_channel::<Vec<Write>>(1);
        let (tell, done) = sync_channel(1);
        let shared = Arc::clone(&storage);
        let work = move || {
            for writes in to_do {
                let result = lock(&shared).commit(&writes);
                if tell.send(CommitOutcome { writes, result }).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("recount-commit".to_owned())
            .spawn(work)
            .map_err(|error| StorageError::Failed(format!("cannot start a thread: {error}")))?;
        Ok(Self { storage, readers, is_shared, begun: Some(begun), done, thread: Some(thread) })
    }

    /// Begins a commit. There is none under way.
    pub(crate) fn begin(&self, writes: Vec<Write>) -> Result<(), CommitOutcome> {
        let gone = |writes| CommitOutcome { writes, result: Err(gone()) };
        let Some(begun) = &self.begun else { return Err(gone(writes)) };
        begun.send(writes).map_err(|unsent| gone(unsent.0))
    }

    /// Waits for the commit that is under way.
    pub(crate) fn wait(&self) -> CommitOutcome {
        self.done.recv().unwrap_or_else(|_| CommitOutcome { writes: Vec::new(), result: Err(gone()) })
    }
}

impl Drop for CommitThread {
    fn drop(&mut self) {
        self.begun = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

fn gone() -> StorageError {
    StorageError::Failed("the thread that commits is gone".to_owned())
}

fn lock(storage: &Mutex<Box<dyn Storage>>) -> MutexGuard<'_, Box<dyn Storage>> {
    storage.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is seen is what is committed, also while a commit is under way.
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
