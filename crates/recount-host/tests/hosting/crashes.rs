//! Hosts that die, at every point of a reply.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pretty_assertions::assert_eq;
use recount_agent::multi_agent::SubAgent;
use recount_agent::scripted::{FnModel, ScriptedModel};
use recount_agent::{Agent, AgentBuilder, ChatModel, OnRestart};
use recount_host::{Host, HostOptions, OnBusy, PostError};
use recount_log::{Env, Log, MemoryStorage, Options, Session, SqliteStorage, Writer};
use recount_message::{AgentEvent, FinishedReason, Msg, ToolCallBlock, ToolCallState, ToolResultState};

use crate::common::{Held, SESSION, Watcher, check_paired, deploy, host_with, user, yes};
use crate::dying::{Death, Dying};

/// A model that calls `deploy`, and then says how that went.
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

/// A model that has another agent do it.
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

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cast {
    /// The agent that has the tool.
    Alone,
    /// An agent that has another one do it.
    Delegated,
}

/// One world: what is stored, and how often the tool ran.
struct World {
    cast: Cast,
    runs: Arc<AtomicUsize>,
    held: Held,
}

impl World {
    fn of(cast: Cast) -> Self {
        Self { cast, runs: Arc::default(), held: Held::default() }
    }

    fn new() -> Self {
        Self::of(Cast::Alone)
    }

    fn maker(&self) -> impl Fn() -> AgentBuilder + Send + Sync + 'static {
        let (cast, runs, held) = (self.cast, Arc::clone(&self.runs), self.held.clone());
        move || {
            let runs = Arc::clone(&runs);
            let worker = move |name: &str| Agent::builder(name).model(deployer()).tool(deploy(&runs));
            let agent = match cast {
                Cast::Alone => worker("Friday"),
                Cast::Delegated => {
                    let delegate = SubAgent::new("delegate", "Does it.", move || worker("Worker"));
                    Agent::builder("Friday").model(boss()).tool(delegate)
                }
            };
            agent.middleware(held.clone())
        }
    }

    async fn host(&self, log: &Log) -> Host {
        // One by one, so that a host can die between any two entries.
        host_with(log, HostOptions { batch: 1, ..HostOptions::default() }, self.maker()).await
    }

    /// Posts, answers what is asked, and reads until the reply has ended.
    async fn play(&self, host: &Host, session: &Session) -> (Watcher, Msg) {
        host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
        let mut watcher = Watcher::of(session);
        self.answer(session, &mut watcher).await;
        let reply = watcher.ended("m1.reply").await;
        (watcher, reply)
    }

    async fn answer(&self, session: &Session, watcher: &mut Watcher) {
        // A call that was made again after a crash has another id.
        loop {
            let asked = |watcher: &Watcher| {
                let mut open = watcher.fold.messages().filter(|message| message.finished_at().is_none());
                open.find_map(|reply| {
                    let call = reply.blocks::<ToolCallBlock>().find(|call| call.state == ToolCallState::Asking);
                    call.map(|call| (reply.clone(), call.id.clone()))
                })
            };
            let has_ended =
                |watcher: &Watcher| watcher.reply("m1.reply").is_some_and(|reply| reply.finished_at().is_some());
            watcher.until("a question or the end", |watcher| has_ended(watcher) || asked(watcher).is_some()).await;
            let Some((reply, call)) = asked(watcher).filter(|_| !has_ended(watcher)) else { return };
            // Somebody may have said so before.
            let _ = session.append([&the_yes(&reply, &call)]).await;
            let is_answered = |watcher: &Watcher| asked(watcher).is_none_or(|(_, asked)| asked != call);
            watcher.until("the answer", is_answered).await;
        }
    }

    /// The host dies with its storage. Whoever answers does so until then.
    async fn play_until(&self, log: &Log, death: Death) {
        let host = self.host(log).await;
        let session = log.session(SESSION.parse().unwrap());
        let playing = async {
            match host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await {
                Ok(_) | Err(PostError::Busy { .. }) => {}
                Err(_) => std::future::pending().await,
            }
            let mut watcher = Watcher::of(&session);
            self.answer(&session, &mut watcher).await;
        };
        tokio::select! {
            () = death.came() => {}
            () = playing => {}
        }
    }

    /// The host dies after so many entries.
    async fn play_until_death(&self, entries: i64, storage: &MemoryStorage) {
        let (dying, death) = Dying::after(entries, storage.clone());
        let log = Log::with(dying, writer()).unwrap();
        self.play_until(&log, death).await;
        let _ = log.close().await;
    }

    /// What has to be true of a reply, wherever its host has died.
    fn check(&self, watcher: &Watcher, reply: &Msg, crashes: u32) {
        check_paired(watcher, reply);
        let top = watcher.fold.messages().filter(|message| message.parent().is_none());
        assert_eq!(top.map(Msg::id).collect::<Vec<_>>(), ["m1", "m1.reply"]);
        for part in watcher.fold.messages().filter(|message| message.parent().is_some()) {
            assert!(part.finished_at().is_some(), "{}", part.to_json());
            check_paired(watcher, part);
        }
        // An agent that closes a reply at once holds nothing at the end of its rounds: there are none.
        if reply.finished_reason() == Some(FinishedReason::Completed) {
            assert_eq!(watcher.before_its_end(reply.id()), self.held.last());
        }
        assert!(self.runs.load(Ordering::SeqCst) <= 1, "the tool is not idempotent and ran twice");
        if crashes <= 3 {
            assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed), "{}", reply.to_json());
            let last = reply.text_joined_by("|").unwrap();
            assert!(last.ends_with("It is live.") || last.ends_with("I do not know."), "{}", watcher.story());
        }
        let ends = |event: &AgentEvent| event.type_name() == "REPLY_END" && event.reply_id() == Some(reply.id());
        assert_eq!(watcher.count(ends), 1);
    }
}

/// The user says yes under the same id, however often.
fn the_yes(reply: &Msg, call_id: &str) -> AgentEvent {
    AgentEvent { id: format!("yes-{call_id}").into(), ..yes(reply, call_id) }
}

fn writer() -> Writer {
    Writer::new(Env::default())
}

/// A storage with one session.
async fn stored() -> MemoryStorage {
    let storage = MemoryStorage::default();
    let log = Log::with(storage.clone(), writer()).unwrap();
    log.create(SESSION.parse().unwrap()).await.unwrap();
    log.close().await.unwrap();
    storage
}

/// How many entries the whole reply has.
async fn length(cast: Cast) -> i64 {
    let log = Log::in_memory();
    let session = log.create(SESSION.parse().unwrap()).await.unwrap();
    let world = World::of(cast);
    let host = world.host(&log).await;
    let (watcher, reply) = world.play(&host, &session).await;
    world.check(&watcher, &reply, 0);
    assert_eq!(world.runs.load(Ordering::SeqCst), 1);
    watcher.events.len() as i64
}

async fn in_memory(cast: Cast, deaths: &[i64]) {
    let (storage, world) = (stored().await, World::of(cast));
    let mut crashes = 0;
    for &entries in deaths {
        let (dying, death) = Dying::after(entries, storage.clone());
        let log = Log::with(dying, writer()).unwrap();
        if has_ended(&log).await {
            break;
        }
        world.play_until(&log, death).await;
        let _ = log.close().await;
        crashes += 1;
    }
    let log = Log::with(storage, writer()).unwrap();
    let session = log.session(SESSION.parse().unwrap());
    let host = world.host(&log).await;
    let (watcher, reply) = world.play(&host, &session).await;
    world.check(&watcher, &reply, crashes);
}

async fn has_ended(log: &Log) -> bool {
    let hosting = log.hosted_sessions().await.unwrap();
    hosting.is_empty() && log.session(SESSION.parse().unwrap()).info().await.unwrap().head > 0
}

#[tokio::test]
async fn a_reply_comes_to_its_end_wherever_its_host_dies() {
    let length = length(Cast::Alone).await;
    assert!(length > 25, "{length}");
    for entries in 0..length {
        in_memory(Cast::Alone, &[entries]).await;
    }
}

#[tokio::test]
async fn an_agent_that_works_for_another_one_goes_on_too_wherever_they_die() {
    let length = length(Cast::Delegated).await;
    assert!(length > 40, "{length}");
    for entries in 0..length {
        in_memory(Cast::Delegated, &[entries]).await;
    }
    for entries in (1..length).step_by(5) {
        in_memory(Cast::Delegated, &[entries, 4]).await;
    }
}

#[tokio::test]
async fn a_reply_comes_to_its_end_wherever_its_host_dies_again_and_again() {
    let length = length(Cast::Alone).await;
    for first in (1..length).step_by(3) {
        for next in [1, 2, 3, 5, 8] {
            in_memory(Cast::Alone, &[first, next]).await;
            in_memory(Cast::Alone, &[first, next, next + 1]).await;
        }
    }
}

#[tokio::test]
async fn a_reply_ends_with_an_error_after_its_host_has_died_too_often() {
    // Each time after something was written, in the middle of the model call.
    let (storage, world) = (stored().await, World::new());
    for _ in 0..4 {
        world.play_until_death(8, &storage).await;
    }
    let log = Log::with(storage, writer()).unwrap();
    let session = log.session(SESSION.parse().unwrap());
    let host = world.host(&log).await;
    let (watcher, reply) = world.play(&host, &session).await;
    world.check(&watcher, &reply, 4);
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Error));
    assert_eq!(reply.error().unwrap().message, "the process that worked on the reply has died 4 times");
}

#[tokio::test]
async fn a_reply_may_be_closed_instead() {
    let (storage, world) = (stored().await, World::new());
    world.play_until_death(8, &storage).await;
    let log = Log::with(storage, writer()).unwrap();
    let session = log.session(SESSION.parse().unwrap());
    let options = HostOptions { on_restart: Some(OnRestart::Close), ..HostOptions::default() };
    let _host = host_with(&log, options, world.maker()).await;
    let mut watcher = Watcher::of(&session);
    let reply = watcher.ended("m1.reply").await;
    assert_eq!(reply.error().unwrap().message, "the process that worked on the reply has died");
    check_paired(&watcher, &reply);
}

#[tokio::test]
async fn the_same_holds_on_a_disk() {
    let length = length(Cast::Alone).await;
    let base = if std::path::Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
    for entries in (0..length).step_by(4) {
        let directory = tempfile::tempdir_in(&base).unwrap();
        let world = World::new();
        let log = Log::open(directory.path(), Options::default()).unwrap();
        log.create(SESSION.parse().unwrap()).await.unwrap();
        log.close().await.unwrap();
        let storage = SqliteStorage::open(directory.path(), &mut Options::default()).unwrap();
        let (dying, death) = Dying::after(entries, storage);
        let log = Log::with(dying, writer()).unwrap();
        world.play_until(&log, death).await;
        let _ = log.close().await;
        let log = Log::open(directory.path(), Options::default()).unwrap();
        let session = log.session(SESSION.parse().unwrap());
        let host = world.host(&log).await;
        let (watcher, reply) = world.play(&host, &session).await;
        world.check(&watcher, &reply, 1);
        host.drain(std::time::Duration::from_secs(5)).await;
        log.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_host_goes_on_by_itself_when_its_log_does() {
    let (dying, death) = Dying::after(12, MemoryStorage::default());
    let log = Log::with(dying, writer()).unwrap();
    let session = log.create(SESSION.parse().unwrap()).await.unwrap();
    let world = World::new();
    let host = world.host(&log).await;
    host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    death.came().await;
    death.is_over();
    let (watcher, reply) = world.play(&host, &session).await;
    world.check(&watcher, &reply, 1);
}
