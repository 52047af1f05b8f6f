//! The dialects, and what each can do.

use std::fmt;
use std::str::FromStr;

use recount_message::{ContentBlock, DecodeError, Event, Fold, Msg};

use crate::{java, java1, native, typescript};

/// Whose JSON it is.
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
    /// Recount's own JSON, which is AgentScope Python 2's.
    Native,
    /// AgentScope Java 2.
    Java,
    /// AgentScope Java 1.
    Java1,
    /// AgentScope's TypeScript package.
    TypeScript,
}

/// A name that no dialect has.
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

/// Calls the function of a dialect's module.
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
    /// All of them.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    ///
    /// assert!(Dialect::ALL.contains(&Dialect::Native));
    /// ```
    pub const ALL: [Self; 4] = [Self::Native, Self::Java, Self::Java1, Self::TypeScript];

    /// The name of the dialect.
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

    /// Reads a message.
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
    /// When the text is no message of this dialect; the error names the field.
    pub fn read_message(self, text: &str) -> Result<Msg, DecodeError> {
        of!(self, read_message(text))
    }

    /// Writes a message.
    ///
    /// A turn with calls and results is one message natively and several in Java: see
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

    /// Reads a block that stands alone.
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
    /// When the text is no block of this dialect; the error names the field.
    pub fn read_block(self, text: &str) -> Result<ContentBlock, DecodeError> {
        of!(self, read_block(text))
    }

    /// Writes a block that stands alone.
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

    /// Reads an event by itself. A whole stream is read by a [`StreamReader`](crate::StreamReader), which knows what
    /// belongs together.
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
    /// When the text is no event of this dialect; the error names the field.
    pub fn read_event(self, text: &str) -> Result<Event<'_>, DecodeError> {
        of!(self, read_event(text))
    }

    /// Writes an event by itself. A whole stream is written by [`frames`](Self::frames), which know what came before.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    /// use recount_message::{Event, TextBlockStartEvent};
    ///
    /// let start = TextBlockStartEvent { reply_id: "r1".into(), block_id: "b1".into() };
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

    /// What a reader of this dialect gets for an event that comes after what is folded in `before`.
    ///
    /// It follows from these two alone, so that all readers can share it.
    ///
    /// ```
    /// use recount_dialect::Dialect;
    /// use recount_message::{Event, Fold, ReplyEndEvent, ReplyStartEvent};
    ///
    /// let mut fold = Fold::new();
    /// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#)?;
    /// fold.apply(&start);
    /// let end = Event::from_json(r#"{"type":"REPLY_END","session_id":"s","reply_id":"r"}"#)?;
    /// // Java's clients wait for a result, and then for the end.
    /// let frames = Dialect::Java.frames(&fold, &end);
    /// assert!(frames[0].contains("AGENT_RESULT") && frames[1].contains("AGENT_END"));
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn frames(self, before: &Fold, event: &Event<'_>) -> Vec<String> {
        of!(self, frames(before, event))
    }

    /// What a reader of this dialect gets who joins at a point: all that has been said so far.
    ///
    /// Read back, it folds into the same messages, and so does what comes after it.
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
