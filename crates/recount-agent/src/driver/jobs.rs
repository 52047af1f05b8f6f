//! Running tools concurrently.

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

/// The capacity of the channel for tool output. Tools wait while it is full.
const OUTPUT_BUFFER: usize = 64;

/// A call that is ready to run.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) call_id: String,
    pub(super) tool: CompiledTool,
    pub(super) arguments: Object,
}

/// Tools that run concurrently. Dropping it aborts them. The output of a tool that cannot be aborted is discarded.
pub(super) struct Jobs {
    running: JoinSet<Result<ToolOutput, ToolError>>,
    calls: HashMap<Id, Started>,
    sender: mpsc::Sender<(String, ToolEvent)>,
    receiver: mpsc::Receiver<(String, ToolEvent)>,
}

#[derive(Debug)]
pub(super) struct Started {
    pub(super) call_id: String,
    pub(super) tool: CompiledTool,
    pub(super) arguments: Object,
}

/// Output or the end of a running tool.
pub(super) enum JobEvent {
    Output(String, ToolEvent),
    /// The tool has finished, and all of its output was returned before.
    Finished(Started, Result<ToolOutput, ToolError>),
}

/// The environment that the tools of a batch share.
pub(super) struct ToolEnvironment {
    pub(super) session_id: String,
    pub(super) reply_id: String,
    pub(super) agent: String,
    pub(super) cancel: CancellationToken,
    pub(super) layers: Arc<[Arc<dyn Middleware>]>,
    pub(super) host: Arc<Shared>,
    pub(super) permissions: Arc<Permissions>,
}

impl ToolEnvironment {
    pub(super) fn context(&self, call_id: &str, sender: mpsc::Sender<(String, ToolEvent)>) -> ToolContext {
        let ids = CallIds::new(&self.session_id, &self.reply_id, call_id);
        ToolContext::new(ids, &self.agent, sender, self.cancel.clone())
            .with_permissions(Arc::clone(&self.permissions))
            .hosted_by(Arc::clone(&self.host))
    }
}

impl Jobs {
    pub(super) fn new() -> Self {
        let (sender, receiver) = mpsc::channel(OUTPUT_BUFFER);
        Self { running: JoinSet::new(), calls: HashMap::new(), sender, receiver }
    }

    pub(super) fn start(&mut self, job: Job, environment: &ToolEnvironment) {
        let Job { call_id, tool, arguments } = job;
        let context = environment.context(&call_id, self.sender.clone());
        let act = ToolRun { tool: tool.clone(), arguments: arguments.clone(), context };
        let layers = Arc::clone(&environment.layers);
        let task = self.running.spawn(async move { Next::of(&layers).acting(act).await });
        self.calls.insert(task.id(), Started { call_id, tool, arguments });
    }

    /// Returns the next event. `None` if all tools have finished.
    pub(super) async fn next(&mut self) -> Option<JobEvent> {
        // Output first, so that a tool's output is returned before its end.
        if let Some(event) = self.try_next_output() {
            return Some(event);
        }
        if self.calls.is_empty() {
            return None;
        }
        tokio::select! {
            biased;
            Some((call_id, event)) = self.receiver.recv() => Some(JobEvent::Output(call_id, event)),
            Some(ended) = self.running.join_next_with_id() => {
                let (id, outcome) = outcome(ended);
                self.calls.remove(&id).map(|started| JobEvent::Finished(started, outcome))
            }
            else => None,
        }
    }

    /// Returns output that is already in the channel.
    pub(super) fn try_next_output(&mut self) -> Option<JobEvent> {
        self.receiver.try_recv().ok().map(|(call_id, event)| JobEvent::Output(call_id, event))
    }
}

fn outcome(ended: Result<(Id, Result<ToolOutput, ToolError>), JoinError>) -> (Id, Result<ToolOutput, ToolError>) {
    match ended {
        Ok((id, outcome)) => (id, outcome),
        Err(error) => {
            let id = error.id();
            let text = match error.try_into_panic() {
                Ok(panic) => format!("the tool panicked: {}", panic_text(&*panic)),
                Err(error) => format!("the tool was aborted: {error}"),
            };
            (id, Err(ToolError::new(text)))
        }
    }
}
