//! AgentScope Java 1: the messages and blocks of the published 1.0.9 and of the documents, and its stream of envelopes.
//!
//! Messages and blocks are those of Java 2 but for a few fields, and are translated there. Java 1 has no events: it streams
//! messages, each in an envelope that says what step it belongs to.

mod envelope;
mod frames;
mod stream;
#[cfg(test)]
mod tests;

use recount_message::wire::Raw;
use recount_message::{ContentBlock, DecodeError, Event, Msg};

pub(crate) use frames::{frames, prelude};
pub(crate) use stream::Java1Stream;

use crate::java::{Version, block, message};

/// Reads a message.
pub(crate) fn read_message(text: &str) -> Result<Msg, DecodeError> {
    message::read_as(Raw::document(text)?, Version::One)
}

/// Writes a message.
pub(crate) fn write_message(message: &Msg, out: &mut String) {
    message::write(message, Version::One, out);
}

/// Reads a block that stands alone.
pub(crate) fn read_block(text: &str) -> Result<ContentBlock, DecodeError> {
    block::read_alone(text, Version::One)
}

/// Writes a block that stands alone.
pub(crate) fn write_block(block: &ContentBlock, out: &mut String) {
    block::write_alone(block, Version::One, out);
}

/// Reads an envelope by itself: the native event that is in it, or else a signal that is named after its step.
pub(crate) fn read_event(text: &str) -> Result<Event<'_>, DecodeError> {
    Ok(envelope::Envelope::read(text)?.into_event())
}

/// Writes an event by itself: as the envelope that it came from, or else as one that carries it.
pub(crate) fn write_event(event: &Event<'_>, out: &mut String) {
    frames::write_alone(event, out);
}
