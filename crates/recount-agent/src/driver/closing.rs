//! Closing a reply: every call gets a result, and every block is ended.

use recount_message::FinishedReason;
use recount_message::{Msg, ReplyEnd, ReplyWriter, ToolResultState};

use super::active_reply::ActiveReply;
use crate::machine::{CallStatus, OpenCalls};

/// Why calls are closed without a result of their tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloseReason {
    /// The reply is complete.
    Ended,
    Interrupted,
    /// The reply was dropped.
    Abandoned,
    Stopped,
    Failed,
    /// The model call failed while it was writing the call.
    Cut,
}

impl CloseReason {
    /// Returns the result text for the model.
    fn text(self) -> &'static str {
        match self {
            Self::Interrupted => "<system-reminder>The user has interrupted this call.</system-reminder>",
            Self::Abandoned => {
                "<system-reminder>The reply was aborted while this call was in progress. It may have had effects.\
                 </system-reminder>"
            }
            Self::Ended | Self::Stopped => {
                "<system-reminder>The reply was stopped before this call was run.</system-reminder>"
            }
            Self::Failed => "<system-reminder>The reply failed before this call was finished.</system-reminder>",
            Self::Cut => {
                "<system-reminder>The model call failed while this call was being written. It was not run.</system-reminder>"
            }
        }
    }
}

impl ActiveReply {
    /// Ends the reply and moves its message to the conversation.
    pub(super) fn close(&mut self, why: CloseReason, end: ReplyEnd) -> Msg {
        self.process_queued_answers();
        self.close_sub_agents();
        self.reply.interrupt_model_call(None);
        self.close_calls(why);
        self.shared.change(|state| {
            state.reply = None;
            state.sub_agents.clear();
        });
        self.reply.finish(end);
        let message = self.message().clone();
        let mut inner = self.shared.lock();
        let position = self.position.min(inner.conversation.len());
        inner.conversation.insert(position, message.clone());
        inner.running = None;
        inner.is_closing = false;
        drop(inner);
        self.is_done = true;
        message
    }

    /// Ends the replies of sub-agents. Events that they write later are rejected.
    fn close_sub_agents(&mut self) {
        let (sub_agents, session_id) = {
            let mut inner = self.shared.lock();
            inner.is_closing = true;
            inner.sub_agent_answers.clear();
            (std::mem::take(&mut inner.sub_agents), inner.state.session_id.clone())
        };
        for fold in sub_agents.into_values() {
            let stamps = self.shared.stamps.stamps();
            let mut writer = ReplyWriter::resume(self.shared.writer_sink(), stamps, session_id.clone(), fold);
            writer.finish(ReplyEnd::new(FinishedReason::Interrupted));
        }
    }

    /// Writes a result for every call that has none: first for running calls, then for the others.
    pub(super) fn close_calls(&mut self, why: CloseReason) {
        let calls = OpenCalls::of(self.message());
        let (running, others): (Vec<_>, Vec<_>) = calls.iter().partition(|(_, status)| *status == CallStatus::Running);
        for (id, status) in running.into_iter().chain(others) {
            let why = if status == CallStatus::Cut { CloseReason::Cut } else { why };
            self.write_result(id, why.text(), ToolResultState::Interrupted);
        }
    }

    /// Writes results for the calls of a failed model call.
    pub(crate) fn close_cut_calls(&mut self) {
        for id in OpenCalls::of(self.message()).with_status(CallStatus::Cut) {
            self.write_result(&id, CloseReason::Cut.text(), ToolResultState::Interrupted);
        }
    }

    /// Writes a text as the result of a call, or appends it to a result that was already started.
    pub(crate) fn write_result(&mut self, id: &str, text: &str, state: ToolResultState) {
        let open = self.reply.open_result(id).or_else(|| {
            let call = self.reply.unanswered_call(id)?;
            Some(self.reply.tool_result(call))
        });
        if let Some(result) = open {
            self.reply.result_text(&result, text);
            self.reply.end_result(result, state);
        }
    }
}

/// Closes a reply that was dropped before its end.
impl Drop for ActiveReply {
    fn drop(&mut self) {
        if !self.is_done {
            self.close(CloseReason::Abandoned, ReplyEnd::new(FinishedReason::Interrupted));
        }
    }
}
