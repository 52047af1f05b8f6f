//! Concatenated JSON values: lines, the elements of an array, or a single body.

use memchr::memchr2;

use super::super::error::CallError;
use super::{Frame, OnFrame};

#[derive(Debug)]
pub(super) struct JsonFrames {
    /// The beginning of an incomplete value.
    value: Vec<u8>,
    /// The nesting depth inside the value.
    depth: usize,
    state: State,
    /// Whether the values are the elements of an array.
    array: ArrayMode,
    max_frame: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    BetweenValues,
    InValue,
    InString,
    AfterBackslash,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArrayMode {
    Undecided,
    Yes,
    No,
}

impl JsonFrames {
    pub(super) fn new(max_frame: usize) -> Self {
        Self { value: Vec::new(), depth: 0, state: State::BetweenValues, array: ArrayMode::Undecided, max_frame }
    }

    pub(super) fn push(&mut self, bytes: &[u8], on_frame: OnFrame<'_>) -> Result<(), CallError> {
        // The start of the current value within `bytes`.
        let mut start = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.state {
                State::AfterBackslash => self.state = State::InString,
                State::InString => match memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
                    None => {
                        at = bytes.len();
                        break;
                    }
                    Some(found) => {
                        at += found;
                        let quote = bytes.get(at) == Some(&b'"');
                        self.state = if quote { State::InValue } else { State::AfterBackslash };
                        if quote && self.depth == 0 {
                            self.end(bytes.get(start..=at).unwrap_or_default(), on_frame)?;
                        }
                    }
                },
                State::BetweenValues => {
                    if self.begins(byte) {
                        start = at;
                        self.state = State::InValue;
                        continue;
                    }
                }
                State::InValue => match byte {
                    b'"' => self.state = State::InString,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' if self.depth > 1 => self.depth -= 1,
                    b'}' | b']' if self.depth == 1 => {
                        self.depth = 0;
                        self.end(bytes.get(start..=at).unwrap_or_default(), on_frame)?;
                    }
                    b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' if self.depth == 0 => {
                        self.end(bytes.get(start..at).unwrap_or_default(), on_frame)?;
                    }
                    _ => {}
                },
            }
            at += 1;
        }
        if self.state != State::BetweenValues {
            self.value.extend_from_slice(bytes.get(start..at).unwrap_or_default());
        }
        self.check_size(self.value.len())
    }

    /// Whether a byte between two values starts a value.
    fn begins(&mut self, byte: u8) -> bool {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => false,
            b'[' if self.array == ArrayMode::Undecided => {
                self.array = ArrayMode::Yes;
                false
            }
            b']' if self.array == ArrayMode::Yes => false,
            _ => {
                if self.array == ArrayMode::Undecided {
                    self.array = ArrayMode::No;
                }
                true
            }
        }
    }

    /// Ends a value whose last bytes are given.
    fn end(&mut self, last: &[u8], on_frame: OnFrame<'_>) -> Result<(), CallError> {
        self.state = State::BetweenValues;
        self.check_size(self.value.len().saturating_add(last.len()))?;
        if self.value.is_empty() {
            return on_frame(Frame::new(last));
        }
        self.value.extend_from_slice(last);
        let outcome = on_frame(Frame::new(&self.value));
        self.value.clear();
        outcome
    }

    /// Ends the stream. An incomplete value is dropped.
    pub(super) fn finish(&mut self, on_frame: OnFrame<'_>) -> Result<(), CallError> {
        if self.state == State::InValue && self.depth == 0 { self.end(b"", on_frame) } else { Ok(()) }
    }

    fn check_size(&self, size: usize) -> Result<(), CallError> {
        if size > self.max_frame {
            Err(CallError::too_large("an event of the response", self.max_frame))
        } else {
            Ok(())
        }
    }
}
