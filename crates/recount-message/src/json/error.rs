//! Why a text could not be decoded, and where.

use std::fmt;

/// What kind of thing was wrong with a text.
///
/// ```
/// use recount_message::{DecodeErrorKind, Event};
///
/// // A line that a producer was cut off in is no JSON; anything else is the producer's mistake.
/// let line = r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","#;
/// assert_eq!(Event::from_json(line).unwrap_err().kind(), DecodeErrorKind::Syntax);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The text is not JSON.
    Syntax,
    /// The bytes are not UTF-8.
    Encoding,
    /// A required field is not there.
    Missing,
    /// A field has a value of another type than it should.
    WrongType,
    /// A field has a value outside its closed set, such as an unknown state.
    UnknownValue,
    /// The values are fine one by one but may not stand together, such as a tool call in a user's message.
    Rule,
    /// The value nests deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep,
    /// A `\ud800`-like escape without its other half: no UTF-8 text can hold it.
    LoneSurrogate,
}

/// Why a text could not be decoded: the field, as a path from the outside in, and what is wrong with it.
///
/// ```
/// use recount_message::{DecodeErrorKind, Event};
///
/// let error = Event::from_json(r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":7,"delta":"x"}"#).unwrap_err();
/// assert_eq!(error.path(), "block_id");
/// assert_eq!(error.kind(), DecodeErrorKind::WrongType);
/// assert_eq!(error.to_string(), "`block_id`: expected a string, found a number");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DecodeError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: DecodeErrorKind,
    path: String,
    what: String,
}

impl DecodeError {
    /// An error about a whole value.
    ///
    /// ```
    /// use recount_message::{DecodeError, DecodeErrorKind};
    ///
    /// let error = DecodeError::new(DecodeErrorKind::UnknownValue, "unknown role").within("role").at_index(2);
    /// assert_eq!(error.to_string(), "`[2].role`: unknown role");
    /// ```
    #[cold]
    pub fn new(kind: DecodeErrorKind, what: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, path: String::new(), what: what.into() }))
    }

    /// The error that a field is not there.
    ///
    /// ```
    /// use recount_message::DecodeError;
    ///
    /// assert_eq!(DecodeError::missing("role").to_string(), "`role`: this field is required");
    /// ```
    #[cold]
    pub fn missing(field: &str) -> Self {
        Self::new(DecodeErrorKind::Missing, "this field is required").within(field)
    }

    /// Puts the name of the surrounding field before the path.
    ///
    /// ```
    /// use recount_message::DecodeError;
    ///
    /// assert_eq!(DecodeError::missing("url").within("source").path(), "source.url");
    /// ```
    #[cold]
    #[must_use]
    pub fn within(mut self, field: &str) -> Self {
        let inner = &mut self.0;
        if !inner.path.is_empty() && !inner.path.starts_with('[') {
            inner.path.insert(0, '.');
        }
        inner.path.insert_str(0, field);
        self
    }

    /// Puts an index of the surrounding list before the path.
    ///
    /// ```
    /// use recount_message::DecodeError;
    ///
    /// assert_eq!(DecodeError::missing("text").at_index(1).within("content").path(), "content[1].text");
    /// ```
    #[cold]
    #[must_use]
    pub fn at_index(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    /// What kind of thing is wrong.
    ///
    /// ```
    /// use recount_message::{DecodeErrorKind, Event};
    ///
    /// let error = Event::from_json(r#"{"type":"USER_INTERRUPT"}"#).unwrap_err();
    /// assert_eq!(error.kind(), DecodeErrorKind::Missing);
    /// ```
    pub fn kind(&self) -> DecodeErrorKind {
        self.0.kind
    }

    /// The field that is wrong, such as `content[2].state`; empty when the whole text is.
    ///
    /// ```
    /// use recount_message::Msg;
    ///
    /// let text = r#"{"name":"Alice","role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":7}]}"#;
    /// assert_eq!(Msg::from_json(text).unwrap_err().path(), "content[1].text");
    /// ```
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What is wrong with it, without the path.
    ///
    /// ```
    /// use recount_message::Event;
    ///
    /// let error = Event::from_json(r#"{"type":"USER_INTERRUPT"}"#).unwrap_err();
    /// assert_eq!((error.path(), error.message()), ("reply_id", "this field is required"));
    /// ```
    pub fn message(&self) -> &str {
        &self.0.what
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.path.is_empty() { f.write_str(&self.0.what) } else { write!(f, "`{}`: {}", self.0.path, self.0.what) }
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecodeError")
            .field("kind", &self.0.kind)
            .field("path", &self.0.path)
            .field("message", &self.0.what)
            .finish()
    }
}

impl std::error::Error for DecodeError {}
