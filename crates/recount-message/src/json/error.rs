//! Decoding errors.

use std::fmt;

/// The kind of a decoding error.
///
/// ```
/// use recount_message::{DecodeErrorKind, Event};
///
/// // A truncated line is a syntax error. Other kinds are errors of the producer.
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
    /// A required field is missing.
    Missing,
    /// A value has the wrong type.
    WrongType,
    /// A value is not in its closed set, such as an unknown state.
    UnknownValue,
    /// Valid values form an invalid combination, such as a tool call in a user message.
    Rule,
    /// The value nests deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep,
    /// A surrogate escape such as `\ud800` without its other half. UTF-8 text cannot represent it.
    LoneSurrogate,
}

/// The error of decoding a text: the path of the field and a message.
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
    /// Creates an error about a whole value.
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

    /// Creates the error for a missing field.
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

    /// Prepends the name of the containing field to the path.
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

    /// Prepends an index of the containing array to the path.
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

    /// Returns the kind of the error.
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

    /// Returns the path of the field, such as `content[2].state`; empty for the whole text.
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

    /// Returns the message without the path.
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
