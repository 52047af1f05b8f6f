//! Conversion of single events. See `block` for the handling of fields that only one side has.
//!
//! `stream` handles state that spans several events: replies, reopened blocks and calls without results.

mod read;
mod write;

use recount_message::wire::Raw;
use recount_message::{ContentBlock, DecodeError, Event, EventKind, Json, Object};

use super::codec::BlockContext;
use super::fields::{JavaFields, object};
use super::{NAME, NATIVE, block, time};
use crate::json::ObjectWriter;
use crate::{patch, preserved};
use read::{ParsedEvent, parse, read_common};
use write::write_common;

/// The fields whose values are compared field by field.
const NESTED: &[&str] = &["metadata", "usage", "data"];

/// Fields that are always written in Java's form: variants from the documentation, or values that Java rejects.
const NEVER_PRESERVED: &[&str] =
    &["type", "state", "inputTokens", "outputTokens", "modelName", "mediaType", "media_type"];

/// The type of the event that adds a block of any kind to a tool result.
const DATA: &str = "TOOL_RESULT_DATA_DELTA";

/// The order in which Java writes the fields of all event types.
const ORDER: &[&str] = &[
    "type",
    "id",
    "createdAt",
    "subagentId",
    "agentId",
    "sessionId",
    "label",
    "replyId",
    "name",
    "role",
    "value",
    "result",
    "usage",
    "blockId",
    "hintSource",
    "hint",
    "toolCallId",
    "toolCallName",
    "delta",
    "data",
    "state",
    "maxIters",
    "currentIter",
    "toolCalls",
    "confirmResults",
    "toolResults",
    "reason",
    "generateReason",
    "source",
    "metadata",
    "deniedToolCalls",
];

/// Parses an event.
pub(super) fn read(text: &str) -> Result<Event<'_>, DecodeError> {
    let mut fields = JavaFields::document(text)?;
    let ParsedEvent { mut event, is_complete, tool_name } = parse(&mut fields, &[])?;
    if is_complete && event.metadata.is_empty() && has_same_fields(&event.kind) && fields.is_exhausted() {
        if let Some(name) = tool_name {
            preserved::store(preserved::event_holder_mut(&mut event), NAME, Object::from([("toolCallName", &*name)]));
        }
        return Ok(event);
    }
    let given = object(Raw::document(text)?)?;
    let native_only = preserved::take(preserved::event_holder_mut(&mut event), NATIVE);
    if !native_only.is_empty() {
        let lists = native_only.get("items").and_then(Json::to_array).unwrap_or_default();
        if !lists.is_empty() {
            event = read_common(&mut JavaFields::document(text)?, &lists)?;
            preserved::take(preserved::event_holder_mut(&mut event), NATIVE);
        }
        event = restore(event, &native_only, &given);
    }
    let mut java_only = patch::fields::difference(&given, &written(&event, None), NESTED);
    for name in NEVER_PRESERVED {
        java_only.remove(name);
    }
    // The documentation shows a string here, where Java has a block.
    if given.get("data").is_some_and(|data| data.as_str().is_some()) {
        java_only.remove("data");
        java_only.remove("-");
    }
    java_only.remove("metadata");
    java_only.remove(preserved::KEY);
    if let Some(kind) = preserved::get(preserved::event_holder_mut(&mut event), NAME).get("type") {
        java_only.insert("type", kind.clone());
    }
    preserved::store(preserved::event_holder_mut(&mut event), NAME, java_only);
    Ok(event)
}

/// Serializes an event. `tool_name` is the name of the tool, if known, which Java repeats in more events than the native
/// format.
pub(super) fn write(event: &Event<'_>, tool_name: Option<&str>, out: &mut String) {
    let is_plain = event.metadata.is_empty() && event.extra.is_empty() && has_same_fields(&event.kind);
    if is_plain && time::round_trips(&event.created_at) {
        write_common(event, tool_name, out);
    } else {
        write_ordered(&with_preserved_fields(event, tool_name), out);
    }
}

fn with_preserved_fields(event: &Event<'_>, tool_name: Option<&str>) -> Object {
    let mut event = event.clone();
    let written = written(&event, tool_name);
    let mut java_only = preserved::get(preserved::event_holder_mut(&mut event), NAME);
    java_only.remove("type");
    let is_equivalent = |fields: &Object| {
        let text = fields.to_json();
        let read =
            JavaFields::document(&text).and_then(|mut fields| read_common(&mut fields, &[]).map(Event::into_owned));
        read.is_ok_and(|read| self::written(&read, tool_name) == written)
    };
    let mut fields = patch::fields::apply_if_valid(&written, &java_only, NESTED, is_equivalent);
    let native_only = native_only_fields(&event, &fields);
    if !native_only.is_empty() {
        // The metadata of TOOL_RESULT_END belongs to the tool.
        if let EventKind::ToolResultEnd(_) = event.kind {
            preserved::store(&mut fields, NATIVE, native_only);
        } else {
            let mut metadata = fields.get("metadata").and_then(Json::to_object).unwrap_or_default();
            let mut native = preserved::take(&mut metadata, NATIVE);
            native_only.iter().for_each(|(name, value)| native.insert(name, value.clone()));
            preserved::store(&mut metadata, NATIVE, native);
            fields.insert("metadata", metadata);
        }
    }
    fields
}

/// Returns the native fields that are lost when the Java text is parsed.
fn native_only_fields(event: &Event<'_>, written: &Object) -> Object {
    let mut event = event.clone().into_owned();
    preserved::take(preserved::event_holder_mut(&mut event), NAME);
    let text = written.to_json();
    let read = JavaFields::document(&text).and_then(|mut fields| read_common(&mut fields, &[]));
    let Ok(mut read) = read else { return Object::new() };
    preserved::take(preserved::event_holder_mut(&mut read), NAME);
    if read == event {
        return Object::new();
    }
    let (mut wanted, mut given) = (native_fields(&event), native_fields(&read));
    let items = native_only_of_items(&event);
    for name in LISTS {
        wanted.remove(name);
        given.remove(name);
    }
    let mut native_only = patch::fields::difference(&wanted, &given, NESTED);
    if items.iter().any(|item| !item.is_empty()) {
        native_only.insert("items", items);
    }
    native_only
}

/// Restores the native-only fields, as far as the event would still be written as `given`.
fn restore<'a>(event: Event<'a>, native_only: &Object, given: &Object) -> Event<'a> {
    let mut native_only = native_only.clone();
    native_only.remove("items");
    let written = written(&event, None);
    let native = |fields: &Object| Event::from_json(&fields.to_json()).map(Event::into_owned).ok();
    let is_equivalent = |fields: &Object| {
        native(fields).is_some_and(|event| patch::fields::is_as_close(&self::written(&event, None), &written, given))
    };
    let whole = patch::fields::apply_if_valid(&native_fields(&event), &native_only, NESTED, is_equivalent);
    native(&whole).unwrap_or(event)
}

fn native_fields(event: &Event<'_>) -> Object {
    Object::parse(&event.to_json()).unwrap_or_default()
}

/// Returns the Java fields of an event without stored fields.
fn written(event: &Event<'_>, tool_name: Option<&str>) -> Object {
    let mut out = String::new();
    write_common(event, tool_name, &mut out);
    Object::parse(&out).unwrap_or_default()
}

/// Writes fields in Java's order.
fn write_ordered(fields: &Object, out: &mut String) {
    let mut object = ObjectWriter::jackson(out);
    for name in ORDER {
        if let Some(value) = fields.get(name) {
            object.json(name, value);
        }
    }
    for (name, value) in fields.iter().filter(|(name, _)| !ORDER.contains(name)) {
        object.json(name, value);
    }
    object.end();
}

/// Returns whether an event has the same fields on both sides. These are the most frequent events.
fn has_same_fields(kind: &EventKind<'_>) -> bool {
    match kind {
        EventKind::TextBlockEnd(event) => event.text.is_none(),
        EventKind::TextBlockStart(_)
        | EventKind::TextBlockDelta(_)
        | EventKind::ThinkingBlockStart(_)
        | EventKind::ThinkingBlockDelta(_)
        | EventKind::ThinkingBlockEnd(_)
        | EventKind::ToolCallStart(_)
        | EventKind::ToolCallDelta(_)
        | EventKind::ToolCallEnd(_)
        | EventKind::ToolResultStart(_)
        | EventKind::ToolResultTextDelta(_)
        | EventKind::ToolResultEnd(_) => true,
        _ => false,
    }
}

/// The native fields that hold lists of blocks.
const LISTS: &[&str] = &["tool_calls", "confirm_results", "execution_results"];

/// Returns the native-only fields of the blocks that an event lists.
fn native_only_of_items(event: &Event<'_>) -> Vec<Object> {
    let blocks: Vec<ContentBlock> = match &event.kind {
        EventKind::RequireUserConfirm(event) => event.tool_calls.iter().cloned().map(Into::into).collect(),
        EventKind::RequireExternalExecution(event) => event.tool_calls.iter().cloned().map(Into::into).collect(),
        EventKind::UserConfirmResult(event) => {
            event.confirm_results.iter().map(|result| result.tool_call.clone().into()).collect()
        }
        EventKind::ExternalExecutionResult(event) => event.execution_results.iter().cloned().map(Into::into).collect(),
        _ => return Vec::new(),
    };
    let time = time::event_time_to_native(time::event_time_to_java(&event.created_at));
    let native_only = |(index, block)| {
        block::write(block, BlockContext { index, time: &time, ..BlockContext::default() }, &mut String::new())
    };
    blocks.iter().enumerate().map(native_only).collect()
}
