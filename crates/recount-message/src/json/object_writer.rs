//! A writer for single JSON objects.

use std::fmt::{Display, Write as _};

use super::write;

/// Writes one JSON object as text, field by field.
///
/// Use it where the values are JSON text already, so that collecting them in an [`Object`](crate::Object) would parse them
/// again. Duplicate names are written as given.
///
/// ```
/// use recount_message::wire::ObjectWriter;
///
/// let json = ObjectWriter::new()
///     .string("name", "a \"b\"")
///     .raw("count", 3)
///     .array("items", ["{}", "[1,2]"])
///     .finish();
/// assert_eq!(json, r#"{"name":"a \"b\"","count":3,"items":[{},[1,2]]}"#);
/// ```
#[derive(Debug, Clone)]
pub struct ObjectWriter {
    text: String,
}

impl Default for ObjectWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl ObjectWriter {
    /// Creates a writer for an object without fields.
    #[must_use]
    pub fn new() -> Self {
        Self { text: String::from("{") }
    }

    /// Writes a field whose value is a string, and escapes the string.
    #[must_use]
    pub fn string(mut self, name: &str, value: &str) -> Self {
        write::key(&mut self.text, name);
        write::string(&mut self.text, value);
        self
    }

    /// Writes a field whose value displays as JSON: JSON text, a [`Json`](crate::Json), an integer or a `bool`.
    ///
    /// The value is not validated.
    #[must_use]
    pub fn raw(mut self, name: &str, value: impl Display) -> Self {
        write::key(&mut self.text, name);
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
        self
    }

    /// Writes a field whose value `write` appends as JSON text.
    ///
    /// The value is not validated.
    #[must_use]
    pub fn raw_with(mut self, name: &str, write: impl FnOnce(&mut String)) -> Self {
        write::key(&mut self.text, name);
        write(&mut self.text);
        self
    }

    /// Writes a field whose value is an array of values that are JSON text.
    ///
    /// The values are not validated.
    #[must_use]
    pub fn array(mut self, name: &str, values: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        write::key(&mut self.text, name);
        self.text.push('[');
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.text.push_str(value.as_ref());
        }
        self.text.push(']');
        self
    }

    /// Closes the object and returns its text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text.push('}');
        self.text
    }
}
