//! Errors of one validation.

use std::fmt::{self, Write};
use std::sync::Arc;

use serde_json::Value;

use super::location::Location;
use super::types::Types;

/// The maximum length of a message in bytes. Messages quote the value.
const MAX_MESSAGE: usize = 300;

/// A part of a value that violates one keyword.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValidationError {
    pub(crate) location: Location,
    pub(crate) message: String,
    pub(crate) kind: ErrorKind,
}

/// The violated keyword, with the data that is needed to repair the value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ErrorKind {
    /// `type`, with the allowed types.
    Type(Types),
    /// `enum`, with the allowed values.
    Enum(Arc<[Value]>),
    /// `const`, with the expected value.
    Const(Arc<Value>),
    /// `anyOf` or `oneOf`, with the errors of each alternative.
    NoAlternative(Vec<Vec<ValidationError>>),
    /// A keyword whose violation cannot be repaired.
    Other,
}

impl ValidationError {
    /// Creates an error. A long message is truncated.
    pub(super) fn new(location: Location, kind: ErrorKind, message: impl fmt::Display) -> Self {
        let mut truncated = Truncated(String::new());
        if write!(truncated, "{message}").is_err() {
            truncated.0.push('…');
        }
        Self { location, message: truncated.0, kind }
    }
}

/// A string that fails to grow beyond [`MAX_MESSAGE`].
struct Truncated(String);

impl Write for Truncated {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_MESSAGE - self.0.len();
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        self.0.extend(text.get(..text.floor_char_boundary(room)));
        Err(fmt::Error)
    }
}
