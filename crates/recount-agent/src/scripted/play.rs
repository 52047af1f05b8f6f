//! Writing a scripted answer to a reply.

use recount_message::{DataBlock, ErrorType, OpenData, Source, ToolCall};
use recount_model::client::CallOptions;
use recount_model::decode::{CallEnd, CallError, CallErrorKind, StopReason};

use super::answer::{Answer, Piece, Step};
use crate::model::AgentReplyWriter;

/// What a block has in its extra that the model was writing when its call broke off.
const CUT: &str = "cut";

/// An answer as it is written.
#[derive(Default)]
struct Writing {
    calls: Vec<(String, ToolCall)>,
    data: Vec<(String, OpenData)>,
    has_called: bool,
    shown: bool,
}

/// Writes an answer, and says how it ended. The model call itself is left open.
pub(super) async fn play(answer: Answer, options: &CallOptions, reply: &mut AgentReplyWriter) -> CallEnd {
    let Answer { steps, usage } = answer;
    let mut writing = Writing::default();
    let mut error = None;
    for (index, step) in steps.iter().enumerate() {
        // Whoever reads the reply has its turn before each piece, as it would with a provider's.
        tokio::task::yield_now().await;
        let stopped = match step {
            _ if options.cancel.is_cancelled() => Some(cancelled()),
            Step::Chunk(pieces) => {
                writing.chunk(pieces, steps.get(index + 1..).unwrap_or_default(), reply);
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
    writing.end(error.as_ref(), reply);
    let (has_called, shown) = (writing.has_called, writing.shown);
    match error {
        // What a provider says of the tokens comes with the end.
        Some(error) => CallEnd::failed(error, shown),
        None => CallEnd::completed(if has_called { StopReason::ToolCalls } else { StopReason::Stop }, usage, shown),
    }
}

fn cancelled() -> CallError {
    CallError::new(CallErrorKind::Cancelled, ErrorType::Unknown, "the call was cancelled")
}

impl Writing {
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

    /// Ends the calls of which no more comes, once something else has come.
    fn end_calls(&mut self, pieces: &[Piece], later: &[Step], reply: &mut AgentReplyWriter) {
        let now = Step::Chunk(pieces.to_vec());
        self.calls.retain(|(id, call)| {
            let goes_on = now.goes_on_with(id) || later.iter().any(|step| step.goes_on_with(id));
            if !goes_on {
                reply.end_tool_call(call);
            }
            goes_on
        });
    }

    fn data(&mut self, block: &DataBlock, reply: &mut AgentReplyWriter) {
        let Source::Base64(source) = &block.source else {
            // An address has no pieces, so it cannot be no base64 either.
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
        // As with a provider, the text that a user saw when they stopped the model stays a part of the conversation.
        let is_left_out = error.is_some_and(|error| error.kind() != CallErrorKind::Cancelled || reply.is_thinking());
        if is_left_out {
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
