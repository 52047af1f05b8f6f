//! AgentScope's TypeScript package: 0.0.15 is written and read, 0.0.2 is read.
//!
//! 0.0.15 has the native names and lacks a few fields. What they say is stored under `metadata.recount.native` of the
//! TypeScript message or event and comes back. The other way round the package is free in what it leaves out and what it
//! writes as `null`; how a text did that is stored under `metadata.recount.typescript` of the native message or event, or
//! under `recount.typescript` of a block that stands alone. A TOOL_RESULT_END, whose metadata is the tool's, has both
//! under a key `recount` of its own.

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

/// The name under which is stored what TypeScript says and the native side cannot.
const NAME: &str = "typescript";

/// Reads a message.
pub(crate) fn read_message(text: &str) -> Result<Msg, DecodeError> {
    if let Some(converted) = legacy::message(text)? {
        return parse_message(&converted);
    }
    let message = parse_message(text)?;
    let mut difference = spelling_patch(text, |out| write_without_spelling(&message, out));
    // An id that the text did not have follows from the whole of it, and would be another after any change.
    difference.remove("id");
    if difference.is_empty() {
        return Ok(message);
    }
    let mut parts = message.into_parts();
    preserved::store(&mut parts.metadata, NAME, difference);
    Ok(Msg::as_received(parts))
}

/// What a text says, without how it says it.
fn parse_message(text: &str) -> Result<Msg, DecodeError> {
    let mut parts = lenient::message(text)?.into_parts();
    let stored = preserved::take(&mut parts.metadata, native_only::NATIVE);
    native_only::restore_message(&mut parts, &stored);
    preserved::take(&mut parts.metadata, NAME);
    Ok(Msg::as_received(parts))
}

/// Writes a message.
pub(crate) fn write_message(message: &Msg, out: &mut String) {
    let difference = preserved::get(message.metadata(), NAME);
    if difference.is_empty() {
        return write_without_spelling(message, out);
    }
    let mut parts = message.clone().into_parts();
    preserved::take(&mut parts.metadata, NAME);
    let clean = Msg::as_received(parts);
    let native = clean.to_json();
    write_respelled(
        &difference,
        out,
        |out| write_without_spelling(&clean, out),
        |text| parse_message(text).is_ok_and(|message| tree::is_same(&message.to_json(), &native)),
    );
}

/// Writes a message that nothing is stored for.
fn write_without_spelling(message: &Msg, out: &mut String) {
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

/// Reads a block that stands alone.
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

/// Writes a block.
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

/// Reads an event.
pub(crate) fn read_event(text: &str) -> Result<Event<'_>, DecodeError> {
    match Event::from_json(text) {
        Ok(event) if write::is_complete(&event, text) => Ok(event),
        _ => read_any_event(text),
    }
}

/// Reads an event that may be older, stand for another, keep something, or be spelled in a way of its own.
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

/// What a text says, without how it says it.
fn parse_event(text: &str) -> Result<Event<'_>, DecodeError> {
    let mut event = lenient::event(text)?;
    let stored = preserved::take(event_holder_mut(&mut event), native_only::NATIVE);
    native_only::restore_event(&mut event, &stored);
    preserved::take(event_holder_mut(&mut event), NAME);
    Ok(event)
}

/// Writes an event.
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

/// Writes an event that nothing is stored for.
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

/// How a text differs from what would be written for what it says.
fn spelling_patch(text: &str, write: impl Fn(&mut String)) -> Object {
    let mut written = String::with_capacity(text.len() + 64);
    write(&mut written);
    if written == text { Object::new() } else { tree::difference(&written, text) }
}

/// Writes a text as it was spelled where it came from, as far as that still says the same.
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
