//! A parser for streams of server-sent events (`text/event-stream`).
//!
//! ```
//! use recount_model::sse::{EventTooLarge, SseParser};
//!
//! let mut parser = SseParser::new(1 << 20);
//! let mut events = Vec::new();
//! for chunk in ["event: gre", "eting\nid: 7\ndata: Hel", "lo\n\n"] {
//!     parser.push(chunk.as_bytes(), |event| {
//!         events.push((event.name.map(<[u8]>::to_vec), event.data.map(<[u8]>::to_vec)));
//!         Ok::<_, EventTooLarge>(())
//!     })?;
//! }
//! assert_eq!(events, [(Some(b"greeting".to_vec()), Some(b"Hello".to_vec()))]);
//! # Ok::<(), EventTooLarge>(())
//! ```

use memchr::memchr2;

/// One server-sent event: the fields between two empty lines.
///
/// All values are bytes as received; the format requires UTF-8, but the parser does not check it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The value of the last `event` field. `None` if there is none.
    pub name: Option<&'a [u8]>,
    /// The value of the last `id` field. `None` if there is none.
    pub id: Option<&'a [u8]>,
    /// The values of all `data` fields, joined by line feeds. `None` if there is none.
    pub data: Option<&'a [u8]>,
    /// The text of the last comment. `None` if there is none.
    pub comment: Option<&'a [u8]>,
}

/// An event was larger than the limit of the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a server-sent event is larger than {limit} bytes")]
pub struct EventTooLarge {
    /// The limit, in bytes of data.
    pub limit: usize,
}

/// Splits bytes that arrive in chunks of any size into server-sent events.
///
/// Lines may end with a line feed, a carriage return, or both. Unlike a browser's `EventSource`, the parser also emits events
/// without data, because their ids and comments can matter to the client.
#[derive(Debug)]
pub struct SseParser {
    /// The last line, if its end has not arrived.
    partial_line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a line feed belongs to the same line end.
    after_carriage_return: bool,
    event: PendingEvent,
    format: DetectedFormat,
    max_event_bytes: usize,
}

/// Whether the stream looks like server-sent events at all. A proxy may have replaced it by an HTML page or plain text.
#[derive(Debug)]
enum DetectedFormat {
    Undecided,
    EventStream,
    /// The beginning of the first line, which has no known field name.
    Other(String),
}

/// The fields since the last empty line.
#[derive(Debug, Default)]
struct PendingEvent {
    name: FieldBuffer,
    id: FieldBuffer,
    data: FieldBuffer,
    comment: FieldBuffer,
}

/// A value whose buffer is reused for later events.
#[derive(Debug, Default)]
struct FieldBuffer {
    value: Vec<u8>,
    is_set: bool,
}

impl SseParser {
    /// Creates a parser that rejects events with more than `max_event_bytes` bytes of data.
    #[must_use]
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            partial_line: Vec::new(),
            after_carriage_return: false,
            event: PendingEvent::default(),
            format: DetectedFormat::Undecided,
            max_event_bytes,
        }
    }

    /// Parses the next bytes and passes each event that they complete to `on_event`.
    ///
    /// # Errors
    ///
    /// [`EventTooLarge`], or the error of `on_event`. The parser must not be used after an error.
    pub fn push<E: From<EventTooLarge>>(
        &mut self,
        bytes: &[u8],
        mut on_event: impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = bytes;
        // Most events have one line of data that arrives in one chunk; it is passed on without being copied.
        let mut borrowed = None;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_carriage_return) && *first == b'\n' {
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let Some(at) = memchr2(b'\n', b'\r', rest) else {
                self.partial_line.extend_from_slice(rest);
                break;
            };
            let (line, end) = rest.split_at(at);
            self.check_line(self.partial_line.len().saturating_add(line.len()))?;
            self.after_carriage_return = end.first() == Some(&b'\r');
            rest = end.get(1..).unwrap_or_default();
            if self.partial_line.is_empty() {
                self.format.update(line);
                self.event.line(line, &mut borrowed, &mut on_event)?;
            } else {
                self.partial_line.extend_from_slice(line);
                let mut whole = std::mem::take(&mut self.partial_line);
                let mut from_whole = None;
                self.format.update(&whole);
                self.event.keep(borrowed.take());
                self.event.line(&whole, &mut from_whole, &mut on_event)?;
                self.event.keep(from_whole);
                whole.clear();
                self.partial_line = whole;
            }
            self.check_data(borrowed)?;
        }
        self.event.keep(borrowed);
        self.check_line(self.partial_line.len())?;
        Ok(())
    }

    /// Ends the stream. Passes the last event to `on_event` if the empty line after it is missing.
    ///
    /// The HTML standard discards such an event, because it may be incomplete. The caller has to check it.
    ///
    /// # Errors
    ///
    /// The error of `on_event`.
    pub fn finish<E>(&mut self, mut on_event: impl FnMut(SseEvent<'_>) -> Result<(), E>) -> Result<(), E> {
        let line = std::mem::take(&mut self.partial_line);
        let mut borrowed = None;
        if !line.is_empty() {
            self.format.update(&line);
            self.event.line(&line, &mut borrowed, &mut on_event)?;
        }
        self.event.dispatch(borrowed, &mut on_event)
    }

    /// Returns the beginning of the first line if no line so far was a comment or a known field. The stream is then probably
    /// not a stream of events.
    #[must_use]
    pub fn unrecognized_line(&self) -> Option<&str> {
        match &self.format {
            DetectedFormat::Other(line) => Some(line),
            DetectedFormat::Undecided | DetectedFormat::EventStream => None,
        }
    }

    /// A line holds the name of a field beside its value, or a comment.
    fn check_line(&self, length: usize) -> Result<(), EventTooLarge> {
        self.check(length, self.max_event_bytes.saturating_add("data: ".len()))
    }

    fn check_data(&self, borrowed: Option<&[u8]>) -> Result<(), EventTooLarge> {
        let length = self.event.data.value.len().saturating_add(borrowed.map_or(0, <[u8]>::len));
        self.check(length, self.max_event_bytes)
    }

    fn check(&self, length: usize, max: usize) -> Result<(), EventTooLarge> {
        if length > max { Err(EventTooLarge { limit: self.max_event_bytes }) } else { Ok(()) }
    }
}

impl DetectedFormat {
    fn update(&mut self, line: &[u8]) {
        const FIELDS: [&[u8]; 4] = [b"data", b"event", b"id", b"retry"];
        if matches!(self, Self::EventStream) || line.is_empty() {
            return;
        }
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        // The last line may have been cut off in the middle of a name. A comment has an empty name.
        if FIELDS.iter().any(|field| field.starts_with(name)) {
            *self = Self::EventStream;
        } else if matches!(self, Self::Undecided) {
            *self = Self::Other(String::from_utf8_lossy(line).chars().take(60).collect());
        }
    }
}

impl PendingEvent {
    /// Parses a line without its end. The first line of data is left in `borrowed` instead of being copied.
    fn line<'b, E>(
        &mut self,
        line: &'b [u8],
        borrowed: &mut Option<&'b [u8]>,
        on_event: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if line.is_empty() {
            return self.dispatch(borrowed.take(), on_event);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => {
                let (field, value) = line.split_at(at);
                (field, value.strip_prefix(b": ").or_else(|| value.strip_prefix(b":")).unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"data" if !self.data.is_set => {
                self.data.is_set = true;
                *borrowed = Some(value);
            }
            b"data" => {
                self.keep(borrowed.take());
                self.data.value.push(b'\n');
                self.data.value.extend_from_slice(value);
            }
            b"event" => self.name.set(value),
            b"id" => self.id.set(value),
            b"" => self.comment.set(value),
            // `retry` and unknown fields.
            _ => {}
        }
        Ok(())
    }

    /// Copies the first line of data, because another line follows or the chunk ends.
    fn keep(&mut self, borrowed: Option<&[u8]>) {
        if let Some(data) = borrowed {
            self.data.value.extend_from_slice(data);
        }
    }

    fn dispatch<E>(
        &mut self,
        borrowed: Option<&[u8]>,
        on_event: &mut impl FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let data = self.data.get().map(|kept| borrowed.unwrap_or(kept));
        let event = SseEvent { name: self.name.get(), id: self.id.get(), data, comment: self.comment.get() };
        let is_empty = event == SseEvent { name: None, id: None, data: None, comment: None };
        let outcome = if is_empty { Ok(()) } else { on_event(event) };
        for field in [&mut self.name, &mut self.id, &mut self.data, &mut self.comment] {
            field.clear();
        }
        outcome
    }
}

impl FieldBuffer {
    fn set(&mut self, value: &[u8]) {
        self.clear();
        self.value.extend_from_slice(value);
        self.is_set = true;
    }

    fn get(&self) -> Option<&[u8]> {
        self.is_set.then_some(self.value.as_slice())
    }

    fn clear(&mut self) {
        self.value.clear();
        self.is_set = false;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Parses a stream in chunks of `size` bytes. Each event is written as `name|id|data|comment`, with `-` for `None`.
    fn parse(stream: &str, size: usize) -> Vec<String> {
        let mut events = Vec::new();
        let mut parser = SseParser::new(1_000);
        let mut on_event = |event: SseEvent<'_>| {
            let text =
                |value: Option<&[u8]>| value.map_or("-".into(), |value| String::from_utf8_lossy(value).into_owned());
            let fields = [event.name, event.id, event.data, event.comment].map(text);
            events.push(fields.join("|"));
            Ok::<_, EventTooLarge>(())
        };
        for chunk in stream.as_bytes().chunks(size) {
            parser.push(chunk, &mut on_event).unwrap();
        }
        parser.finish(&mut on_event).unwrap();
        events
    }

    #[track_caller]
    fn check(stream: &str, expected: &[&str]) {
        for size in 1..=stream.len() {
            assert_eq!(parse(stream, size), expected, "in chunks of {size} bytes");
        }
    }

    #[test]
    fn parses_every_field_in_chunks_of_any_size() {
        check("event: a\nid: 1.2\ndata: {\"x\":1}\n\nid\ndata:b\n\n", &["a|1.2|{\"x\":1}|-", "-||b|-"]);
        check("data: a\ndata\ndata:  b\nretry: 7\nother: x\n\n", &["-|-|a\n\n b|-"]);
    }

    #[test]
    fn emits_events_without_data() {
        check(":\n\n: live\nid: 1.1\n\nevent: a\n\n\n", &["-|-|-|", "-|1.1|-|live", "a|-|-|-"]);
    }

    #[test]
    fn accepts_every_line_ending() {
        for end in ["\n", "\r\n", "\r"] {
            check(&["id: 1", "data: a", "", "data: b", "", ""].join(end), &["-|1|a|-", "-|-|b|-"]);
        }
    }

    #[test]
    fn finish_emits_an_unterminated_event() {
        check("data: a\n\ndata: b", &["-|-|a|-", "-|-|b|-"]);
    }

    #[test]
    fn rejects_events_above_the_limit() {
        let streams = [format!("data: {}", "x".repeat(11)), "data: 01234\n".repeat(3), format!(": {}", "x".repeat(20))];
        for stream in streams {
            let pushed = SseParser::new(10).push(stream.as_bytes(), |_| Ok(()));
            assert_eq!(pushed, Err(EventTooLarge { limit: 10 }), "{stream}");
        }
        assert_eq!(SseParser::new(10).push(b"data: 0123456789\n\n", |_| Ok(())), Ok::<_, EventTooLarge>(()));
    }

    #[test]
    fn reports_the_first_line_of_another_format() {
        for (stream, line) in [("<html>\n<p>", Some("<html>")), ("hello\n: x\n", None), ("\ndat", None)] {
            let mut parser = SseParser::new(1_000);
            parser.push(stream.as_bytes(), |_| Ok::<_, EventTooLarge>(())).unwrap();
            parser.finish(|_| Ok::<_, EventTooLarge>(())).unwrap();
            assert_eq!(parser.unrecognized_line(), line, "{stream}");
        }
    }
}
