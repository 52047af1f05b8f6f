//! A reply that is being worked on.

use std::sync::Arc;

use recount_message::{CustomName, ErrorInfo, ErrorType, HintBlock, Msg, Object};
use recount_model::decode::CallError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::structured::MountedForm;
use crate::agent::{Delivery, Shared};
use crate::machine::{EndReason, PendingCalls, Step, next_step};
use crate::model::AgentReplyWriter;
use crate::state::{ReplyState, Stop, StopAfter};

/// A reply that is being worked on, as a [middleware](crate::middleware::Middleware) sees it.
///
/// When it is dropped before the reply has ended, the reply ends as interrupted.
pub struct ActiveReply {
    pub(super) shared: Arc<Shared>,
    pub(super) reply: AgentReplyWriter,
    /// Where the message belongs in the conversation.
    pub(super) place: usize,
    pub(super) cancel: CancellationToken,
    pub(super) inbox: mpsc::UnboundedReceiver<Delivery>,
    pub(super) form: Option<MountedForm>,
    /// Calls whose tools had begun to run when their process died, and may run again.
    pub(crate) again: Vec<String>,
    /// The message as the last request had it, which the next one goes on from.
    pub(super) shown: Option<Msg>,
    /// No model has refused to be made to call a tool.
    pub(super) may_force: bool,
    pub(super) stage: Stage,
    /// How often the rounds have come to an end.
    pub(super) endings: u32,
    /// Something was done since the last end.
    pub(super) has_worked: bool,
    /// The message is where it belongs.
    pub(super) is_done: bool,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Between,
    Reasoning,
    Acting,
}

/// How the rounds of a reply come to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyOutcome {
    /// The reply ends by itself.
    Ended(EndReason),
    /// It waits for somebody.
    Waiting(PendingCalls),
    /// Somebody interrupted it.
    Interrupted,
    /// Something broke.
    Failed(Failure),
}

/// What breaks a reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .error.message)]
pub struct Failure {
    /// What the reply ends with.
    pub error: ErrorInfo,
}

impl Failure {
    /// Something of the agent itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self { error: ErrorInfo::new(ErrorType::Internal, message) }
    }

    pub(super) fn of_call(error: &CallError) -> Self {
        Self { error: error.info() }
    }
}

impl ActiveReply {
    /// The message so far, exactly as a reader has it.
    #[must_use]
    pub fn message(&self) -> &Msg {
        self.reply.message()
    }

    /// The messages before the reply.
    #[must_use]
    pub fn conversation(&self) -> Vec<Msg> {
        self.shared.lock().conversation.clone()
    }

    /// The name of the agent.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.shared.config.name
    }

    /// What is known of the reply beside its message.
    #[must_use]
    pub fn state(&self) -> ReplyState {
        let id = self.message().id();
        self.shared.lock().state.reply.clone().unwrap_or_else(|| ReplyState::new(id))
    }

    /// Becomes cancelled when the reply is interrupted.
    #[must_use]
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Says something to the model, as a part of the message.
    pub fn hint(&mut self, hint: HintBlock) {
        self.reply.hint(hint);
    }

    /// Writes a signal for the session among the events.
    pub fn signal(&mut self, name: impl Into<String>, value: impl Into<Object>) {
        self.reply.signal(name.into(), value);
    }

    /// Asks the reply to end. After thinking, calls that the model made are not run; while tools run, they are done first.
    pub fn request_stop(&mut self, reason: impl Into<String>) {
        let after = match self.stage {
            Stage::Between => StopAfter::Middleware,
            Stage::Reasoning => StopAfter::Reasoning,
            Stage::Acting => StopAfter::Acting,
        };
        self.stop(reason.into(), after);
    }

    pub(super) fn stop(&mut self, reason: String, after: StopAfter) {
        let mut told = Object::from([("reply_id", self.message().id()), ("reason", reason.as_str())]);
        told.insert("generate_reason", after.generate_reason().as_str());
        self.change(|reply| {
            reply.stop.get_or_insert(Stop { reason, after });
        });
        self.reply.signal(CustomName::RequestStop.as_str(), told);
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn reply(&mut self) -> &mut AgentReplyWriter {
        &mut self.reply
    }

    /// Changes what is known of the reply. It is kept together with the next event.
    pub(crate) fn change(&self, change: impl FnOnce(&mut ReplyState)) {
        self.shared.change(|state| {
            if let Some(reply) = &mut state.reply {
                change(reply);
            }
        });
    }

    /// What comes next.
    pub(super) fn step(&self) -> Step {
        next_step(&self.state(), self.message(), self.reply.call_floor(), &self.shared.config.limits)
    }
}

impl std::fmt::Debug for ActiveReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").field("message", self.message()).field("stage", &self.stage).finish_non_exhaustive()
    }
}
