//! The reply in progress.

use std::sync::Arc;

use recount_message::{CustomName, ErrorInfo, ErrorType, HintBlock, Msg, Object};
use recount_model::decode::CallError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::structured::OutputTool;
use crate::agent::{QueuedAnswer, Shared};
use crate::machine::{EndReason, PendingCalls, Step, next_step};
use crate::model::AgentReplyWriter;
use crate::state::{ReplyState, Stop, StopAfter};

/// The reply in progress, as passed to [middleware](crate::middleware::Middleware).
///
/// Dropping it before the reply has ended interrupts the reply.
pub struct ActiveReply {
    pub(super) shared: Arc<Shared>,
    pub(super) reply: AgentReplyWriter,
    /// The index of the message in the conversation.
    pub(super) position: usize,
    pub(super) cancel: CancellationToken,
    pub(super) inbox: mpsc::UnboundedReceiver<QueuedAnswer>,
    pub(super) output_tool: Option<OutputTool>,
    /// Calls to run again: idempotent tools that were interrupted by a crash, and sub-agents that have been answered.
    pub(crate) calls_to_rerun: Vec<String>,
    /// The message as it was in the last request. The next request is built from it.
    pub(super) last_view: Option<Msg>,
    /// No model has rejected a forced tool call so far.
    pub(super) can_force_tool: bool,
    pub(super) stage: Stage,
    /// How often the rounds have ended.
    pub(super) ended_rounds: u32,
    /// A step was executed since the rounds last ended.
    pub(super) has_worked: bool,
    /// The message has been moved to the conversation.
    pub(super) is_done: bool,
}

/// The step in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Between,
    Reasoning,
    Acting,
}

/// The outcome of the rounds of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyOutcome {
    /// The reply is complete.
    Ended(EndReason),
    /// The reply waits for answers.
    Waiting(PendingCalls),
    /// The reply was interrupted.
    Interrupted,
    /// The reply failed.
    Failed(Failure),
}

/// An error that ends a reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .error.message)]
pub struct Failure {
    /// The error that is written to the end of the reply.
    pub error: ErrorInfo,
}

impl Failure {
    /// Creates an internal error of the agent.
    pub fn internal(message: impl Into<String>) -> Self {
        Self { error: ErrorInfo::new(ErrorType::Internal, message) }
    }

    pub(super) fn of_call(error: &CallError) -> Self {
        Self { error: error.info() }
    }
}

impl ActiveReply {
    /// Returns the message so far, exactly as readers of the events have it.
    #[must_use]
    pub fn message(&self) -> &Msg {
        self.reply.message()
    }

    /// Returns the messages before the reply.
    #[must_use]
    pub fn conversation(&self) -> Vec<Msg> {
        self.shared.lock().conversation.clone()
    }

    /// Returns the name of the agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.shared.config.name
    }

    /// Returns the state of the reply that is not part of its message.
    #[must_use]
    pub fn state(&self) -> ReplyState {
        let id = self.message().id();
        self.shared.lock().state.reply.clone().unwrap_or_else(|| ReplyState::new(id))
    }

    /// Returns the token that is cancelled when the reply is interrupted.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Adds a hint for the model to the message.
    pub fn hint(&mut self, hint: HintBlock) {
        self.reply.hint(hint);
    }

    /// Writes a signal of the session to the event stream.
    pub fn signal(&mut self, name: impl Into<String>, value: impl Into<Object>) {
        self.reply.signal(name.into(), value);
    }

    /// Requests the end of the reply. During a model call, the calls that the model makes are not run. While tools run,
    /// they are finished first.
    pub fn request_stop(&mut self, reason: impl Into<String>) {
        let after = match self.stage {
            Stage::Between => StopAfter::Middleware,
            Stage::Reasoning => StopAfter::Reasoning,
            Stage::Acting => StopAfter::Acting,
        };
        self.stop(reason.into(), after);
    }

    pub(super) fn stop(&mut self, reason: String, after: StopAfter) {
        let mut fields = Object::from([("reply_id", self.message().id()), ("reason", reason.as_str())]);
        fields.insert("generate_reason", after.generate_reason().as_str());
        self.change(|reply| {
            reply.stop.get_or_insert(Stop { reason, after });
        });
        self.reply.signal(CustomName::RequestStop.as_str(), fields);
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn reply(&mut self) -> &mut AgentReplyWriter {
        &mut self.reply
    }

    /// Changes the state of the reply. The change is persisted with the next event.
    pub(crate) fn change(&self, change: impl FnOnce(&mut ReplyState)) {
        self.shared.change(|state| {
            if let Some(reply) = &mut state.reply {
                change(reply);
            }
        });
    }

    /// Returns the next step.
    pub(super) fn step(&self) -> Step {
        next_step(&self.state(), self.message(), self.reply.call_floor(), &self.shared.config.limits)
    }
}

impl std::fmt::Debug for ActiveReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("message", self.message()).field("stage", &self.stage).finish_non_exhaustive()
    }
}
