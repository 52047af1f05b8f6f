//! Streams of Java 1 envelopes.
//!
//! Java 1 streams messages: the chunks of a model call, then its complete message, which is authoritative, tool results,
//! and the agent's result, which repeats the last message. [`Java1Stream`] converts them to a native stream, in which
//! every reply has a start and an end, every block has an id of its own, and every call has exactly one result. Inserted
//! events are marked as `synthetic` in `metadata.recount.java1`.

mod chunks;
mod model_call;
mod output;
mod reply;
mod state;

use recount_message::{
    AgentEvent, ContentBlock, DecodeError, ErrorInfo, ErrorType, FinishedReason, HintBlockEvent, Json, Msg, Object,
    Payload, ReplyStartEvent,
};

use super::envelope::{Envelope, EnvelopeType};
use output::Output;
use reply::Reply;

/// The number of ended replies whose ids are remembered, so that new replies get other ids.
const MAX_ENDED_IDS: usize = 16;

/// Converts the envelopes of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Java1Stream {
    reply: Option<Reply>,
    /// The ids of the last ended replies.
    ended: Vec<String>,
    /// The time of the last message.
    time: String,
    /// The number of emitted events.
    count: u64,
    /// Whether the last decided text had cumulative chunks.
    is_cumulative: bool,
}

/// A block of an envelope's message, parsed and as received.
struct MessageBlock<'m> {
    block: &'m ContentBlock,
    raw: Object,
}

impl Java1Stream {
    /// Creates a stream.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns whether no reply is open.
    pub(crate) fn is_idle(&self) -> bool {
        self.reply.is_none()
    }

    /// Parses the next envelope and returns the native events for it.
    ///
    /// # Errors
    ///
    /// Returns an error if the line is not a valid envelope. The stream is unchanged in this case.
    pub(crate) fn push(&mut self, line: &str) -> Result<Vec<AgentEvent>, DecodeError> {
        let envelope = Envelope::read(line)?;
        if envelope.is_java_only() {
            return Ok(Vec::new());
        }
        if let Some(event) = envelope.carried_event() {
            return Ok(vec![event]);
        }
        if envelope.is_replayed_signal() {
            return Ok(vec![envelope.into_event()]);
        }
        if let Some(time) = envelope.message.as_ref().map(Msg::created_at).filter(|time| !time.is_empty()) {
            time.clone_into(&mut self.time);
        }
        let mut out = self.out();
        self.process(envelope, &mut out);
        Ok(self.finish_output(out))
    }

    /// Handles a logged user message. Closes the open reply, because later envelopes do not belong to it.
    pub(crate) fn user_turn(&mut self, time: &str) -> Vec<AgentEvent> {
        if !time.is_empty() {
            time.clone_into(&mut self.time);
        }
        let mut out = self.out();
        match self.reply.as_ref().map(|reply| reply.waits) {
            Some(true) => self.close(FinishedReason::Interrupted, None, &mut out),
            Some(false) => self.abort(&mut out),
            None => {}
        }
        self.finish_output(out)
    }

    /// Ends the stream. Closes a reply that neither ended nor waits, because it was truncated.
    pub(crate) fn finish(&mut self) -> Vec<AgentEvent> {
        let mut out = self.out();
        if self.reply.as_ref().is_some_and(|reply| !reply.waits) {
            self.abort(&mut out);
        }
        self.finish_output(out)
    }

    fn out(&self) -> Output {
        let reply_id = self.reply.as_ref().map(|reply| reply.id.clone()).unwrap_or_default();
        Output::new(reply_id, self.time.clone(), self.count)
    }

    fn finish_output(&mut self, out: Output) -> Vec<AgentEvent> {
        self.count = out.count;
        out.events
    }

    fn process(&mut self, envelope: Envelope, out: &mut Output) {
        let Some(message) = &envelope.message else { return out.emit_signal(envelope) };
        let content = message.content().iter();
        let given: Vec<MessageBlock<'_>> =
            content.zip(raw_blocks(&envelope)).map(|(block, raw)| MessageBlock { block, raw }).collect();
        match envelope.envelope_type {
            Some(envelope_type @ (EnvelopeType::Reasoning | EnvelopeType::Summary)) => {
                let is_cumulative = self.is_cumulative;
                let reply = self.reply_or_start(message, out);
                reply.call_model(envelope_type == EnvelopeType::Summary, message.id(), out);
                if envelope.is_last {
                    let detected = reply.end_model_call(message, &given, out);
                    self.is_cumulative = detected.unwrap_or(is_cumulative);
                } else {
                    given.iter().for_each(|given| reply.add_chunk(given, is_cumulative, out));
                }
            }
            Some(EnvelopeType::ToolResult) => {
                let results = given.iter().filter_map(|given| match given.block {
                    ContentBlock::ToolResult(result) => Some(result),
                    _ => None,
                });
                let results: Vec<_> = results.collect();
                if results.is_empty() {
                    return out.emit_signal(envelope);
                }
                let reply = self.reply_or_start(message, out);
                reply.waits = false;
                reply.abort_model_call(out);
                if envelope.is_last {
                    results.into_iter().for_each(|result| reply.result(result, out));
                } else {
                    // The complete result replaces its chunks, which no native event can express. The chunks are
                    // therefore only sent as signals.
                    results.into_iter().for_each(|result| reply.add_result_chunk(result));
                    out.emit_signal(envelope);
                }
            }
            Some(EnvelopeType::Hint) => {
                let text = message.text_or_empty();
                let reply = self.reply_or_start(message, out);
                let block_id = reply.next_block_id();
                let reply_id = reply.id.clone();
                out.emit(HintBlockEvent::new(reply_id, block_id, Payload::Text(text)));
            }
            Some(EnvelopeType::AgentResult) => {
                let end = self.reply_or_start(message, out).agent_result(message, &given, out);
                if let Some(end) = end {
                    out.push(end);
                    self.remember_ended();
                }
            }
            Some(EnvelopeType::All) | None => out.emit_signal(envelope),
        }
    }

    /// Returns the open reply, or starts a new one.
    fn reply_or_start(&mut self, message: &Msg, out: &mut Output) -> &mut Reply {
        let ended = &self.ended;
        self.reply.get_or_insert_with(|| {
            let id = unused_id(message.id(), |id| ended.iter().any(|ended| ended == id));
            out.reply_id.clone_from(&id);
            out.emit(ReplyStartEvent::new("", id.clone(), message.name().to_owned()));
            Reply::new(id, message.name().to_owned())
        })
    }

    fn abort(&mut self, out: &mut Output) {
        let error = ErrorInfo::new(ErrorType::Unknown, "the stream ended before the reply");
        self.close(FinishedReason::Error, Some(error), out);
    }

    fn close(&mut self, reason: FinishedReason, error: Option<ErrorInfo>, out: &mut Output) {
        if let Some(reply) = &mut self.reply {
            let mut end = reply.end(reason, error, out);
            output::mark_synthetic(&mut end);
            out.push(end);
            self.remember_ended();
        }
    }

    /// Drops the reply and remembers its id.
    fn remember_ended(&mut self) {
        if let Some(reply) = self.reply.take() {
            self.ended.push(reply.id);
            let too_many = self.ended.len().saturating_sub(MAX_ENDED_IDS);
            self.ended.drain(..too_many);
        }
    }
}

/// Returns the blocks of the message as received.
fn raw_blocks(envelope: &Envelope) -> Vec<Object> {
    let blocks = envelope.raw_message().and_then(|message| message.get("content")?.to_array()).unwrap_or_default();
    blocks.iter().filter_map(Json::to_object).collect()
}

/// Returns an unused id.
fn unused_id(id: &str, is_used: impl Fn(&str) -> bool) -> String {
    let mut unused_id = id.to_owned();
    let mut number = 2_u64;
    while unused_id.is_empty() || is_used(&unused_id) {
        unused_id = format!("{id}_{number}");
        number += 1;
    }
    unused_id
}
