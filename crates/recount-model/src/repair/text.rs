//! Strings, numbers and literals of malformed JSON.

use std::borrow::Cow;

use recount_message::Json;
use recount_message::wire::write_string;

use super::reader::{Found, Reader};
use super::{Repair, RepairError};

/// Returns the quote that closes a string opened by `open`. `None` if `open` is not a quote.
pub(super) fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' | '\'' => Some(open),
        '\u{201c}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        _ => None,
    }
}

/// The interpretation of an unquoted word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// Valid JSON.
    Json(&'a str),
    /// A literal of another language, with its JSON equivalent.
    Rewritten(Cow<'a, str>, Repair),
    /// Truncated too early to be interpreted.
    Incomplete,
    /// Not a value.
    Unknown,
}

/// Interprets a word that is followed by other text.
pub(super) fn word(word: &str) -> Word<'_> {
    match word {
        "true" | "false" | "null" => Word::Json(word),
        "True" => Word::Rewritten("true".into(), Repair::PythonLiteral),
        "False" => Word::Rewritten("false".into(), Repair::PythonLiteral),
        "None" => Word::Rewritten("null".into(), Repair::PythonLiteral),
        _ if is_number(word) => Word::Json(word),
        _ => rewritten_number(word).map_or(Word::Unknown, |number| Word::Rewritten(number.into(), Repair::Number)),
    }
}

/// Interprets the last word of a truncated text. A number is cut to its valid part; a literal must be complete.
pub(super) fn last_word(text: &str) -> Word<'_> {
    let number = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let is_truncated_number =
        text.len() - number.len() <= 2 && text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    if is_truncated_number && is_number(number) {
        return Word::Json(number);
    }
    match word(text) {
        Word::Unknown => {}
        found => return found,
    }
    let is_begun =
        ["true", "false", "null", "True", "False", "None", "-", "+", "."].iter().any(|w| w.starts_with(text));
    if is_begun { Word::Incomplete } else { Word::Unknown }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && Json::parse(text).is_ok()
}

/// Rewrites `+1`, `.5` and `1.` as JSON numbers.
fn rewritten_number(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.strip_suffix('.').unwrap_or(digits);
    let zero = if digits.starts_with('.') { "0" } else { "" };
    let number = format!("{sign}{zero}{digits}");
    is_number(&number).then_some(number)
}

/// The result of reading an escape sequence.
enum Unescaped {
    Character(char),
    /// A literal backslash: the characters after it are not a valid escape.
    Backslash,
    /// The text ends inside the escape.
    Incomplete,
}

impl Reader<'_> {
    /// Reads a string in any quotes. A truncated string is written up to the truncation.
    pub(super) fn string(&mut self) -> Result<Found, RepairError> {
        let open = self.bump().unwrap_or('"');
        let close = closing_quote(open).unwrap_or('"');
        if open != '"' {
            self.note(Repair::NonStandardQuotes);
        }
        let mut text = String::new();
        let mut found = Found::Cut;
        while let Some(next) = self.bump() {
            match next {
                _ if next == close => {
                    found = Found::Whole;
                    break;
                }
                '\\' => match self.escape() {
                    Unescaped::Character(character) => text.push(character),
                    Unescaped::Backslash => {
                        self.note(Repair::Escape);
                        text.push('\\');
                    }
                    Unescaped::Incomplete => {
                        self.rest = "";
                        break;
                    }
                },
                control if control < ' ' => {
                    self.note(Repair::ControlCharacter);
                    text.push(control);
                }
                other => text.push(other),
            }
        }
        write_string(&mut self.out, &text);
        Ok(found)
    }

    /// Reads the characters after a backslash.
    fn escape(&mut self) -> Unescaped {
        let Some(next) = self.peek() else { return Unescaped::Incomplete };
        let character = match next {
            '"' | '\\' | '/' => next,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\'' => {
                self.note(Repair::Escape);
                next
            }
            'u' => return self.unicode_escape(),
            _ => return Unescaped::Backslash,
        };
        self.skip(next.len_utf8());
        Unescaped::Character(character)
    }

    /// Reads `u` and four hexadecimal digits, and the low surrogate that follows a high one.
    fn unicode_escape(&mut self) -> Unescaped {
        let Some(digits) = self.rest.get(1..5) else {
            let is_begun = self.rest.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit());
            return if is_begun { Unescaped::Incomplete } else { Unescaped::Backslash };
        };
        let Some(unit) = hex(digits) else { return Unescaped::Backslash };
        self.skip(5);
        if !(0xd800..0xdc00).contains(&unit) {
            // A low surrogate without a high one is not a character.
            return Unescaped::Character(char::from_u32(unit).unwrap_or_else(|| self.replaced()));
        }
        let low = self.rest.strip_prefix("\\u").and_then(|rest| rest.get(..4)).and_then(hex);
        match low {
            Some(low) if (0xdc00..0xe000).contains(&low) => {
                self.skip(6);
                let joined = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                Unescaped::Character(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER))
            }
            _ if is_incomplete_escape(self.rest) => Unescaped::Incomplete,
            _ => Unescaped::Character(self.replaced()),
        }
    }

    fn replaced(&mut self) -> char {
        self.note(Repair::Escape);
        char::REPLACEMENT_CHARACTER
    }
}

/// Whether a text is an incomplete escape of a low surrogate, and nothing else.
fn is_incomplete_escape(rest: &str) -> bool {
    "\\u".starts_with(rest)
        || rest
            .strip_prefix("\\u")
            .is_some_and(|digits| digits.len() < 4 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn hex(digits: &str) -> Option<u32> {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}
