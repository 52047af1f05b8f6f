//! The end of a reply: whatever happened, every call has a result and every block an end.

use recount_message::FinishedReason;
use recount_message::{Msg, ReplyEnd, ReplyWriter, ToolResultState};

use super::active_reply::ActiveReply;
use crate::machine::{CallStatus, OpenCalls};

/// Why calls are left without their tool's own result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Nothing is left open.
    Ended,
    Interrupted,
    /// Nobody reads the reply any more.
    Abandoned,
    Stopped,
    Failed,
    /// The model call broke off while it made them.
    Cut,
}

impl Why {
    /// What the model is told of it.
    fn text(self) -> &'static str {
        match self {
            Self::Interrupted => "<system-reminder>The user has interrupted this call.</system-reminder>",
            Self::Abandoned => {
                "<system-reminder>The reply was broken off, and this call with it. What it has done by then is not known.\
                 </system-reminder>"
            }
            Self::Ended | Self::Stopped => {
                "<system-reminder>The reply was stopped before this call was run.</system-reminder>"
            }
            Self::Failed => "<system-reminder>Something broke before this call was done.</system-reminder>",
            Self::Cut => {
                "<system-reminder>The call broke off while it was being made, and was not run.</system-reminder>"
            }
        }
    }
}

impl ActiveReply {
    /// Ends the reply and puts its message where it belongs.
    pub(super) fn close(&mut self, why: Why, end: ReplyEnd) -> Msg {
        self.take_deliveries();
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
        let place = self.place.min(inner.conversation.len());
        inner.conversation.insert(place, message.clone());
        inner.running = None;
        inner.is_closing = false;
        drop(inner);
        self.is_done = true;
        message
    }

    /// Ends the replies of those who work for this one. What they still say is not heard any more.
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

    /// Gives every call that has no result one that says why: first those that were running, then those that had to wait.
    pub(super) fn close_calls(&mut self, why: Why) {
        let calls = OpenCalls::of(self.message());
        let (running, others): (Vec<_>, Vec<_>) = calls.iter().partition(|(_, status)| *status == CallStatus::Running);
        for (id, status) in running.into_iter().chain(others) {
            let why = if status == CallStatus::Cut { Why::Cut } else { why };
            self.settle(id, why.text(), ToolResultState::Interrupted);
        }
    }

    /// Gives the calls of a model call that broke off their results.
    pub(crate) fn close_cut_calls(&mut self) {
        for id in OpenCalls::of(self.message()).with_status(CallStatus::Cut) {
            self.settle(&id, Why::Cut.text(), ToolResultState::Interrupted);
        }
    }

    /// Gives a call a result that is only a text. One that has begun is gone on with.
    pub(crate) fn settle(&mut self, id: &str, text: &str, state: ToolResultState) {
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

/// Nobody reads the reply any more, or it broke: it ends here and now.
impl Drop for ActiveReply {
    fn drop(&mut self) {
        if !self.is_done {
            self.close(Why::Abandoned, ReplyEnd::new(FinishedReason::Interrupted));
        }
    }
}
