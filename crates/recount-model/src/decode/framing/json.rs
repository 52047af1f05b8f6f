//! JSON values one after the other: lines, the elements of one array, or a single body.

use memchr::memchr2;

use super::super::error::CallError;
use super::{Each, Frame};

#[derive(Debug)]
pub(super) struct JsonFrames {
    /// The beginning of a value whose end has not come.
    value: Vec<u8>,
    /// How many brackets and braces of the value are open.
    depth: usize,
    place: Place,
    /// Whether the first value was the bracket of an array, whose elements are the frames.
    list: List,
    max_frame: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    BetweenValues,
    InValue,
    InString,
    AfterBackslash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Undecided,
    Yes,
    No,
}

impl JsonFrames {
    pub(super) fn new(max_frame: usize) -> Self {
        Self { value: Vec::new(), depth: 0, place: Place::BetweenValues, list: List::Undecided, max_frame }
    }

    pub(super) fn push(&mut self, bytes: &[u8], each: Each<'_>) -> Result<(), CallError> {
        // Where the part of the value begins that is in these bytes.
        let mut start = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.place {
                Place::AfterBackslash => self.place = Place::InString,
                Place::InString => match memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
                    None => {
                        at = bytes.len();
                        break;
                    }
                    Some(found) => {
                        at += found;
                        let quote = bytes.get(at) == Some(&b'"');
                        self.place = if quote { Place::InValue } else { Place::AfterBackslash };
                        if quote && self.depth == 0 {
                            self.end(bytes.get(start..=at).unwrap_or_default(), each)?;
                        }
                    }
                },
                Place::BetweenValues => {
                    if self.begins(byte) {
                        start = at;
                        self.place = Place::InValue;
                        continue;
                    }
                }
                Place::InValue => match byte {
                    b'"' => self.place = Place::InString,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' if self.depth > 1 => self.depth -= 1,
                    b'}' | b']' if self.depth == 1 => {
                        self.depth = 0;
                        self.end(bytes.get(start..=at).unwrap_or_default(), each)?;
                    }
                    b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' if self.depth == 0 => {
                        self.end(bytes.get(start..at).unwrap_or_default(), each)?;
                    }
                    _ => {}
                },
            }
            at += 1;
        }
        if self.place != Place::BetweenValues {
            self.value.extend_from_slice(bytes.get(start..at).unwrap_or_default());
        }
        self.check_size(self.value.len())
    }

    /// Whether a value begins with this byte, which stands between two.
    fn begins(&mut self, byte: u8) -> bool {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => false,
            b'[' if self.list == List::Undecided => {
                self.list = List::Yes;
                false
            }
            b']' if self.list == List::Yes => false,
            _ => {
                if self.list == List::Undecided {
                    self.list = List::No;
                }
                true
            }
        }
    }

    /// A value ends with these bytes.
    fn end(&mut self, last: &[u8], each: Each<'_>) -> Result<(), CallError> {
        self.place = Place::BetweenValues;
        self.check_size(self.value.len().saturating_add(last.len()))?;
        if self.value.is_empty() {
            return each(Frame::new(last));
        }
        self.value.extend_from_slice(last);
        let outcome = each(Frame::new(&self.value));
        self.value.clear();
        outcome
    }

    /// A value that breaks off is no frame.
    pub(super) fn finish(&mut self, each: Each<'_>) -> Result<(), CallError> {
        if self.place == Place::InValue && self.depth == 0 { self.end(b"", each) } else { Ok(()) }
    }

    fn check_size(&self, size: usize) -> Result<(), CallError> {
        if size > self.max_frame { Err(CallError::too_large("an event", self.max_frame)) } else { Ok(()) }
    }
}
