//! Reading of whole streams.

use recount_message::{AgentEvent, DecodeError, Event, Object};

use crate::Dialect;
use crate::java::JavaStream;
use crate::java1::Java1Stream;

/// Parses a stream of a dialect event by event and converts it to native events.
///
/// In most dialects each event can be converted on its own. A Java stream cannot: it has a reply id for each model call,
/// reuses block ids, and omits what its caller is assumed to know. The reader therefore keeps a small state.
/// [`state`](Self::state) saves it, and [`resume`](Self::resume) continues from it.
///
/// ```
/// use recount_dialect::{Dialect, StreamReader};
/// use recount_message::Fold;
///
/// let stream = r#"
/// {"type":"AGENT_START","replyId":"a","name":"Friday","role":"assistant"}
/// {"type":"MODEL_CALL_START","replyId":"m1"}
/// {"type":"TEXT_BLOCK_START","replyId":"m1","blockId":"text"}
/// {"type":"TEXT_BLOCK_DELTA","replyId":"m1","blockId":"text","delta":"Hello"}
/// {"type":"TEXT_BLOCK_END","replyId":"m1","blockId":"text"}
/// {"type":"MODEL_CALL_END","replyId":"m1"}
/// {"type":"AGENT_END","replyId":"a"}
/// "#;
/// let mut fold = Fold::new();
/// let mut reader = StreamReader::new(Dialect::Java);
/// for line in stream.trim().lines() {
///     for event in reader.push(line)? {
///         fold.apply(&event);
///     }
/// }
/// for event in reader.finish() {
///     fold.apply(&event);
/// }
/// let message = fold.into_messages().next().unwrap();
/// assert_eq!((message.id(), message.text_or_empty()), ("a", "Hello".into()));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug)]
pub struct StreamReader(Reader);

#[derive(Debug)]
enum Reader {
    /// Each event is converted on its own.
    Each(Dialect),
    Java(Box<JavaStream>),
    Java1(Box<Java1Stream>),
}

impl StreamReader {
    /// Creates a reader at the start of a stream.
    ///
    /// ```
    /// use recount_dialect::{Dialect, StreamReader};
    ///
    /// let mut reader = StreamReader::new(Dialect::Native);
    /// assert_eq!(reader.push(r#"{"type":"USER_INTERRUPT","reply_id":"r"}"#)?.len(), 1);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn new(dialect: Dialect) -> Self {
        Self(match dialect {
            Dialect::Java => Reader::Java(Box::new(JavaStream::new())),
            Dialect::Java1 => Reader::Java1(Box::new(Java1Stream::new())),
            Dialect::Native | Dialect::TypeScript => Reader::Each(dialect),
        })
    }

    /// Creates a reader that resumes from a saved state.
    ///
    /// ```
    /// use recount_dialect::{Dialect, StreamReader};
    ///
    /// let mut reader = StreamReader::new(Dialect::Java);
    /// reader.push(r#"{"type":"AGENT_START","replyId":"a","name":"Friday"}"#)?;
    /// let mut other = StreamReader::resume(Dialect::Java, &reader.state())?;
    /// assert_eq!(other.finish(), reader.finish());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if `state` was not written by [`state`](Self::state) of a reader of the same dialect.
    pub fn resume(dialect: Dialect, state: &Object) -> Result<Self, DecodeError> {
        Ok(Self(match dialect {
            Dialect::Java => Reader::Java(Box::new(JavaStream::from_state(state)?)),
            Dialect::Java1 => Reader::Java1(Box::new(Java1Stream::from_state(state)?)),
            Dialect::Native | Dialect::TypeScript => Reader::Each(dialect),
        }))
    }

    /// Returns the state to resume from later.
    ///
    /// ```
    /// use recount_dialect::{Dialect, StreamReader};
    ///
    /// assert!(StreamReader::new(Dialect::Native).state().is_empty());
    /// ```
    pub fn state(&self) -> Object {
        match &self.0 {
            Reader::Each(_) => Object::new(),
            Reader::Java(stream) => stream.state(),
            Reader::Java1(stream) => stream.state(),
        }
    }

    /// Parses the next event and returns the native events for it: none, one or several.
    ///
    /// ```
    /// use recount_dialect::{Dialect, StreamReader};
    ///
    /// let error = StreamReader::new(Dialect::Java).push(r#"{"type":"AGENT_BEGINS"}"#).unwrap_err();
    /// assert_eq!(error.path(), "type");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a valid event of this dialect. The stream can continue with the next one.
    pub fn push(&mut self, text: &str) -> Result<Vec<AgentEvent>, DecodeError> {
        match &mut self.0 {
            Reader::Each(dialect) => Ok(vec![dialect.read_event(text).map(Event::into_owned)?]),
            Reader::Java(stream) => stream.push(text),
            Reader::Java1(stream) => stream.push(text),
        }
    }

    /// Returns whether no reply is open, so that the next event is not part of one.
    ///
    /// ```
    /// use recount_dialect::{Dialect, StreamReader};
    ///
    /// let mut reader = StreamReader::new(Dialect::Java);
    /// assert!(reader.is_idle());
    /// reader.push(r#"{"type":"AGENT_START","replyId":"a","name":"Friday"}"#)?;
    /// assert!(!reader.is_idle());
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    pub fn is_idle(&self) -> bool {
        match &self.0 {
            Reader::Each(_) => true,
            Reader::Java(stream) => stream.is_idle(),
            Reader::Java1(stream) => stream.is_idle(),
        }
    }

    /// Handles a user message that was logged between two events. Returns the events that end a reply that was waiting.
    ///
    /// ```
    /// use recount_dialect::{Dialect, StreamReader};
    ///
    /// assert!(StreamReader::new(Dialect::Java).user_turn("2026-01-01T00:00:00Z").is_empty());
    /// ```
    pub fn user_turn(&mut self, time: &str) -> Vec<AgentEvent> {
        match &mut self.0 {
            Reader::Each(_) => Vec::new(),
            Reader::Java(stream) => stream.user_turn(time),
            Reader::Java1(stream) => stream.user_turn(time),
        }
    }

    /// Ends the stream. Returns the events that are still missing, such as the end of an open reply.
    ///
    /// ```
    /// use recount_dialect::{Dialect, StreamReader};
    ///
    /// assert!(StreamReader::new(Dialect::TypeScript).finish().is_empty());
    /// ```
    pub fn finish(&mut self) -> Vec<AgentEvent> {
        match &mut self.0 {
            Reader::Each(_) => Vec::new(),
            Reader::Java(stream) => stream.finish(),
            Reader::Java1(stream) => stream.finish(),
        }
    }
}
