//! The scanner: validates JSON values, and finds their kind and end.

use std::borrow::Cow;

use super::error::{DecodeError, DecodeErrorKind};
use super::value::Json;

/// The maximum nesting depth of arbitrary JSON (metadata, extra fields, structured output). The value itself counts as one.
///
/// ```
/// use recount_message::{DecodeErrorKind, Json, MAX_DEPTH};
///
/// let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
/// assert!(Json::parse(&nested(MAX_DEPTH)).is_ok());
/// assert_eq!(Json::parse(&nested(MAX_DEPTH + 1)).unwrap_err().kind(), DecodeErrorKind::TooDeep);
/// ```
pub const MAX_DEPTH: usize = 128;

/// The maximum nesting depth of a document: a value of maximum depth in a message in an event or a checkpoint.
pub(crate) const MAX_DOCUMENT_DEPTH: usize = MAX_DEPTH + 16;

/// A JSON value in a text: its source text and its kind.
///
/// ```
/// use recount_message::wire::{Kind, Raw};
///
/// let raw = Raw::document(" [1, 2.50] ")?;
/// let numbers: Vec<&str> = raw.elements()?.map(|number| number.text).collect();
/// assert_eq!((raw.kind, numbers), (Kind::Array, vec!["1", "2.50"]));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a> {
    /// The source text, without surrounding white space.
    pub text: &'a str,
    /// The kind of the value.
    pub kind: Kind,
}

/// The kind of a JSON value.
///
/// ```
/// use recount_message::wire::{Kind, Raw};
///
/// assert_eq!(Raw::document("true")?.kind, Kind::Bool(true));
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number,
    /// A string.
    String {
        /// Whether the text contains a backslash. Without one, the string can be borrowed.
        escaped: bool,
    },
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// Returns the kind with its article, for error messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number => "a number",
            Self::String { .. } => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

impl<'a> Raw<'a> {
    /// Scans a text that must hold exactly one value.
    ///
    /// ```
    /// use recount_message::wire::Raw;
    ///
    /// assert!(Raw::document("{} {}").is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON or nests too deep.
    pub fn document(text: &'a str) -> Result<Self, DecodeError> {
        let mut scanner = Scanner::new(text);
        scanner.skip_space();
        let raw = scanner.value(MAX_DOCUMENT_DEPTH)?;
        scanner.finish()?;
        Ok(raw)
    }

    /// Creates the error that another kind of value was expected.
    ///
    /// ```
    /// use recount_message::wire::Raw;
    ///
    /// let error = Raw::document("7")?.expected("a string");
    /// assert_eq!(error.to_string(), "expected a string, found a number");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    #[cold]
    pub fn expected(self, what: &str) -> DecodeError {
        DecodeError::new(DecodeErrorKind::WrongType, format!("expected {what}, found {}", self.kind.describe()))
    }

    /// Decodes a string. It is borrowed if it has no escapes.
    ///
    /// ```
    /// use recount_message::wire::Raw;
    ///
    /// assert_eq!(Raw::document(r#""a\u0062""#)?.to_str()?, "ab");
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the value is not a string, or contains a lone surrogate.
    pub fn to_str(self) -> Result<Cow<'a, str>, DecodeError> {
        match self.kind {
            Kind::String { escaped: false } => Ok(Cow::Borrowed(unquoted(self.text))),
            Kind::String { escaped: true } => unescape(unquoted(self.text)).map(Cow::Owned),
            _ => Err(self.expected("a string")),
        }
    }

    /// Copies the value.
    ///
    /// ```
    /// use recount_message::wire::Raw;
    ///
    /// assert_eq!(Raw::document(r#"{ "a": 1.0 }"#)?.to_value()?.as_raw(), r#"{"a":1.0}"#);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the value nests deeper than [`MAX_DEPTH`], or contains a lone surrogate.
    pub fn to_value(self) -> Result<Json, DecodeError> {
        Json::from_raw(self, MAX_DEPTH)
    }

    /// Returns the elements of an array.
    ///
    /// ```
    /// use recount_message::wire::Raw;
    ///
    /// assert_eq!(Raw::document("[[], []]")?.elements()?.count(), 2);
    /// # Ok::<(), recount_message::DecodeError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the value is not an array.
    pub fn elements(self) -> Result<Elements<'a>, DecodeError> {
        if self.kind != Kind::Array {
            return Err(self.expected("an array"));
        }
        let mut scanner = Scanner::new(self.text);
        scanner.at = 1;
        Ok(Elements { scanner, first: true })
    }
}

/// Returns the source text of a string without its quotes.
#[inline]
pub(crate) fn unquoted(text: &str) -> &str {
    text.get(1..text.len() - 1).unwrap_or_default()
}

/// The elements of an array that has been validated.
#[derive(Debug)]
pub struct Elements<'a> {
    scanner: Scanner<'a>,
    first: bool,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        self.scanner.skip_space();
        if self.scanner.peek() == Some(b']') {
            return None;
        }
        if !std::mem::replace(&mut self.first, false) {
            self.scanner.at += 1;
            self.scanner.skip_space();
        }
        self.scanner.value(MAX_DOCUMENT_DEPTH).ok()
    }
}

/// A cursor over a JSON text.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0 }
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8, what: &str) -> Result<(), DecodeError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.syntax(what))
        }
    }

    /// Checks that only white space is left.
    pub(crate) fn finish(&mut self) -> Result<(), DecodeError> {
        self.skip_space();
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.syntax("nothing after the value")) }
    }

    #[cold]
    fn syntax(&self, expected: &str) -> DecodeError {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(character) => format!("found {character:?}"),
            None => "the text ends".to_owned(),
        };
        DecodeError::new(DecodeErrorKind::Syntax, format!("not JSON: expected {expected} at byte {}, {found}", self.at))
    }

    fn since(&self, start: usize) -> &'a str {
        // Every token starts and ends at an ASCII byte, so the range is on character boundaries.
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Skips a key if it is next. `key` includes the bracket or comma before it and the colon after it. White space between them
    /// is allowed.
    #[inline]
    pub(crate) fn skip_key(&mut self, key: &str) -> bool {
        let found = self.skip(key) || self.skip_spaced_key(key);
        self.skip_space();
        found
    }

    #[inline(never)]
    fn skip_spaced_key(&mut self, key: &str) -> bool {
        let Some((before, quoted_name)) = key.trim_end_matches(':').split_at_checked(1) else { return false };
        let mut at = self.clone();
        for part in [before, quoted_name, ":"] {
            at.skip_space();
            if !at.skip(part) {
                return false;
            }
        }
        *self = at;
        true
    }

    /// Skips a word if it is next.
    #[inline]
    pub(crate) fn skip(&mut self, word: &str) -> bool {
        let found = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        if found {
            self.at += word.len();
        }
        found
    }

    /// Skips the end of the object and of the text.
    #[inline]
    pub(crate) fn skip_end(&mut self) -> bool {
        self.skip_space();
        self.skip("}") && self.finish().is_ok()
    }

    /// Scans an object and calls `each` with every key and value.
    #[inline]
    pub(crate) fn object(&mut self, depth: usize, mut each: impl FnMut(Raw<'a>, Raw<'a>)) -> Result<(), DecodeError> {
        self.expect(b'{', "an object")?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.skip_space();
            self.expect(b':', "':'")?;
            self.skip_space();
            let value = self.value(depth)?;
            each(key, value);
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.skip_space();
                }
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.syntax("',' or '}'")),
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), DecodeError> {
        self.expect(b'[', "an array")?;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.value(depth)?;
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.skip_space();
                }
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.syntax("',' or ']'")),
            }
        }
    }

    /// Scans one value of at most `depth` nested levels.
    #[inline]
    pub(crate) fn value(&mut self, depth: usize) -> Result<Raw<'a>, DecodeError> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'"') => return self.string(),
            Some(open @ (b'{' | b'[')) => {
                let Some(inner) = depth.checked_sub(1) else {
                    return Err(too_deep());
                };
                if open == b'{' {
                    self.object(inner, |_, _| ())?;
                    Kind::Object
                } else {
                    self.array(inner)?;
                    Kind::Array
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Kind::Number
            }
            Some(b't') => self.literal("true", Kind::Bool(true))?,
            Some(b'f') => self.literal("false", Kind::Bool(false))?,
            Some(b'n') => self.literal("null", Kind::Null)?,
            _ => return Err(self.syntax("a value")),
        };
        Ok(Raw { text: self.since(start), kind })
    }

    fn literal(&mut self, word: &str, kind: Kind) -> Result<Kind, DecodeError> {
        if self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            self.at += word.len();
            Ok(kind)
        } else {
            Err(self.syntax("a value"))
        }
    }

    fn number(&mut self) -> Result<(), DecodeError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.syntax("a digit")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), DecodeError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.syntax("a digit"));
        }
        self.digits();
        Ok(())
    }

    #[inline]
    pub(crate) fn string(&mut self) -> Result<Raw<'a>, DecodeError> {
        let start = self.at;
        self.expect(b'"', "a string")?;
        let mut escaped = false;
        loop {
            self.at = next_special(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Raw { text: self.since(start), kind: Kind::String { escaped } });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    self.escape()?;
                }
                Some(_) => return Err(self.syntax("no control character in a string")),
                None => return Err(self.syntax("'\"'")),
            }
        }
    }

    /// Scans and decodes a string. It is borrowed if it has no escapes.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        if self.peek() == Some(b'"') {
            let start = self.at + 1;
            let end = next_special(self.bytes, start);
            if self.bytes.get(end) == Some(&b'"')
                && let Some(text) = self.text.get(start..end)
            {
                self.at = end + 1;
                return Ok(Cow::Borrowed(text));
            }
        }
        self.escaped_text()
    }

    #[inline(never)]
    fn escaped_text(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        self.string()?.to_str()
    }

    /// Validates an escape after its backslash. Surrogates are validated when the string is decoded.
    fn escape(&mut self) -> Result<(), DecodeError> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                        return Err(self.syntax("four hexadecimal digits"));
                    }
                    self.at += 1;
                }
                Ok(())
            }
            _ => Err(self.syntax("an escape")),
        }
    }
}

#[cold]
pub(crate) fn too_deep() -> DecodeError {
    DecodeError::new(DecodeErrorKind::TooDeep, format!("nests deeper than {MAX_DEPTH}"))
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// Returns the position of the first quote, backslash or control character at or after `at`.
///
/// Most strings are short, so this function checks eight bytes at a time and calls another function for long strings.
#[inline]
pub(crate) fn next_special(bytes: &[u8], mut at: usize) -> usize {
    for _ in 0..8 {
        let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else { break };
        let hits = specials(u64::from_le_bytes(*chunk));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    next_special_far(bytes, at)
}

#[inline(never)]
fn next_special_far(bytes: &[u8], mut at: usize) -> usize {
    // No branches inside a chunk, so that the compiler vectorises the loop.
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<64>()) {
        if chunk.iter().fold(false, |found, &byte| found | is_special(byte)) {
            break;
        }
        at += 64;
    }
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let hits = specials(u64::from_le_bytes(*chunk));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if is_special(byte) {
            break;
        }
        at += 1;
    }
    at
}

/// Returns whether a text needs no escapes in a string.
#[inline]
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    if bytes.len() > 64 {
        return next_special(bytes, 0) == bytes.len();
    }
    let Some(last) = bytes.last_chunk::<8>() else { return !bytes.iter().any(|&byte| is_special(byte)) };
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().chain([last]).fold(0, |hits, word| hits | specials(u64::from_le_bytes(*word))) == 0
}

/// Returns whether a byte needs an escape in a string.
#[inline]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Checks eight bytes at once and returns the high bit of each special byte. Borrows can also set the bits of bytes after the
/// first special one, so only the first bit is reliable.
#[inline]
fn specials(word: u64) -> u64 {
    // With this bit flipped, the quote follows the control characters, and both are less than 0x21.
    let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslash = (word ^ (ONES * u64::from(b'\\'))).wrapping_sub(ONES);
    (quote_or_control | backslash) & !word & HIGH
}

/// Decodes the escapes of a string that has been validated.
pub(crate) fn unescape(text: &str) -> Result<String, DecodeError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut characters = after.chars();
        let resolved = match characters.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let (character, tail) = unicode_escape(characters.as_str())?;
                out.push(character);
                rest = tail;
                continue;
            }
            // A quote, a backslash and a slash are unchanged.
            Some(other) => other,
            None => break,
        };
        out.push(resolved);
        rest = characters.as_str();
    }
    out.push_str(rest);
    Ok(out)
}

/// Decodes the digits after `\u`, and a second escape if the first is half of a surrogate pair.
fn unicode_escape(text: &str) -> Result<(char, &str), DecodeError> {
    let (first, rest) = four_digits(text);
    if let Some(character) = char::from_u32(first) {
        return Ok((character, rest));
    }
    if (0xd800..0xdc00).contains(&first)
        && let Some(second_digits) = rest.strip_prefix("\\u")
    {
        let (second, tail) = four_digits(second_digits);
        if (0xdc00..0xe000).contains(&second) {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            if let Some(character) = char::from_u32(code) {
                return Ok((character, tail));
            }
        }
    }
    Err(DecodeError::new(
        DecodeErrorKind::LoneSurrogate,
        format!("the escape \\u{first:04x} is half of a surrogate pair without its other half"),
    ))
}

fn four_digits(text: &str) -> (u32, &str) {
    let (digits, rest) = text.split_at_checked(4).unwrap_or((text, ""));
    (u32::from_str_radix(digits, 16).unwrap_or_default(), rest)
}
