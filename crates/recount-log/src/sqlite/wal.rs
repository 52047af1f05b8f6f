//! The write-ahead log of SQLite, and the thread that empties it.
//!
//! Commits only ever append to it. What is in it is moved into the database by a thread of its own, so that no append has
//! to wait for that. Only to begin it anew takes the place of a commit, and that is done when nothing has been written for a
//! while, or when it has become very large.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::failed;
use crate::StorageError;
use crate::storage::StorageResult;

/// What has come in the meantime is moved when it is this much, so that there is never much to move.
const MUCH: u64 = 16 << 20;
/// It is begun anew at this size even while it is written to.
const LARGE: u64 = 256 << 20;
/// Nobody writes for so long: it is emptied.
const IDLE: Duration = Duration::from_millis(500);
/// How long emptying may hold up a commit that comes in between, and how long it waits for readers.
const PATIENCE: Duration = Duration::from_millis(100);

/// The thread, and what it is told.
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
    /// Counts the commits.
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

    /// Says that something was committed.
    pub(super) fn committed(&self) {
        let mut state = self.shared.lock();
        state.commits += 1;
        if state.is_waiting {
            self.shared.changed.notify_one();
        }
    }

    /// Lets the thread end.
    pub(super) fn stop(&mut self) {
        self.shared.lock().is_closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing more to say.
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
        give_way();
        let mut seen = 0;
        while let Some(commits) = self.next_commit(seen) {
            seen = commits;
            let mut moved = 0;
            loop {
                let mut state = self.shared.lock();
                // Until the first commit after that, so that a busy writer is not slowed down by waking this thread.
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
                // A reader or a writer may be in the way; there is always a next time.
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

    /// Waits for a commit that has not been seen. Nothing when the work is over.
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

/// Lets all others go before this thread where there are not enough processors for everybody: nobody waits for it.
fn give_way() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}

/// The write-ahead log of a database.
pub(super) fn path(database: &Path) -> PathBuf {
    database.with_extension("sqlite-wal")
}

fn length(file: &Path) -> u64 {
    std::fs::metadata(file).map(|metadata| metadata.len()).unwrap_or_default()
}

/// Makes room on a full disk: what the write-ahead log takes up, if what is in it finds its place in the database. Says
/// whether that was so.
pub(super) fn make_room(database: &Path) -> bool {
    let log = path(database);
    let before = length(&log);
    let emptied = Connection::open(database).map_err(failed).and_then(|connection| {
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        empty(&connection)
    });
    emptied.is_ok() && length(&log) < before
}

/// Moves everything into the database: first what disturbs nobody, then what has come meanwhile, and then the rest, for
/// which commits have to wait.
pub(super) fn empty(connection: &Connection) -> StorageResult<()> {
    for mode in ["PASSIVE", "PASSIVE", "TRUNCATE"] {
        checkpoint(connection, mode)?;
    }
    Ok(())
}

fn checkpoint(connection: &Connection, mode: &str) -> StorageResult<()> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(())).map_err(failed)
}
