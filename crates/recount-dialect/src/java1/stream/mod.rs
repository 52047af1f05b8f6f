//! Streams of Java 1's envelopes.
//!
//! Java 1 streams messages: chunks of what the model says, then the whole of it, which counts; the results of tools; and the
//! result of the agent, which is_cumulative the last message. A [`Java1Stream`] makes a native stream of it, in which every reply
//! has a start and an end, every block an id of its own and every call exactly one result. What Java 1 did not say is marked
//! as `synthetic` in `metadata.recount.java1`.

mod chunks;
mod model_call;
mod output;
mod reply;
mod state;

use recount_message::{
    AgentEvent, ContentBlock, DecodeError, ErrorInfo, ErrorType, FinishedReason, HintBlockEvent, Json, Msg, Object,
    Payload, ReplyStartEvent,
};

use super::envelope::{Envelope, Step};
use output::Output;
use reply::Reply;

/// How many replies are remembered after their end, so that none has the id of another.
const MAX_ENDED_IDS: usize = 16;

/// Reads the envelopes of a stream one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Java1Stream {
    reply: Option<Reply>,
    /// The ids of the last replies that have ended.
    ended: Vec<String>,
    /// The time of the last message.
    time: String,
    /// How many events have been told.
    count: u64,
    /// Whether each chunk of a text is_cumulative what was before it, as far as that is known.
    is_cumulative: bool,
}

/// A block of an envelope's message, natively and as it came.
struct MessageBlock<'m> {
    block: &'m ContentBlock,
    raw: Object,
}

impl Java1Stream {
    /// A stream of which nothing has been read.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Whether no reply is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.reply.is_none()
    }

    /// Reads the next envelope.
    ///
    /// # Errors
    ///
    /// When the line is no envelope of Java 1. It changes nothing then.
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

    /// A message of the user was logged: nothing that comes next belongs to a reply that is open.
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

    /// The stream is over: a reply that neither ended nor waits has broken off.
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
        match envelope.step {
            Some(step @ (Step::Reasoning | Step::Summary)) => {
                let is_cumulative = self.is_cumulative;
                let reply = self.reply_or_start(message, out);
                reply.call_model(step == Step::Summary, message.id(), out);
                if envelope.is_last {
                    let detected = reply.end_model_call(message, &given, out);
                    self.is_cumulative = detected.unwrap_or(is_cumulative);
                } else {
                    given.iter().for_each(|given| reply.add_chunk(given, is_cumulative, out));
                }
            }
            Some(Step::ToolResult) => {
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
                    // The result will replace its chunks, which no native event could do, so they are only told.
                    results.into_iter().for_each(|result| reply.add_result_chunk(result));
                    out.emit_signal(envelope);
                }
            }
            Some(Step::Hint) => {
                let text = message.text_or_empty();
                let reply = self.reply_or_start(message, out);
                let block_id = reply.next_block_id();
                let reply_id = reply.id.clone().into();
                out.emit(HintBlockEvent {
                    reply_id,
                    block_id: block_id.into(),
                    source: None,
                    hint: Payload::Text(text),
                });
            }
            Some(Step::AgentResult) => {
                let end = self.reply_or_start(message, out).agent_result(message, &given, out);
                if let Some(end) = end {
                    out.push(end);
                    self.remember_ended();
                }
            }
            Some(Step::All) | None => out.emit_signal(envelope),
        }
    }

    /// The reply that is open, or else a new one.
    fn reply_or_start(&mut self, message: &Msg, out: &mut Output) -> &mut Reply {
        let ended = &self.ended;
        self.reply.get_or_insert_with(|| {
            let id = unused_id(message.id(), |id| ended.iter().any(|ended| ended == id));
            out.reply_id.clone_from(&id);
            out.emit(ReplyStartEvent {
                session_id: "".into(),
                reply_id: id.clone().into(),
                name: message.name().to_owned().into(),
                role: "assistant".into(),
            });
            Reply::new(id, message.name().to_owned())
        })
    }

    fn abort(&mut self, out: &mut Output) {
        let error = ErrorInfo::new(ErrorType::Unknown, "the stream broke off");
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

    /// Remembers of a reply only that there was one.
    fn remember_ended(&mut self) {
        if let Some(reply) = self.reply.take() {
            self.ended.push(reply.id);
            let too_many = self.ended.len().saturating_sub(MAX_ENDED_IDS);
            self.ended.drain(..too_many);
        }
    }
}

/// The blocks of the message as they came.
fn raw_blocks(envelope: &Envelope) -> Vec<Object> {
    let blocks = envelope.raw_message().and_then(|message| message.get("content")?.to_list()).unwrap_or_default();
    blocks.iter().filter_map(Json::to_object).collect()
}

/// An id that nobody has yet.
fn unused_id(id: &str, is_used: impl Fn(&str) -> bool) -> String {
    let mut unused_id = id.to_owned();
    let mut number = 2_u64;
    while unused_id.is_empty() || is_used(&unused_id) {
        unused_id = format!("{id}_{number}");
        number += 1;
    }
    unused_id
}
