//! The lock on the data directory, which one process holds at a time.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::StorageError;
use crate::storage::StorageResult;

/// The lock. The operating system releases it when the process ends.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Acquires the lock of a directory. The error contains the id of the process that holds it.
    pub(super) fn acquire(directory: &Path) -> StorageResult<Self> {
        let path = directory.join("lock");
        let failed = |what: &str, error: std::io::Error| {
            StorageError::Failed(format!("cannot {what} {}: {error}", path.display()))
        };
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(|error| failed("open", error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // The holder may not have written its id yet.
                let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                return Err(StorageError::Locked { path: directory.to_owned(), pid });
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", error)),
        }
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())?;
            file.flush()
        };
        write(&mut file).map_err(|error| failed("write", error))?;
        Ok(Self { _file: file })
    }
}
