//! Staged sessions, and failing commits while further requests are queued.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use recount_log::storage::{Storage, StorageResult, View, Views, Write};
use recount_log::writer::{Pipeline, PlanContext, SessionUpdate, WriterOutput};
use recount_log::{
    AppendRequest, Env, Error, Events, Frame, GapReason, Log, MemoryStorage, Options, Request, Response, SqliteStorage,
    Start, StorageError, Writer,
};
use recount_message::{AgentEvent, CustomEvent, Event, Fold, Msg, Object, ReplyEnd, ReplyWriter, Stamps};

fn message(number: usize) -> AgentEvent {
    let message = Msg::user("Alice", format!("message {number}")).with_id(format!("m{number}"));
    Event::stamped(format!("m{number}"), "2026-01-01T00:00:00Z", CustomEvent::message(&message))
}

fn open(directory: &Path) -> Log {
    Log::open(directory, Options::default()).unwrap()
}

/// Counts the rows of a table.
fn rows(directory: &Path, table: &str) -> u32 {
    let connection = rusqlite::Connection::open(directory.join("log.sqlite")).unwrap();
    connection.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn publish_replaces_a_session_in_one_step() {
    let directory = tempfile::tempdir().unwrap();
    let log = open(directory.path());
    let session = log.create("chat".parse().unwrap()).await.unwrap();
    session.append([&message(1)]).await.unwrap();
    let before = session.info().await.unwrap();
    let mut reader = session.subscribe(Start::Beginning).unwrap();
    assert!(matches!(reader.next().await.unwrap(), Frame::Entry(_)));

    let draft = log.stage("chat".parse().unwrap(), &Object::from([("title", "New")])).await.unwrap();
    for number in 10..15 {
        draft.append([&message(number), &message(number)]).await.unwrap();
    }
    assert_eq!(log.sessions(None, None, 9).await.unwrap(), std::slice::from_ref(&before));
    let row = draft.publish_replacing().await.unwrap();
    assert_eq!((row.head, row.properties.as_str()), (5, r#"{"title":"New"}"#));
    assert_ne!(row.epoch, before.epoch);
    assert_eq!(log.sessions(None, None, 9).await.unwrap(), [row]);
    assert_eq!(reader.next().await.unwrap(), Frame::Gap(GapReason::Epoch));

    // It accepts further appends and detects duplicates, like any other session.
    let again = session.append([&message(14), &message(15)]).await.unwrap();
    assert_eq!((again.written, again.duplicates), (1, 1));
    log.close().await.unwrap();
}

#[tokio::test]
async fn unpublished_session_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let log = open(directory.path());
    log.create("chat".parse().unwrap()).await.unwrap();
    let dropped = log.stage("one".parse().unwrap(), &Object::new()).await.unwrap();
    dropped.append([&message(1)]).await.unwrap();
    drop(dropped);
    let late = log.stage("chat".parse().unwrap(), &Object::new()).await.unwrap();
    late.append([&message(1)]).await.unwrap();
    let error = late.publish().await.unwrap_err();
    assert!(matches!(error, Error::SessionExists(_)), "{error}");
    let unwanted = log.stage("two".parse().unwrap(), &Object::new()).await.unwrap();
    unwanted.append([&message(1)]).await.unwrap();
    unwanted.discard().await.unwrap();
    log.close().await.unwrap();
    assert_eq!(["sessions", "entries", "messages"].map(|table| rows(directory.path(), table)), [1, 0, 0]);
}

#[tokio::test]
async fn open_deletes_staged_sessions_of_a_dead_process() {
    let directory = tempfile::tempdir().unwrap();
    let log = open(directory.path());
    let session = log.create("chat".parse().unwrap()).await.unwrap();
    session.append([&message(1)]).await.unwrap();
    let draft = log.stage("long".parse().unwrap(), &Object::new()).await.unwrap();
    let events: Vec<AgentEvent> = (0..5_000).map(message).collect();
    for piece in events.chunks(1_000) {
        draft.append(piece).await.unwrap();
    }
    // A copy of the files is what a killed process would leave.
    let left = tempfile::tempdir().unwrap();
    for name in ["log.sqlite", "log.sqlite-wal"] {
        fs::copy(directory.path().join(name), left.path().join(name)).unwrap();
    }
    assert_eq!(rows(left.path(), "entries"), 5_001);
    let log = open(left.path());
    let names: Vec<String> =
        log.sessions(None, None, 9).await.unwrap().into_iter().map(|row| row.key.to_string()).collect();
    assert_eq!(names, ["chat"]);
    log.close().await.unwrap();
    assert_eq!(["sessions", "entries", "messages"].map(|table| rows(left.path(), table)), [1, 1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn fork_copies_a_long_session_in_pages() {
    let log = Log::in_memory();
    let session = log.create("long".parse().unwrap()).await.unwrap();
    let mut events: Vec<AgentEvent> = (0..6_000).map(message).collect();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "long", "Friday");
    for number in 0..5_000 {
        reply.text(format!("{number} "));
    }
    reply.end(ReplyEnd::completed());
    session.append(&events).await.unwrap();
    let copy = log.fork(session.key(), None, "copy".parse().unwrap()).await.unwrap();
    let mut reader = copy.subscribe(Start::Beginning).unwrap();
    let mut fold = Fold::new();
    while let Some(frame) = reader.try_next().await.unwrap() {
        let Frame::Entry(entry) = frame else { panic!("{frame:?}") };
        let _ = fold.apply_at(entry.cursor.seq, &Event::from_slice(&entry.event).unwrap());
    }
    assert!(fold.messages().eq(events.iter().collect::<Fold>().messages()));
    // Thousands of deltas are merged into one per page.
    assert!((6_000..6_020).contains(&fold.cursor()), "{}", fold.cursor());
}

/// A storage that signals each commit, and waits for its result.
#[derive(Debug)]
struct Gated {
    storage: MemoryStorage,
    arrived: Sender<usize>,
    told: Arc<Mutex<Receiver<StorageResult<()>>>>,
}

impl Views for Gated {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        self.storage.view()
    }
}

impl Storage for Gated {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        self.storage.readers()
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        let entries =
            writes.iter().map(|write| if let Write::Append(append) = write { append.entries.len() } else { 0 });
        let _ = self.arrived.send(entries.sum());
        // Without a sender every commit succeeds.
        self.told.lock().unwrap().recv().unwrap_or(Ok(()))?;
        self.storage.commit(writes)
    }

    fn is_shared(&self) -> bool {
        false
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_commit_does_not_fail_later_requests() {
    let (arrived, at_gate) = channel();
    let (tell, told) = channel();
    let storage = Gated { storage: MemoryStorage::default(), arrived, told: Arc::new(Mutex::new(told)) };
    let log = Log::with(storage, Writer::new(Env::default())).unwrap();
    tell.send(Ok(())).unwrap();
    let session = log.create("chat".parse().unwrap()).await.unwrap();
    let _created = at_gate.recv().unwrap();

    let appender = session.appender(None);
    appender.send([&message(0)]).await.unwrap();
    // The first commit is delayed, so that many requests are queued behind it.
    assert_eq!(at_gate.recv().unwrap(), 1);
    for number in 1..=200 {
        appender.send([&message(number)]).await.unwrap();
    }
    tell.send(Ok(())).unwrap();
    assert_eq!(at_gate.recv().unwrap(), 200);
    // These are planned on top of two hundred requests whose commit fails.
    for number in 201..=400 {
        appender.send([&message(number)]).await.unwrap();
    }
    let other = tokio::spawn({
        let session = session.clone();
        async move { session.append([&message(7)]).await }
    });
    tell.send(Err(StorageError::Full("so it was decided".to_owned()))).unwrap();
    drop(tell);
    assert!(appender.flush().await.unwrap().seq >= 401);
    let repeated = other.await.unwrap().unwrap();
    assert_eq!((repeated.written, repeated.duplicates), (0, 1));

    let mut reader = session.subscribe(Start::Beginning).unwrap();
    let mut ids = Vec::new();
    while let Some(Frame::Entry(entry)) = reader.try_next().await.unwrap() {
        ids.push(Event::from_slice(&entry.event).unwrap().id.into_owned());
    }
    assert_eq!(ids, (0..=400).map(|number| format!("m{number}")).collect::<Vec<_>>());
    log.close().await.unwrap();
}

/// The responses.
#[derive(Default)]
struct Answers(Vec<Result<Response, Error>>);

impl WriterOutput for Answers {
    fn respond(&mut self, _: usize, answer: Result<Response, Error>) {
        self.0.push(answer);
    }

    fn publish(&mut self, _: SessionUpdate<'_>) {}
}

/// Plans a request, runs a function, and then commits the plan.
fn overtaken(
    pipeline: &mut Pipeline,
    storage: &mut dyn Storage,
    request: Request,
    meanwhile: impl FnOnce(&mut dyn Storage),
) -> Response {
    let mut answers = Answers::default();
    pipeline.push(request);
    let writes = pipeline.advance(PlanContext::of(storage), &mut answers).unwrap();
    meanwhile(storage);
    let result = storage.commit(&writes);
    assert_eq!(pipeline.finish(writes, result, storage, &mut answers), None);
    pipeline.deliver(&mut answers);
    answers.0.pop().unwrap().unwrap()
}

fn who_adopts_a_draft_is_told_where_it_ends(storage: &mut dyn Storage) {
    let [mut one, mut other] = [(); 2].map(|()| Pipeline::new(Writer::new(Env::default())));
    let key = || "chat".parse().unwrap();
    let begin = Request::Stage { key: key(), properties: "{}".to_owned() };
    let Response::Created(begun) = overtaken(&mut one, storage, begin, |_| {}) else { panic!("no draft") };
    let adopt = Request::Publish { draft: begun.key.clone(), key: key(), replaces: false };
    let append = |number| Request::Append(AppendRequest::new(begun.key.clone(), Events::of([&message(number)])));
    let adopted = overtaken(&mut one, storage, adopt, |storage| {
        for number in 1..=2 {
            overtaken(&mut other, storage, append(number), |_| {});
        }
    });
    let Response::Created(row) = adopted else { panic!("no session") };
    assert_eq!((row.key.name(), row.head), ("chat", 2));
    assert_eq!(storage.view().unwrap().session(&row.key).unwrap(), Some(row));
}

#[test]
fn publish_returns_the_current_head_in_memory() {
    who_adopts_a_draft_is_told_where_it_ends(&mut MemoryStorage::default());
}

#[test]
fn publish_returns_the_current_head_in_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let mut storage = SqliteStorage::open(directory.path(), &mut Options::default()).unwrap();
    who_adopts_a_draft_is_told_where_it_ends(&mut storage);
}
