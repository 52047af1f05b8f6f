//! Server-sent events, as the HTML standard cuts them.

use memchr::memchr2;
use serde::de::IgnoredAny;

use super::super::error::CallError;
use super::{Each, Frame};

#[derive(Debug)]
pub(super) struct SseFrames {
    /// A line whose end has not come.
    line: Vec<u8>,
    event: Event,
    /// Whether the last byte was a carriage return, so that a line feed belongs to it.
    after_return: bool,
    /// The beginning of a line that no server-sent event has, as long as nothing else has come.
    strange: Strange,
    max_frame: usize,
}

/// Whether this is a stream of events at all. Where there is a proxy between, it may be a page or a sentence.
#[derive(Debug)]
enum Strange {
    NothingYet,
    Line(String),
    No,
}

/// The event whose empty line has not come.
#[derive(Debug, Default)]
struct Event {
    data: Vec<u8>,
    has_data: bool,
    is_error: bool,
}

impl SseFrames {
    pub(super) fn new(max_frame: usize) -> Self {
        Self { line: Vec::new(), event: Event::default(), after_return: false, strange: Strange::NothingYet, max_frame }
    }

    pub(super) fn push(&mut self, bytes: &[u8], each: Each<'_>) -> Result<(), CallError> {
        let mut rest = bytes;
        // Most events are one line that came whole: its data stays where it is.
        let mut borrowed = None;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let Some(at) = memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                break;
            };
            let (line, end) = rest.split_at(at);
            self.check_line(self.line.len().saturating_add(line.len()))?;
            self.after_return = end.first() == Some(&b'\r');
            rest = end.get(1..).unwrap_or_default();
            if self.line.is_empty() {
                self.strange.look_at(line);
                self.event.line(line, &mut borrowed, each)?;
            } else {
                self.line.extend_from_slice(line);
                let mut whole = std::mem::take(&mut self.line);
                let mut own = None;
                self.strange.look_at(&whole);
                self.event.keep(borrowed.take());
                self.event.line(&whole, &mut own, each)?;
                self.event.keep(own);
                whole.clear();
                self.line = whole;
            }
            self.event.check_size(borrowed, self.max_frame)?;
        }
        self.event.keep(borrowed);
        self.check_line(self.line.len())
    }

    pub(super) fn finish(&mut self, each: Each<'_>) -> Result<(), CallError> {
        let line = std::mem::take(&mut self.line);
        let mut own = None;
        if !line.is_empty() {
            self.strange.look_at(&line);
            self.event.line(&line, &mut own, each)?;
        }
        self.event.keep(own);
        let event = std::mem::take(&mut self.event);
        let is_whole = event.data == b"[DONE]" || serde_json::from_slice::<IgnoredAny>(&event.data).is_ok();
        match &self.strange {
            Strange::Line(line) => {
                Err(CallError::malformed(format!("the response is neither a stream of events nor JSON: {line:?}")))
            }
            _ if is_whole => each(Frame { data: &event.data, is_error: event.is_error }),
            _ => Ok(()),
        }
    }

    /// A line is the name of a field beside its value, or a comment.
    fn check_line(&self, length: usize) -> Result<(), CallError> {
        let longest = self.max_frame.saturating_add("data: ".len());
        if length > longest { Err(CallError::too_large("an event", self.max_frame)) } else { Ok(()) }
    }
}

impl Strange {
    fn look_at(&mut self, line: &[u8]) {
        const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];
        if matches!(self, Self::No) || line.is_empty() {
            return;
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        // The last line may have been cut off in the middle of a name. A comment has none.
        if FIELDS.iter().any(|field| field.starts_with(name)) {
            *self = Self::No;
        } else if matches!(self, Self::NothingYet) {
            *self = Self::Line(String::from_utf8_lossy(line).chars().take(60).collect());
        }
    }
}

impl Event {
    /// Takes a line without its end. The first line of data is not copied but left in `borrowed`.
    fn line<'b>(&mut self, line: &'b [u8], borrowed: &mut Option<&'b [u8]>, each: Each<'_>) -> Result<(), CallError> {
        if line.is_empty() {
            return self.dispatch(borrowed.take(), each);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => {
                let (field, value) = line.split_at(at);
                (field, value.strip_prefix(b": ").or_else(|| value.strip_prefix(b":")).unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"data" if !self.has_data => {
                self.has_data = true;
                *borrowed = Some(value);
            }
            b"data" => {
                self.keep(borrowed.take());
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
            }
            b"event" => self.is_error = value == b"error",
            // A comment has an empty name. Ids and waiting times are for readers that come back.
            _ => {}
        }
        Ok(())
    }

    /// Copies the first line of data, because more comes or the bytes go.
    fn keep(&mut self, borrowed: Option<&[u8]>) {
        if let Some(data) = borrowed {
            self.data.extend_from_slice(data);
        }
    }

    fn dispatch(&mut self, borrowed: Option<&[u8]>, each: Each<'_>) -> Result<(), CallError> {
        let is_error = std::mem::take(&mut self.is_error);
        if !std::mem::take(&mut self.has_data) {
            return Ok(());
        }
        let data = borrowed.unwrap_or(&self.data);
        let outcome = each(Frame { data, is_error });
        self.data.clear();
        outcome
    }

    fn check_size(&self, borrowed: Option<&[u8]>, max_frame: usize) -> Result<(), CallError> {
        let size = self.data.len().saturating_add(borrowed.map_or(0, <[u8]>::len));
        if size > max_frame { Err(CallError::too_large("an event", max_frame)) } else { Ok(()) }
    }
}
