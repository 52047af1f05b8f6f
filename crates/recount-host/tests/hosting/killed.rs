//! A process that hosts an agent and is killed, a few times.

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

use crate::common::{SESSION, Watcher, check_paired, user};

/// Where the child finds its log. Without it, the child does nothing.
const DIRECTORY: &str = "RECOUNT_HOST_TEST_DIRECTORY";
const ROUNDS: usize = 6;

/// A model that calls a tool and then says something, word by word.
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

/// Posts one message after the other until it is killed, and says which were taken.
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
        #[allow(clippy::print_stdout, reason = "this is how the parent hears of it")]
        {
            println!("\ntaken {id} {}", posted.reply_id);
        }
        if number % 3 == 2 {
            Watcher::of(&session).ended(&posted.reply_id).await;
        }
    }
}

fn start(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["killed::child", "--exact", "--nocapture", "--test-threads", "1"])
        .env(DIRECTORY, directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn what_was_taken_is_answered_once_however_often_the_process_is_killed() {
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
    let mut watcher = Watcher::of(&session);
    for (message, reply_id) in &taken {
        let reply = watcher.ended(reply_id).await;
        assert!(watcher.reply(message).is_some());
        check_paired(&watcher, &reply);
        let reason = reply.finished_reason();
        assert!(matches!(reason, Some(FinishedReason::Completed | FinishedReason::Error)), "{reason:?}");
    }
    // A message that was written and not acknowledged is answered too.
    let head = session.info().await.unwrap().head;
    let are_answered = |watcher: &Watcher| {
        let mut messages = watcher.fold.messages();
        let is_answered = |message: &Msg| {
            let reply = watcher.reply(&format!("{}.reply", message.id()));
            reply.is_some_and(|reply| reply.finished_at().is_some())
        };
        watcher.events.len() as u64 >= head
            && messages.all(|message| message.id().ends_with(".reply") || is_answered(message))
    };
    watcher.until("all answers", are_answered).await;
    host.drain(Duration::from_secs(60)).await;
    assert!(log.hosted_sessions().await.unwrap().is_empty());
    let page = session.messages(None, Visibility::All, 10_000).await.unwrap().unwrap();
    let messages: Vec<Msg> = page.messages.iter().map(|text| Msg::from_json(text).unwrap()).collect();
    let count = |is_reply: bool| messages.iter().filter(|message| message.id().ends_with(".reply") == is_reply).count();
    assert_eq!(count(true), count(false));
    log.close().await.unwrap();
}
