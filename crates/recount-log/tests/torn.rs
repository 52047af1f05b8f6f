//! Recovery of a log after a power loss while SQLite writes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use recount_log::{Durability, Frame, Log, Options, SessionKey, Start};
use recount_message::{AgentEvent, CustomEvent, Event, Msg};

/// The size and number of the batches.
const BATCH: usize = 5;
const BATCHES: usize = 30;

fn key() -> SessionKey {
    "chat".parse().unwrap()
}

fn message(number: usize) -> AgentEvent {
    let message = Msg::user("Alice", format!("message {number}")).with_id(format!("m{number}"));
    Event::stamped(format!("m{number}"), "2026-01-01T00:00:00Z", CustomEvent::message(&message))
}

fn options(boot_id: &str) -> Options {
    Options::default().durability(Durability::Process).boot_id(boot_id)
}

/// Writes a log in batches. Returns its database, its write-ahead log, and the epoch of its session.
async fn written() -> (Vec<u8>, Vec<u8>, u32) {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), options("boot 1")).unwrap();
    let session = log.create(key()).await.unwrap();
    let events: Vec<AgentEvent> = (0..BATCH * BATCHES).map(message).collect();
    for batch in events.chunks(BATCH) {
        session.append(batch).await.unwrap();
    }
    let epoch = session.info().await.unwrap().epoch.get();
    let read = |name: &str| fs::read(directory.path().join(name)).unwrap();
    let files = (read("log.sqlite"), read("log.sqlite-wal"));
    log.close().await.unwrap();
    (files.0, files.1, epoch)
}

/// Opens a damaged log and counts the batches that are left. `None` if the session is lost too.
async fn batches_left(directory: &Path, epoch: u32) -> Option<usize> {
    let log = Log::open(directory, options("boot 2")).unwrap();
    let session = log.session(key());
    let Ok(row) = session.info().await else { return None };
    assert_ne!(row.epoch.get(), epoch, "entries may be gone");
    let mut reader = session.subscribe(Start::Beginning).unwrap();
    let mut texts = Vec::new();
    while let Some(frame) = reader.try_next().await.unwrap() {
        let Frame::Entry(entry) = frame else { panic!("{frame:?}") };
        texts.push(Event::from_slice(&entry.event).unwrap().id.into_owned());
    }
    assert_eq!(texts, (0..texts.len()).map(|number| format!("m{number}")).collect::<Vec<_>>());
    assert_eq!(texts.len() % BATCH, 0, "a batch is there whole or not at all");
    let faults = log.read(|view| recount_log::verify::session(view, &key())).await.unwrap();
    assert_eq!(faults, [] as [String; 0]);
    // Lost events are written again, and the others are duplicates.
    let events: Vec<AgentEvent> = (0..BATCH * BATCHES).map(message).collect();
    let again = session.append(&events).await.unwrap();
    assert_eq!((again.duplicates, again.written), (texts.len(), events.len() - texts.len()));
    log.close().await.unwrap();
    Some(texts.len() / BATCH)
}

#[tokio::test]
async fn truncated_write_ahead_log_keeps_whole_batches() {
    let (database, log, epoch) = written().await;
    let mut left = Vec::new();
    for step in 0..=16 {
        let end = log.len() * step / 16;
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("log.sqlite"), &database).unwrap();
        fs::write(directory.path().join("log.sqlite-wal"), &log[..end]).unwrap();
        left.push(batches_left(directory.path(), epoch).await);
    }
    assert!(left.is_sorted(), "{left:?}");
    assert_eq!(left.last(), Some(&Some(BATCHES)));
}

#[tokio::test]
async fn corrupt_write_ahead_log_keeps_whole_batches() {
    let (database, log, epoch) = written().await;
    for step in 0..16 {
        let at = log.len() * (2 * step + 1) / 32;
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("log.sqlite"), &database).unwrap();
        let mut garbled = log.clone();
        garbled[at..].iter_mut().take(64).for_each(|byte| *byte ^= 0x5a);
        fs::write(directory.path().join("log.sqlite-wal"), garbled).unwrap();
        let left = batches_left(directory.path(), epoch).await;
        assert!(left < Some(BATCHES), "what comes after it is not to be trusted: {left:?}");
    }
}
