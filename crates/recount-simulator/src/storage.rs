//! A storage that fails when it is told to.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::storage::{Storage, StorageResult, View, Views, Write};
use recount_log::{Durability, Frame, MemoryStorage, Options, SqliteStorage, StorageError};

use crate::defect::{Defect, Planted};

/// What happens at the next commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process is gone before anything of the commit is written.
    DeathBefore,
    /// The process is gone when everything is written, and nobody has been told yet.
    DeathAfter,
    /// There is no room.
    Full,
    /// There is no room once, and then there is again.
    FullOnce,
}

/// A storage that fails when it is told to: one in memory with a disk below it, or a SQLite database.
///
/// What was committed in memory is on its disk after a [`sync`](Self::sync). A process that dies loses nothing of it; a
/// machine that loses its power is left with what is on the disk. A database cannot be made to lose what it has handed to
/// the system, so there a power loss only looks like one.
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

/// A database that can be closed without a word and opened again.
#[derive(Debug, Clone)]
struct Database {
    directory: PathBuf,
    storage: Arc<Mutex<Option<SqliteStorage>>>,
    readers: Arc<dyn Views + Send + Sync>,
    starts: usize,
}

impl Database {
    /// Opens the database as if the machine had been started so many times.
    fn open(directory: &Path, starts: usize) -> StorageResult<Self> {
        let mut options = Options::default().durability(Durability::Process).boot_id(format!("start {starts}"));
        let storage = SqliteStorage::open(directory, &mut options)?;
        let readers = storage.readers();
        Ok(Self { directory: directory.to_owned(), storage: Arc::new(Mutex::new(Some(storage))), readers, starts })
    }

    /// Ends without saying so, which is what a crash is, and is opened after the machine was started again.
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
    /// The fault, and how many commits go well before it.
    fault: Option<(Fault, usize)>,
    /// How many commits have failed, and nobody has been told so.
    failed: usize,
    is_dead: bool,
    planted: Option<Planted>,
}

impl FaultyStorage {
    /// A storage over a SQLite database in a directory.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn in_sqlite(directory: &Path) -> StorageResult<Self> {
        Ok(Self { below: Below::Sqlite(Database::open(directory, 0)?), shared: Arc::default() })
    }

    /// Lets a commit fail, after some that go well.
    pub fn fail(&self, fault: Fault, after: usize) {
        self.shared().fault = Some((fault, after));
    }

    /// Plants a defect.
    pub(crate) fn plant(&self, planted: Planted) {
        self.shared().planted = Some(planted);
    }

    /// Whether a planted defect shows at this occasion.
    pub(crate) fn shows(&self, defect: Defect) -> bool {
        self.shared().planted.as_mut().is_some_and(|planted| planted.shows(defect))
    }

    /// Whether a planted defect has shown.
    pub(crate) fn has_shown(&self) -> bool {
        self.shared().planted.is_some_and(|planted| planted.has_shown)
    }

    /// The defect that is planted.
    pub(crate) fn planted(&self) -> Option<Defect> {
        self.shared().planted.map(|planted| planted.defect)
    }

    /// Lets a planted defect show in what a reader gets.
    pub(crate) fn spoil_frames(&self, frames: &mut VecDeque<Frame>) {
        let Some(defect) = self.planted() else { return };
        if let Some(spoilt) = defect.spoil_frames(frames)
            && self.shows(defect)
        {
            *frames = spoilt;
        }
    }

    /// What a planted defect makes of a commit, if it shows in it.
    fn spoilt(&self, writes: &[Write]) -> StorageResult<Option<Vec<Write>>> {
        let Some(defect) = self.planted() else { return Ok(None) };
        let spoilt = defect.spoil(&*self.view()?, writes);
        Ok(spoilt.filter(|_| self.shows(defect)))
    }

    /// Lets the process be gone now.
    pub fn die(&self) {
        self.shared().is_dead = true;
    }

    /// Ends all faults. Says whether the process died of one.
    pub fn heal(&self) -> bool {
        let mut shared = self.shared();
        shared.fault = None;
        shared.failed = 0;
        std::mem::take(&mut shared.is_dead)
    }

    /// Whether a commit has failed that explains why somebody is told so. Each explains one answer.
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

    /// Brings everything that is committed to the disk.
    pub fn sync(&self) {
        if let Below::Memory(memory) = &self.below {
            let copy = memory.copy();
            self.shared().disk = copy;
        }
    }

    /// What is left after a power loss. Every session has a new epoch, because entries may be gone; says whether any are.
    ///
    /// # Errors
    ///
    /// When the storage cannot be opened again.
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
