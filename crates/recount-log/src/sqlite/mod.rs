//! A log in a SQLite database.
//!
//! One connection writes. Commits append to the write-ahead log and do not block readers; [`wal`] checkpoints that log on a
//! thread of its own. All data is in one file, which other programs can open.

mod lock;
mod meta;
mod readers;
mod schema;
mod view;
mod wal;
mod write;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use rusqlite::{Connection, ErrorCode};

pub use readers::SqliteReaders;

use crate::commit_observer::{CommitInfo, CommitObserver};
use crate::data_dir::make_private_file;
use crate::storage::{Storage, StorageResult, View, Views, Write};
use crate::{Cursor, Env, SessionKey, StorageError, make_private_directory};
use lock::DirectoryLock;
use view::Borrowed;
use wal::Checkpointer;

/// The name of the database in the data directory.
const FILE: &str = "log.sqlite";
/// The time that a commit waits for a lock on the database, held by the checkpoint thread or by another program.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The polling interval while waiting for the lock. SQLite's own handler sleeps for up to 100 ms.
const LOCK_POLL_INTERVAL: Duration = Duration::from_micros(500);
/// The number of pages that one step of [`Storage::shrink`] returns.
const SHRINK_PAGES: usize = 256;
/// The maximum number of sessions whose number and head are cached.
const PLACES: usize = 65_536;

/// The failures that an acknowledged entry survives.
///
/// ```
/// use recount_log::Durability;
///
/// assert_eq!(Durability::default(), Durability::Disk);
/// assert_eq!("process".parse(), Ok(Durability::Process));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, including `kill -9`. A power loss may lose the last entries; every session then gets a new
    /// epoch, so that readers notice.
    Process,
    /// Also a power loss: an entry is on the disk when it is acknowledged.
    #[default]
    Disk,
}

impl Durability {
    /// Returns the name, as in configuration files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Disk => "disk",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl std::str::FromStr for Durability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "process" => Ok(Self::Process),
            "disk" => Ok(Self::Disk),
            _ => Err(format!("unknown durability {text:?}, expected one of process, disk")),
        }
    }
}

/// The options for opening a log.
///
/// ```
/// use recount_log::{Durability, Options};
///
/// let options = Options::default().durability(Durability::Process).max_bytes(1 << 30);
/// ```
#[derive(Debug, Default)]
pub struct Options {
    durability: Durability,
    max_bytes: Option<u64>,
    boot_id: Option<String>,
    env: Env,
    observer: Option<CommitObserver>,
}

impl Options {
    /// Sets the durability of acknowledged entries.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Limits the size of the database. Beyond it, writes fail with [`StorageError::Full`].
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Replaces the clock, the random numbers and the ids.
    pub fn env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }

    /// Overrides the boot id of the machine, to simulate a restart after a power loss.
    pub fn boot_id(mut self, boot_id: impl Into<String>) -> Self {
        self.boot_id = Some(boot_id.into());
        self
    }

    /// Sets a callback for commits. It runs on the committing thread and delays the next commit.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use recount_log::{Log, Options};
    /// use recount_message::{CustomEvent, Event, Msg};
    ///
    /// let entries = Arc::new(AtomicUsize::new(0));
    /// let counted = Arc::clone(&entries);
    /// let options = Options::default().on_commit(move |commit| {
    ///     counted.fetch_add(commit.entries, Ordering::Relaxed);
    /// });
    /// let log = Log::open(directory, options)?;
    /// let session = log.create("chat".parse()?).await?;
    /// session.append([&Event::new(CustomEvent::message(&Msg::user("Alice", "Hi")))]).await?;
    /// assert_eq!(entries.load(Ordering::Relaxed), 1);
    /// # log.close().await?;
    /// # Ok(()) }
    /// ```
    pub fn on_commit(mut self, observer: impl Fn(CommitInfo) + Send + Sync + 'static) -> Self {
        self.observer = Some(CommitObserver(Arc::new(observer)));
        self
    }

    pub(crate) fn take_observer(&mut self) -> Option<CommitObserver> {
        self.observer.take()
    }

    pub(crate) fn into_env(self) -> Env {
        self.env
    }
}

/// The storage of a log in a SQLite database.
pub struct SqliteStorage {
    connection: Connection,
    readers: Arc<SqliteReaders>,
    checkpointer: Checkpointer,
    /// The cached number and head of sessions. There is no other writer, so they stay valid.
    places: HashMap<SessionKey, Place>,
    path: PathBuf,
    /// The last field, so that the lock is released after everything else is dropped.
    _lock: DirectoryLock,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    number: i64,
    head: Cursor,
}

impl SqliteStorage {
    /// Opens the log in a directory, which is created if it does not exist.
    ///
    /// # Errors
    ///
    /// If another process uses the directory, if its content is damaged or not a log, or if it cannot be read or written.
    pub fn open(directory: &Path, options: &mut Options) -> StorageResult<Self> {
        make_private_directory(directory)
            .map_err(|error| StorageError::Failed(format!("cannot make {}: {error}", directory.display())))?;
        let lock = DirectoryLock::acquire(directory)?;
        let path = directory.join(FILE);
        schema::check_file(&path)?;
        make_private_file(&path);
        let mut connection = Connection::open(&path).map_err(|error| at(&path, error))?;
        let is_new = schema::version(&connection, &path)?.is_none();
        if is_new {
            // This can only be set before the first table is created.
            connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(failed)?;
        }
        // The start is always synced to the disk, so that the unclean mark survives a power loss.
        configure(&mut connection, Durability::Disk)?;
        schema::migrate(&mut connection, &path)?;
        let boot_id = options.boot_id.clone().or_else(meta::boot_id);
        write::delete_staged(&connection)?;
        let env = &mut options.env;
        meta::begin(&mut connection, options.durability, boot_id.as_deref(), || env.next_u64())?;
        configure(&mut connection, options.durability)?;
        if let Some(bytes) = options.max_bytes {
            let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(failed)?;
            let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
            connection.pragma_update_and_check(None, "max_page_count", pages.max(1), |_| Ok(())).map_err(failed)?;
        }
        let readers = Arc::new(SqliteReaders::at(path.clone()));
        let checkpointer = Checkpointer::start(&path)?;
        Ok(Self { connection, readers, checkpointer, places: HashMap::new(), path, _lock: lock })
    }
}

fn copy(connection: &Connection, to: &Path) -> StorageResult<()> {
    let cannot =
        |what: &str, error: &dyn fmt::Display| StorageError::Failed(format!("cannot {what} {}: {error}", to.display()));
    make_private_directory(to).map_err(|error| cannot("make", &error))?;
    let path = to.join(FILE);
    if path.exists() {
        return Err(StorageError::Failed(format!("{} already contains a log", to.display())));
    }
    // The copy gets its final name once it is complete and marked as a copy.
    let draft = to.join("copy.sqlite");
    let _ = std::fs::remove_file(&draft);
    let Some(text) = draft.to_str() else {
        return Err(cannot("write to", &"its name is not UTF-8"));
    };
    // `VACUUM INTO` only writes to the copy, but SQLite rejects it on a read-only connection.
    connection.pragma_update(None, "query_only", false).map_err(failed)?;
    connection.execute("VACUUM INTO ?1", [text]).map_err(failed).inspect_err(|_| {
        // A partial copy is useless. If it cannot be deleted, the next backup deletes it.
        let _ = std::fs::remove_file(&draft);
    })?;
    let marked = Connection::open(&draft).map_err(failed)?;
    marked.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    meta::mark_copy(&marked)?;
    marked.close().map_err(|(_, error)| failed(error))?;
    let sync = |path: &Path| std::fs::File::open(path)?.sync_all();
    sync(&draft).and_then(|()| std::fs::rename(&draft, &path)).map_err(|error| cannot("write to", &error))?;
    // Sync the rename too. Not every system supports syncing a directory.
    let _ = sync(to);
    Ok(())
}

fn configure(connection: &mut Connection, durability: Durability) -> StorageResult<()> {
    let mut since = Instant::now();
    let wait = move |tries| {
        if tries == 0 {
            since = Instant::now();
        }
        std::thread::sleep(LOCK_POLL_INTERVAL);
        since.elapsed() < LOCK_TIMEOUT
    };
    connection.busy_handler(Some(wait)).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).map_err(failed)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(failed)?;
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Disk => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous).map_err(failed)?;
    // 32 MiB keep the pages for inserts into about a thousand sessions in memory.
    connection.pragma_update(None, "cache_size", -32_768).map_err(failed)
}

impl Views for SqliteStorage {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        Ok(Box::new(view::SqliteView::new(Borrowed(&self.connection))))
    }

    fn back_up(&self, to: &Path) -> StorageResult<()> {
        self.readers.back_up(to)
    }
}

impl Storage for SqliteStorage {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        Arc::clone(&self.readers) as Arc<dyn Views + Send + Sync>
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        if self.places.len() > PLACES {
            self.places.clear();
        }
        let mut result = write::commit(&mut self.connection, &mut self.places, writes);
        if matches!(result, Err(StorageError::Full(_))) {
            self.places.clear();
            if wal::make_room(&self.path) {
                result = write::commit(&mut self.connection, &mut self.places, writes);
            }
        }
        match &result {
            Ok(()) => self.checkpointer.committed(),
            Err(_) => self.places.clear(),
        }
        result
    }

    /// This process holds the lock of the directory.
    fn is_shared(&self) -> bool {
        false
    }

    fn shrink(&mut self) -> StorageResult<bool> {
        let left = |connection: &Connection| connection.pragma_query_value(None, "freelist_count", |row| row.get(0));
        let before: i64 = left(&self.connection).map_err(failed)?;
        let mut statement =
            self.connection.prepare_cached(&format!("PRAGMA incremental_vacuum({SHRINK_PAGES})")).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        // Each step returns one page.
        while rows.next().map_err(failed)?.is_some() {}
        drop(rows);
        drop(statement);
        self.checkpointer.committed();
        let after: i64 = left(&self.connection).map_err(failed)?;
        Ok(after > 0 && after < before)
    }

    fn flush(&mut self) -> StorageResult<()> {
        wal::empty(&self.connection)
    }

    fn close(&mut self) -> StorageResult<()> {
        self.checkpointer.stop();
        self.readers.forget();
        self.connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
        meta::end(&self.connection)?;
        wal::empty(&self.connection)
    }
}

impl fmt::Debug for SqliteStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStorage").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Maps an error of SQLite to a storage error.
#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
fn failed(error: rusqlite::Error) -> StorageError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StorageError::Full(error.to_string()),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StorageError::Damaged(error.to_string()),
        _ => StorageError::Failed(error.to_string()),
    }
}

fn at(path: &Path, error: rusqlite::Error) -> StorageError {
    match failed(error) {
        StorageError::Failed(text) => StorageError::Failed(format!("cannot open {}: {text}", path.display())),
        other => other,
    }
}
