//! Serialization of events.

use std::borrow::Cow;

use recount_message::{ConfirmResult, ContentBlock, Event, EventKind, Json, Object, ToolResultDataDeltaEvent, Usage};

use super::{DATA, ORDER, native_fields};
use crate::java::codec::{self, BlockContext};
use crate::java::{NAME, Version, block, time, usage};
use crate::json::ObjectWriter;
use crate::preserved;

/// Writes the fields that both sides have.
pub(super) fn write_common(event: &Event<'_>, tool_name: Option<&str>, out: &mut String) {
    let mut object = ObjectWriter::jackson(out);
    let java_type = preserved::get(&event.metadata, NAME).get("type").and_then(Json::as_str).map(str::to_owned);
    let kind = match (&event.kind, &java_type) {
        (EventKind::Custom(custom), Some(java_type)) if custom.name == *java_type => java_type,
        (EventKind::ToolResultTextDelta(_), Some(java_type)) if java_type == DATA => DATA,
        (EventKind::ReplyStart(_), _) => "AGENT_START",
        (EventKind::ReplyEnd(_), _) => "AGENT_END",
        // Java rejects unknown event types.
        (EventKind::UserInterrupt(_) | EventKind::Unknown(_), _) => "CUSTOM",
        _ => event.type_name(),
    };
    object.text("type", kind);
    let present = |text: &Cow<'_, str>| !text.is_empty();
    if present(&event.id) {
        object.text("id", &event.id);
    }
    if present(&event.created_at) {
        object.text("createdAt", &time::event_time_to_java(&event.created_at));
    }
    write_fields(event, java_type.as_deref(), tool_name, &mut object);
    let metadata = java_metadata(event);
    if !metadata.is_empty() {
        object.object("metadata", &metadata);
    }
    for (name, value) in event.extra.iter().filter(|(name, _)| *name != preserved::KEY && !ORDER.contains(name)) {
        object.json(name, value);
    }
    object.end();
}

/// Returns the metadata without marks that are written as fields.
fn java_metadata(event: &Event<'_>) -> Object {
    let mut metadata = event.metadata.clone();
    if metadata.is_empty() || matches!(event.kind, EventKind::ToolResultEnd(_)) {
        return metadata;
    }
    let mut marks = preserved::marks(&metadata);
    marks.remove(NAME);
    match event.kind {
        EventKind::ModelCallEnd(_) => drop(marks.remove("usage")),
        EventKind::ToolResultDataDelta(_) => drop(marks.remove("name")),
        _ => {}
    }
    preserved::set_marks(&mut metadata, marks);
    metadata
}

fn write_fields(event: &Event<'_>, java_type: Option<&str>, tool_name: Option<&str>, object: &mut ObjectWriter<'_>) {
    match &event.kind {
        EventKind::ReplyStart(event) => {
            object.text_if_any("sessionId", Some(&*event.session_id).filter(|id| !id.is_empty()));
            object.text("replyId", &event.reply_id);
            object.text("name", &event.name);
            object.text("role", &event.role);
        }
        EventKind::ReplyEnd(event) => object.text("replyId", &event.reply_id),
        EventKind::ModelCallStart(event) => object.text("replyId", &event.reply_id),
        EventKind::ModelCallEnd(call) => {
            object.text("replyId", &call.reply_id);
            if event.extension("usage").and_then(|usage| usage.as_str().map(str::to_owned)).as_deref()
                != Some("unknown")
            {
                let mut counted = Usage::new(call.input_tokens, call.output_tokens);
                counted.cache_input_tokens = call.cache_input_tokens;
                usage::write(&counted, Version::Two, object.key("usage"));
            }
        }
        EventKind::TextBlockStart(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::TextBlockDelta(event) => {
            write_block_ids(&event.reply_id, &event.block_id, object);
            object.text("delta", &event.delta);
        }
        EventKind::TextBlockEnd(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::ThinkingBlockStart(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::ThinkingBlockDelta(event) => {
            write_block_ids(&event.reply_id, &event.block_id, object);
            object.text("delta", &event.delta);
        }
        EventKind::ThinkingBlockEnd(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::DataBlockStart(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::DataBlockDelta(event) => {
            write_block_ids(&event.reply_id, &event.block_id, object);
            object.text("delta", event.data.as_deref().unwrap_or_default());
        }
        EventKind::DataBlockEnd(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::HintBlock(event) => {
            write_block_ids(&event.reply_id, &event.block_id, object);
            object.text_if_any("hintSource", event.source.as_deref());
            object.text("hint", &event.hint.text().unwrap_or_default());
        }
        EventKind::ToolCallStart(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, Some(&event.tool_call_name), object);
        }
        EventKind::ToolCallDelta(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, tool_name, object);
            object.text("delta", &event.delta);
        }
        EventKind::ToolCallEnd(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, tool_name, object);
        }
        EventKind::ToolResultStart(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, Some(&event.tool_call_name), object);
        }
        EventKind::ToolResultTextDelta(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, tool_name, object);
            if java_type == Some(DATA) {
                let mut data = ObjectWriter::jackson(object.key("data"));
                data.text("type", "text");
                data.text("text", &event.delta);
                data.end();
            } else {
                object.text("delta", &event.delta);
            }
        }
        EventKind::ToolResultDataDelta(delta) => {
            write_call_ids(&delta.reply_id, &delta.tool_call_id, tool_name, object);
            write_data(event, delta, object.key("data"));
        }
        EventKind::ToolResultEnd(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, tool_name, object);
            object.text("state", event.state.as_str());
        }
        EventKind::ExceedMaxIters(event) => {
            object.text("replyId", &event.reply_id);
            object.raw("maxIters", "0");
            object.raw("currentIter", "0");
        }
        EventKind::RequireUserConfirm(event) => {
            object.text("replyId", &event.reply_id);
            object.list("toolCalls", &event.tool_calls, |_, call, out| write_block(call.clone(), out));
        }
        EventKind::RequireExternalExecution(event) => {
            object.text("replyId", &event.reply_id);
            object.list("toolCalls", &event.tool_calls, |_, call, out| write_block(call.clone(), out));
        }
        EventKind::UserConfirmResult(event) => {
            object.text("replyId", &event.reply_id);
            object.list("confirmResults", &event.confirm_results, |_, result, out| write_confirm_result(result, out));
        }
        EventKind::ExternalExecutionResult(event) => {
            object.text("replyId", &event.reply_id);
            object.list("toolResults", &event.execution_results, |_, result, out| write_block(result.clone(), out));
        }
        EventKind::Custom(custom) if java_type == Some(&*custom.name) => {
            for (name, value) in custom.value.iter() {
                object.json(name, value);
            }
        }
        EventKind::Custom(custom) => {
            object.text("name", &custom.name);
            object.object("value", &custom.value);
        }
        // Event types that only the native side has.
        _ => {
            let mut value = native_fields(event);
            for name in ["id", "created_at", "metadata", "type"] {
                value.remove(name);
            }
            object.text("name", event.type_name());
            object.object("value", &value);
        }
    }
}

fn write_block_ids(reply_id: &str, block_id: &str, object: &mut ObjectWriter<'_>) {
    object.text("replyId", reply_id);
    object.text("blockId", block_id);
}

fn write_call_ids(reply_id: &str, tool_call_id: &str, name: Option<&str>, object: &mut ObjectWriter<'_>) {
    object.text("replyId", reply_id);
    object.text("toolCallId", tool_call_id);
    object.text_if_any("toolCallName", name);
}

fn write_block(block: impl Into<ContentBlock>, out: &mut String) {
    block::write(&block.into(), BlockContext::default(), out);
}

fn write_data(event: &Event<'_>, delta: &ToolResultDataDeltaEvent<'_>, out: &mut String) {
    let mut object = ObjectWriter::jackson(out);
    object.text("type", "data");
    let mut source = ObjectWriter::jackson(object.key("source"));
    match (&delta.data, &delta.url) {
        (_, Some(url)) => {
            source.text("type", "url");
            source.text("url", url);
            source.text("mime_type", &delta.media_type);
        }
        (data, None) => {
            source.text("type", "base64");
            source.text("media_type", &delta.media_type);
            source.text("data", data.as_deref().unwrap_or_default());
        }
    }
    source.end();
    object.text("id", delta.block_id.as_deref().unwrap_or_default());
    object.text_if_any("name", event.extension("name").and_then(|name| name.as_str().map(str::to_owned)).as_deref());
    object.end();
}

fn write_confirm_result(result: &ConfirmResult, out: &mut String) {
    let mut object = ObjectWriter::jackson(out);
    object.raw("confirmed", if result.confirmed { "true" } else { "false" });
    write_block(result.tool_call.clone(), object.key("toolCall"));
    match &result.rules {
        Some(rules) => object.list("rules", rules, |_, rule, out| codec::write_rule(rule, out)),
        None => object.raw("rules", "null"),
    }
    result.extra.iter().for_each(|(name, value)| object.json(name, value));
    object.end();
}
