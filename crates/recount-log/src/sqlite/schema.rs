//! The tables, and the migrations between their versions.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use super::{failed, wal};
use crate::StorageError;
use crate::storage::StorageResult;

/// The application id of a log, which distinguishes it from other SQLite databases: "RCNT".
const APPLICATION: i64 = 0x5243_4e54;

/// The migrations from an empty database to the newest version. A released migration is never changed.
const STEPS: &[&str] = &[FIRST];

const FIRST: &str = "
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    about TEXT NOT NULL,
    UNIQUE (tenant, name)
);

-- An entry has the number `seq`. After compaction it covers those from `first` on. The event is in `body`, or where it is
-- large, in the contents with the digest `aside`.
CREATE TABLE entries (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT,
    first INTEGER,
    aside BLOB
);
CREATE UNIQUE INDEX entries_by_seq ON entries (session, seq);
CREATE INDEX entries_aside ON entries (aside) WHERE aside IS NOT NULL;

CREATE TABLE messages (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    place INTEGER NOT NULL,
    last INTEGER NOT NULL,
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    is_reply INTEGER NOT NULL,
    nested INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE UNIQUE INDEX messages_by_place ON messages (session, place);
CREATE UNIQUE INDEX messages_by_id ON messages (session, id);
CREATE INDEX messages_by_end ON messages (session, last, place);

CREATE TABLE open_replies (
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    place INTEGER NOT NULL,
    hosted INTEGER NOT NULL,
    nested INTEGER NOT NULL,
    seq INTEGER,
    fold TEXT,
    inputs TEXT,
    PRIMARY KEY (session, id)
);

CREATE TABLE states (
    session INTEGER NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, name)
);

CREATE TABLE contents (
    digest BLOB PRIMARY KEY,
    body BLOB NOT NULL
);

CREATE TABLE uploads (
    tenant TEXT NOT NULL,
    digest BLOB NOT NULL,
    media_type TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, digest)
) WITHOUT ROWID;

CREATE TABLE named_uploads (
    session INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (session, digest)
) WITHOUT ROWID;
";

/// The newest schema version.
pub(super) const NEWEST: i64 = STEPS.len() as i64;

/// Checks a file before SQLite opens it, for more precise errors than those of SQLite.
pub(super) fn check_file(path: &Path) -> StorageResult<()> {
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    let Ok(mut file) = File::open(path) else { return Ok(()) };
    let length = file.metadata().map(|metadata| metadata.len()).unwrap_or_default();
    if length == 0 {
        return Ok(());
    }
    let foreign = |problem: &str| StorageError::Foreign { path: path.to_owned(), problem: problem.to_owned() };
    let mut head = [0; 100];
    if file.read_exact(&mut head).is_err() {
        return Err(foreign("it is too short for a database"));
    }
    if !head.starts_with(MAGIC) {
        return Err(foreign("it is not a SQLite database"));
    }
    // Pages that are missing from the file may be in the write-ahead log.
    let log = std::fs::metadata(wal::path(path)).map(|metadata| metadata.len());
    let expected = expected_length(&head);
    if log.unwrap_or_default() == 0 && length < expected {
        let path = path.display();
        return Err(StorageError::Damaged(format!(
            "{path} has {length} bytes and should have {expected}: it was cut off"
        )));
    }
    Ok(())
}

/// The length of a database according to its header: the page size, where 1 means 65,536, times the number of pages.
fn expected_length(head: &[u8; 100]) -> u64 {
    let page = match u16::from_be_bytes([head[16], head[17]]) {
        1 => 65_536,
        size => u64::from(size),
    };
    page * u64::from(u32::from_be_bytes([head[28], head[29], head[30], head[31]]))
}

/// The schema version of a database. `None` if it has no tables.
pub(super) fn version(connection: &Connection, path: &Path) -> StorageResult<Option<i64>> {
    let foreign = |problem: String| StorageError::Foreign { path: path.to_owned(), problem };
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let application = number("application_id").map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => foreign("it is not a SQLite database".to_owned()),
        _ => failed(error),
    })?;
    let version = number("user_version").map_err(failed)?;
    let tables: i64 =
        connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    if application == 0 && version == 0 && tables == 0 {
        return Ok(None);
    }
    if application != APPLICATION {
        return Err(foreign("it is the database of another program".to_owned()));
    }
    if version > NEWEST {
        return Err(StorageError::Newer { path: path.to_owned(), found: version, newest: NEWEST });
    }
    Ok(Some(version))
}

/// Migrates a database to the newest version, with one transaction per migration.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> StorageResult<()> {
    let done = version(connection, path)?.unwrap_or_default();
    for (step, number) in STEPS.iter().zip(1..) {
        if number <= done {
            continue;
        }
        let transaction = connection.transaction().map_err(failed)?;
        transaction.execute_batch(step).map_err(failed)?;
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
        transaction.pragma_update(None, "user_version", number).map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    Ok(())
}
