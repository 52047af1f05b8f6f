//! Checkpoints SQLite's write-ahead log on a thread of its own.
//!
//! Commits append to the write-ahead log. The checkpoint thread moves its pages into the database, so that no append waits
//! for that. Only restarting the write-ahead log blocks commits. This happens when there were no writes for a while, or when
//! the file has become very large.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::failed;
use crate::StorageError;
use crate::storage::StorageResult;

/// The number of new bytes after which pages are moved, so that each step stays small.
const MUCH: u64 = 16 << 20;
/// The size in bytes at which the write-ahead log is restarted even under load.
const LARGE: u64 = 256 << 20;
/// The time without commits after which the write-ahead log is emptied.
const IDLE: Duration = Duration::from_millis(500);
/// The maximum time that emptying may delay a commit, and that it waits for readers.
const PATIENCE: Duration = Duration::from_millis(100);

/// The checkpoint thread and its signals.
#[derive(Debug)]
pub(super) struct Checkpointer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The number of commits so far.
    commits: u64,
    is_waiting: bool,
    is_closing: bool,
}

impl Checkpointer {
    pub(super) fn start(path: &Path) -> StorageResult<Self> {
        let connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(failed)?;
        let shared = Arc::new(Shared::default());
        let work = Work { shared: Arc::clone(&shared), connection, log: self::path(path) };
        let thread = std::thread::Builder::new()
            .name("recount-checkpoint".to_owned())
            .spawn(move || work.run())
            .map_err(|error| StorageError::Failed(format!("cannot start a thread: {error}")))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Signals a commit.
    pub(super) fn committed(&self) {
        let mut state = self.shared.lock();
        state.commits += 1;
        if state.is_waiting {
            self.shared.changed.notify_one();
        }
    }

    /// Ends the thread.
    pub(super) fn stop(&mut self) {
        self.shared.lock().is_closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread loses no data.
            let _ = thread.join();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Work {
    shared: Arc<Shared>,
    connection: Connection,
    log: PathBuf,
}

impl Work {
    fn run(self) {
        lower_priority();
        let mut seen = 0;
        while let Some(commits) = self.next_commit(seen) {
            seen = commits;
            let mut moved = 0;
            loop {
                let mut state = self.shared.lock();
                // Sleep without waiting for signals, so that a busy writer does not spend time on waking this thread.
                state.is_waiting = false;
                let (state, _) = self
                    .shared
                    .changed
                    .wait_timeout_while(state, IDLE, |state| !state.is_closing)
                    .unwrap_or_else(PoisonError::into_inner);
                if state.is_closing {
                    return;
                }
                let is_idle = state.commits == seen;
                seen = state.commits;
                drop(state);
                let length = self.length();
                // A reader or writer may block the checkpoint; it is tried again later.
                if is_idle || length >= LARGE {
                    let _ = empty(&self.connection);
                    moved = 0;
                } else if length.saturating_sub(moved) >= MUCH {
                    let _ = checkpoint(&self.connection, "PASSIVE");
                    moved = length;
                }
                if is_idle {
                    break;
                }
            }
        }
    }

    /// Waits for the next commit. `None` when the thread must end.
    fn next_commit(&self, seen: u64) -> Option<u64> {
        let mut state = self.shared.lock();
        state.is_waiting = true;
        let state = self
            .shared
            .changed
            .wait_while(state, |state| state.commits == seen && !state.is_closing)
            .unwrap_or_else(PoisonError::into_inner);
        (!state.is_closing).then_some(state.commits)
    }

    fn length(&self) -> u64 {
        length(&self.log)
    }
}

/// Lowers the priority of this thread, because no request waits for it.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}

/// The path of a database's write-ahead log.
pub(super) fn path(database: &Path) -> PathBuf {
    database.with_extension("sqlite-wal")
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map(|metadata| metadata.len()).unwrap_or_default()
}

/// Frees the space of the write-ahead log on a full disk, if its pages fit into the database. Returns whether it did.
pub(super) fn make_room(database: &Path) -> bool {
    let log = path(database);
    let before = length(&log);
    let emptied = Connection::open(database).map_err(failed).and_then(|connection| {
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        empty(&connection)
    });
    emptied.is_ok() && length(&log) < before
}

/// Moves all pages into the database: first those that block no commit, then newer ones, and then the rest, which blocks
/// commits.
pub(super) fn empty(connection: &Connection) -> StorageResult<()> {
    for mode in ["PASSIVE", "PASSIVE", "TRUNCATE"] {
        checkpoint(connection, mode)?;
    }
    Ok(())
}

fn checkpoint(connection: &Connection, mode: &str) -> StorageResult<()> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(())).map_err(failed)
}
