//! Writes a scripted answer to a reply.

use recount_message::{DataBlock, ErrorType, OpenData, Source, ToolCall};
use recount_model::client::CallOptions;
use recount_model::decode::{CallEnd, CallError, CallErrorKind, StopReason};

use super::answer::{Answer, Piece, Step};
use crate::model::AgentReplyWriter;

/// The extra field of a block that was incomplete at the end of its model call.
const CUT: &str = "cut";

/// The open blocks of an answer.
#[derive(Default)]
struct AnswerWriter {
    calls: Vec<(String, ToolCall)>,
    data: Vec<(String, OpenData)>,
    has_called: bool,
    shown: bool,
}

/// Writes an answer and returns its end. The model call itself stays open.
pub(super) async fn play(answer: Answer, options: &CallOptions, reply: &mut AgentReplyWriter) -> CallEnd {
    let Answer { steps, usage } = answer;
    let mut writer = AnswerWriter::default();
    let mut error = None;
    for (index, step) in steps.iter().enumerate() {
        // Yields to readers of the reply, as with a provider.
        tokio::task::yield_now().await;
        let stopped = match step {
            _ if options.cancel.is_cancelled() => Some(cancelled()),
            Step::Chunk(pieces) => {
                writer.chunk(pieces, steps.get(index + 1..).unwrap_or_default(), reply);
                None
            }
            Step::Wait(gate) => options.cancel.run_until_cancelled(gate.pass()).await.is_none().then(cancelled),
            Step::Fail(error) => Some(error.clone()),
        };
        if stopped.is_some() {
            error = stopped;
            break;
        }
    }
    writer.end(error.as_ref(), reply);
    let (has_called, shown) = (writer.has_called, writer.shown);
    match error {
        // Providers report the usage at the end, so a failed call has none.
        Some(error) => CallEnd::failed(error, shown),
        None => CallEnd::completed(if has_called { StopReason::ToolCalls } else { StopReason::Stop }, usage, shown),
    }
}

fn cancelled() -> CallError {
    CallError::new(CallErrorKind::Cancelled, ErrorType::Unknown, "the call was cancelled")
}

impl AnswerWriter {
    fn chunk(&mut self, pieces: &[Piece], later: &[Step], reply: &mut AgentReplyWriter) {
        self.shown |= !pieces.is_empty();
        for piece in pieces {
            if let Piece::Thinking { thinking, extra } = piece {
                reply.thinking(thinking.clone());
                extra.iter().for_each(|(key, value)| reply.thinking_extra(key, value.clone()));
            }
        }
        for piece in pieces {
            if let Piece::Text(text) = piece {
                reply.text(text.clone());
            }
        }
        for piece in pieces {
            if let Piece::Call { id, name, input } = piece {
                self.call(id, name, input, reply);
            }
        }
        self.end_calls(pieces, later, reply);
        for piece in pieces {
            if let Piece::Data(block) = piece {
                self.data(block, reply);
            }
        }
    }

    fn call(&mut self, id: &str, name: &str, input: &str, reply: &mut AgentReplyWriter) {
        self.has_called = true;
        let at = self.calls.iter().position(|(open, _)| open == id).unwrap_or_else(|| {
            let call = reply.tool_call(id, name);
            self.calls.push((id.to_owned(), call));
            self.calls.len() - 1
        });
        if let Some((_, call)) = self.calls.get(at) {
            reply.tool_input(call, input);
        }
    }

    /// Ends the calls that have no further parts.
    fn end_calls(&mut self, pieces: &[Piece], later: &[Step], reply: &mut AgentReplyWriter) {
        let now = Step::Chunk(pieces.to_vec());
        self.calls.retain(|(id, call)| {
            let continues = now.continues_call(id) || later.iter().any(|step| step.continues_call(id));
            if !continues {
                reply.end_tool_call(call);
            }
            continues
        });
    }

    fn data(&mut self, block: &DataBlock, reply: &mut AgentReplyWriter) {
        let Source::Base64(source) = &block.source else {
            // A URL is written at once, and cannot be invalid base64.
            let _ = reply.data_block(block.clone());
            return;
        };
        let Ok(bytes) = source.bytes() else { return };
        let at = self.data.iter().position(|(id, _)| *id == block.id).unwrap_or_else(|| {
            let open = reply.data(source.media_type.clone(), block.name.clone());
            self.data.push((block.id.clone(), open));
            self.data.len() - 1
        });
        if let Some((_, open)) = self.data.get(at) {
            reply.data_bytes(open, &bytes);
        }
    }

    fn end(&mut self, error: Option<&CallError>, reply: &mut AgentReplyWriter) {
        // As with a provider, the text of a cancelled call stays a part of the conversation.
        let is_cut = error.is_some_and(|error| error.kind() != CallErrorKind::Cancelled || reply.is_thinking());
        if is_cut {
            reply.prose_extra(CUT, true);
        }
        reply.end_prose();
        for (_, call) in self.calls.drain(..) {
            if error.is_some() {
                reply.tool_call_extra(&call, CUT, true);
            }
            reply.end_tool_call(&call);
        }
        self.data.drain(..).for_each(|(_, open)| reply.end_data(open));
    }
}
