//! Writing JSON as Jackson does: like everybody else, but for the digits of control characters.

use recount_message::wire::{write_key, write_string};
use recount_message::{Json, Object};

/// Writes a string with its quotes.
pub(crate) fn string(out: &mut String, text: &str) {
    let start = out.len();
    write_string(out, text);
    if text.bytes().any(|byte| byte < 0x20) {
        let written = out.split_off(start);
        out.push_str(&with_upper_case_escapes(&written));
    }
}

/// Writes a free value.
pub(crate) fn json(out: &mut String, value: &Json) {
    if value.as_str().contains("\\u") {
        out.push_str(&with_upper_case_escapes(value.as_str()));
    } else {
        out.push_str(value.as_str());
    }
}

/// Writes a free object.
pub(crate) fn object(out: &mut String, object: &Object) {
    out.push('{');
    for (name, value) in object.iter() {
        write_key(out, name);
        json(out, value);
    }
    out.push('}');
}

/// Jackson writes `\u001F` where others write `\u001f`.
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
            // Whatever comes after a backslash belongs to it, a second backslash included.
            let mut characters = after.chars();
            out.extend(characters.next());
            rest = characters.as_str();
        }
    }
    out.push_str(rest);
    out
}

/// An object that is being written, field by field.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'o> {
    pub(crate) out: &'o mut String,
}

impl<'o> ObjectWriter<'o> {
    pub(crate) fn begin(out: &'o mut String) -> Self {
        out.push('{');
        Self { out }
    }

    pub(crate) fn end(self) {
        self.out.push('}');
    }

    pub(crate) fn key(&mut self, name: &str) -> &mut String {
        write_key(self.out, name);
        self.out
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        string(self.key(name), text);
    }

    /// A string, or `null`.
    pub(crate) fn text_or_null(&mut self, name: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(name, text),
            None => self.key(name).push_str("null"),
        }
    }

    /// A string, where there is one.
    pub(crate) fn text_if_any(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    pub(crate) fn raw(&mut self, name: &str, text: &str) {
        self.key(name).push_str(text);
    }

    pub(crate) fn json(&mut self, name: &str, value: &Json) {
        json(self.key(name), value);
    }

    pub(crate) fn object(&mut self, name: &str, value: &Object) {
        object(self.key(name), value);
    }

    /// A list, each item written by a function.
    pub(crate) fn list<T>(&mut self, name: &str, items: &[T], mut write: impl FnMut(usize, &T, &mut String)) {
        let out = self.key(name);
        out.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write(index, item, out);
        }
        out.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_have_upper_case_digits() {
        let mut out = String::new();
        string(&mut out, "\u{1f} \\u001f \n");
        assert_eq!(out, r#""\u001F \\u001f \n""#);
        let mut out = String::new();
        json(&mut out, &Json::from("\u{b}\\u00ab"));
        assert_eq!(out, r#""\u000B\\u00ab""#);
    }
}
