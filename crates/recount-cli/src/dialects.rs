//! Reads lines of any dialect.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use recount_dialect::{Dialect, StreamReader, Target};
use recount_message::{AgentEvent, DecodeError, Event, Msg, Object, Role};

use crate::line::{self, Line};

/// Whose JSON the input is.
#[derive(Debug, Args)]
pub(crate) struct DialectArgs {
    /// Whose JSON the input is
    #[arg(long, value_name = "DIALECT", default_value = "native", value_parser = dialect_values())]
    pub(crate) dialect: Dialect,
}

/// Returns the parser of `--dialect` and `--from`. `--help` lists its values.
pub(crate) fn dialect_values() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)).try_map(|name| name.parse::<Dialect>())
}

/// Returns the parser of `--to`: dialects and front-end formats. `--help` lists its values.
pub(crate) fn target_values() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(Target::all().map(Target::name)).try_map(|name| name.parse::<Target>())
}

/// What a line is, in the words of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A message; where a turn is several messages, they become one, and the other way round
    Message,
    /// A block by itself
    Block,
    /// An event by itself
    Event,
    /// The events of a stream, which belong together
    Stream,
}

impl Kind {
    /// Guesses the kind of a line from its keys. `None` if it is not an object or has no known key.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let fields = Object::parse(text).ok()?;
        let Some(kind) = fields.get("type") else {
            return (fields.contains_key("role") || fields.contains_key("content")).then_some(Self::Message);
        };
        let kind = kind.as_str()?.to_owned();
        let is_upper = kind.chars().any(char::is_uppercase) && !kind.chars().any(char::is_lowercase);
        Some(if is_upper { Self::Stream } else { Self::Block })
    }
}

/// Validates a line as the given kind.
pub(crate) fn validate_line(dialect: Dialect, kind: Kind, text: &str) -> Result<(), DecodeError> {
    match kind {
        Kind::Message => dialect.read_message(text).map(drop),
        Kind::Block => dialect.read_block(text).map(drop),
        Kind::Event | Kind::Stream => dialect.read_event(text).map(drop),
    }
}

/// Whether an event has native field names and no Java ones. The Java reader accepts such an event: it ignores the unknown
/// fields, and the fields that it knows are optional.
pub(crate) fn is_native_event(text: &str) -> bool {
    let Ok(fields) = Object::parse(text) else { return false };
    let has_any = |names: [&str; 2]| names.iter().any(|name| fields.contains_key(name));
    fields.contains_key("type") && has_any(["created_at", "reply_id"]) && !has_any(["createdAt", "replyId"])
}

/// Returns the error message of a line, and the dialect that it matches best if that is another one.
pub(crate) fn explain(dialect: Dialect, kind: Kind, text: &str, error: &DecodeError) -> String {
    let others = Dialect::ALL.into_iter().filter(|other| *other != dialect);
    let mut closest = (error_depth(error), dialect);
    for other in others {
        match validate_line(other, kind, text) {
            Ok(()) => return format!("{error} (it reads as {other}, not as {dialect})"),
            Err(error) if error_depth(&error) > closest.0 => closest = (error_depth(&error), other),
            Err(_) => {}
        }
    }
    if closest.1 == dialect { error.to_string() } else { format!("{error} (closest to {})", closest.1) }
}

/// Scores an error by the depth of its path: a deep error means that the reader accepted the levels above it.
fn error_depth(error: &DecodeError) -> usize {
    if matches!(error.path(), "" | "type" | "role") {
        return 0;
    }
    1 + error.path().matches(['.', '[']).count()
}

/// Translates lines of a dialect to native events and messages.
#[derive(Debug)]
pub(crate) struct Translator {
    dialect: Dialect,
    reader: StreamReader,
}

impl Translator {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, reader: StreamReader::new(dialect) }
    }

    /// Resumes from the [state](Self::state) of an earlier translator.
    pub(crate) fn resume(dialect: Dialect, state: &Object) -> Result<Self, DecodeError> {
        Ok(Self { dialect, reader: StreamReader::resume(dialect, state)? })
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the state that [`Self::resume`] needs.
    pub(crate) fn state(&self) -> Object {
        self.reader.state()
    }

    /// Decodes a line. One line can produce several events, or none.
    pub(crate) fn decode(&mut self, line: &[u8]) -> Result<Vec<Line<'static>>, DecodeError> {
        if self.dialect == Dialect::Native {
            return Ok(vec![line::decode(line)?.into_owned()]);
        }
        // Decode the bytes as an event to get the encoding error.
        let Ok(text) = std::str::from_utf8(line) else {
            return Err(Event::from_slice(line).err().unwrap_or_else(|| DecodeError::missing("type")));
        };
        if Kind::of(text) == Some(Kind::Message) {
            return self.dialect.read_message(text).map(|message| self.message(message));
        }
        Ok(self.reader.push(text)?.into_iter().map(Line::Event).collect())
    }

    /// Handles a message between the events of a stream. A user message ends the replies that were waiting.
    fn message(&mut self, message: Msg) -> Vec<Line<'static>> {
        let ended = if message.role() == Role::User { self.reader.user_turn(message.created_at()) } else { Vec::new() };
        ended.into_iter().map(Line::Event).chain([Line::Message(message)]).collect()
    }

    /// Returns the events that close the stream at the end of the input.
    pub(crate) fn finish(&mut self) -> Vec<AgentEvent> {
        self.reader.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_is_guessed_from_the_keys() {
        let of = |text| Kind::of(text);
        assert_eq!(of(r#"{"role":"USER","content":[]}"#), Some(Kind::Message));
        assert_eq!(of(r#"{"type":"tool_use","id":"c"}"#), Some(Kind::Block));
        assert_eq!(of(r#"{"type":"AGENT_START"}"#), Some(Kind::Stream));
        assert_eq!(of("{}"), None);
        assert_eq!(of("["), None);
    }

    #[test]
    fn error_names_the_dialect_that_matches() {
        let text = r#"{"name":"Alice","role":"user","content":[]}"#;
        let error = Dialect::Java.read_message(text).unwrap_err();
        let explained = explain(Dialect::Java, Kind::Message, text, &error);
        assert!(explained.ends_with("(it reads as native, not as java)"), "{explained}");
    }
}
