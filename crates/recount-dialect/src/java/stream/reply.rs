//! The state of one reply.
//!
//! An invocation of a Java agent begins with AGENT_START and ends with AGENT_END. Each of its model calls and tool rounds
//! has an id of its own. An invocation that waits also ends, and another one continues it. Natively all of them are one
//! reply.

use std::borrow::Cow;

use recount_message::{
    AgentEvent, ErrorInfo, ErrorType, EventKind, FinishedReason, Json, ModelCallEndEvent, ModelCallStartEvent,
    ModelFinishedReason, Object, ReplyEndEvent, Usage,
};

use super::blocks::{BlockStep, JavaBlock, TextFingerprint, block_event};
use super::calls::Call;
use super::output::{self, Output};
use super::results::Unresolved;

/// An open reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// The native id.
    pub(super) id: String,
    pub(super) session_id: String,
    /// The name of the agent.
    pub(super) name: String,
    /// The Java id of the invocation. Empty if unknown.
    pub(super) invocation: String,
    /// Whether the reply waits, or will wait when the invocation ends.
    pub(super) waits: bool,
    /// Whether the result of the invocation has arrived.
    pub(super) has_result: bool,
    pub(super) is_calling_model: bool,
    /// Whether the token usage of the last model call is known.
    pub(super) is_usage_known: bool,
    /// Whether the maximum number of iterations was exceeded.
    pub(super) has_exceeded: bool,
    /// Whether something was open when the result arrived.
    pub(super) is_interrupted: bool,
    /// The reason why the reply ends, if Java sent one.
    pub(super) reason: Option<FinishedReason>,
    pub(super) structured_output: Option<Object>,
    /// The remaining metadata of the result.
    pub(super) metadata: Object,
    /// The text of the last model call.
    pub(super) text: TextFingerprint,
    /// The number of generated ids.
    pub(super) id_count: u64,
    /// The blocks of the current model call.
    pub(super) blocks: Vec<JavaBlock>,
    /// The calls without results.
    pub(super) calls: Vec<Call>,
    /// The native ids of the calls with results.
    pub(super) resolved: Vec<String>,
    /// Whether the user was asked to approve a call.
    pub(super) has_asked: bool,
    /// Whether the user has decided since then.
    pub(super) is_confirmed: bool,
}

impl Reply {
    /// Continues the reply with the next invocation.
    pub(super) fn resume(&mut self, invocation: &str) {
        invocation.clone_into(&mut self.invocation);
        self.has_result = false;
        self.is_confirmed |= self.has_asked;
    }

    /// Processes an event of this reply other than its start and end.
    pub(super) fn process(&mut self, event: AgentEvent, out: &mut Output) {
        if is_progress(&event.kind) {
            self.waits = false;
        }
        if let Some((kind, step, _, _)) = block_event(&event) {
            return match step {
                BlockStep::Start => self.block_start(kind, event, out),
                BlockStep::Delta => self.block_delta(kind, event, out),
                BlockStep::End => self.block_end(kind, event, out),
            };
        }
        match &event.kind {
            EventKind::ModelCallStart(_) => self.model_call_start(event, out),
            EventKind::ModelCallEnd(_) => self.model_call_end(event, out),
            EventKind::ToolCallStart(_) => self.call_start(event, out),
            EventKind::ToolCallDelta(_) => self.call_delta(event, out),
            EventKind::ToolCallEnd(_) => self.call_end(event),
            EventKind::ToolResultStart(_) => self.result_start(event, out),
            EventKind::ToolResultTextDelta(_) | EventKind::ToolResultDataDelta(_) => self.result_delta(event, out),
            EventKind::ToolResultEnd(_) => self.result_end(event, out),
            EventKind::RequireUserConfirm(_) => self.require_confirm(event, out),
            EventKind::RequireExternalExecution(_) => self.require_external(event, out),
            EventKind::UserConfirmResult(_) => self.confirmed(event, out),
            EventKind::ExternalExecutionResult(_) => self.external_results(event, out),
            EventKind::ExceedMaxIters(_) => self.exceed(event, out),
            _ => out.forward(output::for_reply(event, &self.id)),
        }
    }

    fn exceed(&mut self, event: AgentEvent, out: &mut Output) {
        self.has_exceeded = true;
        let mut event = output::for_reply(event, &self.id);
        if let EventKind::ExceedMaxIters(exceed) = &mut event.kind
            && exceed.name.is_empty()
        {
            exceed.name = Cow::Owned(self.name.clone());
        }
        out.forward(event);
    }

    fn model_call_start(&mut self, event: AgentEvent, out: &mut Output) {
        self.end_model_call(None, out);
        self.end_blocks(out);
        self.resolve_calls(Unresolved::AgentContinued, out);
        self.blocks.clear();
        self.text = TextFingerprint::default();
        (self.is_calling_model, self.is_usage_known) = (true, false);
        out.forward(output::for_reply(event, &self.id));
    }

    fn model_call_end(&mut self, event: AgentEvent, out: &mut Output) {
        if !self.is_calling_model {
            self.insert_model_call_start(out);
        }
        self.end_streamed_arguments(out);
        self.is_calling_model = false;
        self.is_usage_known =
            event.extension("usage").and_then(|usage| usage.as_str().map(str::to_owned)).as_deref() != Some("unknown");
        out.forward(output::for_reply(event, &self.id));
    }

    /// Inserts the start of a model call. Earlier blocks cannot be reopened after it.
    fn insert_model_call_start(&mut self, out: &mut Output) {
        self.end_streamed_arguments(out);
        self.end_blocks(out);
        self.blocks.clear();
        self.calls.iter_mut().for_each(|call| call.is_complete |= call.is_ended);
        out.insert(ModelCallStartEvent::new(self.id.clone(), ""));
    }

    /// Ends a model call for which Java sent no end.
    pub(super) fn end_model_call(&mut self, usage: Option<&Usage>, out: &mut Output) {
        if std::mem::take(&mut self.is_calling_model) {
            self.end_streamed_arguments(out);
            self.insert_model_call_end(usage, ModelFinishedReason::Interrupted, out);
        }
    }

    /// Inserts a model call that reports token usage.
    pub(super) fn insert_usage(&mut self, usage: &Usage, out: &mut Output) {
        self.insert_model_call_start(out);
        self.is_calling_model = false;
        self.insert_model_call_end(Some(usage), ModelFinishedReason::Completed, out);
    }

    fn insert_model_call_end(&mut self, usage: Option<&Usage>, finished_reason: ModelFinishedReason, out: &mut Output) {
        self.is_usage_known = usage.is_some();
        let count = |count: fn(&Usage) -> u64| usage.map(count).unwrap_or_default();
        let end = ModelCallEndEvent::new(
            self.id.clone(),
            count(|usage| usage.input_tokens),
            count(|usage| usage.output_tokens),
        )
        .with_cache_input_tokens(count(|usage| usage.cache_input_tokens))
        .with_cache_creation_input_tokens(count(|usage| usage.cache_creation_input_tokens))
        .with_finished_reason(finished_reason);
        let event = out.insert(end);
        if usage.is_none() {
            *event = event.clone().with_extension("usage", "unknown");
        }
    }

    /// Ends the reply with the end of its invocation.
    pub(super) fn end(mut self, event: AgentEvent, out: &mut Output) {
        self.end_model_call(None, out);
        self.end_blocks(out);
        self.resolve_calls(Unresolved::AgentContinued, out);
        let reason = match (self.reason, self.has_exceeded, self.is_interrupted) {
            (Some(reason), _, _) => reason,
            (None, true, _) => FinishedReason::ExceedMaxIters,
            (None, false, true) => FinishedReason::Interrupted,
            (None, false, false) => FinishedReason::Completed,
        };
        let mut event = output::for_reply(event, &self.id);
        event.kind = self.reply_end(reason, None).into();
        if let Some(output) = self.structured_output {
            event = event.with_extension("structured_output", output);
        }
        if !self.metadata.is_empty() {
            event = event.with_extension("metadata", self.metadata);
        }
        out.forward(event);
    }

    /// Ends a reply that cannot be continued.
    pub(super) fn close(mut self, reason: CloseReason, out: &mut Output) {
        self.end_model_call(None, out);
        self.end_blocks(out);
        self.resolve_calls(Unresolved::ReplyAborted, out);
        let (reason, error) = match reason {
            CloseReason::UserMessage => (FinishedReason::Interrupted, None),
            CloseReason::Truncated => (
                FinishedReason::Error,
                Some(ErrorInfo::new(ErrorType::Unknown, "the event stream ended before the reply")),
            ),
        };
        out.insert(self.reply_end(reason, error));
    }

    fn reply_end(&self, finished_reason: FinishedReason, error: Option<ErrorInfo>) -> ReplyEndEvent<'static> {
        let mut end = ReplyEndEvent::new(self.session_id.clone(), self.id.clone());
        end.finished_reason = finished_reason;
        end.error = error;
        end
    }
}

/// The reason for closing a reply without an end from Java.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloseReason {
    /// The reply waited, and the user sent another message.
    UserMessage,
    /// The invocation neither ended nor waits.
    Truncated,
}

/// Returns whether an event shows that the agent is running, so that it does not wait.
fn is_progress(kind: &EventKind<'_>) -> bool {
    matches!(
        kind,
        EventKind::ModelCallStart(_)
            | EventKind::TextBlockStart(_)
            | EventKind::TextBlockDelta(_)
            | EventKind::ThinkingBlockStart(_)
            | EventKind::ThinkingBlockDelta(_)
            | EventKind::DataBlockStart(_)
            | EventKind::DataBlockDelta(_)
            | EventKind::HintBlock(_)
            | EventKind::ToolCallStart(_)
            | EventKind::ToolCallDelta(_)
            | EventKind::ToolResultStart(_)
            | EventKind::ToolResultTextDelta(_)
            | EventKind::ToolResultDataDelta(_)
            | EventKind::ToolResultEnd(_)
    )
}

/// Returns whether an event implies the start of a reply, for a reader who joined in the middle of it.
pub(super) fn implies_reply_start(kind: &EventKind<'_>) -> bool {
    is_progress(kind) || matches!(kind, EventKind::RequireUserConfirm(_) | EventKind::RequireExternalExecution(_))
}

/// Returns whether a reason means that the agent waits.
pub(super) fn is_waiting_reason(word: &str) -> bool {
    matches!(word, "PERMISSION_ASKING" | "TOOL_SUSPENDED")
}

/// Returns a text field, or an empty string.
pub(super) fn text_field(value: &Object, name: &str) -> String {
    value.get(name).and_then(Json::as_str).map(str::to_owned).unwrap_or_default()
}
