//! Tests of hosts that crash at every point of a reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pretty_assertions::assert_eq;
use recount_agent::multi_agent::SubAgent;
use recount_agent::scripted::{FnModel, ScriptedModel};
use recount_agent::{Agent, AgentBuilder, ChatModel, OnRestart};
use recount_host::{Host, HostOptions, OnBusy, PostError};
use recount_log::{Env, Log, MemoryStorage, Options, Session, SqliteStorage, Writer};
use recount_message::{AgentEvent, FinishedReason, Msg, ToolCallBlock, ToolCallState, ToolResultState};

use crate::common::{
    RecordedMessage, SESSION, TestReader, assert_calls_answered, confirmation, deploy, host_with, user,
};
use crate::failing_storage::{FailingStorage, StorageFailure};

/// A model that calls `deploy`, and then reports the result.
fn deployer() -> impl ChatModel {
    FnModel::new(|messages, reply_id| {
        let last = messages.iter().rev().find(|message| message.tool_pairs().next().is_some());
        let answered = last.filter(|message| message.id() == reply_id);
        let result = answered.and_then(|message| message.tool_pairs().last()?.1).map(|result| result.state);
        match result {
            None => ScriptedModel::new().thinks("Hm.").streams(["I ", "will."]).calls_as("c1", "deploy", "{}"),
            Some(ToolResultState::Success) => ScriptedModel::new().thinks("Good.").says("It is live."),
            Some(_) => ScriptedModel::new().says("I do not know."),
        }
    })
}

/// A model that delegates the task to a sub-agent.
fn boss() -> impl ChatModel {
    FnModel::new(|messages, reply_id| {
        let own = messages.iter().find(|message| message.id() == reply_id);
        let result = own.and_then(|message| message.tool_pairs().last()?.1);
        match result {
            None => ScriptedModel::new().calls_as("b1", "delegate", r#"{"task": "Deploy it."}"#),
            Some(result) => ScriptedModel::new().says(result.output.text().unwrap_or_default()),
        }
    })
}

/// The agents of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setup {
    /// One agent with the tool.
    Single,
    /// An agent with a sub-agent that has the tool.
    Delegated,
}

/// A scenario, with the number of executions of the tool and the last message of the agent.
struct Scenario {
    setup: Setup,
    runs: Arc<AtomicUsize>,
    recorded: RecordedMessage,
}

impl Scenario {
    fn with(setup: Setup) -> Self {
        Self { setup, runs: Arc::default(), recorded: RecordedMessage::default() }
    }

    fn new() -> Self {
        Self::with(Setup::Single)
    }

    fn maker(&self) -> impl Fn() -> AgentBuilder + Send + Sync + 'static {
        let (setup, runs, recorded) = (self.setup, Arc::clone(&self.runs), self.recorded.clone());
        move || {
            let runs = Arc::clone(&runs);
            let worker = move |name: &str| Agent::builder(name).model(deployer()).tool(deploy(&runs));
            let agent = match setup {
                Setup::Single => worker("Friday"),
                Setup::Delegated => {
                    let delegate = SubAgent::new("delegate", "Does it.", move || worker("Worker"));
                    Agent::builder("Friday").model(boss()).tool(delegate)
                }
            };
            agent.middleware(recorded.clone())
        }
    }

    async fn host(&self, log: &Log) -> Host {
        // One entry per commit, so that the storage can fail between any two entries.
        host_with(log, HostOptions { batch: 1, ..HostOptions::default() }, self.maker()).await
    }

    /// Posts the message, confirms calls, and reads until the reply has ended.
    async fn play(&self, host: &Host, session: &Session) -> (TestReader, Msg) {
        host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
        let mut reader = TestReader::new(session);
        self.answer(session, &mut reader).await;
        let reply = reader.wait_for_end("m1.reply").await;
        (reader, reply)
    }

    async fn answer(&self, session: &Session, reader: &mut TestReader) {
        // A call that is repeated after a crash has another id.
        loop {
            let asked = |reader: &TestReader| {
                let mut open = reader.fold.messages().filter(|message| message.finished_at().is_none());
                open.find_map(|reply| {
                    let call = reply.blocks::<ToolCallBlock>().find(|call| call.state == ToolCallState::Asking);
                    call.map(|call| (reply.clone(), call.id.clone()))
                })
            };
            let has_ended =
                |reader: &TestReader| reader.reply("m1.reply").is_some_and(|reply| reply.finished_at().is_some());
            reader
                .wait_until("a confirmation request or the end", |reader| has_ended(reader) || asked(reader).is_some())
                .await;
            let Some((reply, call)) = asked(reader).filter(|_| !has_ended(reader)) else { return };
            // The call may have been confirmed before the crash.
            let _ = session.append([&repeatable_confirmation(&reply, &call)]).await;
            let is_answered = |reader: &TestReader| asked(reader).is_none_or(|(_, asked)| asked != call);
            reader.wait_until("the confirmation", is_answered).await;
        }
    }

    /// Runs the scenario until the storage fails.
    async fn run_until(&self, log: &Log, failure: StorageFailure) {
        let host = self.host(log).await;
        let session = log.session(SESSION.parse().unwrap());
        let playing = async {
            match host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await {
                Ok(_) | Err(PostError::Busy { .. }) => {}
                Err(_) => std::future::pending().await,
            }
            let mut reader = TestReader::new(&session);
            self.answer(&session, &mut reader).await;
        };
        tokio::select! {
            () = failure.wait() => {}
            () = playing => {}
        }
    }

    /// Runs the scenario on a storage that fails after a number of entries.
    async fn run_until_failure_after(&self, entries: i64, storage: &MemoryStorage) {
        let (storage, failure) = FailingStorage::after(entries, storage.clone());
        let log = Log::with(storage, writer()).unwrap();
        self.run_until(&log, failure).await;
        let _ = log.close().await;
    }

    /// Asserts what must hold for a reply after any number of crashes.
    fn check(&self, reader: &TestReader, reply: &Msg, crashes: u32) {
        assert_calls_answered(reader, reply);
        let top = reader.fold.messages().filter(|message| message.parent().is_none());
        assert_eq!(top.map(Msg::id).collect::<Vec<_>>(), ["m1", "m1.reply"]);
        for part in reader.fold.messages().filter(|message| message.parent().is_some()) {
            assert!(part.finished_at().is_some(), "{}", part.to_json());
            assert_calls_answered(reader, part);
        }
        // An agent that closes a reply at once runs no iteration, so nothing is recorded.
        if reply.finished_reason() == Some(FinishedReason::Completed) {
            assert_eq!(reader.message_before_end(reply.id()), self.recorded.last());
        }
        assert!(self.runs.load(Ordering::SeqCst) <= 1, "the tool is not idempotent and ran twice");
        if crashes <= 3 {
            assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed), "{}", reply.to_json());
            let last = reply.text_joined_by("|").unwrap();
            assert!(last.ends_with("It is live.") || last.ends_with("I do not know."), "{}", reader.transcript());
        }
        let ends = |event: &AgentEvent| event.type_name() == "REPLY_END" && event.reply_id() == Some(reply.id());
        assert_eq!(reader.count(ends), 1);
    }
}

/// A confirmation whose id depends on the call only, so that it can be sent again.
fn repeatable_confirmation(reply: &Msg, call_id: &str) -> AgentEvent {
    confirmation(reply, call_id).with_id(format!("yes-{call_id}"))
}

fn writer() -> Writer {
    Writer::new(Env::default())
}

/// Creates a storage with one session.
async fn stored() -> MemoryStorage {
    let storage = MemoryStorage::default();
    let log = Log::with(storage.clone(), writer()).unwrap();
    log.create(SESSION.parse().unwrap()).await.unwrap();
    log.close().await.unwrap();
    storage
}

/// Returns the number of entries of the complete reply.
async fn reply_length(setup: Setup) -> i64 {
    let log = Log::in_memory();
    let session = log.create(SESSION.parse().unwrap()).await.unwrap();
    let scenario = Scenario::with(setup);
    let host = scenario.host(&log).await;
    let (reader, reply) = scenario.play(&host, &session).await;
    scenario.check(&reader, &reply, 0);
    assert_eq!(scenario.runs.load(Ordering::SeqCst), 1);
    reader.events.len() as i64
}

async fn in_memory(setup: Setup, failures: &[i64]) {
    let (storage, scenario) = (stored().await, Scenario::with(setup));
    let mut crashes = 0;
    for &entries in failures {
        let (storage, failure) = FailingStorage::after(entries, storage.clone());
        let log = Log::with(storage, writer()).unwrap();
        if has_ended(&log).await {
            break;
        }
        scenario.run_until(&log, failure).await;
        let _ = log.close().await;
        crashes += 1;
    }
    let log = Log::with(storage, writer()).unwrap();
    let session = log.session(SESSION.parse().unwrap());
    let host = scenario.host(&log).await;
    let (reader, reply) = scenario.play(&host, &session).await;
    scenario.check(&reader, &reply, crashes);
}

async fn has_ended(log: &Log) -> bool {
    let hosting = log.hosted_sessions().await.unwrap();
    hosting.is_empty() && log.session(SESSION.parse().unwrap()).info().await.unwrap().head > 0
}

#[tokio::test]
async fn reply_completes_after_crash_at_any_entry() {
    let length = reply_length(Setup::Single).await;
    assert!(length > 25, "{length}");
    for entries in 0..length {
        in_memory(Setup::Single, &[entries]).await;
    }
}

#[tokio::test]
async fn sub_agent_completes_after_crash_at_any_entry() {
    let length = reply_length(Setup::Delegated).await;
    assert!(length > 40, "{length}");
    for entries in 0..length {
        in_memory(Setup::Delegated, &[entries]).await;
    }
    for entries in (1..length).step_by(5) {
        in_memory(Setup::Delegated, &[entries, 4]).await;
    }
}

#[tokio::test]
async fn reply_completes_after_repeated_crashes() {
    let length = reply_length(Setup::Single).await;
    for first in (1..length).step_by(3) {
        for next in [1, 2, 3, 5, 8] {
            in_memory(Setup::Single, &[first, next]).await;
            in_memory(Setup::Single, &[first, next, next + 1]).await;
        }
    }
}

#[tokio::test]
async fn reply_ends_with_error_after_too_many_crashes() {
    // Each crash happens during the model call, after some of its events were committed.
    let (storage, scenario) = (stored().await, Scenario::new());
    for _ in 0..4 {
        scenario.run_until_failure_after(8, &storage).await;
    }
    let log = Log::with(storage, writer()).unwrap();
    let session = log.session(SESSION.parse().unwrap());
    let host = scenario.host(&log).await;
    let (reader, reply) = scenario.play(&host, &session).await;
    scenario.check(&reader, &reply, 4);
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Error));
    assert_eq!(reply.error().unwrap().message, "the process that worked on the reply has died 4 times");
}

#[tokio::test]
async fn on_restart_close_ends_interrupted_reply() {
    let (storage, scenario) = (stored().await, Scenario::new());
    scenario.run_until_failure_after(8, &storage).await;
    let log = Log::with(storage, writer()).unwrap();
    let session = log.session(SESSION.parse().unwrap());
    let options = HostOptions { on_restart: Some(OnRestart::Close), ..HostOptions::default() };
    let _host = host_with(&log, options, scenario.maker()).await;
    let mut reader = TestReader::new(&session);
    let reply = reader.wait_for_end("m1.reply").await;
    assert_eq!(reply.error().unwrap().message, "the process that worked on the reply has died");
    assert_calls_answered(&reader, &reply);
}

#[tokio::test]
async fn reply_completes_after_crash_with_sqlite_storage() {
    let length = reply_length(Setup::Single).await;
    let base = if std::path::Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
    for entries in (0..length).step_by(4) {
        let directory = tempfile::tempdir_in(&base).unwrap();
        let scenario = Scenario::new();
        let log = Log::open(directory.path(), Options::default()).unwrap();
        log.create(SESSION.parse().unwrap()).await.unwrap();
        log.close().await.unwrap();
        let storage = SqliteStorage::open(directory.path(), &mut Options::default()).unwrap();
        let (storage, failure) = FailingStorage::after(entries, storage);
        let log = Log::with(storage, writer()).unwrap();
        scenario.run_until(&log, failure).await;
        let _ = log.close().await;
        let log = Log::open(directory.path(), Options::default()).unwrap();
        let session = log.session(SESSION.parse().unwrap());
        let host = scenario.host(&log).await;
        let (reader, reply) = scenario.play(&host, &session).await;
        scenario.check(&reader, &reply, 1);
        host.drain(std::time::Duration::from_secs(5)).await;
        log.close().await.unwrap();
    }
}

#[tokio::test]
async fn host_retries_after_storage_recovers() {
    let (storage, failure) = FailingStorage::after(12, MemoryStorage::default());
    let log = Log::with(storage, writer()).unwrap();
    let session = log.create(SESSION.parse().unwrap()).await.unwrap();
    let scenario = Scenario::new();
    let host = scenario.host(&log).await;
    host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    failure.wait().await;
    failure.recover();
    let (reader, reply) = scenario.play(&host, &session).await;
    scenario.check(&reader, &reply, 1);
}
