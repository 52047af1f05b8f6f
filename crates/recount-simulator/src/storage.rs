//! A storage with injected faults.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::storage::{Storage, StorageResult, View, Views, Write};
use recount_log::{Durability, Frame, MemoryStorage, Options, SqliteStorage, StorageError};

use crate::defect::{Defect, Planted};

/// A fault of the next commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process dies before the commit is written.
    DeathBefore,
    /// The process dies after the commit is written and before it returns.
    DeathAfter,
    /// The disk is full.
    Full,
    /// The disk is full for one commit.
    FullOnce,
}

/// A storage with injected faults: in memory with a simulated disk, or a SQLite database.
///
/// Commits in memory reach the simulated disk with [`sync`](Self::sync). A crash of the process loses nothing; a power loss
/// loses what is not on the disk. A database cannot lose data that was handed to the system, so there a power loss is only
/// simulated by another boot id.
#[derive(Debug, Clone, Default)]
pub struct FaultyStorage {
    below: Below,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Clone)]
enum Below {
    Memory(MemoryStorage),
    Sqlite(Database),
}

impl Default for Below {
    fn default() -> Self {
        Self::Memory(MemoryStorage::default())
    }
}

/// A database that can be dropped without a clean close, and opened again.
#[derive(Debug, Clone)]
struct Database {
    directory: PathBuf,
    storage: Arc<Mutex<Option<SqliteStorage>>>,
    readers: Arc<dyn Views + Send + Sync>,
    starts: usize,
}

impl Database {
    /// Opens the database with the boot id of a number of machine starts.
    fn open(directory: &Path, starts: usize) -> StorageResult<Self> {
        let mut options = Options::default().durability(Durability::Process).boot_id(format!("start {starts}"));
        let storage = SqliteStorage::open(directory, &mut options)?;
        let readers = storage.readers();
        Ok(Self { directory: directory.to_owned(), storage: Arc::new(Mutex::new(Some(storage))), readers, starts })
    }

    /// Drops the database without a clean close, and opens it with the next boot id.
    fn crash(&mut self) -> StorageResult<()> {
        self.storage().take();
        *self = Self::open(&self.directory, self.starts + 1)?;
        Ok(())
    }

    fn storage(&self) -> MutexGuard<'_, Option<SqliteStorage>> {
        self.storage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Shared {
    disk: MemoryStorage,
    /// The fault, and the number of successful commits before it.
    fault: Option<(Fault, usize)>,
    /// The number of failed commits that no response has reported yet.
    failed: usize,
    is_dead: bool,
    planted: Option<Planted>,
}

impl FaultyStorage {
    /// Creates a storage on a SQLite database in a directory.
    ///
    /// # Errors
    ///
    /// If the database cannot be opened.
    pub fn in_sqlite(directory: &Path) -> StorageResult<Self> {
        Ok(Self { below: Below::Sqlite(Database::open(directory, 0)?), shared: Arc::default() })
    }

    /// Injects a fault after a number of successful commits.
    pub fn fail(&self, fault: Fault, after: usize) {
        self.shared().fault = Some((fault, after));
    }

    /// Plants a defect.
    pub(crate) fn plant(&self, planted: Planted) {
        self.shared().planted = Some(planted);
    }

    /// Whether the planted defect occurs at this opportunity.
    pub(crate) fn shows(&self, defect: Defect) -> bool {
        self.shared().planted.as_mut().is_some_and(|planted| planted.shows(defect))
    }

    /// Whether the planted defect has occurred.
    pub(crate) fn has_shown(&self) -> bool {
        self.shared().planted.is_some_and(|planted| planted.has_shown)
    }

    /// The planted defect.
    pub(crate) fn planted(&self) -> Option<Defect> {
        self.shared().planted.map(|planted| planted.defect)
    }

    /// Applies the planted defect to the frames of a reader.
    pub(crate) fn spoil_frames(&self, frames: &mut VecDeque<Frame>) {
        let Some(defect) = self.planted() else { return };
        if let Some(spoilt) = defect.spoil_frames(frames)
            && self.shows(defect)
        {
            *frames = spoilt;
        }
    }

    /// Applies the planted defect to a commit. `None` if it does not occur in it.
    fn spoilt(&self, writes: &[Write]) -> StorageResult<Option<Vec<Write>>> {
        let Some(defect) = self.planted() else { return Ok(None) };
        let spoilt = defect.spoil(&*self.view()?, writes);
        Ok(spoilt.filter(|_| self.shows(defect)))
    }

    /// Kills the process.
    pub fn die(&self) {
        self.shared().is_dead = true;
    }

    /// Clears all faults. Returns whether the process died of one.
    pub fn heal(&self) -> bool {
        let mut shared = self.shared();
        shared.fault = None;
        shared.failed = 0;
        std::mem::take(&mut shared.is_dead)
    }

    /// Whether a failed commit explains a failed request. Each failed commit explains one.
    pub fn explain_failure(&self) -> bool {
        let mut shared = self.shared();
        let left = shared.failed.checked_sub(1);
        shared.failed = left.unwrap_or_default();
        left.is_some()
    }

    /// Whether the process has died of a fault.
    pub fn is_dead(&self) -> bool {
        self.shared().is_dead
    }

    /// Writes all committed data to the simulated disk.
    pub fn sync(&self) {
        if let Below::Memory(memory) = &self.below {
            let copy = memory.copy();
            self.shared().disk = copy;
        }
    }

    /// Reverts to the state on the disk. Every session gets a new epoch. Returns whether entries were lost.
    ///
    /// # Errors
    ///
    /// If the storage cannot be opened again.
    pub fn lose_power(&mut self, number: impl FnMut() -> u64) -> StorageResult<bool> {
        match &mut self.below {
            Below::Memory(memory) => {
                let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
                *memory = shared.disk.copy();
                drop(shared);
                memory.delete_staged();
                let is_empty = memory.view()?.session_count()? == 0;
                if (is_empty || !self.shows(Defect::KeepsEpochs))
                    && let Below::Memory(memory) = &mut self.below
                {
                    memory.renew_epochs(number);
                }
                self.sync();
                Ok(true)
            }
            Below::Sqlite(database) => {
                database.crash()?;
                Ok(false)
            }
        }
    }

    fn commit_below(&mut self, writes: &[Write]) -> StorageResult<()> {
        match &mut self.below {
            Below::Memory(memory) => memory.commit(writes),
            Below::Sqlite(database) => match &mut *database.storage() {
                Some(storage) => storage.commit(writes),
                None => Err(StorageError::Failed("the database is closed".to_owned())),
            },
        }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fault of this commit.
    fn fault(&self) -> Option<Fault> {
        let mut shared = self.shared();
        let (fault, after) = shared.fault?;
        if after > 0 {
            shared.fault = Some((fault, after - 1));
            return None;
        }
        if fault == Fault::FullOnce {
            shared.fault = None;
        }
        Some(fault)
    }
}

impl Views for FaultyStorage {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        match &self.below {
            Below::Memory(memory) => memory.view(),
            Below::Sqlite(database) => database.readers.view(),
        }
    }
}

impl Storage for FaultyStorage {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        match &self.below {
            Below::Memory(memory) => memory.readers(),
            Below::Sqlite(database) => Arc::clone(&database.readers),
        }
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        let dead = || StorageError::Failed("the process is gone".to_owned());
        if self.shared().is_dead {
            return Err(dead());
        }
        match self.fault() {
            None => match self.spoilt(writes)? {
                Some(spoilt) => {
                    let result = self.commit_below(&spoilt);
                    if let (Err(_), Some(planted)) = (&result, &mut self.shared().planted) {
                        planted.has_shown = false;
                    }
                    result
                }
                None => {
                    if self.shows(Defect::ClaimsACommit) {
                        return Ok(());
                    }
                    self.commit_below(writes)?;
                    if self.shows(Defect::DeniesACommit) {
                        self.shared().failed += 1;
                        return Err(StorageError::Full("so it is said".to_owned()));
                    }
                    Ok(())
                }
            },
            Some(Fault::Full | Fault::FullOnce) => {
                self.shared().failed += 1;
                Err(StorageError::Full("so it was decided".to_owned()))
            }
            Some(fault @ (Fault::DeathBefore | Fault::DeathAfter)) => {
                if fault == Fault::DeathAfter {
                    self.commit_below(writes)?;
                }
                self.die();
                Err(dead())
            }
        }
    }
}
