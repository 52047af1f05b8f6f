//! Tools that run.

use std::collections::HashMap;
use std::sync::Arc;

use recount_message::Object;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::agent::Shared;
use crate::future::panic_text;
use crate::middleware::{Middleware, Next, ToolRun};
use crate::permission::Permissions;
use crate::tool::{CallIds, CompiledTool, ToolContext, ToolError, ToolEvent, ToolOutput};

/// So much may be said by tools before they have to wait until it is written.
const SAID_AHEAD: usize = 64;

/// A call whose tool can run.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) call_id: String,
    pub(super) tool: CompiledTool,
    pub(super) arguments: Object,
}

/// Tools that run at the same time. When they are dropped, they are stopped; one that does not let itself be stopped is left
/// to itself, and nobody listens to it any more.
pub(super) struct Jobs {
    running: JoinSet<Result<ToolOutput, ToolError>>,
    calls: HashMap<Id, Started>,
    says: mpsc::Sender<(String, ToolEvent)>,
    said: mpsc::Receiver<(String, ToolEvent)>,
}

#[derive(Debug)]
pub(super) struct Started {
    pub(super) call_id: String,
    pub(super) tool: CompiledTool,
    pub(super) arguments: Object,
}

/// Something that comes from the tools.
pub(super) enum Heard {
    Said(String, ToolEvent),
    /// A tool has come to its end, after all that it said.
    Done(Started, Result<ToolOutput, ToolError>),
}

/// Where tools run.
pub(super) struct Place {
    pub(super) session_id: String,
    pub(super) reply_id: String,
    pub(super) agent: String,
    pub(super) cancel: CancellationToken,
    pub(super) layers: Arc<[Arc<dyn Middleware>]>,
    pub(super) host: Arc<Shared>,
    pub(super) permissions: Arc<Permissions>,
}

impl Place {
    pub(super) fn context(&self, call_id: &str, says: mpsc::Sender<(String, ToolEvent)>) -> ToolContext {
        let ids = CallIds::new(&self.session_id, &self.reply_id, call_id);
        ToolContext::new(ids, &self.agent, says, self.cancel.clone())
            .with_permissions(Arc::clone(&self.permissions))
            .hosted_by(Arc::clone(&self.host))
    }
}

impl Jobs {
    pub(super) fn new() -> Self {
        let (says, said) = mpsc::channel(SAID_AHEAD);
        Self { running: JoinSet::new(), calls: HashMap::new(), says, said }
    }

    pub(super) fn start(&mut self, job: Job, place: &Place) {
        let Job { call_id, tool, arguments } = job;
        let context = place.context(&call_id, self.says.clone());
        let act = ToolRun { tool: tool.clone(), arguments: arguments.clone(), context };
        let layers = Arc::clone(&place.layers);
        let task = self.running.spawn(async move { Next::of(&layers).acting(act).await });
        self.calls.insert(task.id(), Started { call_id, tool, arguments });
    }

    /// What comes next from the tools; nothing when all have come to their end.
    pub(super) async fn next(&mut self) -> Option<Heard> {
        // What a tool has said before its end is there by then, and goes first.
        if let Some(tool_event) = self.said_already() {
            return Some(tool_event);
        }
        if self.calls.is_empty() {
            return None;
        }
        tokio::select! {
            biased;
            Some((call_id, says)) = self.said.recv() => Some(Heard::Said(call_id, says)),
            Some(ended) = self.running.join_next_with_id() => {
                let (id, outcome) = outcome(ended);
                self.calls.remove(&id).map(|started| Heard::Done(started, outcome))
            }
            else => None,
        }
    }

    /// What was said and not heard yet.
    pub(super) fn said_already(&mut self) -> Option<Heard> {
        self.said.try_recv().ok().map(|(call_id, says)| Heard::Said(call_id, says))
    }
}

fn outcome(ended: Result<(Id, Result<ToolOutput, ToolError>), JoinError>) -> (Id, Result<ToolOutput, ToolError>) {
    match ended {
        Ok((id, outcome)) => (id, outcome),
        Err(error) => {
            let id = error.id();
            let text = match error.try_into_panic() {
                Ok(panic) => format!("the tool panicked: {}", panic_text(&*panic)),
                Err(error) => format!("the tool was stopped: {error}"),
            };
            (id, Err(ToolError::new(text)))
        }
    }
}
