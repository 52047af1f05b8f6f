//! Views of the committed data.

use bytes::Bytes;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};

use super::failed;
use super::write::signed;
use crate::storage::{
    EntryRow, MessageRow, MessageStatus, OpenReplyInfo, OpenReplyRow, PageLimit, ReplyCheckpoint, SessionRow,
    StorageResult, Upload, View, Visibility,
};
use crate::{Digest, EncodedMessage, EncodedReply, Epoch, SessionKey, StorageError};

/// Excludes staged sessions, whose names sort after all others.
pub(super) const NOT_STAGED: &str = "name < '~'";

/// The subquery for the number of a session, for use as a parameter.
const NUMBER: &str = "(SELECT number FROM sessions WHERE tenant = ?1 AND name = ?2)";

/// A type with a database connection.
pub(super) trait Held {
    fn connection(&self) -> StorageResult<&Connection>;
}

/// The connection of the writer.
pub(super) struct Borrowed<'c>(pub(super) &'c Connection);

impl Held for Borrowed<'_> {
    fn connection(&self) -> StorageResult<&Connection> {
        Ok(self.0)
    }
}

/// A view of a database.
pub(super) struct SqliteView<H>(H);

impl<H: Held> SqliteView<H> {
    pub(super) fn new(held: H) -> Self {
        Self(held)
    }

    fn all<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&SqlRow<'_>) -> rusqlite::Result<T>,
    ) -> StorageResult<Vec<T>> {
        let mut statement = self.0.connection()?.prepare_cached(sql).map_err(failed)?;
        let rows = statement.query_map(parameters, read).map_err(failed)?;
        rows.collect::<Result<_, _>>().map_err(failed)
    }

    fn one<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnOnce(&SqlRow<'_>) -> rusqlite::Result<T>,
    ) -> StorageResult<Option<T>> {
        let mut statement = self.0.connection()?.prepare_cached(sql).map_err(failed)?;
        statement.query_row(parameters, read).optional().map_err(failed)
    }
}

const SESSION: &str = "SELECT tenant, name, epoch, created_at, about,
    (SELECT seq FROM entries WHERE session = number ORDER BY seq DESC LIMIT 1) FROM sessions";
const MESSAGE: &str = "SELECT id, place, last, is_reply, nested, body FROM messages";

impl<H: Held> View for SqliteView<H> {
    fn session(&self, key: &SessionKey) -> StorageResult<Option<SessionRow>> {
        let sql = format!("{SESSION} WHERE tenant = ?1 AND name = ?2");
        self.one(&sql, [key.tenant(), key.name()], read_session)
    }

    fn sessions(
        &self,
        tenant: Option<&str>,
        after: Option<&SessionKey>,
        count: usize,
    ) -> StorageResult<Vec<SessionRow>> {
        let sql = format!(
            "{SESSION} WHERE (?1 IS NULL OR tenant = ?1) AND (tenant, name) > (?2, ?3) AND {NOT_STAGED} ORDER BY tenant, name LIMIT ?4"
        );
        let (after_tenant, after_name) = after.map_or(("", ""), |key| (key.tenant(), key.name()));
        self.all(&sql, params![tenant, after_tenant, after_name, signed(count as u64)], read_session)
    }

    fn session_count(&self) -> StorageResult<usize> {
        let sql = format!("SELECT count(*) FROM sessions WHERE {NOT_STAGED}");
        let count: i64 = self.0.connection()?.query_row(&sql, [], |row| row.get(0)).map_err(failed)?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    fn entries(&self, key: &SessionKey, after: u64, limit: PageLimit) -> StorageResult<Vec<EntryRow>> {
        let sql = format!(
            "SELECT seq, first, body, CASE WHEN aside IS NULL THEN NULL ELSE
                 (SELECT contents.body FROM contents WHERE digest = aside) END
             FROM entries WHERE session = {NUMBER} AND seq > ?3 ORDER BY seq LIMIT ?4"
        );
        let mut statement = self.0.connection()?.prepare_cached(&sql).map_err(failed)?;
        let count = signed(limit.count.max(1) as u64);
        let mut found = statement.query(params![key.tenant(), key.name(), signed(after), count]).map_err(failed)?;
        let mut rows = Vec::new();
        let mut bytes = 0;
        while let Some(row) = found.next().map_err(failed)? {
            let last = number(row, 0).map_err(failed)?;
            let first: Option<i64> = row.get(1).map_err(failed)?;
            let inline = row.get_ref(2).map_err(failed)?;
            let body = if inline == ValueRef::Null { row.get_ref(3).map_err(failed)? } else { inline };
            let (ValueRef::Text(body) | ValueRef::Blob(body)) = body else {
                return Err(StorageError::Damaged(format!("the entry {last} of the session {key} has no event")));
            };
            bytes += body.len();
            if bytes > limit.bytes && !rows.is_empty() {
                break;
            }
            let first = first.and_then(|first| first.try_into().ok()).unwrap_or(last);
            rows.push(EntryRow { first, last, body: Bytes::copy_from_slice(body) });
        }
        Ok(rows)
    }

    fn message_status(&self, key: &SessionKey, id: &str) -> StorageResult<Option<MessageStatus>> {
        let sql = format!("SELECT is_reply FROM messages WHERE session = {NUMBER} AND id = ?3");
        let is_reply: Option<bool> = self.one(&sql, [key.tenant(), key.name(), id], |row| row.get(0))?;
        Ok(is_reply.map(|is_reply| if is_reply { MessageStatus::EndedReply } else { MessageStatus::Message }))
    }

    fn messages_before(
        &self,
        key: &SessionKey,
        before: u64,
        show: Visibility,
        count: usize,
    ) -> StorageResult<Vec<MessageRow>> {
        let sql =
            format!("{MESSAGE} WHERE session = {NUMBER} AND place < ?3 AND nested <= ?4 ORDER BY place DESC LIMIT ?5");
        let is_nested_shown = show == Visibility::All;
        let (before, count) = (signed(before), signed(count as u64));
        let parameters = params![key.tenant(), key.name(), before, is_nested_shown, count];
        let mut messages = self.all(&sql, parameters, read_message)?;
        messages.reverse();
        Ok(messages)
    }

    fn message(&self, key: &SessionKey, id: &str) -> StorageResult<Option<MessageRow>> {
        let sql = format!("{MESSAGE} WHERE session = {NUMBER} AND id = ?3");
        self.one(&sql, [key.tenant(), key.name(), id], read_message)
    }

    fn reply_end_seq(&self, key: &SessionKey, id: &str) -> StorageResult<Option<u64>> {
        let sql = format!("SELECT last FROM messages WHERE session = {NUMBER} AND id = ?3 AND is_reply");
        self.one(&sql, [key.tenant(), key.name(), id], |row| number(row, 0))
    }

    fn messages_spanning(&self, key: &SessionKey, place: u64) -> StorageResult<Vec<MessageRow>> {
        let sql = format!("{MESSAGE} WHERE session = {NUMBER} AND last > ?3 AND place <= ?3 ORDER BY place");
        self.all(&sql, params![key.tenant(), key.name(), signed(place)], read_message)
    }

    fn open_replies(&self, key: &SessionKey) -> StorageResult<Vec<OpenReplyRow>> {
        let sql = format!(
            "SELECT id, place, hosted, nested, seq, fold, inputs FROM open_replies WHERE session = {NUMBER} ORDER BY place"
        );
        self.all(&sql, [key.tenant(), key.name()], |row| {
            let id: String = row.get(0)?;
            let seq: Option<i64> = row.get(4)?;
            let checkpoint = match seq {
                None => None,
                Some(_) => Some(ReplyCheckpoint {
                    id: id.clone(),
                    seq: number(row, 4)?,
                    fold: EncodedReply::new(row.get::<_, String>(5)?),
                    inputs: row.get(6)?,
                }),
            };
            let info = OpenReplyInfo { id, start_seq: number(row, 1)?, hosted: row.get(2)?, nested: row.get(3)? };
            Ok(OpenReplyRow { info, checkpoint })
        })
    }

    fn open_reply_infos(&self, key: &SessionKey) -> StorageResult<Vec<OpenReplyInfo>> {
        let sql = format!("SELECT id, place, hosted, nested FROM open_replies WHERE session = {NUMBER} ORDER BY place");
        self.all(&sql, [key.tenant(), key.name()], |row| {
            Ok(OpenReplyInfo { id: row.get(0)?, start_seq: number(row, 1)?, hosted: row.get(2)?, nested: row.get(3)? })
        })
    }

    fn hosted_sessions(&self) -> StorageResult<Vec<SessionKey>> {
        let sql = format!(
            "SELECT DISTINCT tenant, name FROM open_replies JOIN sessions ON number = session
             WHERE hosted AND {NOT_STAGED} ORDER BY tenant, name"
        );
        self.all(&sql, [], |row| read_key(row, 0, 1))
    }

    fn state(&self, key: &SessionKey, name: &str) -> StorageResult<Option<String>> {
        let sql = format!("SELECT body FROM states WHERE session = {NUMBER} AND name = ?3");
        self.one(&sql, [key.tenant(), key.name(), name], |row| row.get(0))
    }

    fn states(&self, key: &SessionKey) -> StorageResult<Vec<(String, String)>> {
        let sql = format!("SELECT name, body FROM states WHERE session = {NUMBER} ORDER BY name");
        self.all(&sql, [key.tenant(), key.name()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn last_settled(&self, key: &SessionKey, before: i64) -> StorageResult<u64> {
        let sql = format!("SELECT COALESCE(MAX(last), 0) FROM messages WHERE session = {NUMBER} AND at < ?3");
        Ok(self.one(&sql, params![key.tenant(), key.name(), before], |row| number(row, 0))?.unwrap_or_default())
    }

    fn last_finished_at(&self, key: &SessionKey) -> StorageResult<Option<i64>> {
        let sql = format!("SELECT at FROM messages WHERE session = {NUMBER} ORDER BY last DESC LIMIT 1");
        self.one(&sql, [key.tenant(), key.name()], |row| row.get(0))
    }

    fn upload(&self, tenant: &str, digest: Digest) -> StorageResult<Option<Upload>> {
        let sql = "SELECT media_type, at, body FROM uploads JOIN contents USING (digest)
                   WHERE tenant = ?1 AND digest = ?2";
        self.one(sql, params![tenant, &digest.as_bytes()[..]], |row| {
            let body: Vec<u8> = row.get(2)?;
            let tenant = tenant.to_owned();
            Ok(Upload { tenant, digest, media_type: row.get(0)?, at: row.get(1)?, bytes: body.into() })
        })
    }

    fn referenced_uploads(&self, key: &SessionKey) -> StorageResult<Vec<Digest>> {
        let sql = format!("SELECT digest FROM named_uploads WHERE session = {NUMBER} ORDER BY digest");
        let digests: Vec<[u8; 32]> = self.all(&sql, [key.tenant(), key.name()], |row| row.get(0))?;
        Ok(digests.into_iter().map(Digest::from_bytes).collect())
    }

    fn integrity_errors(&self) -> StorageResult<Vec<String>> {
        let mut faults = Vec::new();
        for found in self.all("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))? {
            // One row may contain several errors below a heading.
            let lines = found.lines().filter(|line| *line != "ok" && !line.starts_with("***"));
            faults.extend(lines.map(str::to_owned));
        }
        if !faults.is_empty() {
            return Ok(faults);
        }
        let mut statement = self.0.connection()?.prepare("SELECT digest, body FROM contents").map_err(failed)?;
        let mut contents = statement.query([]).map_err(failed)?;
        while let Some(row) = contents.next().map_err(failed)? {
            let digest: [u8; 32] = row.get(0).map_err(failed)?;
            let (ValueRef::Text(body) | ValueRef::Blob(body)) = row.get_ref(1).map_err(failed)? else { continue };
            if Digest::of(body) != Digest::from_bytes(digest) {
                faults.push(format!("the bytes of {} are not what they were", Digest::from_bytes(digest)));
            }
        }
        Ok(faults)
    }
}

fn number(row: &SqlRow<'_>, index: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(index)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, value))
}

fn read_key(row: &SqlRow<'_>, tenant: usize, name: usize) -> rusqlite::Result<SessionKey> {
    let (tenant, name): (String, String) = (row.get(tenant)?, row.get(name)?);
    SessionKey::stored(&tenant, &name)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error)))
}

fn read_session(row: &SqlRow<'_>) -> rusqlite::Result<SessionRow> {
    let epoch: u32 = row.get(2)?;
    let head: Option<i64> = row.get(5)?;
    let head = head.and_then(|head| head.try_into().ok()).unwrap_or_default();
    Ok(SessionRow {
        key: read_key(row, 0, 1)?,
        epoch: Epoch::from_random(u64::from(epoch)),
        head,
        created_at: row.get(3)?,
        properties: row.get(4)?,
    })
}

fn read_message(row: &SqlRow<'_>) -> rusqlite::Result<MessageRow> {
    Ok(MessageRow {
        id: row.get(0)?,
        start_seq: number(row, 1)?,
        end_seq: number(row, 2)?,
        is_reply: row.get(3)?,
        nested: row.get(4)?,
        body: EncodedMessage::new(row.get::<_, String>(5)?),
    })
}
