//! Lenient parsing of tool call arguments.
//!
//! Models truncate JSON in the middle of a string, write Python literals, or wrap the object in a code fence.
//! [`parse_object`] repairs such a text if only one reading is possible, and reports the repairs. Anything else is an
//! error: a model that receives the error can write the arguments again, which is safer than guessing.
//!
//! ```
//! use recount_model::repair::{self, Repair};
//!
//! let read = repair::parse_object("{'city': 'Paris', 'days': 3,}")?;
//! assert_eq!(read.object.to_json(), r#"{"city":"Paris","days":3}"#);
//! assert_eq!(read.repairs, [Repair::NonStandardQuotes, Repair::TrailingComma]);
//! # Ok::<(), recount_model::repair::RepairError>(())
//! ```

mod reader;
mod text;

use std::fmt;

use recount_message::{Json, Object};

use reader::Reader;

/// An object parsed from a model's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The object. Numbers keep their original digits.
    pub object: Object,
    /// The repairs that were necessary, each kind once. Empty for valid JSON.
    pub repairs: Vec<Repair>,
}

/// A kind of repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// The text was truncated and was closed there. An incomplete key or literal was dropped.
    Truncated,
    /// A code fence or other text around the object was dropped.
    SurroundingText,
    /// The text was a JSON string that contained the object.
    StringWrapped,
    /// A comma before a closing bracket was dropped.
    TrailingComma,
    /// Strings in other quotes than double quotes were requoted.
    NonStandardQuotes,
    /// Unquoted keys were quoted.
    UnquotedKey,
    /// Python's `True`, `False` or `None` was replaced.
    PythonLiteral,
    /// A number in a form that JSON does not allow was rewritten: `+1`, `.5`, `1.`
    Number,
    /// An invalid escape or an unpaired surrogate was replaced.
    Escape,
    /// Raw line breaks or other control characters in a string were escaped.
    ControlCharacter,
    /// Comments were dropped.
    Comment,
    /// White space that JSON does not allow was dropped.
    Whitespace,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the truncated text was closed",
            Self::SurroundingText => "text around the object was removed",
            Self::StringWrapped => "the object was extracted from a string",
            Self::TrailingComma => "a trailing comma was removed",
            Self::NonStandardQuotes => "quotes were replaced by double quotes",
            Self::UnquotedKey => "keys were quoted",
            Self::PythonLiteral => "a Python literal was replaced by JSON",
            Self::Number => "a number was rewritten as JSON",
            Self::Escape => "an invalid escape was replaced",
            Self::ControlCharacter => "control characters in a string were escaped",
            Self::Comment => "comments were removed",
            Self::Whitespace => "invalid white space was removed",
        })
    }
}

/// The error of parsing a text that cannot be repaired.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// The text is neither valid JSON nor repairable without guessing.
    #[error("{message} at character {position}")]
    Syntax {
        /// The position, in characters from 1.
        position: usize,
        /// The error at that position.
        message: String,
    },
    /// The text is valid JSON but not an object.
    #[error("expected an object, found {found}")]
    NotAnObject {
        /// The type of the value.
        found: &'static str,
    },
}

/// Parses a JSON object, repairing the text if necessary. Blank text is an empty object.
///
/// Valid JSON is returned unchanged.
///
/// ```
/// use recount_model::repair;
///
/// assert_eq!(repair::parse_object(r#"{"city": "Par"#)?.object.to_json(), r#"{"city":"Par"}"#);
/// assert_eq!(repair::parse_object(" ")?.object.to_json(), "{}");
/// assert_eq!(repair::parse_object("[1, 2]").unwrap_err().to_string(), "expected an object, found an array");
/// # Ok::<(), repair::RepairError>(())
/// ```
///
/// # Errors
///
/// If the text is not an object, or if more than one reading is possible.
pub fn parse_object(text: &str) -> Result<Repaired, RepairError> {
    if text.trim().is_empty() {
        return Ok(Repaired { object: Object::new(), repairs: Vec::new() });
    }
    match Object::parse(text) {
        Ok(object) => Ok(Repaired { object, repairs: Vec::new() }),
        Err(_) => parse_malformed(text),
    }
}

/// Parses a text that is not a valid JSON object.
fn parse_malformed(text: &str) -> Result<Repaired, RepairError> {
    if let Ok(json) = Json::parse(text) {
        return object_in_string(&json);
    }
    let mut reader = Reader::new(text);
    reader.document()?;
    let (out, repairs) = reader.finish();
    // The reader emits valid JSON, but does not limit the nesting depth as the parser does.
    let object =
        Object::parse(&out).map_err(|error| RepairError::Syntax { position: 1, message: error.to_string() })?;
    Ok(Repaired { object, repairs })
}

/// Parses the object inside a JSON string, for models that encode their arguments twice.
fn object_in_string(json: &Json) -> Result<Repaired, RepairError> {
    let inner = json.as_str().map(str::to_owned).filter(|inner| inner.trim_start().starts_with('{'));
    let object = inner.and_then(|inner| Object::parse(&inner).ok());
    object.map(|object| Repaired { object, repairs: vec![Repair::StringWrapped] }).ok_or(RepairError::NotAnObject {
        found: match json.as_raw().as_bytes().first() {
            Some(b'"') => "a string",
            Some(b'[') => "an array",
            Some(b't' | b'f') => "a boolean",
            Some(b'n') => "null",
            _ => "a number",
        },
    })
}

#[cfg(test)]
mod tests;
