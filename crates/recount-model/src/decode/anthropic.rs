//! Events of the Anthropic Messages API, which MiniMax shares.

use std::borrow::Cow;

use recount_message::Json;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_end::StopReason;
use super::error::CallError;
use super::json_text::spaced_json;
use super::lenient::{self, Count, List, Maybe, Text, TextOrNumber};
use super::response_part::{BlockKey, CallPart, CallSlot, ResponsePart, Tokens};

#[derive(Debug, Default)]
pub(super) struct AnthropicChunks {
    tools: Vec<ToolUse>,
}

/// An incomplete tool call.
#[derive(Debug)]
struct ToolUse {
    index: u64,
    /// The arguments in the start event. Anthropic sends them as deltas later, other providers only here.
    given: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    index: Count,
    #[serde(borrow)]
    message: Maybe<Message<'a>>,
    #[serde(borrow)]
    content_block: Maybe<Block<'a>>,
    #[serde(borrow)]
    delta: Maybe<Delta<'a>>,
    usage: Maybe<Usage>,
    #[serde(borrow)]
    error: Maybe<ErrorBody<'a>>,
}

/// A full response, or the start of a streamed one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    content: List<Block<'a>>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
    usage: Maybe<Usage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    #[serde(borrow)]
    data: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    signature: Text<'a>,
    #[serde(borrow)]
    partial_json: Text<'a>,
    #[serde(borrow)]
    stop_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation_input_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorBody<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextOrNumber<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    http_code: TextOrNumber<'a>,
}

impl AnthropicChunks {
    pub(super) fn read(&mut self, text: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), serde_json::Error> {
        let event: Event<'_> = lenient::object(text)?;
        if let Some(error) = event.error.0 {
            let codes = [error.kind.as_deref(), error.http_code.as_deref()];
            emit(ResponsePart::Error(CallError::reported(error.message.as_deref(), &codes, None)));
            return Ok(());
        }
        let index = event.index.0.unwrap_or(0);
        match event.kind.as_deref() {
            Some("message_start") => {
                if let Some(message) = event.message.0 {
                    self.message(message, emit);
                }
            }
            Some("content_block_start") => {
                if let Some(block) = event.content_block.0 {
                    self.start(index, block, emit);
                }
            }
            Some("content_block_delta") => {
                if let Some(delta) = event.delta.0 {
                    self.delta(index, delta, emit);
                }
            }
            Some("content_block_stop") => self.stop(index, emit),
            Some("message_delta") => {
                if let Some(usage) = event.usage.0 {
                    emit(ResponsePart::Usage(usage.tokens()));
                }
                if let Some(reason) = event.delta.0.and_then(|delta| delta.stop_reason.non_empty()) {
                    emit(stop_reason(reason));
                }
            }
            Some("message_stop") => emit(ResponsePart::Done),
            Some("message") => {
                let message: Message<'_> = lenient::object(text)?;
                self.message(message, emit);
            }
            // `ping`, and events of later API versions.
            _ => {}
        }
        Ok(())
    }

    fn message(&mut self, message: Message<'_>, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        emit(ResponsePart::Response { id: message.id.non_empty(), model: message.model.non_empty() });
        if let Some(usage) = message.usage.0 {
            emit(ResponsePart::Usage(usage.tokens()));
        }
        for (index, block) in (0..).zip(message.content.0) {
            self.start(index, block, emit);
            self.stop(index, emit);
        }
        if let Some(reason) = message.stop_reason.non_empty() {
            emit(stop_reason(reason));
        }
    }

    fn start(&mut self, index: u64, block: Block<'_>, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let key = BlockKey(index);
        match block.kind.as_deref() {
            Some("text") => {
                if let Some(delta) = block.text.non_empty() {
                    emit(ResponsePart::Text { key, delta });
                }
            }
            Some("thinking") => {
                if let Some(delta) = block.thinking.non_empty() {
                    emit(ResponsePart::Thinking { key, delta });
                }
                signature(key, block.signature, emit);
            }
            Some("redacted_thinking") => {
                let value = Json::from(block.data.0.unwrap_or_default().into_owned());
                emit(ResponsePart::ThinkingExtra { key, name: "redacted_thinking_data", value });
            }
            Some("tool_use") => {
                let given =
                    block.input.map(|input| spaced_json(input.get())).filter(|input| input != "{}" && input != "null");
                self.tools.push(ToolUse { index, given });
                let (id, name) = (block.id.non_empty(), block.name.non_empty());
                emit(ResponsePart::Call(CallPart { slot: CallSlot(index), id, name, input: Cow::Borrowed("") }));
            }
            // Calls of server tools. Their results are part of the text.
            _ => {}
        }
    }

    fn delta(&mut self, index: u64, delta: Delta<'_>, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let key = BlockKey(index);
        match delta.kind.as_deref() {
            Some("text_delta") => {
                if let Some(delta) = delta.text.non_empty() {
                    emit(ResponsePart::Text { key, delta });
                }
            }
            Some("thinking_delta") => {
                if let Some(delta) = delta.thinking.non_empty() {
                    emit(ResponsePart::Thinking { key, delta });
                }
            }
            Some("signature_delta") => signature(key, delta.signature, emit),
            Some("input_json_delta") => {
                // Input of server tools is ignored.
                let Some(tool) = self.tools.iter_mut().rfind(|tool| tool.index == index) else { return };
                if let Some(input) = delta.partial_json.non_empty() {
                    tool.given = None;
                    emit(ResponsePart::Call(CallPart { slot: CallSlot(index), id: None, name: None, input }));
                }
            }
            _ => {}
        }
    }

    fn stop(&mut self, index: u64, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        match self.tools.iter().rposition(|tool| tool.index == index) {
            Some(at) => {
                let tool = self.tools.remove(at);
                let default_input = tool.given.map_or(Cow::Borrowed("{}"), Cow::Owned);
                emit(ResponsePart::CallEnd { slot: CallSlot(index), default_input });
            }
            None => emit(ResponsePart::ProseEnd { key: BlockKey(index) }),
        }
    }
}

impl Usage {
    fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input_tokens.0,
            output: self.output_tokens.0,
            cache_input: self.cache_read_input_tokens.0,
            cache_creation_input: self.cache_creation_input_tokens.0,
        }
    }
}

fn signature(key: BlockKey, signature: Text<'_>, emit: &mut dyn FnMut(ResponsePart<'_>)) {
    if let Some(signature) = signature.non_empty() {
        emit(ResponsePart::ThinkingExtra { key, name: "signature", value: Json::from(signature.into_owned()) });
    }
}

fn stop_reason(reason: Cow<'_, str>) -> ResponsePart<'_> {
    let stop_reason = match &*reason {
        "end_turn" | "stop_sequence" => StopReason::Stop,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other,
    };
    ResponsePart::StopReason { stop_reason, reason }
}
