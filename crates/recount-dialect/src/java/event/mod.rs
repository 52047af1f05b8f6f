//! Events, one by one. How what only one side says is kept is told in `block`.
//!
//! What belongs together over several events (replies, blocks that are opened again, calls without results) is the matter
//! of `stream`.

mod read;
mod write;

use recount_message::wire::Raw;
use recount_message::{ContentBlock, DecodeError, Event, EventKind, Json, Object};

use super::fields::{JavaFields, object};
use super::plain::Place;
use super::text::ObjectWriter;
use super::{NAME, NATIVE, block, time};
use crate::residue;
use read::{Checked, read_checked, read_plain};
use write::write_plain;

/// The fields that are compared field by field.
const NESTED: &[&str] = &["metadata", "usage", "data"];

/// What the documents show, or Java would not take. It has been understood, and is written as Java has it.
const NEVER_KEPT: &[&str] = &["type", "state", "inputTokens", "outputTokens", "modelName", "mediaType", "media_type"];

/// The type that brings a block to a tool's result, of whatever kind.
const DATA: &str = "TOOL_RESULT_DATA_DELTA";

/// Java's own order of fields, over all types.
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

/// Reads an event.
pub(super) fn read(text: &str) -> Result<Event<'_>, DecodeError> {
    let mut fields = JavaFields::document(text)?;
    let Checked { mut event, is_complete, tool_name } = read_checked(&mut fields, &[])?;
    if is_complete && event.metadata.is_empty() && is_simple(&event.kind) && fields.is_exhausted() {
        if let Some(name) = tool_name {
            residue::keep(marks_of(&mut event), NAME, Object::from([("toolCallName", &*name)]));
        }
        return Ok(event);
    }
    let given = object(Raw::document(text)?)?;
    let left = residue::take(marks_of(&mut event), NATIVE);
    if !left.is_empty() {
        let lists = left.get("items").and_then(Json::to_list).unwrap_or_default();
        if !lists.is_empty() {
            event = read_plain(&mut JavaFields::document(text)?, &lists)?;
            residue::take(marks_of(&mut event), NATIVE);
        }
        event = restore(event, &left, &given);
    }
    let mut kept = residue::difference(&given, &said(&event, None), NESTED);
    for name in NEVER_KEPT {
        kept.remove(name);
    }
    // Data as the documents show it: a string, where Java has a block or another name.
    if given.get("data").is_some_and(|data| data.to_text().is_some()) {
        kept.remove("data");
        kept.remove("-");
    }
    kept.remove("metadata");
    kept.remove(residue::KEY);
    if let Some(kind) = residue::get(marks_of(&mut event), NAME).get("type") {
        kept.insert("type", kind.clone());
    }
    residue::keep(marks_of(&mut event), NAME, kept);
    Ok(event)
}

/// Writes an event. Java says the name of a tool more often than the native side; `tool_name` is it, where it is known.
pub(super) fn write(event: &Event<'_>, tool_name: Option<&str>, out: &mut String) {
    let is_plain = event.metadata.is_empty() && event.extra.is_empty() && is_simple(&event.kind);
    if is_plain && time::comes_back(&event.created_at) {
        write_plain(event, tool_name, out);
    } else {
        write_ordered(&with_what_is_kept(event, tool_name), out);
    }
}

fn with_what_is_kept(event: &Event<'_>, tool_name: Option<&str>) -> Object {
    let mut event = event.clone();
    let said = said(&event, tool_name);
    let mut kept = residue::get(marks_of(&mut event), NAME);
    kept.remove("type");
    let means_the_same = |fields: &Object| {
        let text = fields.to_json();
        let read =
            JavaFields::document(&text).and_then(|mut fields| read_plain(&mut fields, &[]).map(Event::into_owned));
        read.is_ok_and(|read| self::said(&read, tool_name) == said)
    };
    let mut fields = residue::apply_what_holds(&said, &kept, NESTED, means_the_same);
    let left = left_out(&event, &fields);
    if !left.is_empty() {
        // The metadata of a result's end is the tool's own.
        if let EventKind::ToolResultEnd(_) = event.kind {
            residue::keep(&mut fields, NATIVE, left);
        } else {
            let mut metadata = fields.get("metadata").and_then(Json::to_object).unwrap_or_default();
            let mut native = residue::take(&mut metadata, NATIVE);
            left.iter().for_each(|(name, value)| native.insert(name, value.clone()));
            residue::keep(&mut metadata, NATIVE, native);
            fields.insert("metadata", metadata);
        }
    }
    fields
}

/// What reading back would not give.
fn left_out(event: &Event<'_>, written: &Object) -> Object {
    let mut event = event.clone().into_owned();
    residue::take(marks_of(&mut event), NAME);
    let text = written.to_json();
    let read = JavaFields::document(&text).and_then(|mut fields| read_plain(&mut fields, &[]));
    let Ok(mut read) = read else { return Object::new() };
    residue::take(marks_of(&mut read), NAME);
    if read == event {
        return Object::new();
    }
    let (mut wanted, mut given) = (native_fields(&event), native_fields(&read));
    let items = left_of_items(&event);
    for name in LISTS {
        wanted.remove(name);
        given.remove(name);
    }
    let mut left = residue::difference(&wanted, &given, NESTED);
    if items.iter().any(|item| !item.is_empty()) {
        left.insert("items", items);
    }
    left
}

/// Puts back what Java could not say, as far as Java says what it would say about it.
fn restore<'a>(event: Event<'a>, left: &Object, given: &Object) -> Event<'a> {
    let mut left = left.clone();
    left.remove("items");
    let said = said(&event, None);
    let native = |fields: &Object| Event::from_json(&fields.to_json()).map(Event::into_owned).ok();
    let means_the_same = |fields: &Object| {
        native(fields).is_some_and(|event| residue::is_as_near(&self::said(&event, None), &said, given))
    };
    let whole = residue::apply_what_holds(&native_fields(&event), &left, NESTED, means_the_same);
    native(&whole).unwrap_or(event)
}

fn native_fields(event: &Event<'_>) -> Object {
    Object::parse(&event.to_json()).unwrap_or_default()
}

/// What an event says in Java, but for what is kept.
fn said(event: &Event<'_>, tool_name: Option<&str>) -> Object {
    let mut out = String::new();
    write_plain(event, tool_name, &mut out);
    Object::parse(&out).unwrap_or_default()
}

/// Writes fields in Java's order.
fn write_ordered(fields: &Object, out: &mut String) {
    let mut object = ObjectWriter::begin(out);
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

/// Where the marks of an event are: in its metadata, or beside it where the metadata is the tool's own.
fn marks_of<'e>(event: &'e mut Event<'_>) -> &'e mut Object {
    match event.kind {
        EventKind::ToolResultEnd(_) => &mut event.extra,
        _ => &mut event.metadata,
    }
}

/// The events that streams are full of, which say the same on both sides, field by field.
fn is_simple(kind: &EventKind<'_>) -> bool {
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

/// What Java cannot say about the blocks that an event lists.
fn left_of_items(event: &Event<'_>) -> Vec<Object> {
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
    let left =
        |(index, block)| block::write(block, Place { index, time: &time, ..Place::default() }, &mut String::new());
    blocks.iter().enumerate().map(left).collect()
}
