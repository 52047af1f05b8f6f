//! Decodes a line as an event or a message.

use recount_message::{DecodeError, DecodeErrorKind, Event, Msg, Object};

pub(crate) enum Line<'a> {
    Event(Event<'a>),
    Message(Msg),
}

impl Line<'_> {
    /// Returns the line without borrows from the input.
    pub(crate) fn into_owned(self) -> Line<'static> {
        match self {
            Self::Event(event) => Line::Event(event.into_owned()),
            Self::Message(message) => Line::Message(message),
        }
    }
}

/// Decodes a line as an event or a message. If it is neither, returns the error of decoding it as an event.
pub(crate) fn decode(line: &[u8]) -> Result<Line<'_>, DecodeError> {
    let error = match Event::from_slice(line) {
        Ok(event) => return Ok(Line::Event(event)),
        Err(error) => error,
    };
    let Ok(text) = std::str::from_utf8(line) else { return Err(error) };
    if !has_no_type(&error) && !is_message(text) {
        return Err(error);
    }
    match Msg::from_json(text) {
        Ok(message) => Ok(Line::Message(message)),
        Err(message_error) => Err(if is_message(text) { message_error } else { error }),
    }
}

/// Whether a line failed to decode as an event because it has no `type`.
pub(crate) fn has_no_type(error: &DecodeError) -> bool {
    error.kind() == DecodeErrorKind::Missing && error.path() == "type"
}

/// Whether a text has the keys of a message. The message may still be invalid.
pub(crate) fn is_message(text: &str) -> bool {
    Object::parse(text).is_ok_and(|object| {
        !object.contains_key("type") && object.contains_key("role") && object.contains_key("content")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let found = match decode(line.as_bytes()) {
            Ok(Line::Event(event)) => format!("event {}", event.type_name()),
            Ok(Line::Message(message)) => format!("message of {}", message.name()),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn decode_distinguishes_events_from_messages() {
        check(r#"{"type":"USER_INTERRUPT","reply_id":"r"}"#, "event USER_INTERRUPT");
        check(r#"{"type":"NEW","role":"user","content":[],"name":"Alice"}"#, "event NEW");
        check(r#"{"name":"Alice","role":"user","content":[]}"#, "message of Alice");
    }

    #[test]
    fn error_is_about_the_kind_that_the_keys_suggest() {
        check(
            r#"{"name":"Alice","role":"robot","content":[]}"#,
            "`role`: unknown role \"robot\", expected one of user, assistant, system",
        );
        check(r#"{"role":"user","content":[]}"#, "`name`: this field is required");
        check(r#"{"id":7,"name":"Alice","role":"user","content":[]}"#, "`id`: expected a string, found a number");
        check(
            r#"{"type":"REPLY_START","role":"user","content":[],"name":"x"}"#,
            "`session_id`: this field is required",
        );
        check("{}", "`type`: this field is required");
    }

    #[test]
    fn message_with_the_deepest_allowed_nesting_is_accepted() {
        let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
        check(
            &format!(r#"{{"name":"Alice","role":"user","content":[],"metadata":{{"x":{deep}}}}}"#),
            "message of Alice",
        );
    }
}
