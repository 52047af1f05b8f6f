//! Pooled connections for readers.

use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OpenFlags};

use super::view::{Held, SqliteView};
use super::{FILE, LOCK_TIMEOUT, at, failed, schema, wal};
use crate::StorageError;
use crate::storage::{StorageResult, View, Views};

/// The maximum number of idle connections.
const IDLE: usize = 8;

/// A pool of connections. Each view uses one exclusively and sees the database as of its first read.
pub struct SqliteReaders {
    path: PathBuf,
    access: Access,
    idle: Mutex<Vec<Connection>>,
}

/// The mode in which a database is opened read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Together with writers. SQLite needs a shared-memory file next to the database for that.
    Shared,
    /// In a directory where no file can be created. The caller must know that there is no writer.
    Alone,
}

impl SqliteReaders {
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path, access: Access::Shared, idle: Mutex::default() }
    }

    /// Opens the log in a directory for reading, also while another process writes to it. No lock is acquired and nothing is
    /// changed. If the log was closed cleanly, the directory may be read-only.
    ///
    /// # Errors
    ///
    /// If there is no log, its version is not supported, or it cannot be read.
    pub fn open(directory: &Path) -> StorageResult<Self> {
        let path = directory.join(FILE);
        if !path.is_file() {
            return Err(StorageError::Failed(format!("there is no log in {}", directory.display())));
        }
        schema::check_file(&path)?;
        let mut readers = Self::at(path);
        match readers.check() {
            Err(StorageError::Failed(problem)) if wal::path(&readers.path).exists() => {
                return Err(StorageError::Failed(format!("cannot read {}: {problem}", readers.path.display())));
            }
            // Without a write-ahead log no process has the database open.
            Err(StorageError::Failed(_)) => {
                readers.access = Access::Alone;
                readers.check()?;
            }
            checked => checked?,
        }
        Ok(readers)
    }

    /// Checks that the file is a log of this version.
    fn check(&self) -> StorageResult<()> {
        let connection = self.connect()?;
        match schema::version(&connection, &self.path)? {
            Some(schema::NEWEST) => {
                self.lock().push(connection);
                Ok(())
            }
            Some(older) => Err(StorageError::Older { path: self.path.clone(), found: older }),
            None => Err(StorageError::Foreign { path: self.path.clone(), problem: "it is empty".to_owned() }),
        }
    }

    pub(super) fn connect(&self) -> StorageResult<Connection> {
        let failed_at = |error| at(&self.path, error);
        let connection = match self.access {
            Access::Shared => {
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::open_with_flags(&self.path, flags)
            }
            Access::Alone => {
                let flags =
                    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Connection::open_with_flags(format!("file:{}?immutable=1", in_uri(&self.path)), flags)
            }
        };
        let connection = connection.map_err(failed_at)?;
        connection.busy_timeout(LOCK_TIMEOUT).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(32);
        connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(failed)?;
        connection.pragma_update(None, "query_only", true).map_err(failed)?;
        Ok(connection)
    }

    /// Closes the idle connections.
    pub(super) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Encodes a path for a URI, escaping reserved characters.
fn in_uri(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => text.push(char::from(*byte)),
            // Writing to a `String` cannot fail.
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

impl Views for SqliteReaders {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        let idle = self.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect()?,
        };
        run(&connection, "BEGIN")?;
        Ok(Box::new(SqliteView::new(Pooled { connection: Some(connection), readers: self })))
    }

    fn back_up(&self, to: &Path) -> StorageResult<()> {
        super::copy(&self.connect()?, to)
    }
}

impl fmt::Debug for SqliteReaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteReaders").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A connection in a transaction. It returns to the pool when the view is dropped.
struct Pooled<'r> {
    connection: Option<Connection>,
    readers: &'r SqliteReaders,
}

impl Held for Pooled<'_> {
    fn connection(&self) -> StorageResult<&Connection> {
        self.connection.as_ref().ok_or_else(|| StorageError::Failed("the view is over".to_owned()))
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if run(&connection, "COMMIT").is_err() {
            return;
        }
        let mut idle = self.readers.lock();
        if idle.len() < IDLE {
            idle.push(connection);
        }
    }
}

/// Runs a cached statement. Every view starts and ends with one.
fn run(connection: &Connection, sql: &str) -> StorageResult<()> {
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    statement.execute([]).map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{SessionRow, Storage, Write};
    use crate::{Epoch, Options, SqliteStorage};

    #[test]
    fn closed_log_is_readable_in_a_read_only_directory() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("What is 100 % here? #1 & é");
        let mut storage = SqliteStorage::open(&directory, &mut Options::default()).unwrap();
        let (key, epoch) = ("chat".parse().unwrap(), Epoch::from_random(7));
        let row = SessionRow { key, epoch, head: 0, created_at: String::new(), properties: "{}".to_owned() };
        storage.commit(&[Write::Create(row.clone())]).unwrap();
        storage.close().unwrap();
        drop(storage);

        let names = || {
            let names = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name());
            names.collect::<std::collections::BTreeSet<_>>()
        };
        let before = names();
        let readers = SqliteReaders { access: Access::Alone, ..SqliteReaders::at(directory.join(FILE)) };
        readers.check().unwrap();
        assert_eq!(readers.view().unwrap().sessions(None, None, 9).unwrap(), [row]);
        readers.back_up(&parent.path().join("copy")).unwrap();
        assert_eq!(names(), before);
    }
}
