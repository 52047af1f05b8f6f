//! AgentScope Java 2.

pub(crate) mod block;
pub(crate) mod codec;
mod event;
pub(crate) mod fields;
mod frames;
pub(crate) mod message;
mod stream;
pub(crate) mod time;
pub(crate) mod usage;

use recount_message::wire::Raw;
use recount_message::{ContentBlock, DecodeError, Event, Msg};

use crate::json::ObjectWriter;
pub(crate) use frames::{frames, prelude};
pub(crate) use stream::JavaStream;

/// The major version of AgentScope Java. Messages and blocks differ in a few fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Version {
    /// AgentScope Java 1.
    One,
    /// AgentScope Java 2.
    #[default]
    Two,
}

impl Version {
    /// Returns the name of the dialect, which is the key of its round-trip data.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::One => "java1",
            Self::Two => NAME,
        }
    }
}

/// The name of the dialect, which is the key of its round-trip data.
const NAME: &str = "java";

/// The key of round-trip data for the native side.
pub(crate) const NATIVE: &str = "native";

/// Parses a message.
pub(crate) fn read_message(text: &str) -> Result<Msg, DecodeError> {
    message::read(Raw::document(text)?)
}

/// Serializes a message.
pub(crate) fn write_message(message: &Msg, out: &mut String) {
    message::write(message, Version::Two, out);
}

/// Parses a block on its own.
pub(crate) fn read_block(text: &str) -> Result<ContentBlock, DecodeError> {
    block::read_alone(text, Version::Two)
}

/// Serializes a block on its own.
pub(crate) fn write_block(block: &ContentBlock, out: &mut String) {
    block::write_alone(block, Version::Two, out);
}

/// Parses an event on its own.
pub(crate) fn read_event(text: &str) -> Result<Event<'_>, DecodeError> {
    event::read(text)
}

/// Serializes an event on its own.
pub(crate) fn write_event(event: &Event<'_>, out: &mut String) {
    event::write(event, None, out);
}

/// Returns an event with its `type` repeated at the end, as Jackson writes it.
///
/// Java's mapper writes every event with this duplicate key, which strict parsers reject. [`Dialect`](crate::Dialect)
/// therefore writes it once. Use this function to compare bytes with Java's output.
///
/// ```
/// let event = r#"{"type":"AGENT_END","id":"e1","replyId":"r1"}"#;
/// let exact = recount_dialect::with_duplicate_type_key(event);
/// assert_eq!(exact, r#"{"type":"AGENT_END","id":"e1","replyId":"r1","type":"AGENT_END"}"#);
/// ```
pub fn with_duplicate_type_key(event: &str) -> String {
    let kind = fields::JavaFields::document(event).ok().and_then(|mut fields| fields.text("type").ok().flatten());
    let Some((kind, fields)) = kind.zip(event.trim_end().strip_suffix('}')) else { return event.to_owned() };
    let mut out = fields.to_owned();
    let mut object = ObjectWriter::jackson_resume(&mut out);
    object.text("type", &kind);
    object.end();
    out
}
