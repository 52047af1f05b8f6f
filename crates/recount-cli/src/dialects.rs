//! Lines of any dialect.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use recount_dialect::{Dialect, StreamReader, Target};
use recount_message::{AgentEvent, DecodeError, Event, Msg, Object, Role};

use crate::line::{self, Line};

/// Whose JSON the input is.
#[derive(Debug, Args)]
pub(crate) struct DialectArgs {
    /// Whose JSON the input is
    #[arg(long, value_name = "DIALECT", default_value = "native", value_parser = names())]
    pub(crate) dialect: Dialect,
}

/// The names of the dialects, which `--help` lists.
pub(crate) fn names() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::ALL.map(Dialect::name)).try_map(|name| name.parse::<Dialect>())
}

/// The names of all that can be written, which `--help` lists.
pub(crate) fn targets() -> impl TypedValueParser<Value = Target> {
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
    /// What a line is as far as its keys tell.
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

/// Reads a line as a kind, and says what is wrong with it.
pub(crate) fn try_read(dialect: Dialect, kind: Kind, text: &str) -> Result<(), DecodeError> {
    match kind {
        Kind::Message => dialect.read_message(text).map(drop),
        Kind::Block => dialect.read_block(text).map(drop),
        Kind::Event | Kind::Stream => dialect.read_event(text).map(drop),
    }
}

/// Whether an event has the names of native fields and none of Java's. Java's reader takes it all the same: to it they are
/// fields that it does not know, and those that it knows are not there.
pub(crate) fn is_native_event(text: &str) -> bool {
    let Ok(fields) = Object::parse(text) else { return false };
    let has_any = |names: [&str; 2]| names.iter().any(|name| fields.contains_key(name));
    fields.contains_key("type") && has_any(["created_at", "reply_id"]) && !has_any(["createdAt", "replyId"])
}

/// Says what is wrong with a line, and which dialect it comes closest to.
pub(crate) fn explain(dialect: Dialect, kind: Kind, text: &str, error: &DecodeError) -> String {
    let others = Dialect::ALL.into_iter().filter(|other| *other != dialect);
    let mut closest = (closeness(error), dialect);
    for other in others {
        match try_read(other, kind, text) {
            Ok(()) => return format!("{error} (it reads as {other}, not as {dialect})"),
            Err(error) if closeness(&error) > closest.0 => closest = (closeness(&error), other),
            Err(_) => {}
        }
    }
    if closest.1 == dialect { error.to_string() } else { format!("{error} (closest to {})", closest.1) }
}

/// How far a reader has come: what is wrong deep inside is wrong with something that it has understood.
fn closeness(error: &DecodeError) -> usize {
    if matches!(error.path(), "" | "type" | "role") {
        return 0;
    }
    1 + error.path().matches(['.', '[']).count()
}

/// Makes native events and messages of the lines of a dialect.
#[derive(Debug)]
pub(crate) struct Translator {
    dialect: Dialect,
    reader: StreamReader,
}

impl Translator {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, reader: StreamReader::new(dialect) }
    }

    /// One that goes on where another has stopped.
    pub(crate) fn resume(dialect: Dialect, state: &Object) -> Result<Self, DecodeError> {
        Ok(Self { dialect, reader: StreamReader::resume(dialect, state)? })
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What has to be remembered to go on.
    pub(crate) fn state(&self) -> Object {
        self.reader.state()
    }

    /// What a line comes to.
    pub(crate) fn decode(&mut self, line: &[u8]) -> Result<Vec<Line<'static>>, DecodeError> {
        if self.dialect == Dialect::Native {
            return Ok(vec![line::decode(line)?.into_owned()]);
        }
        // Whatever is wrong with the bytes, this says it.
        let Ok(text) = std::str::from_utf8(line) else {
            return Err(Event::from_slice(line).err().unwrap_or_else(|| DecodeError::missing("type")));
        };
        if Kind::of(text) == Some(Kind::Message) {
            return self.dialect.read_message(text).map(|message| self.message(message));
        }
        Ok(self.reader.push(text)?.into_iter().map(Line::Event).collect())
    }

    /// A message between the events of a stream. Where it is a user's, whatever waited for something else has ended.
    fn message(&mut self, message: Msg) -> Vec<Line<'static>> {
        let ended = if message.role() == Role::User { self.reader.user_turn(message.created_at()) } else { Vec::new() };
        ended.into_iter().map(Line::Event).chain([Line::Message(message)]).collect()
    }

    /// What is still to be said when the input has ended.
    pub(crate) fn finish(&mut self) -> Vec<AgentEvent> {
        self.reader.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let of = |text| Kind::of(text);
        assert_eq!(of(r#"{"role":"USER","content":[]}"#), Some(Kind::Message));
        assert_eq!(of(r#"{"type":"tool_use","id":"c"}"#), Some(Kind::Block));
        assert_eq!(of(r#"{"type":"AGENT_START"}"#), Some(Kind::Stream));
        assert_eq!(of("{}"), None);
        assert_eq!(of("["), None);
    }

    #[test]
    fn an_error_says_which_dialect_is_meant() {
        let text = r#"{"name":"Alice","role":"user","content":[]}"#;
        let error = Dialect::Java.read_message(text).unwrap_err();
        let explained = explain(Dialect::Java, Kind::Message, text, &error);
        assert!(explained.ends_with("(it reads as native, not as java)"), "{explained}");
    }
}
