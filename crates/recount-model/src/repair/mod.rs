//! The arguments of a tool call, as models write them.
//!
//! Models break off in the middle of a string, write Python instead of JSON, or put a code fence around it. Where such a
//! text can be read in one way only, [`parse_object`] reads it so and says what it had to mend. Anything else is an error: a
//! model that is told what is wrong writes it again, and that is better than guessing.
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

/// An object that was read from what a model wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The object. Numbers stay as they were written.
    pub object: Object,
    /// What had to be mended, each kind once. Nothing for what was JSON.
    pub repairs: Vec<Repair>,
}

/// What was mended in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// It broke off, and was closed where it did. A key or a word that was not complete was left out.
    Truncated,
    /// A code fence or words stood around it.
    SurroundingText,
    /// It was a JSON string that held the object.
    StringWrapped,
    /// A comma stood before the end of an object or an array.
    TrailingComma,
    /// Strings stood in other quotes.
    NonStandardQuotes,
    /// Keys stood without quotes.
    UnquotedKey,
    /// Python's `True`, `False` and `None`.
    PythonLiteral,
    /// A number was written as JSON does not: `+1`, `.5`, `1.`
    Number,
    /// A backslash stood before a character that needs none, or half a surrogate pair.
    Escape,
    /// Line breaks or other control characters stood in a string as they are.
    ControlCharacter,
    /// There were comments.
    Comment,
    /// Spaces stood between values that JSON does not know.
    Whitespace,
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the text broke off and was closed there",
            Self::SurroundingText => "what stood around the object was left out",
            Self::StringWrapped => "the object stood in a string",
            Self::TrailingComma => "a trailing comma was left out",
            Self::NonStandardQuotes => "quotes were replaced by double quotes",
            Self::UnquotedKey => "keys were put in quotes",
            Self::PythonLiteral => "a Python literal was replaced by JSON's",
            Self::Number => "a number was spelt as JSON spells it",
            Self::Escape => "a wrong escape was mended",
            Self::ControlCharacter => "control characters in a string were escaped",
            Self::Comment => "comments were left out",
            Self::Whitespace => "odd spaces were left out",
        })
    }
}

/// Why a text could not be read as an object, not even with repairs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RepairError {
    /// It is no JSON, and nothing that could be made JSON without guessing.
    #[error("{what} at character {at}")]
    Syntax {
        /// Where, counted in characters from 1.
        at: usize,
        /// What is wrong there.
        what: String,
    },
    /// It is JSON, and no object.
    #[error("expected an object, found {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
}

/// Reads the object that a text is, or the one that it was meant to be. Blank is an empty one.
///
/// What is a JSON object already comes back as it is.
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
/// When it is something else than an object, or cannot be read in one way only.
pub fn parse_object(text: &str) -> Result<Repaired, RepairError> {
    if text.trim().is_empty() {
        return Ok(Repaired { object: Object::new(), repairs: Vec::new() });
    }
    match Object::parse(text) {
        Ok(object) => Ok(Repaired { object, repairs: Vec::new() }),
        Err(_) => mended(text),
    }
}

/// The same for a text that is no JSON object.
fn mended(text: &str) -> Result<Repaired, RepairError> {
    if let Ok(json) = Json::parse(text) {
        return unquoted(&json);
    }
    let mut reader = Reader::new(text);
    reader.document()?;
    let (out, repairs) = reader.finish();
    // The reader writes JSON; what it does not look at is how deep the object nests.
    let object = Object::parse(&out).map_err(|error| RepairError::Syntax { at: 1, what: error.to_string() })?;
    Ok(Repaired { object, repairs })
}

/// The object in a string, for models that write their JSON as one.
fn unquoted(json: &Json) -> Result<Repaired, RepairError> {
    let inner = json.to_text().filter(|inner| inner.trim_start().starts_with('{'));
    let object = inner.and_then(|inner| Object::parse(&inner).ok());
    object.map(|object| Repaired { object, repairs: vec![Repair::StringWrapped] }).ok_or(RepairError::NotAnObject {
        found: match json.as_str().as_bytes().first() {
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
