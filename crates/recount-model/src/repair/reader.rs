//! A reader that converts malformed JSON to valid JSON.

use recount_message::MAX_DEPTH;

use super::text::{self, Word};
use super::{Repair, RepairError};

/// How the reading of a value ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// The value is complete and was written.
    Whole,
    /// The text was truncated inside the value. The part before was written and closed.
    Cut,
    /// The text was truncated before anything of the value could be written.
    Nothing,
}

/// Reads malformed JSON and writes valid JSON.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    /// The unread part of the text.
    pub(super) rest: &'a str,
    pub(super) out: String,
    repairs: Vec<Repair>,
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, rest: text, out: String::with_capacity(text.len() + 8), repairs: Vec::new(), depth: 0 }
    }

    /// Returns the JSON and the repairs that were necessary.
    pub(super) fn finish(self) -> (String, Vec<Repair>) {
        (self.out, self.repairs)
    }

    pub(super) fn note(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    pub(super) fn error(&self, message: impl Into<String>) -> RepairError {
        let read = self.text.get(..self.text.len() - self.rest.len()).unwrap_or_default();
        RepairError::Syntax { position: read.chars().count() + 1, message: message.into() }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next();
        self.rest = chars.as_str();
        next
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn skip_if(&mut self, expected: &str) -> bool {
        let found = self.rest.starts_with(expected);
        if found {
            self.skip(expected.len());
        }
        found
    }

    /// Reads the whole text: one object, with optional text around it.
    pub(super) fn document(&mut self) -> Result<(), RepairError> {
        self.space();
        if self.skip_if("```") {
            self.note(Repair::SurroundingText);
            self.skip(self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len());
            self.space();
        }
        if self.peek() != Some('{') {
            return Err(self.error("expected an object"));
        }
        match self.value()? {
            Found::Whole => self.after(),
            Found::Cut | Found::Nothing => {
                self.note(Repair::Truncated);
                Ok(())
            }
        }
    }

    /// Skips text after the object. A second value is an error, because it might be the intended one.
    fn after(&mut self) -> Result<(), RepairError> {
        self.space();
        if self.rest.contains(['{', '[', '"']) {
            return Err(self.error("unexpected text after the object"));
        }
        if !self.rest.is_empty() {
            self.note(Repair::SurroundingText);
        }
        Ok(())
    }

    fn space(&mut self) {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\n', '\r', '\t']);
            if self.peek().is_some_and(|next| next.is_whitespace() || next == '\u{feff}') {
                self.note(Repair::Whitespace);
                self.bump();
                continue;
            }
            let length = if self.rest.starts_with("//") {
                self.rest.find('\n').unwrap_or(self.rest.len())
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map_or(self.rest.len(), |at| at + 2)
            } else {
                return;
            };
            self.note(Repair::Comment);
            self.skip(length);
        }
    }

    fn value(&mut self) -> Result<Found, RepairError> {
        self.space();
        match self.peek() {
            None => Ok(Found::Nothing),
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some(quote) if text::closing_quote(quote).is_some() => self.string(),
            Some(_) => self.word(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Found, RepairError>) -> Result<Found, RepairError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(format!("nesting deeper than {MAX_DEPTH} levels")));
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn object(&mut self) -> Result<Found, RepairError> {
        self.list('}', |reader| {
            if reader.key()? == Found::Nothing {
                return Ok(Found::Nothing);
            }
            reader.space();
            match reader.peek() {
                None => return Ok(Found::Nothing),
                Some(':') => reader.skip(1),
                Some(other) => return Err(reader.error(format!("expected `:` after a key, found `{other}`"))),
            }
            reader.out.push(':');
            reader.value()
        })
    }

    fn array(&mut self) -> Result<Found, RepairError> {
        self.list(']', Self::value)
    }

    /// Reads items between commas, up to the closing bracket or the end of the text.
    fn list(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<Found, RepairError>,
    ) -> Result<Found, RepairError> {
        let open = self.bump();
        self.out.extend(open);
        let mut is_first = true;
        let found = loop {
            self.space();
            match self.peek() {
                None => break Found::Cut,
                Some(next) if next == close => {
                    if !is_first {
                        self.note(Repair::TrailingComma);
                    }
                    self.skip(1);
                    break Found::Whole;
                }
                Some(_) => {}
            }
            let before = self.out.len();
            if !is_first {
                self.out.push(',');
            }
            is_first = false;
            match item(self)? {
                Found::Whole => {}
                Found::Cut => break Found::Cut,
                Found::Nothing => {
                    self.out.truncate(before);
                    break Found::Cut;
                }
            }
            self.space();
            match self.peek() {
                None => break Found::Cut,
                Some(',') => self.skip(1),
                Some(next) if next == close => {
                    self.skip(1);
                    break Found::Whole;
                }
                Some(other) => return Err(self.error(format!("expected `,` or `{close}`, found `{other}`"))),
            }
        };
        self.out.push(close);
        Ok(found)
    }

    fn key(&mut self) -> Result<Found, RepairError> {
        if self.peek().is_some_and(|next| text::closing_quote(next).is_some()) {
            return Ok(match self.string()? {
                Found::Whole => Found::Whole,
                Found::Cut | Found::Nothing => Found::Nothing,
            });
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
        let end = self.rest.find(|c| !is_part(c));
        let key = self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default();
        if key.is_empty() {
            return Err(self.error("expected a key"));
        }
        if end.is_none() {
            return Ok(Found::Nothing);
        }
        self.note(Repair::UnquotedKey);
        recount_message::wire::write_string(&mut self.out, key);
        self.skip(key.len());
        Ok(Found::Whole)
    }

    /// Reads a number, `true`, `false`, `null`, or an equivalent of another language.
    fn word(&mut self) -> Result<Found, RepairError> {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let end = self.rest.find(|c| !is_part(c));
        let word = self.rest.get(..end.unwrap_or(self.rest.len())).unwrap_or_default();
        let is_last = end.is_none();
        let read = if is_last { text::last_word(word) } else { text::word(word) };
        let found = match read {
            Word::Json(json) => {
                self.out.push_str(json);
                if is_last { Found::Cut } else { Found::Whole }
            }
            Word::Rewritten(json, repair) => {
                self.out.push_str(&json);
                self.note(repair);
                if is_last { Found::Cut } else { Found::Whole }
            }
            Word::Incomplete => Found::Nothing,
            Word::Unknown => return Err(self.error("expected a value")),
        };
        self.skip(word.len());
        Ok(found)
    }
}
