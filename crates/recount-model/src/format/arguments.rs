//! The arguments of a call, for providers that want them as an object.

use recount_message::{Json, MAX_DEPTH, Object};

use super::note::{Loss, Note};
use super::turns::Call;

/// The arguments of a call as an object, which is empty where they are none.
pub(crate) fn sent(call: &Call<'_>, notes: &mut Vec<Note>) -> Json {
    object(call.input).unwrap_or_else(|| {
        notes.push(Note::new(call.own_id, Loss::Arguments));
        Object::new().into()
    })
}

/// The object that a call's input is, or the one that it would have become.
///
/// Nothing when it is neither. Numbers stay as they were written.
fn object(input: &str) -> Option<Json> {
    if input.trim().is_empty() {
        return Some(Object::new().into());
    }
    let whole = Object::parse(input).ok();
    whole.or_else(|| Object::parse(&completed(input)?).ok().filter(|object| !object.is_empty())).map(Json::from)
}

/// A JSON object that broke off, closed where it broke: a string ends there, a key or a word that is not complete is
/// left out. Nothing for what did not break off but is wrong.
fn completed(text: &str) -> Option<String> {
    let mut scan = Completion { out: String::with_capacity(text.len() + 8), open: Vec::new(), safe: None };
    scan.run(text.trim_start());
    scan.finish()
}

/// What may come next, in each object or array that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A key, or the end where the object is empty.
    Key { first: bool },
    /// The colon after a key.
    Colon,
    /// The value of a key.
    Value,
    /// A comma or the end of an object.
    AfterValue,
    /// An element, or the end where the array is empty.
    Element,
    /// A comma or the end of an array.
    AfterElement,
}

struct Completion {
    out: String,
    open: Vec<Expect>,
    /// How far the text can be kept, and what closes it there.
    safe: Option<(usize, String)>,
}

impl Completion {
    /// Reads until the text ends or breaks a rule; `safe` is the last place where it could be closed.
    fn run(&mut self, text: &str) {
        let mut rest = text;
        if !rest.starts_with('{') {
            return;
        }
        while let Some(next) = rest.chars().next() {
            let taken = match next {
                ' ' | '\n' | '\r' | '\t' => 1,
                '{' | '[' if self.begins_value() => {
                    self.open.push(if next == '{' { Expect::Key { first: true } } else { Expect::Element });
                    1
                }
                '}' | ']' if self.ends(next) => {
                    self.open.pop();
                    self.value_done();
                    1
                }
                ',' => match self.open.last_mut() {
                    Some(expect @ Expect::AfterValue) => {
                        *expect = Expect::Key { first: false };
                        1
                    }
                    Some(expect @ Expect::AfterElement) => {
                        *expect = Expect::Element;
                        1
                    }
                    _ => return,
                },
                ':' if self.open.last() == Some(&Expect::Colon) => {
                    self.set(Expect::Value);
                    1
                }
                '"' => match self.string(rest) {
                    Some(taken) => taken,
                    None => return,
                },
                _ if self.begins_value() => match self.word(rest) {
                    Some(taken) => taken,
                    None => return,
                },
                _ => return,
            };
            let (kept, after) = rest.split_at_checked(taken).unwrap_or((rest, ""));
            push_escaped(&mut self.out, kept);
            self.mark();
            // Deeper than this nothing is read anyway.
            if self.open.is_empty() || self.open.len() > MAX_DEPTH {
                return;
            }
            rest = after;
        }
    }

    fn begins_value(&self) -> bool {
        matches!(self.open.last(), None | Some(Expect::Value | Expect::Element))
    }

    fn ends(&self, close: char) -> bool {
        match self.open.last() {
            Some(Expect::Key { first: true } | Expect::AfterValue) => close == '}',
            Some(Expect::Element | Expect::AfterElement) => close == ']',
            Some(Expect::Key { first: false } | Expect::Colon | Expect::Value) | None => false,
        }
    }

    fn set(&mut self, expect: Expect) {
        if let Some(last) = self.open.last_mut() {
            *last = expect;
        }
    }

    fn value_done(&mut self) {
        match self.open.last() {
            Some(Expect::Value) => self.set(Expect::AfterValue),
            Some(Expect::Element) => self.set(Expect::AfterElement),
            _ => {}
        }
    }

    /// A string at the start of the text: how long it is, or nothing when it broke off. One that is a value is then
    /// closed where it broke.
    fn string(&mut self, text: &str) -> Option<usize> {
        let is_key = matches!(self.open.last(), Some(Expect::Key { .. }));
        if !is_key && !self.begins_value() {
            return None;
        }
        let mut escaped = false;
        for (at, character) in text.char_indices().skip(1) {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    if is_key {
                        self.set(Expect::Colon);
                    } else {
                        self.value_done();
                    }
                    return Some(at + 1);
                }
                _ => {}
            }
        }
        if !is_key {
            push_escaped(&mut self.out, without_half_escape(text));
            self.out.push('"');
            self.value_done();
            self.mark();
        }
        None
    }

    /// A number or a word at the start of the text. At the very end a number counts as far as it came, a word does not.
    fn word(&mut self, text: &str) -> Option<usize> {
        let end = text.find([',', '}', ']', ' ', '\n', '\r', '\t']).or_else(|| {
            let number = text.trim_end_matches(|c: char| !c.is_ascii_digit());
            Json::parse(number).is_ok().then_some(number.len())
        })?;
        self.value_done();
        Some(end)
    }

    /// Remembers this place if everything open can be closed here.
    fn mark(&mut self) {
        let mut close = String::new();
        for expect in self.open.iter().rev() {
            match expect {
                Expect::Key { first: true } | Expect::AfterValue => close.push('}'),
                Expect::Element if close.is_empty() && self.out.ends_with(',') => return,
                Expect::Element | Expect::AfterElement => close.push(']'),
                // An object or array within this one is the value that is still open.
                Expect::Value if !close.is_empty() => close.push('}'),
                Expect::Key { first: false } | Expect::Colon | Expect::Value => return,
            }
        }
        self.safe = Some((self.out.len(), close));
    }

    fn finish(mut self) -> Option<String> {
        let (length, close) = self.safe?;
        self.out.truncate(length);
        self.out.push_str(&close);
        Some(self.out)
    }
}

/// Copies a piece of JSON. Line breaks within a string, which some models write as they are, are escaped.
fn push_escaped(out: &mut String, piece: &str) {
    if !piece.starts_with('"') {
        out.push_str(piece);
        return;
    }
    for character in piece.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
}

/// A text without the escape at its end that broke off: `\`, `\u00e`, or the first half of a surrogate pair.
fn without_half_escape(text: &str) -> &str {
    let tail = text.len().saturating_sub(12);
    let tail = (tail..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    for (at, _) in text.char_indices().filter(|&(at, _)| at >= tail) {
        let rest = text.get(at..).unwrap_or_default();
        let backslashes = text.get(..at).unwrap_or_default().bytes().rev().take_while(|&byte| byte == b'\\').count();
        let starts_escape = rest.starts_with('\\') && backslashes % 2 == 0;
        let is_cut = rest.len() == 1 || (rest.starts_with("\\u") && rest.len() < 6);
        let is_half_pair =
            rest.get(2..4).is_some_and(|hex| matches!(hex.to_ascii_lowercase().as_str(), "d8" | "d9" | "da" | "db"))
                && rest.starts_with("\\u")
                && rest.len() < 12;
        if starts_escape && (is_cut || is_half_pair) {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: Option<&str>) {
        assert_eq!(object(input).as_ref().map(Json::as_str), expected, "{input}");
    }

    #[test]
    fn numbers_stay_as_they_were_written() {
        check(r#"{"a": 25.0, "b": 12345678901234567890123}"#, Some(r#"{"a":25.0,"b":12345678901234567890123}"#));
    }

    #[test]
    fn nothing_is_no_arguments() {
        check("", Some("{}"));
        check(" \n", Some("{}"));
    }

    #[test]
    fn what_broke_off_is_closed() {
        check(r#"{"city": "Par"#, Some(r#"{"city":"Par"}"#));
        check(r#"{"city": "Par\"#, Some(r#"{"city":"Par"}"#));
        check(r#"{"city": "Par\u00e"#, Some(r#"{"city":"Par"}"#));
        check(r#"{"city": "Par\ud83c"#, Some(r#"{"city":"Par"}"#));
        check(r#"{"city": "Paris", "un"#, Some(r#"{"city":"Paris"}"#));
        check(r#"{"city": "Paris", "unit": tr"#, Some(r#"{"city":"Paris"}"#));
        check(r#"{"city": "Paris","#, Some(r#"{"city":"Paris"}"#));
        check(r#"{"a": {"b": [1, 2, {"c": "d"#, Some(r#"{"a":{"b":[1,2,{"c":"d"}]}}"#));
        check(r#"{"a": [1, 2,"#, Some(r#"{"a":[1,2]}"#));
        check(r#"{"a": [1, 2"#, Some(r#"{"a":[1,2]}"#));
        check(r#"{"a": 12."#, Some(r#"{"a":12}"#));
        check(r#"{"a": [], "b": {"#, Some(r#"{"a":[],"b":{}}"#));
    }

    #[test]
    fn what_follows_or_hangs_over_is_left_out() {
        check(r#"{"a": 1,}"#, Some(r#"{"a":1}"#));
        check(r#"{"a": 1} and so on"#, Some(r#"{"a":1}"#));
    }

    #[test]
    fn line_breaks_within_strings_are_escaped() {
        check("{\"a\": \"x\ny\"}", Some(r#"{"a":"x\ny"}"#));
    }

    #[test]
    fn what_is_no_object_is_none() {
        for input in [r#"{"ci"#, "[1, 2]", "not json", "{", "3", "\"text\"", "null"] {
            check(input, None);
        }
    }
}
