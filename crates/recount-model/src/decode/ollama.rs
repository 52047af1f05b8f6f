//! Chunks of Ollama's chat API: lines of JSON, each with a part of the message.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_end::StopReason;
use super::error::CallError;
use super::json_text::spaced_json;
use super::lenient::{self, Count, Flag, List, Maybe, Text, TextOr};
use super::response_part::{BlockKey, CallPart, CallSlot, ResponsePart, Tokens};

#[derive(Debug, Default)]
pub(super) struct OllamaChunks {
    calls: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    message: Maybe<Message<'a>>,
    done: Flag,
    #[serde(borrow)]
    done_reason: Text<'a>,
    prompt_eval_count: Count,
    eval_count: Count,
    #[serde(borrow)]
    error: TextOr<'a, ErrorBody<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: Text<'a>,
    #[serde(borrow)]
    thinking: Text<'a>,
    #[serde(borrow)]
    tool_calls: List<ToolCall<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ToolCall<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Maybe<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorBody<'a> {
    #[serde(borrow)]
    message: Text<'a>,
}

impl OllamaChunks {
    pub(super) fn read(&mut self, text: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), serde_json::Error> {
        let chunk: Chunk<'_> = lenient::object(text)?;
        let error = match &chunk.error {
            TextOr::Text(message) => Some(Some(&**message)),
            TextOr::Object(error) => Some(error.message.as_deref()),
            TextOr::Neither => None,
        };
        if let Some(message) = error {
            emit(ResponsePart::Error(CallError::reported(message, &[], None)));
            return Ok(());
        }
        if let Some(model) = chunk.model.non_empty() {
            emit(ResponsePart::Response { id: None, model: Some(model) });
        }
        if let Some(message) = chunk.message.0 {
            self.message(message, emit);
        }
        let (input, output) = (chunk.prompt_eval_count.0, chunk.eval_count.0);
        if input.is_some() || output.is_some() {
            emit(ResponsePart::Usage(Tokens { input, output, ..Tokens::default() }));
        }
        if chunk.done.0 {
            emit(stop_reason(chunk.done_reason.0.unwrap_or_default()));
            emit(ResponsePart::Done);
        }
        Ok(())
    }

    fn message(&mut self, message: Message<'_>, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let key = BlockKey::ONLY;
        if let Some(delta) = message.thinking.non_empty() {
            emit(ResponsePart::Thinking { key, delta });
        }
        if let Some(delta) = message.content.non_empty() {
            emit(ResponsePart::Text { key, delta });
        }
        for call in message.tool_calls.0 {
            let function = call.function.0.unwrap_or_default();
            let slot = CallSlot(self.calls);
            self.calls += 1;
            let input = match function.arguments.map(RawValue::get) {
                None => Cow::Borrowed(""),
                // A string holds the arguments as JSON text.
                Some(text) => serde_json::from_str::<String>(text).unwrap_or_else(|_| spaced_json(text)).into(),
            };
            emit(ResponsePart::Call(CallPart {
                slot,
                id: call.id.non_empty(),
                name: function.name.non_empty(),
                input,
            }));
            emit(ResponsePart::CallEnd { slot, default_input: Cow::Borrowed("{}") });
        }
    }
}

fn stop_reason(reason: Cow<'_, str>) -> ResponsePart<'_> {
    let stop_reason = match &*reason {
        "" | "stop" => StopReason::Stop,
        "length" => StopReason::Length,
        _ => StopReason::Other,
    };
    ResponsePart::StopReason { stop_reason, reason }
}
