//! Logs that are behind, and sessions that are gone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_agent::tool::{FunctionTool, NoArguments, ToolContext};
use recount_host::OnBusy;
use recount_log::storage::{Storage, StorageResult, View, Views, Write};
use recount_log::{Env, Log, MemoryStorage, Writer};

use crate::common::{SESSION, Watcher, host, memory, user};

/// A storage that stands still when somebody closes it.
#[derive(Debug, Clone, Default)]
struct Standing {
    inner: MemoryStorage,
    is_closed: Arc<(Mutex<bool>, Condvar)>,
}

impl Standing {
    fn set_closed(&self, is_closed: bool) {
        *self.is_closed.0.lock().unwrap() = is_closed;
        self.is_closed.1.notify_all();
    }
}

impl Views for Standing {
    fn view(&self) -> StorageResult<Box<dyn View + '_>> {
        self.inner.view()
    }
}

impl Storage for Standing {
    fn readers(&self) -> Arc<dyn Views + Send + Sync> {
        self.inner.readers()
    }

    fn commit(&mut self, writes: &[Write]) -> StorageResult<()> {
        let closed = self.is_closed.0.lock().unwrap();
        drop(self.is_closed.1.wait_while(closed, |is_closed| *is_closed).unwrap());
        self.inner.commit(writes)
    }
}

const LINES: usize = 20_000;

#[tokio::test]
async fn an_agent_does_not_run_ahead_of_its_log() {
    let storage = Standing::default();
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
    storage.set_closed(true);
    gate.open();
    // The log stands still. So does everything else, once what is allowed to wait does.
    let (mut last, mut quiet) = (0, 0);
    while quiet < 2_000 {
        tokio::task::yield_now().await;
        let now = said.load(Ordering::SeqCst);
        quiet = if now == last && now > 0 { quiet + 1 } else { 0 };
        last = now;
    }
    assert!(last < 4_000, "{last} of {LINES} lines were said to a log that takes none");
    storage.set_closed(false);
    let mut watcher = Watcher::of(&session);
    let reply = watcher.ended(&posted.reply_id).await;
    let output = reply.result_of("call_1").unwrap().output.text().unwrap();
    assert_eq!(output.matches("A line.").count(), LINES);
}

#[tokio::test]
async fn a_session_that_is_deleted_takes_its_run_along() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate).says(" upon a time.").then().says("Hello.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    session.delete().await.unwrap();
    gate.open();
    let refused = host.post(session.key(), user("m2", "?"), OnBusy::Queue).await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no session chat");
    // Another one of the same name has nothing to do with it.
    let session = log.create(SESSION.parse().unwrap()).await.unwrap();
    let posted = host.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    assert_eq!(watcher.ended(&posted.reply_id).await.text().as_deref(), Some("Hello."));
    assert_eq!(watcher.fold.messages().count(), 2);
}
