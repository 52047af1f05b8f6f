//! Blocks, there and back.
//!
//! `plain` translates what both sides can say. What is left over is found by translating back and comparing, and kept:
//! what only Java says in the native block, what only the native side says where the caller puts it. What was kept is
//! used as long as it still means what the block says now, so that a change of the block always counts.

use recount_message::wire::Raw;
use recount_message::{ContentBlock, DecodeError, Json, MediaBlock, Object, Payload, ToolResultBlock, UnknownBlock};

use super::fields::object;
use super::plain::{self, Place};
use super::text;
use super::{NATIVE, Version};
use crate::residue;

/// The fields that are compared field by field.
const NESTED: &[&str] = &["source", "metadata"];

/// The name under which it is kept what a text stands for.
const STANDS_FOR: &str = "-as";

/// Reads a block that stands alone.
pub(crate) fn read_alone(text: &str, version: Version) -> Result<ContentBlock, DecodeError> {
    let raw = Raw::document(text)?;
    let place = Place { version, ..Place::default() };
    let mut given = object(raw)?;
    let left = residue::take(&mut given, NATIVE);
    if left.is_empty() {
        return read(raw, place, None);
    }
    let text = given.to_json();
    read(Raw::document(&text)?, place, Some(&left))
}

/// Writes a block that stands alone.
pub(crate) fn write_alone(block: &ContentBlock, version: Version, out: &mut String) {
    let left = write(block, Place { version, ..Place::default() }, out);
    if !left.is_empty() {
        out.pop();
        recount_message::wire::write_key(out, residue::KEY);
        text::object(out, &Object::from([(NATIVE, Json::from(left))]));
        out.push('}');
    }
}

/// Reads a block. `left` is what Java could not say about it when it was written.
pub(crate) fn read(raw: Raw<'_>, place: Place<'_>, left: Option<&Object>) -> Result<ContentBlock, DecodeError> {
    let mut block = plain::read_block(raw, place)?;
    if let Some(left) = left.filter(|left| !left.is_empty()) {
        restore(&mut block, left, &object(raw)?, place.version);
    }
    let kept = if plain::is_plain_text(raw) { Object::new() } else { only_java_says(raw, &block, place.version)? };
    if let Some(extra) = extra_mut(&mut block) {
        residue::keep(extra, place.version.name(), kept);
    }
    Ok(block)
}

/// What a block says that is not in what is made of it.
pub(super) fn only_java_says(raw: Raw<'_>, block: &ContentBlock, version: Version) -> Result<Object, DecodeError> {
    let (mut given, said) = (object(raw)?, said_fields(block, version));
    // Where there are several, the first says what it is.
    let class = given.iter().find(|(name, _)| *name == "type").map(|(_, class)| class.clone());
    if let Some(class) = class.filter(|class| given.get("type") != Some(class)) {
        while given.remove("type").is_some() {}
        given.insert("type", class);
    }
    // What Java would write as `null` may as well not be there. Data without an id gets one in Java too.
    for name in ["id", "hint", "content"] {
        let is_named_otherwise = name == "id" && given.contains_key("toolUseId");
        let is_missing = said.contains_key(name) && !given.contains_key(name) && !is_named_otherwise;
        if is_missing && !matches!(block, ContentBlock::Data(_)) {
            given.insert(name, Json::null());
        }
    }
    let mut kept = match given.get("type") == said.get("type") {
        true => residue::changes(&given, &said, NESTED),
        false => residue::difference(&given, &said, NESTED),
    };
    // Java would not take a state in upper case, and knows no names that only documents use.
    for name in ["state", "toolUseId", "arguments", "result"] {
        if name != "state" || version == Version::Two {
            kept.remove(name);
        }
    }
    if version == Version::One && said.contains_key("source") && given.get("source").is_none_or(Json::is_null) {
        kept.insert("source", Json::null());
    } else if let (Some(given), Some(said)) = (given.get("source"), said.get("source").and_then(Json::to_object)) {
        let mut source = residue::difference(&given.to_object().unwrap_or_default(), &said, &[]);
        // Java 1 says nothing else about the type of what is at a URL.
        for name in ["media_type", "mimeType", "mediaType"].iter().filter(|_| version == Version::Two) {
            source.remove(name);
        }
        if source.is_empty() {
            kept.remove("source");
        } else {
            kept.insert("source", source);
        }
    } else if said.contains_key("source") && !matches!(block, ContentBlock::Hint(_)) {
        kept.insert("-", ["source"]);
    }
    Ok(kept)
}

/// Writes a block. The result is what Java cannot say about it.
pub(crate) fn write(block: &ContentBlock, place: Place<'_>, out: &mut String) -> Object {
    let mut block = block.clone();
    let version = place.version;
    let kept = extra_mut(&mut block).map(|extra| residue::take(extra, version.name())).unwrap_or_default();
    let start = out.len();
    if kept.is_empty() {
        plain::write_block(&block, version, out);
    } else {
        let said = said(&block, version);
        let means_the_same = |fields: &Object| {
            let text = fields.to_json();
            let read = Raw::document(&text).and_then(|raw| plain::read_block(raw, place));
            read.is_ok_and(|read| self::said(&read, version) == said && is_still_meant(&kept, &read, &block))
        };
        text::object(out, &residue::apply_what_holds(&said_fields(&block, version), &kept, NESTED, means_the_same));
    }
    left_out(&block, place, out.get(start..).unwrap_or_default())
}

/// Whether what was kept of a state or media type is what the block has, although this Java cannot say it.
fn is_still_meant(kept: &Object, read: &ContentBlock, block: &ContentBlock) -> bool {
    let is_same_state = match (read, block) {
        (ContentBlock::ToolCall(read), ContentBlock::ToolCall(block)) => read.state == block.state,
        (ContentBlock::ToolResult(read), ContentBlock::ToolResult(block)) => read.state == block.state,
        _ => true,
    };
    let is_same_media = match (read, block) {
        (ContentBlock::Data(read), ContentBlock::Data(block)) => read.media_type() == block.media_type(),
        _ => true,
    };
    (is_same_state || !kept.contains_key("state")) && (is_same_media || !kept.contains_key("source"))
}

/// What a block says in Java.
fn said(block: &ContentBlock, version: Version) -> String {
    let mut out = String::new();
    plain::write_block(block, version, &mut out);
    out
}

fn said_fields(block: &ContentBlock, version: Version) -> Object {
    Object::parse(&said(block, version)).unwrap_or_default()
}

/// What reading back would not give.
fn left_out(block: &ContentBlock, place: Place<'_>, written: &str) -> Object {
    if let ContentBlock::Unknown(block) = block {
        return if plain::is_from_java(block, place.version) {
            Object::new()
        } else {
            Object::from([("unknown", true)])
        };
    }
    let Ok(mut read) = Raw::document(written).and_then(|raw| plain::read_block(raw, place)) else {
        return Object::new();
    };
    if read == *block {
        return Object::new();
    }
    if let Some(what) = plain::stands_for(block, place.version)
        && let ContentBlock::Text(text) = read
    {
        read = plain::meant(text, what);
        let mut left = residue::difference(&native_fields(block), &native_fields(&read), NESTED);
        left.insert(STANDS_FOR, what);
        return left;
    }
    let (mut wanted, mut given) = (native_fields(block), native_fields(&read));
    let ContentBlock::ToolResult(result) = block else { return residue::difference(&wanted, &given, NESTED) };
    wanted.remove("output");
    given.remove("output");
    let mut left = residue::difference(&wanted, &given, NESTED);
    match &result.output {
        Payload::Blocks(items) => {
            let items: Vec<Object> = items
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    let place = plain::item_place(&result.id, index, place.time, place.version);
                    write(&item.clone().into(), place, &mut String::new())
                })
                .collect();
            if items.iter().any(|item| !item.is_empty()) {
                left.insert("output", items);
            }
        }
        // It is as good as one block of text.
        _ => left.insert("output", "text"),
    }
    left
}

/// Puts back what Java could not say, as far as Java says what it would say about it.
fn restore(block: &mut ContentBlock, left: &Object, given: &Object, version: Version) {
    let mut left = left.clone();
    if left.remove("unknown").is_some() {
        if let ContentBlock::Text(text) = block
            && let Ok(fields) = Object::parse(&text.text)
        {
            *block = ContentBlock::Unknown(UnknownBlock { fields });
        }
        return;
    }
    if let Some(what) = left.remove(STANDS_FOR).and_then(|what| what.to_text())
        && let ContentBlock::Text(text) = block
    {
        *block = plain::meant(text.clone(), &what);
    }
    if let ContentBlock::ToolResult(result) = block
        && let Some(output) = left.remove("output")
    {
        restore_output(result, &output, given, version);
    }
    let said = said_fields(block, version);
    let means_the_same = |fields: &Object| {
        native_block(fields).is_some_and(|block| residue::is_as_near(&said_fields(&block, version), &said, given))
    };
    let whole = residue::apply_what_holds(&native_fields(block), &left, NESTED, means_the_same);
    if let Some(whole) = native_block(&whole) {
        *block = whole;
    }
}

/// Puts back what a tool's answer was: a string, or blocks with ids and times of their own.
fn restore_output(result: &mut ToolResultBlock, output: &Json, given: &Object, version: Version) {
    let Payload::Blocks(items) = &mut result.output else { return };
    if output.to_text().is_some() {
        if let [MediaBlock::Text(item)] = items.as_slice() {
            result.output = Payload::Text(item.text.clone());
        }
    } else if let Some(lefts) = output.to_list().filter(|lefts| lefts.len() == items.len()) {
        let given = given.get("output").and_then(Json::to_list).unwrap_or_default();
        for ((item, left), given) in items.iter_mut().zip(lefts).zip(given) {
            let mut block = ContentBlock::from(item.clone());
            restore(&mut block, &left.to_object().unwrap_or_default(), &given.to_object().unwrap_or_default(), version);
            if let Some(restored) = plain::as_media(block) {
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

/// The fields of a block that are not declared, among which the marks are.
pub(super) fn extra_mut(block: &mut ContentBlock) -> Option<&mut Object> {
    Some(match block {
        ContentBlock::Text(block) => &mut block.extra,
        ContentBlock::Thinking(block) => &mut block.extra,
        ContentBlock::Data(block) => &mut block.extra,
        ContentBlock::Hint(block) => &mut block.extra,
        ContentBlock::ToolCall(block) => &mut block.extra,
        ContentBlock::ToolResult(block) => &mut block.extra,
        _ => return None,
    })
}
