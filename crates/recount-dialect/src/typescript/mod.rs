//! AgentScope's TypeScript package. Writes the format of 0.0.15 and reads those of 0.0.15 and 0.0.2.
//!
//! 0.0.15 uses the native names and lacks a few fields, which are stored under `metadata.recount.native` of the
//! TypeScript message or event. In the other direction, a text can omit optional fields or write them as `null`. This
//! spelling is stored under `metadata.recount.typescript` of the native message or event, or under `recount.typescript`
//! of a single block. A TOOL_RESULT_END holds both under its own key `recount`, because its metadata belongs to the tool.

mod legacy;
mod lenient;
mod native_only;
mod stream;
#[cfg(test)]
mod tests;
mod write;

use std::borrow::Cow;

use recount_message::{ContentBlock, DecodeError, Event, Msg, Object};

use crate::patch::tree;
use crate::preserved::{self, block_holder_mut, event_holder_mut};
pub(crate) use stream::{frames, prelude};

/// The key for the spelling of TypeScript texts.
const NAME: &str = "typescript";

/// Parses a message.
pub(crate) fn read_message(text: &str) -> Result<Msg, DecodeError> {
    if let Some(converted) = legacy::message(text)? {
        return parse_message(&converted);
    }
    let message = parse_message(text)?;
    let mut difference = spelling_patch(text, |out| write_message_without_spelling(&message, out));
    // A missing id is derived from the whole text and would change with any edit.
    difference.remove("id");
    if difference.is_empty() {
        return Ok(message);
    }
    let mut parts = message.into_parts();
    preserved::store(&mut parts.metadata, NAME, difference);
    Ok(Msg::from_parts_lenient(parts))
}

/// Parses a message without recording its spelling.
fn parse_message(text: &str) -> Result<Msg, DecodeError> {
    let mut parts = lenient::message(text)?.into_parts();
    let stored = preserved::take(&mut parts.metadata, native_only::NATIVE);
    native_only::restore_message(&mut parts, &stored);
    preserved::take(&mut parts.metadata, NAME);
    Ok(Msg::from_parts_lenient(parts))
}

/// Serializes a message.
pub(crate) fn write_message(message: &Msg, out: &mut String) {
    let difference = preserved::get(message.metadata(), NAME);
    if difference.is_empty() {
        return write_message_without_spelling(message, out);
    }
    let mut parts = message.clone().into_parts();
    preserved::take(&mut parts.metadata, NAME);
    let clean = Msg::from_parts_lenient(parts);
    let native = clean.to_json();
    write_respelled(
        &difference,
        out,
        |out| write_message_without_spelling(&clean, out),
        |text| parse_message(text).is_ok_and(|message| tree::is_same(&message.to_json(), &native)),
    );
}

/// Serializes a message without a recorded spelling.
fn write_message_without_spelling(message: &Msg, out: &mut String) {
    let stored = native_only::message_fields(message);
    let metadata = if stored.is_empty() {
        Cow::Borrowed(message.metadata())
    } else {
        let mut metadata = message.metadata().clone();
        preserved::store(&mut metadata, native_only::NATIVE, stored);
        Cow::Owned(metadata)
    };
    write::message(out, message, &metadata);
}

/// Parses a block on its own.
pub(crate) fn read_block(text: &str) -> Result<ContentBlock, DecodeError> {
    if let Some(converted) = legacy::block(text)? {
        return lenient::block(&converted);
    }
    let mut block = parse_block(text)?;
    let difference = spelling_patch(text, |out| write::block(out, &block));
    if let Some(extra) = block_holder_mut(&mut block) {
        preserved::store(extra, NAME, difference);
    }
    Ok(block)
}

fn parse_block(text: &str) -> Result<ContentBlock, DecodeError> {
    let mut block = lenient::block(text)?;
    if let Some(extra) = block_holder_mut(&mut block) {
        preserved::take(extra, NAME);
    }
    Ok(block)
}

/// Serializes a block.
pub(crate) fn write_block(block: &ContentBlock, out: &mut String) {
    let mut clean = block.clone();
    let difference = block_holder_mut(&mut clean).map(|extra| preserved::take(extra, NAME)).unwrap_or_default();
    let native = clean.to_json();
    write_respelled(
        &difference,
        out,
        |out| write::block(out, &clean),
        |text| parse_block(text).is_ok_and(|block| tree::is_same(&block.to_json(), &native)),
    );
}

/// Parses an event.
pub(crate) fn read_event(text: &str) -> Result<Event<'_>, DecodeError> {
    match Event::from_json(text) {
        Ok(event) if write::is_complete(&event, text) => Ok(event),
        _ => read_any_event(text),
    }
}

/// Parses an event that can be a carrier, be in the format of 0.0.2, hold round-trip data, or have an unusual spelling.
fn read_any_event(text: &str) -> Result<Event<'_>, DecodeError> {
    if let Some(event) = native_only::read_carrier(text) {
        return Ok(event);
    }
    if let Some(converted) = legacy::event(text)? {
        return parse_event(&converted).map(Event::into_owned);
    }
    let mut event = parse_event(text)?;
    let difference = spelling_patch(text, |out| write_event_without_spelling(&event, out));
    if !difference.is_empty() {
        preserved::store(event_holder_mut(&mut event), NAME, difference);
    }
    Ok(event)
}

/// Parses an event without recording its spelling.
fn parse_event(text: &str) -> Result<Event<'_>, DecodeError> {
    let mut event = lenient::event(text)?;
    let stored = preserved::take(event_holder_mut(&mut event), native_only::NATIVE);
    native_only::restore_event(&mut event, &stored);
    preserved::take(event_holder_mut(&mut event), NAME);
    Ok(event)
}

/// Serializes an event.
pub(crate) fn write_event(event: &Event<'_>, out: &mut String) {
    let difference = preserved::get(preserved::event_holder(event), NAME);
    if difference.is_empty() {
        return write_event_without_spelling(event, out);
    }
    let mut clean = event.clone();
    preserved::take(event_holder_mut(&mut clean), NAME);
    let native = clean.to_json();
    write_respelled(
        &difference,
        out,
        |out| write_event_without_spelling(&clean, out),
        |text| parse_event(text).is_ok_and(|event| tree::is_same(&event.to_json(), &native)),
    );
}

/// Serializes an event without a recorded spelling.
fn write_event_without_spelling(event: &Event<'_>, out: &mut String) {
    if native_only::is_unsupported(event) {
        return native_only::write_carrier(event, out);
    }
    let stored = native_only::event_fields(event);
    if stored.is_empty() {
        return write::event(out, event);
    }
    let mut event = event.clone();
    preserved::store(event_holder_mut(&mut event), native_only::NATIVE, stored);
    write::event(out, &event);
}

/// Returns the patch that turns the text written for a value into the text that it was parsed from.
fn spelling_patch(text: &str, write: impl Fn(&mut String)) -> Object {
    let mut written = String::with_capacity(text.len() + 64);
    write(&mut written);
    if written == text { Object::new() } else { tree::difference(&written, text) }
}

/// Writes a text in its original spelling, as far as that still has the same meaning.
fn write_respelled(
    difference: &Object,
    out: &mut String,
    write: impl Fn(&mut String),
    is_equivalent: impl Fn(&str) -> bool,
) {
    if difference.is_empty() {
        return write(out);
    }
    let mut written = String::new();
    write(&mut written);
    out.push_str(&tree::apply_if_valid(&written, difference, is_equivalent));
}
