//! The supported dialects and their operations.

use std::fmt;
use std::str::FromStr;

use recount_message::{ContentBlock, DecodeError, Event, Fold, Msg};

use crate::{java, java1, native, typescript};

/// A JSON wire format for messages, blocks and events.
///
/// ```
/// use recount_dialect::Dialect;
///
/// let dialect: Dialect = "java".parse()?;
/// assert_eq!(dialect, Dialect::Java);
///
/// let error = "perl".parse::<Dialect>().unwrap_err();
/// assert_eq!(error.to_string(), r#"unknown dialect "perl", expected one of native, java, java1, typescript"#);
/// # Ok::<(), recount_dialect::UnknownDialect>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Recount's own format, which is that of AgentScope Python 2.
    Native,
    /// AgentScope Java 2.
    Java,
    /// AgentScope Java 1.
    Java1,
    /// AgentScope's TypeScript package.
    TypeScript,
}

/// The error for an unknown dialect name. Holds the name.
///
/// ```
/// use recount_dialect::{Dialect, UnknownDialect};
///
/// assert!(matches!("".parse::<Dialect>(), Err(UnknownDialect(name)) if name.is_empty()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dialect {0:?}, expected one of native, java, java1, typescript")]
pub struct UnknownDialect(pub String);

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name).ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Calls a function of the module that implements a dialect.
macro_rules! of {
    ($dialect:expr, $function:ident($($argument:expr),*)) => {
        match $dialect {
            Dialect::Native => native::$function($($argument),*),
            Dialect::Java => java::$function($($argument),*),
            Dialect::Java1 => java1::$function($($argument),*),
            Dialect::TypeScript => typescript::$function($($argument),*),
        }
    };
}

impl Dialect {
    /// All dialects.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    ///
    /// assert!(Dialect::ALL.contains(&Dialect::Native));
    /// ```
    pub const ALL: [Self; 4] = [Self::Native, Self::Java, Self::Java1, Self::TypeScript];

    /// Returns the name of the dialect, as the API and the command line use it.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    ///
    /// assert_eq!(Dialect::TypeScript.name(), "typescript");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Java => "java",
            Self::Java1 => "java1",
            Self::TypeScript => "typescript",
        }
    }

    /// Parses a message.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    ///
    /// let message = Dialect::Java.read_message(r#"{"role":"USER","content":[{"type":"text","text":"Hi"}]}"#)?;
    /// assert_eq!((message.has_name(), message.text_or_empty()), (false, "Hi".into()));
    ///
    /// let error = Dialect::Java.read_message(r#"{"role":"user","content":[]}"#).unwrap_err();
    /// assert_eq!(error.path(), "role");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error that names the field if the text is not a valid message of this dialect.
    pub fn read_message(self, text: &str) -> Result<Msg, DecodeError> {
        of!(self, read_message(text))
    }

    /// Serializes a message.
    ///
    /// A turn with tool calls and results is one message natively and several messages in Java: see
    /// [`split_turn`](crate::split_turn).
    ///
    /// ```
    /// use recount_dialect::Dialect;
    /// use recount_message::Msg;
    ///
    /// let message = Msg::user("Alice", "Hello").with_id("m1");
    /// let written = Dialect::Java.write_message(&message);
    /// assert!(written.starts_with(r#"{"id":"m1","name":"Alice","role":"USER","content":[{"type":"text","text":"Hello"}],"#));
    /// assert_eq!(Dialect::Java.read_message(&written)?, message);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn write_message(self, message: &Msg) -> String {
        let mut out = String::new();
        of!(self, write_message(message, &mut out));
        out
    }

    /// Parses a block on its own.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    /// use recount_message::ContentBlock;
    ///
    /// let block = Dialect::Java.read_block(r#"{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}"#)?;
    /// assert!(matches!(block, ContentBlock::ToolCall(call) if call.input == r#"{"a":1}"#));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error that names the field if the text is not a valid block of this dialect.
    pub fn read_block(self, text: &str) -> Result<ContentBlock, DecodeError> {
        of!(self, read_block(text))
    }

    /// Serializes a block on its own.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    ///
    /// let image = Dialect::Java.read_block(r#"{"type":"image","source":{"type":"url","url":"file:///a.png"}}"#)?;
    /// assert_eq!(Dialect::Java.write_block(&image), r#"{"type":"image","source":{"type":"url","url":"file:///a.png"}}"#);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn write_block(self, block: &ContentBlock) -> String {
        let mut out = String::new();
        of!(self, write_block(block, &mut out));
        out
    }

    /// Parses an event on its own. To read a whole stream, use a [`StreamReader`](crate::StreamReader), which tracks the
    /// context of each event.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    ///
    /// let event = Dialect::Java.read_event(r#"{"type":"TEXT_BLOCK_DELTA","replyId":"r","blockId":"text","delta":"Hi"}"#)?;
    /// assert_eq!((event.type_name(), event.reply_id()), ("TEXT_BLOCK_DELTA", Some("r")));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error that names the field if the text is not a valid event of this dialect.
    pub fn read_event(self, text: &str) -> Result<Event<'_>, DecodeError> {
        of!(self, read_event(text))
    }

    /// Serializes an event on its own. To write a whole stream, use [`frames`](Self::frames), which takes the preceding
    /// events into account.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    /// use recount_message::{Event, TextBlockStartEvent};
    ///
    /// let start = TextBlockStartEvent::new("r1", "b1");
    /// let event = Event::stamped("e1", "2026-01-01T00:00:00.000000+00:00", start);
    /// assert_eq!(
    ///     Dialect::Java.write_event(&event),
    ///     r#"{"type":"TEXT_BLOCK_START","id":"e1","createdAt":"2026-01-01T00:00:00Z","replyId":"r1","blockId":"b1"}"#,
    /// );
    /// ```
    pub fn write_event(self, event: &Event<'_>) -> String {
        let mut out = String::new();
        of!(self, write_event(event, &mut out));
        out
    }

    /// Returns the frames for an event in this dialect. `before` is the fold of all preceding events.
    ///
    /// The result depends only on these two values, so it can be shared by all readers.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    /// use recount_message::{Event, Fold, ReplyEndEvent, ReplyStartEvent};
    ///
    /// let mut fold = Fold::new();
    /// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
    /// fold.apply(&start);
    /// let end = Event::from_json(r#"{"type":"REPLY_END","session_id":"s","reply_id":"r"}"#)?;
    /// // Java's clients wait for a result and then for the end.
    /// let frames = Dialect::Java.frames(&fold, &end);
    /// assert!(frames[0].contains("AGENT_RESULT") && frames[1].contains("AGENT_END"));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn frames(self, before: &Fold, event: &Event<'_>) -> Vec<String> {
        of!(self, frames(before, event))
    }

    /// Returns the frames that bring a reader who joins at a point to the state of the fold `at`.
    ///
    /// Parsed again, they fold into the same messages, and later frames can be applied to them.
    ///
    /// ```
    /// use recount_dialect::{Dialect, StreamReader};
    /// use recount_message::{Event, Fold};
    ///
    /// let mut fold = Fold::new();
    /// fold.apply(&Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?);
    ///
    /// let mut joined = Fold::new();
    /// let mut reader = StreamReader::new(Dialect::Java);
    /// for frame in Dialect::Java.prelude(&fold) {
    ///     reader.push(&frame)?.iter().for_each(|event| drop(joined.apply(event)));
    /// }
    /// assert!(joined.messages().eq(fold.messages()));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn prelude(self, at: &Fold) -> Vec<String> {
        of!(self, prelude(at))
    }
}
