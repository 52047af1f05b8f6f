//! A log in a data directory: durability, rejected files, and error messages.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use recount_log::storage::{PageLimit, Views};
use recount_log::{
    Cursor, Durability, EncodedMessage, Error, Events, Frame, GapReason, Log, Options, Session, SessionKey,
    SqliteReaders, Start, StorageError,
};
use recount_message::{AgentEvent, CustomEvent, Event, Msg, Object, ReplyEnd, ReplyWriter, Stamps};

fn key(name: &str) -> SessionKey {
    name.parse().unwrap()
}

fn message(id: &str) -> AgentEvent {
    let message = Msg::user("Alice", format!("This is {id}")).with_id(id);
    Event::stamped(id.to_owned(), "2026-01-01T00:00:00Z", CustomEvent::message(&message))
}

fn reply(deltas: usize) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Friday");
    for number in 0..deltas {
        reply.text(format!("word {number} "));
    }
    reply.end(ReplyEnd::completed());
    events
}

/// Reads all frames from a start position to the head.
async fn read(session: &Session, start: Start) -> Vec<Frame> {
    let mut reader = session.subscribe(start).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.try_next().await.unwrap() {
        frames.push(frame);
    }
    frames
}

async fn texts(session: &Session) -> Vec<String> {
    let entry = |frame| match frame {
        Frame::Entry(entry) => String::from_utf8(entry.event.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    };
    read(session, Start::Beginning).await.into_iter().map(entry).collect()
}

async fn log_with(directory: &Path, options: Options, events: &[AgentEvent]) -> (Log, Session, Cursor) {
    let log = Log::open(directory, options).unwrap();
    let session = log.create(key("chat")).await.unwrap();
    let cursor = session.append(events).await.unwrap().cursor;
    (log, session, cursor)
}

#[tokio::test]
async fn entries_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let events: Vec<AgentEvent> = std::iter::once(message("m1")).chain(reply(5)).collect();
    let (log, session, cursor) = log_with(directory.path(), Options::default(), &events).await;
    let snapshot = session.snapshot().await.unwrap();
    log.close().await.unwrap();

    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.session(key("chat"));
    assert_eq!(session.snapshot().await.unwrap(), snapshot);
    assert_eq!(snapshot.cursor, cursor);
    assert_eq!(texts(&session).await, events.iter().map(AgentEvent::to_json).collect::<Vec<_>>());

    // Repeated events are duplicates, and a cursor of the earlier process is valid.
    let again = session.append(&events).await.unwrap();
    assert_eq!((again.written, again.duplicates, again.cursor), (0, events.len(), cursor));
    assert_eq!(read(&session, Start::After(cursor)).await, []);
}

#[tokio::test]
async fn open_fails_while_another_process_uses_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let Err(Error::Storage(StorageError::Locked { pid, .. })) = Log::open(directory.path(), Options::default()) else {
        panic!("it could be opened twice");
    };
    assert_eq!(pid, Some(std::process::id()));
    log.close().await.unwrap();
    Log::open(directory.path(), Options::default()).unwrap().close().await.unwrap();
}

#[track_caller]
fn check_unopenable(directory: &Path, expected: &str) {
    let error = Log::open(directory, Options::default()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    let error =
        SqliteReaders::open(directory).and_then(|readers| readers.view()?.integrity_errors()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[tokio::test]
async fn open_rejects_files_that_are_not_logs() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("log.sqlite");
    fs::write(&file, "id,name\n1,Alice\n".repeat(20)).unwrap();
    check_unopenable(directory.path(), "is not a Recount log: it is not a SQLite database");
    fs::write(&file, "short").unwrap();
    check_unopenable(directory.path(), "is not a Recount log: it is too short for a database");

    fs::remove_file(&file).unwrap();
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE notes (text)").unwrap();
    drop(other);
    check_unopenable(directory.path(), "is not a Recount log: it is the database of another program");
}

#[tokio::test]
async fn open_rejects_a_newer_version_without_changes() {
    let directory = tempfile::tempdir().unwrap();
    log_with(directory.path(), Options::default(), &[message("m1")]).await.0.close().await.unwrap();
    let file = directory.path().join("log.sqlite");
    let database = rusqlite::Connection::open(&file).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    check_unopenable(directory.path(), "has the format 99, and this version reads up to 1");
}

#[tokio::test]
async fn open_detects_a_truncated_file() {
    let directory = tempfile::tempdir().unwrap();
    let (log, ..) = log_with(directory.path(), Options::default(), &reply(2_000)).await;
    log.close().await.unwrap();
    let file = directory.path().join("log.sqlite");
    let bytes = fs::read(&file).unwrap();

    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    check_unopenable(directory.path(), "it was cut off");

    // Damage in the middle is found by the integrity check.
    let mut damaged = bytes.clone();
    for page in damaged.chunks_mut(4_096).skip(20).step_by(7) {
        page[..64].fill(0xa5);
    }
    fs::write(&file, damaged).unwrap();
    let readers = SqliteReaders::open(directory.path()).unwrap();
    let found = readers.view().and_then(|view| view.integrity_errors());
    assert!(found.as_ref().is_ok_and(|faults| !faults.is_empty()) || found.is_err(), "{found:?}");
    let read = readers.view().unwrap().entries(&key("chat"), 0, PageLimit { count: 10_000, bytes: usize::MAX });
    assert!(matches!(read, Err(StorageError::Damaged(_))), "{read:?}");
}

/// Copies the files of a log in use, as a killed process would leave them.
fn killed(directory: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["log.sqlite", "log.sqlite-wal"] {
        fs::copy(directory.join(name), copy.path().join(name)).unwrap();
    }
    copy
}

#[tokio::test]
async fn epoch_changes_only_when_entries_may_be_lost() {
    for (durability, boot, is_new) in [
        (Durability::Process, "boot 1", false),
        (Durability::Process, "boot 2", true),
        (Durability::Disk, "boot 1", false),
        (Durability::Disk, "boot 2", false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let options = || Options::default().durability(durability);
        let (log, _, cursor) = log_with(directory.path(), options().boot_id("boot 1"), &[message("m1")]).await;
        let copy = killed(directory.path());
        log.close().await.unwrap();

        let log = Log::open(copy.path(), options().boot_id(boot)).unwrap();
        let session = log.session(key("chat"));
        assert_eq!(session.info().await.unwrap().epoch != cursor.epoch, is_new, "{durability} {boot}");
        let frames = read(&session, Start::After(cursor)).await;
        if is_new {
            assert_eq!(frames[0], Frame::Gap(GapReason::Epoch));
            assert!(matches!(frames[1], Frame::Snapshot(_)));
        } else {
            assert_eq!(frames, []);
        }
        log.close().await.unwrap();

        // After a clean close nothing can be lost.
        let log = Log::open(directory.path(), options().boot_id("boot 3")).unwrap();
        assert_eq!(log.session(key("chat")).info().await.unwrap().epoch, cursor.epoch);
        log.close().await.unwrap();
    }
}

#[tokio::test]
async fn backup_is_complete_and_gets_a_new_epoch() {
    let directory = tempfile::tempdir().unwrap();
    let (log, session, cursor) = log_with(directory.path(), Options::default(), &reply(50)).await;
    let backup = directory.path().join("backup");
    log.back_up(&backup).await.unwrap();
    let expected = texts(&session).await;
    session.append([&message("later")]).await.unwrap();
    let again = log.back_up(&backup).await.unwrap_err().to_string();
    assert!(again.contains("already contains a log"), "{again}");

    let restored = Log::open(&backup, Options::default()).unwrap();
    let session = restored.session(key("chat"));
    assert_eq!(texts(&session).await, expected);
    let epoch = session.info().await.unwrap().epoch;
    assert_ne!(epoch, cursor.epoch);
    restored.close().await.unwrap();
    let restored = Log::open(&backup, Options::default()).unwrap();
    assert_eq!(restored.session(key("chat")).info().await.unwrap().epoch, epoch, "only the first opening");
    restored.close().await.unwrap();
    log.close().await.unwrap();
}

#[tokio::test]
async fn full_disk_fails_appends_without_partial_entries() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options::default().max_bytes(300 * 1024);
    let (log, session, _) = log_with(directory.path(), options, &[message("m0")]).await;
    let appender = session.appender(None);
    let mut acknowledged = vec!["m0".to_owned()];
    let failure = loop {
        let id = format!("m{}", acknowledged.len());
        let event = Event::stamped(
            id.clone(),
            "2026-01-01T00:00:00Z",
            CustomEvent::signal("filler", Object::from([("text", "x".repeat(5_000))])),
        );
        match appender.append([&event]).await {
            Ok(appended) => {
                assert_eq!(appended.written, 1);
                acknowledged.push(id);
            }
            Err(error) => break error,
        }
        assert!(acknowledged.len() < 1_000, "the disk is never full");
    };
    assert!(matches!(failure, Error::Storage(StorageError::Full(_))), "{failure}");
    // Later appends of the sequence fail too, because they would leave a hole.
    let next = appender.append([&message("small")]).await.unwrap_err();
    assert!(matches!(next, Error::Broken(_)), "{next}");

    let ids = |texts: Vec<String>| -> Vec<String> {
        texts.iter().map(|text| Event::from_json(text).unwrap().id.into_owned()).collect()
    };
    assert_eq!(ids(texts(&session).await), acknowledged);
    log.close().await.unwrap();

    // With more space the log accepts appends, and one failing entry does not fail others.
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.session(key("chat"));
    assert_eq!(ids(texts(&session).await), acknowledged);
    session.append([&message("after")]).await.unwrap();
    acknowledged.push("after".to_owned());
    assert_eq!(ids(texts(&session).await), acknowledged);
    log.close().await.unwrap();
}

#[tokio::test]
async fn oversized_append_does_not_fail_others() {
    let directory = tempfile::tempdir().unwrap();
    let (log, session, _) =
        log_with(directory.path(), Options::default().max_bytes(300 * 1024), &[message("m0")]).await;
    let large = Event::new(CustomEvent::signal("filler", Object::from([("text", "x".repeat(900_000))])));
    let (small, other) = (message("m1"), message("m2"));
    let (first, second, third) =
        tokio::join!(session.append([&small]), session.append([&large]), session.append([&other]));
    assert!(matches!(second, Err(Error::Storage(StorageError::Full(_)))), "{second:?}");
    assert_eq!((first.unwrap().cursor.seq, third.unwrap().cursor.seq), (2, 3));
    log.close().await.unwrap();
}

#[tokio::test]
async fn large_entries_round_trip() {
    let directory = tempfile::tempdir().unwrap();
    let large = Event::new(CustomEvent::signal("big", Object::from([("text", "é\"x".repeat(100_000))])));
    let events = [message("m1"), large, message("m2")];
    let (log, session, _) = log_with(directory.path(), Options::default(), &events).await;
    let expected: Vec<String> = events.iter().map(AgentEvent::to_json).collect();
    assert_eq!(texts(&session).await, expected);
    log.sweep(std::time::Duration::ZERO).await.unwrap();
    assert_eq!(texts(&session).await, expected, "what an entry needs is not swept away");
    log.close().await.unwrap();

    let contents = |directory: &Path| -> i64 {
        let database = rusqlite::Connection::open(directory.join("log.sqlite")).unwrap();
        database.query_row("SELECT COUNT(*) FROM contents", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(contents(directory.path()), 1);
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.session(key("chat"));
    assert_eq!(texts(&session).await, expected);
    assert_eq!(session.append(&events[..]).await.unwrap().duplicates, 3);
    session.delete().await.unwrap();
    log.sweep(std::time::Duration::ZERO).await.unwrap();
    log.close().await.unwrap();
    assert_eq!(contents(directory.path()), 0);
}

#[tokio::test]
async fn long_reply_resumes_from_its_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let events = reply(10_000);
    let (last, open) = events.split_last().unwrap();
    let (log, session, _) = log_with(directory.path(), Options::default(), &[message("m1")]).await;
    for piece in open.chunks(1_000) {
        session.append(piece).await.unwrap();
    }
    let snapshot = session.snapshot().await.unwrap();
    log.close().await.unwrap();

    let database = rusqlite::Connection::open(directory.path().join("log.sqlite")).unwrap();
    let seq: i64 = database.query_row("SELECT seq FROM open_replies", [], |row| row.get(0)).unwrap();
    assert!(seq >= 4_096, "{seq}");
    // The entries before the checkpoint are not read.
    database.execute("UPDATE entries SET body = '{}' WHERE seq BETWEEN 3 AND 4000", []).unwrap();
    drop(database);

    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.session(key("chat"));
    assert_eq!(session.snapshot().await.unwrap(), snapshot);
    log.close().await.unwrap();

    let mut database = rusqlite::Connection::open(directory.path().join("log.sqlite")).unwrap();
    let restoring = database.transaction().unwrap();
    for (event, seq) in open.iter().zip(2..) {
        let sql = "UPDATE entries SET body = ?1 WHERE session = 1 AND seq = ?2";
        restoring.execute(sql, (event.to_json(), seq)).unwrap();
    }
    restoring.commit().unwrap();
    drop(database);
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.session(key("chat"));
    session.append(last).await.unwrap();
    let fold: recount_message::Fold = events.iter().collect();
    let whole = EncodedMessage::from(fold.messages().next().unwrap());
    assert_eq!(session.snapshot().await.unwrap().messages.last(), Some(&whole));
    log.close().await.unwrap();
}

#[tokio::test]
async fn compaction_saves_space_and_keeps_messages() {
    let directory = tempfile::tempdir().unwrap();
    let (log, session, _) = log_with(directory.path(), Options::default(), &reply(3_000)).await;
    let head = session.append(&reply(3_000)).await.unwrap().cursor;
    let before = session.snapshot().await.unwrap();
    log.shrink().await.unwrap();
    let size = || fs::metadata(directory.path().join("log.sqlite")).unwrap().len();
    let full = size();

    let compacted = log.compact(None, std::time::Duration::ZERO).await.unwrap();
    assert!(compacted.entries > 6_000 && compacted.rows < 40, "{compacted:?}");
    assert!(size() < full / 5, "{full} bytes became {}", size());
    assert_eq!(session.snapshot().await.unwrap(), before);

    let inside = Cursor { seq: 100, ..head };
    let frames = read(&session, Start::After(inside)).await;
    assert_eq!(frames, [Frame::Gap(GapReason::Compacted), Frame::Snapshot(before)]);
    assert!(matches!(session.open_replies_at(inside).await, Err(Error::Gap { reason: GapReason::Compacted, .. })));
    assert_eq!(read(&session, Start::After(head)).await, []);
    assert_eq!(
        log.compact(None, std::time::Duration::from_secs(3_600)).await.unwrap().entries,
        0,
        "nothing is that old"
    );
    log.close().await.unwrap();
}

#[tokio::test]
async fn lines_are_encoded_canonically() {
    let directory = tempfile::tempdir().unwrap();
    let (log, session, _) = log_with(directory.path(), Options::default(), &[]).await;
    let lines = br#" {"reply_id": "r1", "type": "USER_INTERRUPT"} "#;
    let refused = session.append(Events::from_lines(lines).unwrap()).await.unwrap_err();
    assert_eq!(
        refused.to_string().split_once(" was").unwrap().1,
        " refused (foreign): the session has no such reply or call"
    );
    log.close().await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_accessible_to_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    log.create("chat".parse().unwrap()).await.unwrap();
    for file in ["log.sqlite", "log.sqlite-wal"] {
        let mode = directory.path().join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file} has {mode:o}");
    }
    log.close().await.unwrap();
}
