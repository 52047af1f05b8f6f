//! Helpers that decode a response and render the result on one line.

use recount_message::check::Checker;
use recount_message::{AgentEvent, ContentBlock, EventKind, Msg, Object, ReplyEnd, ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::decode::{CallEnd, DecodeOptions, Decoder};

/// The result of decoding a response.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) message: Msg,
    pub(crate) end: CallEnd,
    pub(crate) events: Vec<AgentEvent>,
}

pub(crate) fn decode(provider: Provider, response: &str) -> Decoded {
    decode_with(provider, response.as_bytes(), DecodeOptions::default())
}

/// Decodes a response in one chunk and byte by byte, and checks that both give the same legal stream.
pub(crate) fn decode_with(provider: Provider, response: &[u8], options: DecodeOptions) -> Decoded {
    let whole = decode_in_pieces(provider, response, options, usize::MAX);
    let bytes = decode_in_pieces(provider, response, options, 1);
    assert_eq!(whole, bytes, "byte by byte");
    let mut checker = Checker::new();
    let mut findings: Vec<_> = whole.events.iter().flat_map(|event| checker.event(event)).collect();
    findings.extend(checker.finish());
    assert_eq!(findings, []);
    whole
}

fn decode_in_pieces(provider: Provider, response: &[u8], options: DecodeOptions, size: usize) -> Decoded {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    reply.model_call("model");
    let mut decoder = Decoder::new(provider, options);
    for piece in response.chunks(size) {
        if decoder.push(piece, &mut reply).is_err() {
            break;
        }
    }
    let end = decoder.finish(&mut reply);
    end.end_model_call(&mut reply);
    let message = reply.end(ReplyEnd::completed());
    Decoded { message, end, events }
}

impl Decoded {
    /// Returns the blocks on one line: `[thinking]`, `"text"`, `id:name(input)` with `$` for a generated id, `<media
    /// type>`, each followed by its extra fields.
    pub(crate) fn blocks(&self) -> String {
        let blocks = self.message.content().iter().filter_map(|block| match block {
            ContentBlock::Text(block) => Some(format!("{:?}{}", block.text, extra(&block.extra))),
            ContentBlock::Thinking(block) => Some(format!("[{}]{}", block.thinking, extra(&block.extra))),
            ContentBlock::ToolCall(call) => {
                let id = if call.id.starts_with("id-") { "$" } else { &call.id };
                Some(format!("{id}:{}({}){}", call.name, call.input, extra(&call.extra)))
            }
            ContentBlock::Data(block) => Some(format!("<{}>", block.media_type())),
            _ => None,
        });
        blocks.collect::<Vec<_>>().join(" ")
    }

    /// Returns the events of the blocks: `T+ T T-` for text, `K` for thinking, `C` for calls, `D` for data.
    pub(crate) fn outline(&self) -> String {
        let signs = self.events.iter().filter_map(|event| {
            Some(match &event.kind {
                EventKind::TextBlockStart(_) => "T+".to_owned(),
                EventKind::TextBlockDelta(_) => "T".to_owned(),
                EventKind::TextBlockEnd(_) => "T-".to_owned(),
                EventKind::ThinkingBlockStart(_) => "K+".to_owned(),
                EventKind::ThinkingBlockDelta(_) => "K".to_owned(),
                EventKind::ThinkingBlockEnd(_) => "K-".to_owned(),
                EventKind::ToolCallStart(call) => format!("{}+", call.tool_call_id),
                EventKind::ToolCallDelta(call) => call.tool_call_id.clone().into_owned(),
                EventKind::ToolCallEnd(call) => format!("{}-", call.tool_call_id),
                EventKind::DataBlockStart(_) => "D+".to_owned(),
                EventKind::DataBlockDelta(_) => "D".to_owned(),
                EventKind::DataBlockEnd(_) => "D-".to_owned(),
                _ => return None,
            })
        });
        signs.collect::<Vec<_>>().join(" ")
    }
}

fn extra(extra: &Object) -> String {
    if extra.is_empty() { String::new() } else { extra.to_json() }
}

/// Returns OpenAI chunks as server-sent events, given the choice of each.
pub(crate) fn chat(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("data: {{\"choices\":[{{\"index\":0,{choice}}}]}}\n\n")).collect()
}

/// Returns OpenAI chunks as server-sent events, given the delta of each, with a stop reason.
pub(crate) fn chat_deltas(deltas: &[&str], finish_reason: &str) -> String {
    let mut choices: Vec<String> = deltas.iter().map(|delta| format!("\"delta\":{{{delta}}}")).collect();
    choices.push(format!("\"delta\":{{}},\"finish_reason\":\"{finish_reason}\""));
    chat(&choices.iter().map(String::as_str).collect::<Vec<_>>()) + "data: [DONE]\n\n"
}

/// Returns events as data lines.
pub(crate) fn sse(events: &[&str]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

#[track_caller]
pub(crate) fn check_blocks(provider: Provider, response: &str, blocks: &str) {
    assert_eq!(decode(provider, response).blocks(), blocks);
}
