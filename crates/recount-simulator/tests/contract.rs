//! Runs the contract suite on every storage.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use recount_log::{MemoryStorage, Options, SqliteStorage, StorageError};
use recount_simulator::contract;

#[test]
fn in_memory() {
    contract::check(|| Ok(MemoryStorage::default())).unwrap_or_else(|broken| panic!("{broken}"));
}

#[test]
fn in_sqlite() {
    let mut directories = Vec::new();
    let new = || {
        let directory = tempfile::tempdir().map_err(|error| StorageError::Failed(error.to_string()))?;
        let storage = SqliteStorage::open(directory.path(), &mut Options::default());
        directories.push(directory);
        storage
    };
    contract::check(new).unwrap_or_else(|broken| panic!("{broken}"));
}
