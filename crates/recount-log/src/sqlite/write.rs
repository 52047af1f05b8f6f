//! Commits a batch of writes in one transaction.

use std::sync::LazyLock;

use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{
    CachedStatement, Connection, ErrorCode, OptionalExtension, ToSql, Transaction, TransactionBehavior, params,
};

use super::view::NOT_STAGED;
use super::{Place, failed};
use crate::storage::{Append, EntryRow, MessageRow, SessionRow, StorageResult, Upload, Write};
use crate::{Cursor, Digest, Epoch, SessionKey, StorageError};

/// Entries above this size in bytes are stored in a separate table.
const LARGE: usize = 64 * 1024;

/// The number of rows of a staged session that are deleted at once.
const DELETED_ROWS: usize = 4_096;
/// The number of pages in the write-ahead log after which it is checkpointed during that.
const DELETED_PAGES: i64 = 1_024;
/// The tables with rows of sessions.
const TABLES: [&str; 5] = ["entries", "messages", "open_replies", "states", "named_uploads"];

/// The number of entries that one statement inserts.
const ROWS: usize = 16;

const INSERT: &str = "INSERT INTO entries (session, seq, body) VALUES (?, ?, ?)";
const INSERT_ASIDE: &str = "INSERT INTO entries (session, seq, first, aside) VALUES (?1, ?2, ?3, ?4)";
const INSERT_MERGED: &str = "INSERT INTO entries (session, seq, first, body) VALUES (?1, ?2, ?3, ?4)";

pub(super) fn commit(
    connection: &mut Connection,
    places: &mut HashMap<SessionKey, Place>,
    writes: &[Write],
) -> StorageResult<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    {
        let insert = Insert::prepare(&transaction)?;
        let mut writing = Writing { transaction: &transaction, insert, places };
        for write in writes {
            writing.write(write)?;
        }
        writing.insert.flush()?;
    }
    transaction.commit().map_err(failed)
}

struct Writing<'t, 'w> {
    transaction: &'t Transaction<'t>,
    insert: Insert<'t, 'w>,
    places: &'t mut HashMap<SessionKey, Place>,
}

impl<'w> Writing<'_, 'w> {
    fn write(&mut self, write: &'w Write) -> StorageResult<()> {
        if !matches!(write, Write::Append(_)) {
            self.insert.flush()?;
        }
        match write {
            Write::Create(row) => self.create(row),
            Write::SetProperties { key, properties } => {
                let number = self.place(key)?.number;
                self.run("UPDATE sessions SET about = ?1 WHERE number = ?2", params![properties, number])
            }
            Write::Delete(key) => self.delete(key),
            Write::Publish { draft, head, key } => self.publish(draft, *head, key),
            Write::Append(append) => self.append(append),
            Write::Compact { key, epoch, rows } => self.compact(key, *epoch, rows),
            Write::Upload(upload) => self.upload(upload),
            Write::Sweep { before } => self.sweep(*before),
        }
    }

    fn run(&self, sql: &str, parameters: impl rusqlite::Params) -> StorageResult<()> {
        let mut statement = self.transaction.prepare_cached(sql).map_err(failed)?;
        statement.execute(parameters).map(drop).map_err(failed)
    }

    /// Returns the number and head of a session.
    fn place(&mut self, key: &SessionKey) -> StorageResult<&mut Place> {
        match self.places.entry_ref(key) {
            EntryRef::Occupied(entry) => Ok(entry.into_mut()),
            EntryRef::Vacant(entry) => {
                let place = find(self.transaction, key)?.ok_or_else(|| StorageError::Moved(key.clone()))?;
                Ok(entry.insert(place))
            }
        }
    }

    fn create(&mut self, row: &SessionRow) -> StorageResult<()> {
        let SessionRow { key, epoch, created_at, properties, .. } = row;
        let result = self.transaction.execute(
            "INSERT INTO sessions (tenant, name, epoch, created_at, about) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key.tenant(), key.name(), epoch.get(), created_at, properties],
        );
        result.map_err(|error| moved_or_failed(key, error))?;
        let head = Cursor { epoch: *epoch, seq: 0 };
        self.places.insert(key.clone(), Place { number: self.transaction.last_insert_rowid(), head });
        Ok(())
    }

    fn publish(&mut self, draft: &SessionKey, head: Cursor, key: &SessionKey) -> StorageResult<()> {
        let place = *self.place(draft)?;
        if place.head != head {
            return Err(StorageError::Moved(draft.clone()));
        }
        let sql = "UPDATE sessions SET tenant = ?1, name = ?2 WHERE number = ?3";
        let renamed = self.transaction.execute(sql, params![key.tenant(), key.name(), place.number]);
        renamed.map_err(|error| moved_or_failed(key, error))?;
        self.places.remove(draft);
        self.places.insert(key.clone(), place);
        Ok(())
    }

    fn delete(&mut self, key: &SessionKey) -> StorageResult<()> {
        let number = self.place(key)?.number;
        for table in TABLES {
            self.run(&format!("DELETE FROM {table} WHERE session = ?1"), [number])?;
        }
        self.run("DELETE FROM sessions WHERE number = ?1", [number])?;
        self.places.remove(key);
        Ok(())
    }

    fn append(&mut self, append: &'w Append) -> StorageResult<()> {
        let place = self.place(&append.key)?;
        if place.head != (Cursor { epoch: append.epoch, seq: append.after }) {
            return Err(StorageError::Moved(append.key.clone()));
        }
        // After a later error all cached places are dropped.
        place.head.seq += append.entries.len() as u64;
        let number = place.number;
        let mut seq = append.after;
        for body in &append.entries {
            seq += 1;
            if body.len() > LARGE {
                let digest = self.keep_aside(body)?;
                self.run(INSERT_ASIDE, params![number, signed(seq), None::<i64>, &digest.as_bytes()[..]])?;
            } else {
                self.insert.push(number, signed(seq), body)?;
            }
        }
        for opened in &append.opened {
            self.run(
                "INSERT INTO open_replies (session, id, place, hosted, nested) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![number, opened.id, signed(opened.start_seq), opened.hosted, opened.nested],
            )?;
        }
        for checkpoint in &append.checkpoints {
            self.run(
                "UPDATE open_replies SET seq = ?3, fold = ?4, inputs = ?5 WHERE session = ?1 AND id = ?2",
                params![number, checkpoint.id, signed(checkpoint.seq), checkpoint.fold.as_str(), checkpoint.inputs],
            )?;
        }
        for message in &append.finished {
            self.finish(number, append.at, message)?;
        }
        for state in &append.states {
            match &state.body {
                Some(body) => self.run(
                    "INSERT INTO states VALUES (?1, ?2, ?3)
                     ON CONFLICT (session, name) DO UPDATE SET body = excluded.body",
                    params![number, state.name, body],
                )?,
                None => self.run("DELETE FROM states WHERE session = ?1 AND name = ?2", params![number, state.name])?,
            }
        }
        for digest in &append.uploads {
            self.run("INSERT OR IGNORE INTO named_uploads VALUES (?1, ?2)", params![number, &digest.as_bytes()[..]])?;
        }
        Ok(())
    }

    fn finish(&self, number: i64, at: i64, message: &MessageRow) -> StorageResult<()> {
        let MessageRow { id, start_seq, end_seq, is_reply, nested, body } = message;
        if *is_reply {
            self.run("DELETE FROM open_replies WHERE session = ?1 AND id = ?2", params![number, id])?;
        }
        self.run(
            "INSERT INTO messages (session, place, last, at, id, is_reply, nested, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![number, signed(*start_seq), signed(*end_seq), at, id, is_reply, nested, body.as_str()],
        )
    }

    fn compact(&mut self, key: &SessionKey, epoch: Epoch, rows: &[EntryRow]) -> StorageResult<()> {
        let Place { number, head } = *self.place(key)?;
        if head.epoch != epoch {
            return Err(StorageError::Moved(key.clone()));
        }
        for row in rows {
            let (first, last) = (signed(row.first), signed(row.last));
            // An entry is stored under the last number that it covers, so two entries may reach across an edge of the row.
            let is_torn = |edge: i64| -> StorageResult<bool> {
                let sql = "SELECT COALESCE(first, seq) < ?2 FROM entries WHERE session = ?1 AND seq >= ?2
                           ORDER BY seq LIMIT 1";
                let mut statement = self.transaction.prepare_cached(sql).map_err(failed)?;
                let found = statement.query_row(params![number, edge], |row| row.get(0)).optional();
                Ok(found.map_err(failed)?.unwrap_or_default())
            };
            if is_torn(first)? || is_torn(last.saturating_add(1))? {
                return Err(StorageError::Moved(key.clone()));
            }
            self.run("DELETE FROM entries WHERE session = ?1 AND seq BETWEEN ?2 AND ?3", params![number, first, last])?;
            if row.body.len() > LARGE {
                let digest = self.keep_aside(&row.body)?;
                self.run(INSERT_ASIDE, params![number, last, first, &digest.as_bytes()[..]])?;
            } else {
                self.run(INSERT_MERGED, params![number, last, first, Text(&row.body)])?;
            }
        }
        Ok(())
    }

    fn keep_aside(&self, body: &[u8]) -> StorageResult<Digest> {
        let digest = Digest::of(body);
        self.run("INSERT OR IGNORE INTO contents VALUES (?1, ?2)", params![&digest.as_bytes()[..], body])?;
        Ok(digest)
    }

    fn upload(&self, upload: &Upload) -> StorageResult<()> {
        let digest = &upload.digest.as_bytes()[..];
        self.run("INSERT OR IGNORE INTO contents VALUES (?1, ?2)", params![digest, &upload.bytes[..]])?;
        self.run(
            "INSERT INTO uploads VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (tenant, digest) DO UPDATE SET at = MAX(at, excluded.at), media_type = excluded.media_type",
            params![upload.tenant, digest, upload.media_type, upload.at],
        )
    }

    fn sweep(&self, before: i64) -> StorageResult<()> {
        self.run(
            "DELETE FROM uploads WHERE at < ?1 AND NOT EXISTS (
                 SELECT 1 FROM named_uploads JOIN sessions ON number = session
                 WHERE named_uploads.digest = uploads.digest AND sessions.tenant = uploads.tenant)",
            [before],
        )?;
        self.run(
            "DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM uploads WHERE uploads.digest = contents.digest)
                 AND NOT EXISTS (SELECT 1 FROM entries WHERE aside = contents.digest)",
            [],
        )
    }
}

/// Maps an error of a write that may violate the uniqueness of session keys.
fn moved_or_failed(key: &SessionKey, error: rusqlite::Error) -> StorageError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => StorageError::Moved(key.clone()),
        _ => failed(error),
    }
}

/// Deletes the staged sessions of earlier processes, some entries at a time, because they may be long. If the disk is full
/// they stay, hidden, until the log is opened again.
pub(super) fn delete_staged(connection: &Connection) -> StorageResult<()> {
    // The checkpoint thread is not running yet, and the write-ahead log must not grow with the deleted data.
    connection.pragma_update(None, "wal_autocheckpoint", DELETED_PAGES).map_err(failed)?;
    let swept = match remove_drafts(connection) {
        Err(StorageError::Full(_)) => Ok(()),
        swept => swept,
    };
    connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(failed)?;
    swept
}

fn remove_drafts(connection: &Connection) -> StorageResult<()> {
    let sql = format!("SELECT number FROM sessions WHERE NOT {NOT_STAGED}");
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    let drafts = statement.query_map([], |row| row.get::<_, i64>(0)).map_err(failed)?;
    for draft in drafts.collect::<Result<Vec<_>, _>>().map_err(failed)? {
        for table in TABLES {
            let some = match table {
                // The other tables have no sequence numbers, and few rows.
                "named_uploads" => format!("DELETE FROM {table} WHERE session = ?1"),
                _ => format!(
                    "DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE session = ?1 LIMIT {DELETED_ROWS})"
                ),
            };
            while connection.execute(&some, [draft]).map_err(failed)? > 0 {}
        }
        connection.execute("DELETE FROM sessions WHERE number = ?1", [draft]).map_err(failed)?;
    }
    Ok(())
}

/// Inserts entries, several per statement, because starting a statement takes as long as inserting a row.
struct Insert<'t, 'w> {
    one: CachedStatement<'t>,
    many: CachedStatement<'t>,
    /// The rows that are not inserted yet: session, number and text.
    rows: Vec<(i64, i64, &'w [u8])>,
}

impl<'t, 'w> Insert<'t, 'w> {
    fn prepare(transaction: &'t Transaction<'t>) -> StorageResult<Self> {
        static MANY: LazyLock<String> = LazyLock::new(|| format!("{INSERT}{}", ", (?, ?, ?)".repeat(ROWS - 1)));
        let one = transaction.prepare_cached(INSERT).map_err(failed)?;
        let many = transaction.prepare_cached(&MANY).map_err(failed)?;
        Ok(Self { one, many, rows: Vec::with_capacity(ROWS) })
    }

    fn push(&mut self, session: i64, seq: i64, body: &'w [u8]) -> StorageResult<()> {
        self.rows.push((session, seq, body));
        if self.rows.len() < ROWS {
            return Ok(());
        }
        let mut parameter = 0;
        for (session, seq, body) in self.rows.drain(..) {
            self.many.raw_bind_parameter(parameter + 1, session).map_err(failed)?;
            self.many.raw_bind_parameter(parameter + 2, seq).map_err(failed)?;
            self.many.raw_bind_parameter(parameter + 3, Text(body)).map_err(failed)?;
            parameter += 3;
        }
        self.many.raw_execute().map(drop).map_err(failed)
    }

    /// Inserts the remaining rows.
    fn flush(&mut self) -> StorageResult<()> {
        for (session, seq, body) in self.rows.drain(..) {
            self.one.execute(params![session, seq, Text(body)]).map_err(failed)?;
        }
        Ok(())
    }
}

/// Looks up a session.
fn find(transaction: &Transaction<'_>, key: &SessionKey) -> StorageResult<Option<Place>> {
    let mut statement = transaction
        .prepare_cached(
            "SELECT number, epoch, (SELECT seq FROM entries WHERE session = number ORDER BY seq DESC LIMIT 1)
             FROM sessions WHERE tenant = ?1 AND name = ?2",
        )
        .map_err(failed)?;
    let found = statement.query_row([key.tenant(), key.name()], |row| {
        let (epoch, seq): (u32, Option<i64>) = (row.get(1)?, row.get(2)?);
        let epoch = Epoch::from_random(u64::from(epoch));
        let seq = seq.and_then(|seq| seq.try_into().ok()).unwrap_or_default();
        Ok(Place { number: row.get(0)?, head: Cursor { epoch, seq } })
    });
    found.optional().map_err(failed)
}

/// Converts a number for SQLite, whose integers are signed. Larger numbers become the largest one, beyond all entries.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The text of an event, which is known to be valid UTF-8.
struct Text<'b>(&'b [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}
