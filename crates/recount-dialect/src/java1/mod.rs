//! AgentScope Java 1: the messages and blocks of 1.0.9 and of its documentation, and its stream of envelopes.
//!
//! Messages and blocks differ from those of Java 2 in a few fields and share its code. Java 1 has no events. It streams
//! messages in typed envelopes.

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

/// Parses a message.
pub(crate) fn read_message(text: &str) -> Result<Msg, DecodeError> {
    message::read_as(Raw::document(text)?, Version::One)
}

/// Serializes a message.
pub(crate) fn write_message(message: &Msg, out: &mut String) {
    message::write(message, Version::One, out);
}

/// Parses a block on its own.
pub(crate) fn read_block(text: &str) -> Result<ContentBlock, DecodeError> {
    block::read_alone(text, Version::One)
}

/// Serializes a block on its own.
pub(crate) fn write_block(block: &ContentBlock, out: &mut String) {
    block::write_alone(block, Version::One, out);
}

/// Parses an envelope on its own. Returns the event that it carries, or a signal named after its type.
pub(crate) fn read_event(text: &str) -> Result<Event<'_>, DecodeError> {
    Ok(envelope::Envelope::read(text)?.into_event())
}

/// Serializes an event on its own: as the envelope that it was parsed from, or as one that carries it.
pub(crate) fn write_event(event: &Event<'_>, out: &mut String) {
    frames::write_alone(event, out);
}
