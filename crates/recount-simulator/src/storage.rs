//! A storage that fails when it is told to.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use recount_log::storage::{Storage, Stored, View, Views, Write};
use recount_log::{MemoryStorage, StorageError};

/// What happens at the next commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The process is gone before anything of the commit is written.
    DeathBefore,
    /// The process is gone when everything is written, and nobody has been told yet.
    DeathAfter,
    /// There is no room.
    Full,
}

/// A storage in memory, with a disk below it, that fails when it is told to.
///
/// What was committed is in memory at once and on the disk after a [`sync`](Self::sync). A process that dies loses
/// nothing of it; a machine that loses its power is left with what is on the disk.
#[derive(Debug, Clone, Default)]
pub struct FaultyStorage {
    memory: MemoryStorage,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    disk: MemoryStorage,
    /// The fault, and how many commits go well before it.
    fault: Option<(Fault, usize)>,
    is_dead: bool,
}

impl FaultyStorage {
    /// Lets a commit fail, after some that go well.
    pub fn fail(&self, fault: Fault, after: usize) {
        self.shared().fault = Some((fault, after));
    }

    /// Ends all faults. Says whether the process died of one.
    pub fn heal(&self) -> bool {
        let mut shared = self.shared();
        shared.fault = None;
        std::mem::take(&mut shared.is_dead)
    }

    /// Whether the process has died of a fault.
    pub fn is_dead(&self) -> bool {
        self.shared().is_dead
    }

    /// Brings everything that is committed to the disk.
    pub fn sync(&self) {
        let copy = self.memory.copy();
        self.shared().disk = copy;
    }

    /// What is left after a power loss. Entries may be gone, so every session has a new epoch.
    pub fn lose_power(&mut self, number: impl FnMut() -> u64) {
        let mut disk = self.shared().disk.copy();
        disk.renew_epochs(number);
        self.memory = disk;
        self.sync();
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
        Some(fault)
    }
}

impl Views for FaultyStorage {
    fn view(&self) -> Stored<Box<dyn View + '_>> {
        self.memory.view()
    }

    fn back_up(&self, to: &Path) -> Stored<()> {
        self.memory.back_up(to)
    }
}

impl Storage for FaultyStorage {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        self.memory.readers()
    }

    fn commit(&mut self, writes: &[Write]) -> Stored<()> {
        let dead = || StorageError::Failed("the process is gone".to_owned());
        if self.shared().is_dead {
            return Err(dead());
        }
        match self.fault() {
            None => self.memory.commit(writes),
            Some(Fault::Full) => Err(StorageError::Full("so it was decided".to_owned())),
            Some(fault) => {
                if fault == Fault::DeathAfter {
                    self.memory.commit(writes)?;
                }
                self.shared().is_dead = true;
                Err(dead())
            }
        }
    }
}
