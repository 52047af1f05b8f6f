//! Tests of slow logs and of deleted sessions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_agent::tool::{FunctionTool, NoArguments, ToolContext};
use recount_host::OnBusy;
use recount_log::storage::{Storage, StorageResult, View, Views, Write};
use recount_log::{Env, Log, MemoryStorage, Writer};

use crate::common::{SESSION, TestReader, host, memory_session, user};

/// A storage whose commits can be blocked.
#[derive(Debug, Clone, Default)]
struct BlockingStorage {
    inner: MemoryStorage,
    is_blocked: Arc<(Mutex<bool>, Condvar)>,
}

impl BlockingStorage {
    fn set_blocked(&self, is_blocked: bool) {
        *self.is_blocked.0.lock().unwrap() = is_blocked;
        self.is_blocked.1.notify_all();
    }
}

impl Views for BlockingStorage {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        self.inner.view()
    }
}

impl Storage for BlockingStorage {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        self.inner.readers()
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        let blocked = self.is_blocked.0.lock().unwrap();
        drop(self.is_blocked.1.wait_while(blocked, |is_blocked| *is_blocked).unwrap());
        self.inner.commit(writes)
    }
}

const LINES: usize = 20_000;

#[tokio::test]
async fn agent_pauses_while_append_queue_is_full() {
    let storage = BlockingStorage::default();
    let log = Log::with(storage.clone(), Writer::new(Env::default())).unwrap();
    let session = log.create(SESSION.parse().unwrap()).await.unwrap();
    let (said, gate) = (Arc::new(AtomicUsize::new(0)), Gate::new());
    let host = host(&log, {
        let (said, gate) = (Arc::clone(&said), gate.clone());
        move || {
            let (said, gate) = (Arc::clone(&said), gate.clone());
            let talk = FunctionTool::with_context("talk", "Talks.", move |_: NoArguments, context: ToolContext| {
                let (said, gate) = (Arc::clone(&said), gate.clone());
                async move {
                    gate.pass().await;
                    for _ in 0..LINES {
                        context.write_text("A line.\n").await;
                        said.fetch_add(1, Ordering::SeqCst);
                    }
                    Ok("done")
                }
            });
            let model = ScriptedModel::new().calls("talk", "{}").then().says("That was all.");
            Agent::builder("Friday").model(model).tool(talk.read_only())
        }
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Talk."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    storage.set_blocked(true);
    gate.open();
    // Commits are blocked. The tool stops too, when the queue and all buffers are full.
    let (mut last, mut quiet) = (0, 0);
    while quiet < 2_000 {
        tokio::task::yield_now().await;
        let now = said.load(Ordering::SeqCst);
        quiet = if now == last && now > 0 { quiet + 1 } else { 0 };
        last = now;
    }
    assert!(last < 4_000, "the tool wrote {last} of {LINES} lines while commits were blocked");
    storage.set_blocked(false);
    let mut reader = TestReader::new(&session);
    let reply = reader.wait_for_end(&posted.reply_id).await;
    let output = reply.result_of("call_1").unwrap().output.text().unwrap();
    assert_eq!(output.matches("A line.").count(), LINES);
}

#[tokio::test]
async fn deleting_session_stops_its_run() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate).says(" upon a time.").then().says("Hello.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    session.delete().await.unwrap();
    gate.open();
    let refused = host.post(session.key(), user("m2", "?"), OnBusy::Queue).await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no session chat");
    // A new session with the same name starts empty.
    let session = log.create(SESSION.parse().unwrap()).await.unwrap();
    let posted = host.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    assert_eq!(reader.wait_for_end(&posted.reply_id).await.text().as_deref(), Some("Hello."));
    assert_eq!(reader.fold.messages().count(), 2);
}
