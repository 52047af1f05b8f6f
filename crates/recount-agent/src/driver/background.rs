//! Tools that work on while the reply goes on.

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
    /// Starts a tool that works on beside the reply, whatever becomes of that. Its call is answered at once, and what comes
    /// of it is said to the model as a hint.
    pub(super) fn start_in_background(&mut self, job: Job) {
        let Job { call_id, tool, arguments } = job;
        let layers = Arc::clone(&self.shared.config.middleware);
        let (session_id, permissions) = {
            let shared = self.shared.lock();
            (shared.state.session_id.clone(), Arc::new(shared.state.permissions.clone()))
        };
        let layered = match CompiledTool::new(Layered { tool, layers, permissions }) {
            Ok(layered) => layered,
            // It was mounted before, with the same name and schemas.
            Err(error) => return self.settle(&call_id, &error.to_string(), ToolResultState::Error),
        };
        let ids = CallIds::new(session_id, self.message().id(), &call_id);
        let started = BackgroundCall::new(self.message().id(), &call_id, &layered.spec().name);
        self.shared.change(|state| state.background.push(started));
        if let Some(reports) = self.shared.take_reports() {
            tokio::spawn(report(Arc::downgrade(&self.shared), reports));
        }
        self.shared.untold.send_modify(|untold| *untold += 1);
        let started = self.shared.background.start(&layered, arguments, ids, &self.shared.config.name);
        self.settle(&call_id, &started.content.text().unwrap_or_default(), ToolResultState::Success);
    }
}

/// Passes on what tools in the background report, as long as there is an agent.
async fn report(shared: Weak<Shared>, mut reports: mpsc::UnboundedReceiver<BackgroundEvent>) {
    while let Some(report) = reports.recv().await {
        let Some(shared) = shared.upgrade() else { return };
        match report {
            BackgroundEvent::Finished { hint, .. } => {
                shared.change(|state| state.take_hint(*hint));
                shared.untold.send_modify(|untold| *untold = untold.saturating_sub(1));
            }
            BackgroundEvent::Progress { event: ToolEvent::Signal { name, value }, .. } => shared.signal(name, value),
            // Output is kept for the outcome, and the reply that could have been stopped may be over.
            BackgroundEvent::Progress {
                event: ToolEvent::Text(_) | ToolEvent::Data(_) | ToolEvent::Stop { .. },
                ..
            } => {}
        }
    }
}

/// A tool with the middleware around it, and the permissions of the agent when it was started.
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
