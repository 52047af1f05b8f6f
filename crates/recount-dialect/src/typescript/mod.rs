//! AgentScope's TypeScript package: 0.0.15 is written and read, 0.0.2 is read.
//!
//! 0.0.15 has the native names and lacks a few fields. What they say is kept under `metadata.recount.native` of the
//! TypeScript message or event and comes back. The other way round the package is free in what it leaves out and what it
//! writes as `null`; how a text did that is kept under `metadata.recount.typescript` of the native message or event, or
//! under `recount.typescript` of a block that stands alone. A TOOL_RESULT_END, whose metadata is the tool's, has both
//! under a key `recount` of its own.

mod difference;
mod kept;
mod legacy;
mod lenient;
mod plain;
mod stream;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use recount_message::{ContentBlock, DecodeError, Event, Msg, Object};

use crate::residue;
use kept::marked;
pub(crate) use stream::{frames, prelude};

/// The name under which is kept what TypeScript says and the native side cannot.
const OWN: &str = "typescript";

/// Reads a message.
pub(crate) fn read_message(text: &str) -> Result<Msg, DecodeError> {
    if let Some(converted) = legacy::message(text)? {
        return message_in(&converted);
    }
    let message = message_in(text)?;
    let mut difference = spelling(text, |out| write_clean_message(&message, out));
    // An id that the text did not have follows from the whole of it, and would be another after any change.
    difference.remove("id");
    if difference.is_empty() {
        return Ok(message);
    }
    let mut parts = message.into_parts();
    residue::keep(&mut parts.metadata, OWN, difference);
    Ok(Msg::as_received(parts))
}

/// What a text says, without how it says it.
fn message_in(text: &str) -> Result<Msg, DecodeError> {
    let mut parts = lenient::message(text)?.into_parts();
    let kept = residue::take(&mut parts.metadata, kept::NATIVE);
    kept::restore_message(&mut parts, &kept);
    residue::take(&mut parts.metadata, OWN);
    Ok(Msg::as_received(parts))
}

/// Writes a message.
pub(crate) fn write_message(message: &Msg, out: &mut String) {
    let difference = residue::get(message.metadata(), OWN);
    if difference.is_empty() {
        return write_clean_message(message, out);
    }
    let mut parts = message.clone().into_parts();
    residue::take(&mut parts.metadata, OWN);
    let clean = Msg::as_received(parts);
    let native = clean.to_json();
    respelled(
        &difference,
        out,
        |out| write_clean_message(&clean, out),
        |text| message_in(text).is_ok_and(|message| difference::is_none_between(&message.to_json(), &native)),
    );
}

/// Writes a message that nothing is kept for.
fn write_clean_message(message: &Msg, out: &mut String) {
    let kept = kept::of_message(message);
    let metadata = if kept.is_empty() {
        Cow::Borrowed(message.metadata())
    } else {
        let mut metadata = message.metadata().clone();
        residue::keep(&mut metadata, kept::NATIVE, kept);
        Cow::Owned(metadata)
    };
    plain::message(out, message, &metadata);
}

/// Reads a block that stands alone.
pub(crate) fn read_block(text: &str) -> Result<ContentBlock, DecodeError> {
    if let Some(converted) = legacy::block(text)? {
        return lenient::block(&converted);
    }
    let mut block = block_in(text)?;
    let difference = spelling(text, |out| plain::block(out, &block));
    if let Some(extra) = extra_of(&mut block) {
        residue::keep(extra, OWN, difference);
    }
    Ok(block)
}

fn block_in(text: &str) -> Result<ContentBlock, DecodeError> {
    let mut block = lenient::block(text)?;
    if let Some(extra) = extra_of(&mut block) {
        residue::take(extra, OWN);
    }
    Ok(block)
}

/// Writes a block.
pub(crate) fn write_block(block: &ContentBlock, out: &mut String) {
    let mut clean = block.clone();
    let difference = extra_of(&mut clean).map(|extra| residue::take(extra, OWN)).unwrap_or_default();
    let native = clean.to_json();
    respelled(
        &difference,
        out,
        |out| plain::block(out, &clean),
        |text| block_in(text).is_ok_and(|block| difference::is_none_between(&block.to_json(), &native)),
    );
}

/// The fields of a block that nobody has declared. A block of an unknown type has none beside what it is made of.
fn extra_of(block: &mut ContentBlock) -> Option<&mut Object> {
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

/// Reads an event.
pub(crate) fn read_event(text: &str) -> Result<Event<'_>, DecodeError> {
    match Event::from_json(text) {
        Ok(event) if plain::is_all_of(&event, text) => Ok(event),
        _ => read_any_event(text),
    }
}

/// Reads an event that may be older, stand for another, keep something, or be spelled in a way of its own.
fn read_any_event(text: &str) -> Result<Event<'_>, DecodeError> {
    if let Some(event) = kept::stood_for(text) {
        return Ok(event);
    }
    if let Some(converted) = legacy::event(text)? {
        return event_in(&converted).map(Event::into_owned);
    }
    let mut event = event_in(text)?;
    let difference = spelling(text, |out| write_clean_event(&event, out));
    if !difference.is_empty() {
        residue::keep(marked(&mut event), OWN, difference);
    }
    Ok(event)
}

/// What a text says, without how it says it.
fn event_in(text: &str) -> Result<Event<'_>, DecodeError> {
    let mut event = lenient::event(text)?;
    let kept = residue::take(marked(&mut event), kept::NATIVE);
    kept::restore_event(&mut event, &kept);
    residue::take(marked(&mut event), OWN);
    Ok(event)
}

/// Writes an event.
pub(crate) fn write_event(event: &Event<'_>, out: &mut String) {
    let difference = residue::get(kept::marks_of(event), OWN);
    if difference.is_empty() {
        return write_clean_event(event, out);
    }
    let mut clean = event.clone();
    residue::take(marked(&mut clean), OWN);
    let native = clean.to_json();
    respelled(
        &difference,
        out,
        |out| write_clean_event(&clean, out),
        |text| event_in(text).is_ok_and(|event| difference::is_none_between(&event.to_json(), &native)),
    );
}

/// Writes an event that nothing is kept for.
fn write_clean_event(event: &Event<'_>, out: &mut String) {
    if kept::has_no_type(event) {
        return kept::write_standing_for(event, out);
    }
    let kept = kept::of_event(event);
    if kept.is_empty() {
        return plain::event(out, event);
    }
    let mut event = event.clone();
    residue::keep(marked(&mut event), kept::NATIVE, kept);
    plain::event(out, &event);
}

/// How a text differs from what would be written for what it says.
fn spelling(text: &str, write: impl Fn(&mut String)) -> Object {
    let mut written = String::with_capacity(text.len() + 64);
    write(&mut written);
    if written == text { Object::new() } else { difference::between(&written, text) }
}

/// Writes a text as it was spelled where it came from, as far as that still says the same.
fn respelled(difference: &Object, out: &mut String, write: impl Fn(&mut String), says_the_same: impl Fn(&str) -> bool) {
    if difference.is_empty() {
        return write(out);
    }
    let mut written = String::new();
    write(&mut written);
    out.push_str(&difference::apply_what_holds(&written, difference, says_the_same));
}
