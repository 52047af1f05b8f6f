//! Tests of a process that hosts an agent and is killed repeatedly.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use recount_agent::scripted::{FnModel, ScriptedModel};
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_agent::{Agent, AgentBuilder, ChatModel};
use recount_host::{Host, HostOptions, OnBusy, SingleAgent};
use recount_log::storage::Visibility;
use recount_log::{Log, Options};
use recount_message::{FinishedReason, Msg};

use crate::common::{SESSION, TestReader, assert_calls_answered, user};

/// The variable with the directory of the log. The test `child` does nothing without it.
const DIRECTORY: &str = "RECOUNT_HOST_TEST_DIRECTORY";
const ROUNDS: usize = 6;

/// A model that calls a tool and then streams text word by word.
fn talker() -> impl ChatModel {
    FnModel::new(|messages, reply_id| {
        let own = messages.iter().find(|message| message.id() == reply_id);
        if own.is_some_and(|message| message.tool_pairs().next().is_some()) {
            ScriptedModel::new().thinks("So.").streams((0..50).map(|word| format!("word {word} ")))
        } else {
            ScriptedModel::new().says("Let me see.").calls("clock", "{}")
        }
    })
}

fn agent() -> AgentBuilder {
    let clock = FunctionTool::new("clock", "Tells the time.", |_: NoArguments| async { Ok("12:00") });
    Agent::builder("Friday").model(talker()).tool(clock.read_only().idempotent())
}

async fn host(log: &Log) -> Host {
    let options = HostOptions { batch: 4, ..HostOptions::default() };
    Host::start(log.clone(), Arc::new(SingleAgent::new("friday", agent)), options).await.unwrap()
}

/// Posts messages until the process is killed, and prints the accepted ones.
#[tokio::test]
async fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let log = Log::open(Path::new(&directory), Options::default()).unwrap();
    let session = log.session(SESSION.parse().unwrap());
    let host = host(&log).await;
    let first = session.info().await.unwrap().head;
    for number in 0.. {
        let id = format!("m{first}-{number}");
        let posted = host.post(session.key(), user(&id, "Tell me."), OnBusy::Queue).await.unwrap();
        #[allow(clippy::print_stdout, reason = "the parent process reads the output")]
        {
            println!("\ntaken {id} {}", posted.reply_id);
        }
        if number % 3 == 2 {
            TestReader::new(&session).wait_for_end(&posted.reply_id).await;
        }
    }
}

fn start(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["killed_process::child", "--exact", "--nocapture", "--test-threads", "1"])
        .env(DIRECTORY, directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn accepted_messages_are_answered_once_after_repeated_kills() {
    let base = if Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
    let directory = tempfile::tempdir_in(base).unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    log.create(SESSION.parse().unwrap()).await.unwrap();
    log.close().await.unwrap();

    let mut taken = Vec::new();
    for round in 0..ROUNDS {
        let mut child = start(directory.path());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let acknowledged = lines.map_while(Result::ok).filter_map(|line| {
            let mut words = line.strip_prefix("taken ")?.split(' ').map(str::to_owned);
            Some((words.next()?, words.next()?))
        });
        taken.extend(acknowledged.take(round * 2 + 1));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(taken.len() >= ROUNDS * ROUNDS);

    let log = Log::open(directory.path(), Options::default()).unwrap();
    let session = log.session(SESSION.parse().unwrap());
    let host = host(&log).await;
    let mut reader = TestReader::new(&session);
    for (message, reply_id) in &taken {
        let reply = reader.wait_for_end(reply_id).await;
        assert!(reader.reply(message).is_some());
        assert_calls_answered(&reader, &reply);
        let reason = reply.finished_reason();
        assert!(matches!(reason, Some(FinishedReason::Completed | FinishedReason::Error)), "{reason:?}");
    }
    // A message that was committed but not acknowledged is answered too.
    let head = session.info().await.unwrap().head;
    let are_answered = |reader: &TestReader| {
        let mut messages = reader.fold.messages();
        let is_answered = |message: &Msg| {
            let reply = reader.reply(&format!("{}.reply", message.id()));
            reply.is_some_and(|reply| reply.finished_at().is_some())
        };
        reader.events.len() as u64 >= head
            && messages.all(|message| message.id().ends_with(".reply") || is_answered(message))
    };
    reader.wait_until("all replies", are_answered).await;
    host.drain(Duration::from_secs(60)).await;
    assert!(log.hosted_sessions().await.unwrap().is_empty());
    let page = session.messages(None, Visibility::All, 10_000).await.unwrap().unwrap();
    let messages: Vec<Msg> = page.messages.iter().map(|message| message.decode().unwrap()).collect();
    let count = |is_reply: bool| messages.iter().filter(|message| message.id().ends_with(".reply") == is_reply).count();
    assert_eq!(count(true), count(false));
    log.close().await.unwrap();
}
