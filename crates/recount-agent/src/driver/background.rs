//! Background tools.

use std::sync::{Arc, Weak};

use recount_message::{Object, ToolResultState};
use tokio::sync::mpsc;

use super::active_reply::ActiveReply;
use super::jobs::Job;
use crate::BoxFuture;
use crate::agent::Shared;
use crate::middleware::{Middleware, Next, ToolRun};
use crate::permission::Permissions;
use crate::state::BackgroundCall;
use crate::tool::{
    BackgroundEvent, CallIds, CompiledTool, Tool, ToolContext, ToolError, ToolEvent, ToolOutput, ToolSpec,
};

impl ActiveReply {
    /// Starts a background tool, which continues after the reply has ended. The call gets a result at once, and the
    /// tool's own result is passed to the model as a hint later.
    pub(super) fn start_in_background(&mut self, job: Job) {
        let Job { call_id, tool, arguments } = job;
        let layers = Arc::clone(&self.shared.config.middleware);
        let (session_id, permissions) = {
            let shared = self.shared.lock();
            (shared.state.session_id.clone(), Arc::new(shared.state.permissions.clone()))
        };
        let layered = match CompiledTool::new(Layered { tool, layers, permissions }) {
            Ok(layered) => layered,
            // Unreachable: the tool was compiled before with the same name and schemas.
            Err(error) => return self.write_result(&call_id, &error.to_string(), ToolResultState::Error),
        };
        let ids = CallIds::new(session_id, self.message().id(), &call_id);
        let started = BackgroundCall::new(self.message().id(), &call_id, &layered.spec().name);
        self.shared.change(|state| state.background.push(started));
        if let Some(reports) = self.shared.take_background_reports() {
            tokio::spawn(report(Arc::downgrade(&self.shared), reports));
        }
        self.shared.pending_background.send_modify(|pending_background| *pending_background += 1);
        let started = self.shared.background.start(&layered, arguments, ids, &self.shared.config.name);
        self.write_result(&call_id, &started.content.text().unwrap_or_default(), ToolResultState::Success);
    }
}

/// Forwards the events of background tools until the agent is dropped.
async fn report(shared: Weak<Shared>, mut reports: mpsc::UnboundedReceiver<BackgroundEvent>) {
    while let Some(report) = reports.recv().await {
        let Some(shared) = shared.upgrade() else { return };
        match report {
            BackgroundEvent::Finished { hint, .. } => {
                shared.change(|state| state.queue_hint(*hint));
                shared
                    .pending_background
                    .send_modify(|pending_background| *pending_background = pending_background.saturating_sub(1));
            }
            BackgroundEvent::Progress { event: ToolEvent::Signal { name, value }, .. } => shared.signal(name, value),
            // Output becomes part of the result, and the reply that could be stopped may have ended.
            BackgroundEvent::Progress {
                event: ToolEvent::Text(_) | ToolEvent::Data(_) | ToolEvent::Stop { .. },
                ..
            } => {}
        }
    }
}

/// A tool with the agent's middleware, and with the permissions at the time of its start.
struct Layered {
    tool: CompiledTool,
    layers: Arc<[Arc<dyn Middleware>]>,
    permissions: Arc<Permissions>,
}

impl Tool for Layered {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let context = context.clone().with_permissions(Arc::clone(&self.permissions));
        let act = ToolRun { tool: self.tool.clone(), arguments, context };
        Next::of(&self.layers).acting(act)
    }
}
