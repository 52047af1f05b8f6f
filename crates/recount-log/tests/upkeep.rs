//! Background work: loading sessions, caching the folds of long replies, and maintenance.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_log::storage::Visibility;
use recount_log::{Env, Log, Maintenance, MaintenanceStep, MemoryStorage, Options, Session, SystemRng, Writer};
use recount_message::jiff::Timestamp;
use recount_message::{AgentEvent, Clock, RandomIds, ReplyEnd, ReplyWriter, Stamps};

/// A reply with a number of deltas of 30 letters each, and the events that end it.
fn reply(deltas: usize) -> (Vec<AgentEvent>, Vec<AgentEvent>) {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Friday");
    for number in 0..deltas {
        reply.text(format!("word number {number:>18}"));
    }
    reply.end(ReplyEnd::completed());
    let end = events.split_off(deltas + 2);
    (events, end)
}

/// Checks that the open replies of a snapshot equal those rebuilt from their first entry.
async fn check_open(session: &Session) {
    let snapshot = session.snapshot().await.unwrap();
    assert_eq!(snapshot.open, session.open_replies_at(snapshot.cursor).await.unwrap());
    assert_eq!(session.snapshot().await.unwrap(), snapshot);
}

#[cfg(unix)]
#[tokio::test]
async fn new_directory_is_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let outside = tempfile::tempdir().unwrap();
    let directory = outside.path().join("a/log");
    let log = Log::open(&directory, Options::default()).unwrap();
    assert_eq!(std::fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
    log.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshot_contains_long_open_replies() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.create("long".parse().unwrap()).await.unwrap();
    let (events, end) = reply(3_000);
    let (another, _) = reply(2_000);
    for (index, piece) in events.chunks(700).enumerate() {
        session.append(piece).await.unwrap();
        check_open(&session).await;
        if index == 2 {
            session.append(&another).await.unwrap();
            check_open(&session).await;
        }
    }
    log.close().await.unwrap();

    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.session("long".parse().unwrap());
    check_open(&session).await;
    session.append(&end).await.unwrap();
    check_open(&session).await;
    assert_eq!(session.snapshot().await.unwrap().messages.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_during_session_load_keep_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let (events, end) = reply(5_000);
    let (old, new) = events.split_at(4_000);
    for name in ["a", "b", "c", "d", "e", "f"] {
        log.create(name.parse().unwrap()).await.unwrap().append(old).await.unwrap();
    }
    log.close().await.unwrap();

    // Nothing is awaited, and all handles are dropped before the sessions can be loaded.
    let log = Log::open(directory.path(), Options::default()).unwrap();
    for name in ["a", "b", "c", "d", "e", "f"] {
        let appender = log.session(name.parse().unwrap()).appender(None);
        appender.send(&old[3_990..]).await.unwrap();
        for event in new.iter().chain(&end) {
            appender.send(event).await.unwrap();
        }
    }
    drop(log);

    let log = loop {
        // The lock is released when the writer thread ends.
        match Log::open(directory.path(), Options::default()) {
            Ok(log) => break log,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    for name in ["a", "b", "c", "d", "e", "f"] {
        let session = log.session(name.parse().unwrap());
        assert_eq!(session.info().await.unwrap().head, (events.len() + end.len()) as u64);
        let key = session.key().clone();
        assert_eq!(log.read(move |view| recount_log::verify::session(view, &key)).await.unwrap(), [] as [String; 0]);
        assert_eq!(session.snapshot().await.unwrap().messages.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn maintenance_compacts_all_sessions_in_small_steps() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let mut before = Vec::new();
    for number in 0..70 {
        let session = log.create(format!("s{number}").parse().unwrap()).await.unwrap();
        let (events, end) = reply(if number == 7 { 2_000 } else { 20 });
        session.append(&events).await.unwrap();
        // One reply stays open, so its deltas must not be merged.
        if number != 8 {
            session.append(&end).await.unwrap();
        }
        before.push((session.clone(), session.messages(None, Visibility::All, 10).await.unwrap().unwrap().messages));
    }
    let mut maintenance = Maintenance::new(log.clone(), Duration::ZERO);
    let mut steps = 0;
    let kept = loop {
        steps += 1;
        if let MaintenanceStep::Done(kept) = maintenance.step().await.unwrap() {
            break kept;
        }
    };
    assert!(steps > 70, "it was done in {steps} steps");
    assert!(kept.merged > 2_000 + 60 * 15, "only {} were merged", kept.merged);
    for (session, messages) in before {
        assert_eq!(session.messages(None, Visibility::All, 10).await.unwrap().unwrap().messages, messages);
        let key = session.key().clone();
        assert_eq!(log.read(move |view| recount_log::verify::session(view, &key)).await.unwrap(), [] as [String; 0]);
    }
    assert_eq!(maintenance.round().await.unwrap().merged, 0);
}

/// A clock that is a settable number of seconds behind.
#[derive(Debug, Clone)]
struct Ago(Arc<AtomicU64>);

impl Clock for Ago {
    fn now(&mut self) -> Timestamp {
        Timestamp::now() - Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

async fn entries(session: &Session) -> usize {
    let key = session.key().clone();
    let count = session.log().read(move |view| {
        let mut count = 0;
        recount_log::verify::each_entry(view, &key, |_| {
            count += 1;
            Ok::<_, recount_log::Error>(())
        })?;
        Ok(count)
    });
    count.await.unwrap()
}

/// A log with a settable clock, and its maintenance with an age of one hour.
fn log_with_clock() -> (Log, Ago, Maintenance) {
    let ago = Ago(Arc::new(AtomicU64::new(9_000)));
    let env = Env::new(ago.clone(), SystemRng, RandomIds);
    let log = Log::with(MemoryStorage::default(), Writer::new(env)).unwrap();
    (log.clone(), ago, Maintenance::new(log, Duration::from_secs(3_600)))
}

#[tokio::test]
async fn abandoned_reply_does_not_prevent_compaction_of_others() {
    let (log, _, mut maintenance) = log_with_clock();
    let session = log.create("chat".parse().unwrap()).await.unwrap();
    let [(abandoned, _), (late, late_end), (other, other_end)] = [reply(20), reply(20), reply(20)];
    for events in [&abandoned, &late, &other, &other_end] {
        session.append(events).await.unwrap();
    }
    let all = entries(&session).await;
    assert_eq!(maintenance.round().await.unwrap().merged, 19);
    assert_eq!(entries(&session).await, all - 19);
    assert_eq!(maintenance.round().await.unwrap().merged, 0);
    // The skipped deltas are merged after their reply has ended.
    session.append(&late_end).await.unwrap();
    assert_eq!(maintenance.round().await.unwrap().merged, 19);
    check_open(&session).await;
    let key = session.key().clone();
    assert_eq!(log.read(move |view| recount_log::verify::session(view, &key)).await.unwrap(), [] as [String; 0]);
}

#[tokio::test]
async fn recently_ended_reply_is_not_compacted_with_older_ones() {
    let (log, ago, mut maintenance) = log_with_clock();
    let session = log.create("chat".parse().unwrap()).await.unwrap();
    let [(recent, recent_end), (old, old_end)] = [reply(20), reply(20)];
    for events in [&recent, &old, &old_end] {
        session.append(events).await.unwrap();
    }
    ago.0.store(0, Ordering::Relaxed);
    session.append(&recent_end).await.unwrap();
    assert_eq!(maintenance.round().await.unwrap().merged, 19);
    assert_eq!(session.compact(Duration::ZERO).await.unwrap().rows, 10);
}
