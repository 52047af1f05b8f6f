//! The parts of a message, as chunks.

use recount_message::{
    ContentBlock, DataBlock, Json, MediaBlock, Msg, Object, Payload, ToolCallBlock, ToolCallState, ToolResultBlock,
    ToolResultState,
};

use crate::data_url;
use crate::frame::{Frame, text_or_parts};
use crate::reply_view::is_reopened;

/// Returns the chunks for all parts of a message. Data becomes a part when it is complete, and a result changes the part
/// of its call.
pub(super) fn of(message: &Msg, is_complete: bool) -> Vec<String> {
    let content = message.content();
    let parts = content.iter().enumerate().flat_map(|(index, block)| part(content, index, block, is_complete));
    parts.collect()
}

pub(super) fn part(content: &[ContentBlock], index: usize, block: &ContentBlock, is_complete: bool) -> Vec<String> {
    let id = index.to_string();
    let is_over = is_complete || block.finished_at().is_some();
    match block {
        ContentBlock::Text(block) => streamed("text", &id, &block.text, is_over),
        ContentBlock::Thinking(block) => streamed("reasoning", &id, &block.thinking, is_over),
        ContentBlock::Data(block) => is_over.then(|| file(block)).into_iter().collect(),
        ContentBlock::ToolCall(call) => {
            let id = call_id(content, index);
            if !is_over {
                let mut chunks = vec![input_start(&id, &call.name)];
                chunks.extend(input_delta(&id, &call.input));
                return chunks;
            }
            let is_visible =
                |result: &&ToolResultBlock| is_complete || result.finished_at.is_some() || is_reopened(result);
            let result = result_of(content, index, call).filter(is_visible);
            let mut chunks = vec![input(&id, call, result.is_some())];
            chunks.extend((call.state == ToolCallState::Asking && result.is_none()).then(|| approval(&id)));
            chunks.extend(result.map(|result| output(&id, result)));
            chunks
        }
        ContentBlock::ToolResult(_) => Vec::new(),
        ContentBlock::Hint(hint) => {
            let data = Frame::new().json("hint", &payload(&hint.hint)).optional("source", hint.source.as_deref());
            vec![data_part("hint", &id, &data.end())]
        }
        ContentBlock::Unknown(other) => {
            vec![data_part("block", &id, sanitized(&Json::from(other.fields.clone())).as_raw())]
        }
        _ => Vec::new(),
    }
}

fn streamed(kind: &str, id: &str, text: &str, is_over: bool) -> Vec<String> {
    let mut chunks = vec![start(kind, id)];
    chunks.extend(delta(kind, id, text));
    chunks.extend(is_over.then(|| end(kind, id)));
    chunks
}

pub(super) fn start(kind: &str, id: &str) -> String {
    Frame::of(&format!("{kind}-start")).text("id", id).end()
}

pub(super) fn delta(kind: &str, id: &str, text: &str) -> Option<String> {
    (!text.is_empty()).then(|| Frame::of(&format!("{kind}-delta")).text("id", id).text("delta", text).end())
}

pub(super) fn end(kind: &str, id: &str) -> String {
    Frame::of(&format!("{kind}-end")).text("id", id).end()
}

pub(super) fn data_part(name: &str, id: &str, data: &str) -> String {
    Frame::of(&format!("data-{name}")).text("id", id).json("data", data).end()
}

pub(super) fn file(block: &DataBlock) -> String {
    Frame::of("file").text("mediaType", block.media_type()).text("url", &data_url::from_source(&block.source)).end()
}

/// Returns the id of the call at an index: the native id, with a number appended if an earlier call has the same id.
pub(super) fn call_id(content: &[ContentBlock], index: usize) -> String {
    let Some(block) = content.get(index) else { return String::new() };
    let id = block.id();
    let is_same = |other: &&ContentBlock| matches!(other, ContentBlock::ToolCall(call) if call.id == id);
    match content.iter().take(index).filter(is_same).count() {
        0 => id.to_owned(),
        others => format!("{id}~{}", others + 1),
    }
}

/// Returns the result of the call at an index.
fn result_of<'m>(content: &'m [ContentBlock], index: usize, call: &ToolCallBlock) -> Option<&'m ToolResultBlock> {
    for block in content.iter().skip(index + 1) {
        match block {
            ContentBlock::ToolResult(result) if result.id == call.id => return Some(result),
            // A later call reuses the id.
            ContentBlock::ToolCall(other) if other.id == call.id => return None,
            _ => {}
        }
    }
    None
}

pub(super) fn input_start(id: &str, name: &str) -> String {
    Frame::of("tool-input-start").text("toolCallId", id).text("toolName", name).json("dynamic", "true").end()
}

pub(super) fn input_delta(id: &str, text: &str) -> Option<String> {
    let chunk = || Frame::of("tool-input-delta").text("toolCallId", id).text("inputTextDelta", text).end();
    (!text.is_empty()).then(chunk)
}

/// Returns the chunk for a call with complete arguments. A client executes it only if it was submitted for external
/// execution.
pub(super) fn input(id: &str, call: &ToolCallBlock, has_result: bool) -> String {
    let input = match call.input.trim() {
        "" => "{}".to_owned(),
        text => {
            let input = Json::parse(text).unwrap_or_else(|_| Json::from(call.input.as_str()));
            sanitized(&input).as_raw().to_owned()
        }
    };
    let is_own = has_result || call.state != ToolCallState::Submitted;
    let frame = Frame::of("tool-input-available").text("toolCallId", id).text("toolName", &call.name);
    let frame = frame.json("input", &input).json("dynamic", "true");
    frame.json("providerExecuted", if is_own { "true" } else { "false" }).end()
}

/// Returns the chunk that requests approval of a call. The client's response contains the id of the call.
pub(super) fn approval(id: &str) -> String {
    Frame::of("tool-approval-request").text("approvalId", id).text("toolCallId", id).end()
}

/// Returns the chunk for the result of a call.
pub(super) fn output(id: &str, result: &ToolResultBlock) -> String {
    let failed = || {
        let text = result.output.text().unwrap_or_else(|| result.state.as_str().to_owned());
        Frame::of("tool-output-error").text("toolCallId", id).text("errorText", &text).end()
    };
    match result.state {
        ToolResultState::Error | ToolResultState::Interrupted => failed(),
        ToolResultState::Denied => Frame::of("tool-output-denied").text("toolCallId", id).end(),
        _ => Frame::of("tool-output-available").text("toolCallId", id).json("output", &payload(&result.output)).end(),
    }
}

/// Returns the content of a result or a hint.
fn payload(payload: &Payload) -> String {
    text_or_parts(payload, |block| match block {
        MediaBlock::Text(text) => Frame::of("text").text("text", &text.text).end(),
        MediaBlock::Data(data) => {
            let frame = Frame::of("file")
                .text("mediaType", data.media_type())
                .text("url", &data_url::from_source(&data.source));
            frame.optional("filename", data.name.as_deref()).end()
        }
        MediaBlock::Unknown(other) => sanitized(&Json::from(other.fields.clone())).as_raw().to_owned(),
        _ => "null".to_owned(),
    })
}

/// Removes keys that could change the prototype of a JavaScript object. The library rejects a whole stream that contains
/// one.
pub(super) fn sanitized(json: &Json) -> Json {
    let may_be_harmful = ["proto", "\\u"].iter().any(|part| json.as_raw().contains(part));
    if may_be_harmful { without_prototypes(json) } else { json.clone() }
}

fn without_prototypes(json: &Json) -> Json {
    if let Some(object) = json.to_object() {
        let is_prototype = |value: &Json| value.to_object().is_some_and(|value| value.contains_key("prototype"));
        let is_harmful = |key: &str, value: &Json| key == "__proto__" || key == "constructor" && is_prototype(value);
        let safe = object.iter().filter(|(key, value)| !is_harmful(key, value));
        return safe.map(|(key, value)| (key, without_prototypes(value))).collect::<Object>().into();
    }
    match json.to_array() {
        Some(list) => list.iter().map(without_prototypes).collect::<Vec<_>>().into(),
        None => json.clone(),
    }
}
