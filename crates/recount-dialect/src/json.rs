//! Writing JSON objects field by field.

use recount_message::wire::{Fields, write_key, write_string};
use recount_message::{Json, Object};

/// Parses an object. Returns `None` if the text is not an object or a value is nested too deeply to be stored.
pub(crate) fn parse_fields(text: &str) -> Option<Object> {
    Fields::document(text).ok()?.rest().ok()
}

/// Joins JSON values to a list.
pub(crate) fn list(items: &[String]) -> String {
    format!("[{}]", items.join(","))
}

/// The spelling of escaped control characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// `\u001f`, as most libraries write it.
    LowerCase,
    /// `\u001F`, as Jackson writes it.
    UpperCase,
}

/// Writes one object field by field.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'o> {
    out: &'o mut String,
    escapes: Escapes,
}

impl<'o> ObjectWriter<'o> {
    /// Begins an object.
    pub(crate) fn begin(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, escapes: Escapes::LowerCase }
    }

    /// Begins an object that is spelled as Jackson spells it.
    pub(crate) fn jackson(out: &'o mut String) -> Self {
        out.push('{');
        Self::jackson_resume(out)
    }

    /// Continues an object that is spelled as Jackson spells it and has not been ended.
    pub(crate) fn jackson_resume(out: &'o mut String) -> Self {
        Self { out, escapes: Escapes::UpperCase }
    }

    /// Ends the object.
    pub(crate) fn end(self) {
        self.out.push('}');
    }

    /// Writes a key and returns the buffer, to which the caller appends the value.
    pub(crate) fn key(&mut self, name: &str) -> &mut String {
        write_key(self.out, name);
        self.out
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        let start = self.key(name).len();
        write_string(self.out, text);
        if self.escapes == Escapes::UpperCase && text.bytes().any(|byte| byte < 0x20) {
            let written = self.out.split_off(start);
            self.out.push_str(&with_upper_case_escapes(&written));
        }
    }

    /// Writes a string, or `null` for `None`.
    pub(crate) fn text_or_null(&mut self, name: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(name, text),
            None => self.raw(name, "null"),
        }
    }

    /// Writes a string. Omits the field for `None`.
    pub(crate) fn text_if_any(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    pub(crate) fn number(&mut self, name: &str, number: u64) {
        self.raw(name, &number.to_string());
    }

    pub(crate) fn boolean(&mut self, name: &str, value: bool) {
        self.raw(name, if value { "true" } else { "false" });
    }

    /// Writes a value that is JSON text already.
    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        self.key(name).push_str(json);
    }

    pub(crate) fn json(&mut self, name: &str, value: &Json) {
        let escapes = self.escapes;
        write_value(self.key(name), value, escapes);
    }

    pub(crate) fn object(&mut self, name: &str, value: &Object) {
        let escapes = self.escapes;
        write_object(self.key(name), value, escapes);
    }

    /// Writes a list. `write` writes one item, given its index.
    pub(crate) fn list<T>(&mut self, name: &str, items: &[T], write: impl FnMut(usize, &T, &mut String)) {
        write_list(self.key(name), items, write);
    }
}

/// Writes a list. `write` writes one item, given its index.
pub(crate) fn write_list<T>(out: &mut String, items: &[T], mut write: impl FnMut(usize, &T, &mut String)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(index, item, out);
    }
    out.push(']');
}

/// Writes an object as Jackson spells it.
pub(crate) fn jackson_object(out: &mut String, object: &Object) {
    write_object(out, object, Escapes::UpperCase);
}

fn write_object(out: &mut String, object: &Object, escapes: Escapes) {
    out.push('{');
    for (name, value) in object.iter() {
        write_key(out, name);
        write_value(out, value, escapes);
    }
    out.push('}');
}

fn write_value(out: &mut String, value: &Json, escapes: Escapes) {
    if escapes == Escapes::UpperCase && value.as_raw().contains("\\u") {
        out.push_str(&with_upper_case_escapes(value.as_raw()));
    } else {
        out.push_str(value.as_raw());
    }
}

fn with_upper_case_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        out.push('\\');
        let escape = after.strip_prefix('u').and_then(|digits| digits.split_at_checked(4));
        if let Some((digits, following)) = escape {
            out.push('u');
            out.push_str(&digits.to_ascii_uppercase());
            rest = following;
        } else {
            // The character after a backslash belongs to the escape, even if it is a backslash.
            let mut characters = after.chars();
            out.extend(characters.next());
            rest = characters.as_str();
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jackson_writer_escapes_control_characters_in_upper_case() {
        let mut out = String::new();
        let mut object = ObjectWriter::jackson(&mut out);
        object.text("a", "\u{1f} \\u001f \n");
        object.json("b", &Json::from("\u{b}\\u00ab"));
        object.end();
        assert_eq!(out, r#"{"a":"\u001F \\u001f \n","b":"\u000B\\u00ab"}"#);
    }
}
