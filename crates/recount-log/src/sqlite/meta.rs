//! Metadata from which a lost write is detected: whether the log was closed cleanly, the boot id of the machine, and whether
//! the database is a copy.

use rusqlite::{Connection, OptionalExtension, params};

use super::{Durability, failed};
use crate::Epoch;
use crate::storage::StorageResult;

/// The boot id of the machine. `None` if the system does not provide one.
pub(super) fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Marks the database as in use. Gives every session a new epoch if entries may have been lost.
pub(super) fn begin(
    connection: &mut Connection,
    durability: Durability,
    boot_id: Option<&str>,
    mut number: impl FnMut() -> u64,
) -> StorageResult<()> {
    let transaction = connection.transaction().map_err(failed)?;
    if may_have_lost(&transaction, boot_id)? {
        let sessions: Vec<i64> = {
            let mut statement = transaction.prepare("SELECT number FROM sessions").map_err(failed)?;
            let rows = statement.query_map([], |row| row.get(0)).map_err(failed)?;
            rows.collect::<Result<_, _>>().map_err(failed)?
        };
        for session in sessions {
            let epoch = Epoch::from_random(number());
            transaction
                .execute("UPDATE sessions SET epoch = ?1 WHERE number = ?2", params![epoch.get(), session])
                .map_err(failed)?;
        }
    }
    set(&transaction, "clean", "0")?;
    set(&transaction, "copy", "0")?;
    set(&transaction, "boot", boot_id.unwrap_or_default())?;
    set(&transaction, "durability", durability.as_str())?;
    transaction.commit().map_err(failed)
}

/// Marks the database as closed cleanly.
pub(super) fn end(connection: &Connection) -> StorageResult<()> {
    set(connection, "clean", "1")
}

/// Marks the database as a copy.
pub(super) fn mark_copy(connection: &Connection) -> StorageResult<()> {
    set(connection, "copy", "1")
}

fn may_have_lost(connection: &Connection, boot_id: Option<&str>) -> StorageResult<bool> {
    if get(connection, "copy")?.as_deref() == Some("1") {
        return Ok(true);
    }
    let was_unclean = get(connection, "clean")?.as_deref() == Some("0");
    let was_careless = get(connection, "durability")?.as_deref() == Some(Durability::Process.as_str());
    // Without a boot id, the machine may have been restarted.
    let is_same_start = boot_id.is_some() && get(connection, "boot")?.as_deref() == boot_id;
    Ok(was_unclean && was_careless && !is_same_start)
}

fn get(connection: &Connection, name: &str) -> StorageResult<Option<String>> {
    connection.query_row("SELECT value FROM meta WHERE name = ?1", [name], |row| row.get(0)).optional().map_err(failed)
}

fn set(connection: &Connection, name: &str, value: &str) -> StorageResult<()> {
    connection
        .execute(
            "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            [name, value],
        )
        .map(drop)
        .map_err(failed)
}
