//! Tool calls in the text of a response, in the syntax of [`prompt_tools`](crate::format::prompt_tools).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json_text::spaced_json;
use super::think_tags::partial_tag;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

/// A part of the parsed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PromptPart {
    Text(String),
    Call {
        name: String,
        input: String,
        /// Whether the text ended before the call was complete.
        cut: bool,
    },
}

/// Parses calls in text that arrives in chunks of any size.
#[derive(Debug)]
pub(super) enum PromptCalls {
    /// Outside a call. `held` may be the start of an opening tag.
    Outside { held: String, after_call: bool },
    /// After an opening tag.
    Inside(CallBody),
}

/// The text after an opening tag.
#[derive(Debug, Default)]
pub(super) struct CallBody {
    text: String,
    /// The number of bytes that were searched for the closing tag.
    searched: usize,
    in_string: bool,
}

impl PromptCalls {
    pub(super) fn new() -> Self {
        Self::Outside { held: String::new(), after_call: false }
    }

    /// Parses the next text.
    pub(super) fn push(&mut self, delta: &str, parts: &mut Vec<PromptPart>) {
        match self {
            Self::Outside { held, after_call } => {
                held.push_str(delta);
                if let Some((text, rest)) = held.split_once(OPEN) {
                    let rest = rest.to_owned();
                    emit(text, after_call, parts);
                    *self = Self::Inside(CallBody::default());
                    self.push(&rest, parts);
                } else {
                    let tail = held.split_off(held.len() - partial_tag(held, OPEN));
                    emit(held, after_call, parts);
                    *held = tail;
                }
            }
            Self::Inside(body) => {
                body.text.push_str(delta);
                let Some(end) = body.find_end() else { return };
                let (inner, rest) = body.text.split_at(end);
                let rest = rest.strip_prefix(CLOSE).unwrap_or(rest).to_owned();
                let call = parse_call(inner);
                let is_call = call.is_some();
                parts.push(call.unwrap_or_else(|| PromptPart::Text(format!("{OPEN}{inner}{CLOSE}"))));
                *self = Self::Outside { held: String::new(), after_call: is_call };
                self.push(&rest, parts);
            }
        }
    }

    /// Ends the text or interrupts it, and returns what was buffered.
    pub(super) fn flush(&mut self, parts: &mut Vec<PromptPart>) {
        match std::mem::replace(self, Self::new()) {
            Self::Outside { held, mut after_call } => {
                emit(&held, &mut after_call, parts);
                *self = Self::Outside { held: String::new(), after_call };
            }
            Self::Inside(body) => {
                let call = parse_call(&body.text).or_else(|| parse_truncated_call(&body.text));
                parts.push(call.unwrap_or_else(|| PromptPart::Text(format!("{OPEN}{}", body.text))));
            }
        }
    }
}

impl CallBody {
    /// Finds the closing tag outside of JSON strings. Each byte is examined once.
    fn find_end(&mut self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.searched) {
            if self.in_string {
                match byte {
                    // Wait for the escaped character, then examine the backslash again.
                    b'\\' if self.searched + 1 == bytes.len() => return None,
                    b'\\' => self.searched += 1,
                    b'"' => self.in_string = false,
                    _ => {}
                }
            } else if byte == b'"' {
                self.in_string = true;
            } else if byte == b'<' {
                let rest = bytes.get(self.searched..).unwrap_or_default();
                if rest.starts_with(CLOSE.as_bytes()) {
                    return Some(self.searched);
                }
                if CLOSE.as_bytes().starts_with(rest) {
                    return None;
                }
            }
            self.searched += 1;
        }
        None
    }
}

/// Emits text. White space between two calls is dropped.
fn emit(text: &str, after_call: &mut bool, parts: &mut Vec<PromptPart>) {
    let text = if *after_call { text.trim_start() } else { text };
    if !text.is_empty() {
        *after_call = false;
        parts.push(PromptPart::Text(text.to_owned()));
    }
}

#[derive(Deserialize)]
struct WrittenCall<'a> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

fn parse_call(body: &str) -> Option<PromptPart> {
    let call: WrittenCall<'_> = serde_json::from_str(body).ok()?;
    let input = match call.arguments {
        None => "{}".to_owned(),
        Some(arguments) if arguments.get().starts_with('{') => spaced_json(arguments.get()),
        Some(_) => return None,
    };
    Some(PromptPart::Call { name: call.name, input, cut: false })
}

/// Parses a truncated call. `None` if its name is incomplete.
fn parse_truncated_call(body: &str) -> Option<PromptPart> {
    let after_key = |text: &'_ str, key: &str| -> Option<usize> {
        let at = text.find(key)? + key.len();
        let rest = text.get(at..)?;
        let value = rest.trim_start().strip_prefix(':')?.trim_start();
        Some(text.len() - value.len())
    };
    let name_at = after_key(body, "\"name\"")?;
    let mut values = serde_json::Deserializer::from_str(body.get(name_at..)?).into_iter::<String>();
    let name = values.next()?.ok()?;
    let rest = body.get(name_at + values.byte_offset()..)?;
    let input = after_key(rest, "\"arguments\"").and_then(|at| rest.get(at..)).unwrap_or_default();
    Some(PromptPart::Call { name, input: input.to_owned(), cut: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a text in chunks and returns the parts on one line.
    fn read(pieces: &[&str]) -> String {
        let mut calls = PromptCalls::new();
        let mut parts = Vec::new();
        for piece in pieces {
            calls.push(piece, &mut parts);
        }
        calls.flush(&mut parts);
        let mut line = String::new();
        for part in parts {
            match part {
                PromptPart::Text(text) => line.push_str(&text),
                PromptPart::Call { name, input, cut } => {
                    line.push_str(&format!("[{name} {input}{}]", if cut { " cut" } else { "" }));
                }
            }
        }
        line
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(read(&[text]), expected);
        let cuts = text.char_indices().map(|(at, _)| at);
        for at in cuts {
            let (first, second) = text.split_at(at);
            assert_eq!(read(&[first, second]), expected, "cut at {at}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(read(&letters.iter().map(String::as_str).collect::<Vec<_>>()), expected, "letter by letter");
    }

    #[test]
    fn parses_calls_between_text() {
        check(
            "Let me look.<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call>\n\
             <tool_call>{\"name\":\"g\"}</tool_call>\nDone < 1",
            "Let me look.[f {\"a\": 1}][g {}]Done < 1",
        );
        check("no calls <tool> here <tool_cal", "no calls <tool> here <tool_cal");
    }

    #[test]
    fn ignores_closing_tag_in_string() {
        check(
            r#"<tool_call>{"name":"f","arguments":{"a":"x</tool_call>\"y"}}</tool_call>"#,
            r#"[f {"a": "x</tool_call>\"y"}]"#,
        );
    }

    #[test]
    fn invalid_call_stays_text() {
        for text in
            ["<tool_call>hello</tool_call>", "<tool_call>{\"name\":3}</tool_call> x", "<tool_call>[]</tool_call>"]
        {
            check(text, text);
        }
        check(
            r#"<tool_call>{"name":"f","arguments":[]}</tool_call>"#,
            r#"<tool_call>{"name":"f","arguments":[]}</tool_call>"#,
        );
    }

    #[test]
    fn unclosed_call_is_complete_or_cut() {
        check(r#"<tool_call>{"name":"f","arguments":{}}"#, "[f {}]");
        check(r#"<tool_call>{"name":"f","arguments":{"a":"#, "[f {\"a\": cut]");
        check(r#"<tool_call>{"name":"f""#, "[f  cut]");
        check(r#"<tool_call>{"na"#, r#"<tool_call>{"na"#);
    }
}
