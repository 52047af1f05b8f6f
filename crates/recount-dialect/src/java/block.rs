//! Conversion of blocks, including the fields that only one side has.
//!
//! `codec` converts the fields that both sides have. The remaining ones are found by converting the result back and
//! comparing. Java-only fields are stored in the native block, and native-only fields are returned to the caller, who
//! stores them. A stored field is used only if the block still has the same meaning, so that an edit of the block takes
//! precedence.

use recount_message::wire::Raw;
use recount_message::{ContentBlock, DecodeError, Json, MediaBlock, Object, Payload, ToolResultBlock, UnknownBlock};

use super::codec::{self, BlockContext};
use super::fields::object;
use super::{NATIVE, Version};
use crate::json::{self, ObjectWriter};
use crate::{patch, preserved};

/// The fields whose values are compared field by field.
const NESTED: &[&str] = &["source", "metadata"];

/// The key for the kind of block that a text stands in for.
const STAND_IN: &str = "-as";

/// Parses a block on its own.
pub(crate) fn read_alone(text: &str, version: Version) -> Result<ContentBlock, DecodeError> {
    let raw = Raw::document(text)?;
    let context = BlockContext { version, ..BlockContext::default() };
    let mut given = object(raw)?;
    let native_only = preserved::take(&mut given, NATIVE);
    if native_only.is_empty() {
        return read(raw, context, None);
    }
    let text = given.to_json();
    read(Raw::document(&text)?, context, Some(&native_only))
}

/// Serializes a block on its own.
pub(crate) fn write_alone(block: &ContentBlock, version: Version, out: &mut String) {
    let native_only = write(block, BlockContext { version, ..BlockContext::default() }, out);
    if !native_only.is_empty() {
        // Reopens the object that was just written.
        out.pop();
        let mut object = ObjectWriter::jackson_resume(out);
        object.object(preserved::KEY, &Object::from([(NATIVE, Json::from(native_only))]));
        object.end();
    }
}

/// Parses a block. `native_only` holds the fields that Java could not express when the block was written.
pub(crate) fn read(
    raw: Raw<'_>,
    context: BlockContext<'_>,
    native_only: Option<&Object>,
) -> Result<ContentBlock, DecodeError> {
    let mut block = codec::read_block(raw, context)?;
    if let Some(native_only) = native_only.filter(|native_only| !native_only.is_empty()) {
        restore(&mut block, native_only, &object(raw)?, context.version);
    }
    let java_only =
        if codec::is_plain_text(raw) { Object::new() } else { java_only_fields(raw, &block, context.version)? };
    if let Some(extra) = preserved::block_holder_mut(&mut block) {
        preserved::store(extra, context.version.name(), java_only);
    }
    Ok(block)
}

/// Returns the fields of a parsed block that its native form does not have.
pub(super) fn java_only_fields(raw: Raw<'_>, block: &ContentBlock, version: Version) -> Result<Object, DecodeError> {
    let (mut given, written) = (object(raw)?, written_fields(block, version));
    // Jackson uses the first of several `type` fields.
    let class = given.iter().find(|(name, _)| *name == "type").map(|(_, class)| class.clone());
    if let Some(class) = class.filter(|class| given.get("type") != Some(class)) {
        while given.remove("type").is_some() {}
        given.insert("type", class);
    }
    // Java writes a missing value as `null`. Java also creates an id for data without one.
    for name in ["id", "hint", "content"] {
        let is_named_otherwise = name == "id" && given.contains_key("toolUseId");
        let is_missing = written.contains_key(name) && !given.contains_key(name) && !is_named_otherwise;
        if is_missing && !matches!(block, ContentBlock::Data(_)) {
            given.insert(name, Json::null());
        }
    }
    let mut java_only = match given.get("type") == written.get("type") {
        true => patch::fields::changes(&given, &written, NESTED),
        false => patch::fields::difference(&given, &written, NESTED),
    };
    // Java rejects states in upper case, and the other names appear only in its documentation.
    for name in ["state", "toolUseId", "arguments", "result"] {
        if name != "state" || version == Version::Two {
            java_only.remove(name);
        }
    }
    if version == Version::One && written.contains_key("source") && given.get("source").is_none_or(Json::is_null) {
        java_only.insert("source", Json::null());
    } else if let (Some(given), Some(written)) = (given.get("source"), written.get("source").and_then(Json::to_object))
    {
        let mut source = patch::fields::difference(&given.to_object().unwrap_or_default(), &written, &[]);
        // In Java 1, these are the only fields with the media type of a URL.
        for name in ["media_type", "mimeType", "mediaType"].iter().filter(|_| version == Version::Two) {
            source.remove(name);
        }
        if source.is_empty() {
            java_only.remove("source");
        } else {
            java_only.insert("source", source);
        }
    } else if written.contains_key("source") && !matches!(block, ContentBlock::Hint(_)) {
        java_only.insert("-", ["source"]);
    }
    Ok(java_only)
}

/// Serializes a block. Returns the fields that Java cannot express.
pub(crate) fn write(block: &ContentBlock, context: BlockContext<'_>, out: &mut String) -> Object {
    let mut block = block.clone();
    let version = context.version;
    let java_only =
        preserved::block_holder_mut(&mut block).map(|extra| preserved::take(extra, version.name())).unwrap_or_default();
    let start = out.len();
    if java_only.is_empty() {
        codec::write_block(&block, version, out);
    } else {
        let written = written(&block, version);
        let is_equivalent = |fields: &Object| {
            let text = fields.to_json();
            let read = Raw::document(&text).and_then(|raw| codec::read_block(raw, context));
            read.is_ok_and(|read| {
                self::written(&read, version) == written && matches_state_and_media_type(&java_only, &read, &block)
            })
        };
        json::jackson_object(
            out,
            &patch::fields::apply_if_valid(&written_fields(&block, version), &java_only, NESTED, is_equivalent),
        );
    }
    native_only_fields(&block, context, out.get(start..).unwrap_or_default())
}

/// Returns whether a stored state or media type still matches the block, if this version of Java has no field for it.
fn matches_state_and_media_type(java_only: &Object, read: &ContentBlock, block: &ContentBlock) -> bool {
    let is_same_state = match (read, block) {
        (ContentBlock::ToolCall(read), ContentBlock::ToolCall(block)) => read.state == block.state,
        (ContentBlock::ToolResult(read), ContentBlock::ToolResult(block)) => read.state == block.state,
        _ => true,
    };
    let is_same_media = match (read, block) {
        (ContentBlock::Data(read), ContentBlock::Data(block)) => read.media_type() == block.media_type(),
        _ => true,
    };
    (is_same_state || !java_only.contains_key("state")) && (is_same_media || !java_only.contains_key("source"))
}

/// Returns the Java text of a block without stored fields.
fn written(block: &ContentBlock, version: Version) -> String {
    let mut out = String::new();
    codec::write_block(block, version, &mut out);
    out
}

fn written_fields(block: &ContentBlock, version: Version) -> Object {
    Object::parse(&written(block, version)).unwrap_or_default()
}

/// Returns the native fields that are lost when the Java text is parsed.
fn native_only_fields(block: &ContentBlock, context: BlockContext<'_>, written: &str) -> Object {
    if let ContentBlock::Unknown(block) = block {
        return if codec::is_from_java(block, context.version) {
            Object::new()
        } else {
            Object::from([("unknown", true)])
        };
    }
    let Ok(mut read) = Raw::document(written).and_then(|raw| codec::read_block(raw, context)) else {
        return Object::new();
    };
    if read == *block {
        return Object::new();
    }
    if let Some(what) = codec::stand_in_kind(block, context.version)
        && let ContentBlock::Text(text) = read
    {
        read = codec::from_stand_in(text, what);
        let mut native_only = patch::fields::difference(&native_fields(block), &native_fields(&read), NESTED);
        native_only.insert(STAND_IN, what);
        return native_only;
    }
    let (mut wanted, mut given) = (native_fields(block), native_fields(&read));
    let ContentBlock::ToolResult(result) = block else { return patch::fields::difference(&wanted, &given, NESTED) };
    wanted.remove("output");
    given.remove("output");
    let mut native_only = patch::fields::difference(&wanted, &given, NESTED);
    match &result.output {
        Payload::Blocks(items) => {
            let items: Vec<Object> = items
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    let context = codec::item_context(&result.id, index, context.time, context.version);
                    write(&item.clone().into(), context, &mut String::new())
                })
                .collect();
            if items.iter().any(|item| !item.is_empty()) {
                native_only.insert("output", items);
            }
        }
        // A string is equivalent to one text block.
        _ => native_only.insert("output", "text"),
    }
    native_only
}

/// Restores the native-only fields, as far as the block would still be written as `given`.
fn restore(block: &mut ContentBlock, native_only: &Object, given: &Object, version: Version) {
    let mut native_only = native_only.clone();
    if native_only.remove("unknown").is_some() {
        if let ContentBlock::Text(text) = block
            && let Ok(fields) = Object::parse(&text.text)
        {
            *block = ContentBlock::Unknown(UnknownBlock::new(fields));
        }
        return;
    }
    if let Some(what) = native_only.remove(STAND_IN).and_then(|what| what.as_str().map(str::to_owned))
        && let ContentBlock::Text(text) = block
    {
        *block = codec::from_stand_in(text.clone(), &what);
    }
    if let ContentBlock::ToolResult(result) = block
        && let Some(output) = native_only.remove("output")
    {
        restore_output(result, &output, given, version);
    }
    let written = written_fields(block, version);
    let is_equivalent = |fields: &Object| {
        native_block(fields)
            .is_some_and(|block| patch::fields::is_as_close(&written_fields(&block, version), &written, given))
    };
    let whole = patch::fields::apply_if_valid(&native_fields(block), &native_only, NESTED, is_equivalent);
    if let Some(whole) = native_block(&whole) {
        *block = whole;
    }
}

/// Restores the output of a tool: a string, or blocks with their own ids and times.
fn restore_output(result: &mut ToolResultBlock, output: &Json, given: &Object, version: Version) {
    let Payload::Blocks(items) = &mut result.output else { return };
    if output.as_str().is_some() {
        if let [MediaBlock::Text(item)] = items.as_slice() {
            result.output = Payload::Text(item.text.clone());
        }
    } else if let Some(native_only_items) =
        output.to_array().filter(|native_only_items| native_only_items.len() == items.len())
    {
        let given = given.get("output").and_then(Json::to_array).unwrap_or_default();
        for ((item, native_only), given) in items.iter_mut().zip(native_only_items).zip(given) {
            let mut block = ContentBlock::from(item.clone());
            restore(
                &mut block,
                &native_only.to_object().unwrap_or_default(),
                &given.to_object().unwrap_or_default(),
                version,
            );
            if let Some(restored) = codec::as_media(block) {
                *item = restored;
            }
        }
    }
}

fn native_fields(block: &ContentBlock) -> Object {
    Object::parse(&block.to_json()).unwrap_or_default()
}

fn native_block(fields: &Object) -> Option<ContentBlock> {
    ContentBlock::from_json(&fields.to_json(), "", "").ok()
}
