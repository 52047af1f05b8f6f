//! The start and the end of runs.

use recount_message::{FinishedReason, Msg, ToolCallBlock, ToolCallState};

use super::messages::{id_at, recount_metadata};
use crate::frame::{Frame, usage_json};
use crate::reply_view::waiting_calls;

/// The JSON schema of the response to a call that needs approval.
const ANSWER: &str = r#"{"type":"object","properties":{"approved":{"type":"boolean"},"editedArgs":{"type":"object"}},"required":["approved"]}"#;

/// A run of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'r> {
    pub(super) session: &'r str,
    pub(super) id: &'r str,
}

impl<'r> Run<'r> {
    /// Returns the run that a message belongs to.
    pub(super) fn of(session: &'r str, message: &'r Msg) -> Self {
        Self { session, id: message.id() }
    }

    fn frame(&self, kind: &str) -> Frame {
        Frame::of(kind).text("threadId", self.session).text("runId", self.id)
    }

    pub(super) fn started(&self, parent: Option<&str>) -> String {
        self.frame("RUN_STARTED").optional("parentRunId", parent).end()
    }

    /// Returns the start of a run that adds messages. A client ignores a message that it already has.
    pub(super) fn started_with(&self, messages: &[String]) -> String {
        let input = Frame::new().text("threadId", self.session).text("runId", self.id).list("messages", messages);
        let input = input.list("tools", &[]).list("context", &[]).end();
        self.frame("RUN_STARTED").json("input", &input).end()
    }

    pub(super) fn succeeded(&self) -> String {
        self.frame("RUN_FINISHED").json("outcome", r#"{"type":"success"}"#).end()
    }

    /// Returns the frame for the end of a reply.
    pub(super) fn finished(&self, message: &Msg) -> String {
        let usage = message.usage().map(|usage| [usage_json(usage)]);
        let with_usage = |frame: Frame| match &usage {
            Some(usage) => frame.list("usage", usage).end(),
            None => frame.end(),
        };
        let failed =
            |text: &str, code: &str| with_usage(Frame::of("RUN_ERROR").text("message", text).text("code", code));
        match (message.finished_reason(), message.error()) {
            (Some(FinishedReason::Error), Some(error)) => failed(&error.message, error.kind.as_str()),
            (Some(FinishedReason::Error), None) => failed("the reply ended with an error", "unknown"),
            (Some(reason @ FinishedReason::ExceedMaxIters), _) => {
                failed("the agent has used up its iterations", reason.as_str())
            }
            (Some(FinishedReason::Interrupted), _) => {
                with_usage(self.frame("RUN_FINISHED").json("outcome", r#"{"type":"cancelled"}"#))
            }
            _ => {
                let frame = self.frame("RUN_FINISHED");
                let frame = match message.structured_output() {
                    Some(output) => frame.json("result", &output.to_json()),
                    None => frame,
                };
                with_usage(frame.json("outcome", r#"{"type":"success"}"#))
            }
        }
    }

    /// Returns the frame that ends the run of a waiting reply.
    pub(super) fn interrupted(&self, message: &Msg) -> String {
        let interrupts: Vec<String> =
            waiting_calls(message).map(|(index, call)| interrupt(message.id(), index, call)).collect();
        let outcome = Frame::of("interrupt").list("interrupts", &interrupts).end();
        self.frame("RUN_FINISHED").json("outcome", &outcome).end()
    }
}

fn interrupt(reply_id: &str, index: usize, call: &ToolCallBlock) -> String {
    let id = id_at(reply_id, index);
    let frame = Frame::new().text("id", &id).text("toolCallId", &id);
    let frame = match call.state {
        ToolCallState::Submitted => frame.text("reason", "recount:external_execution"),
        _ => frame.text("reason", "tool_call").json("responseSchema", ANSWER),
    };
    let own = [("reply_id", reply_id), ("tool_call_id", call.id.as_str())];
    frame.json("metadata", &recount_metadata(own.into())).end()
}
