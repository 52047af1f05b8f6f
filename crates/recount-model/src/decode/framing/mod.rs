//! Splits a response into frames.
//!
//! A frame is the data of a server-sent event, a line of NDJSON, an element of a JSON array, or a single JSON body. The
//! first byte decides: JSON starts with a brace or a bracket, which no line of server-sent events does.

mod json;

use serde::de::IgnoredAny;

use super::error::CallError;
use crate::sse::{EventTooLarge, SseEvent, SseParser};
use json::JsonFrames;

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// One frame of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) data: &'a [u8],
    /// Whether the frame is a server-sent event with the name `error`.
    pub(super) is_error: bool,
}

impl<'a> Frame<'a> {
    fn new(data: &'a [u8]) -> Self {
        Self { data, is_error: false }
    }

    /// Whether the data is one complete value.
    fn is_complete(&self) -> bool {
        self.data == b"[DONE]" || serde_json::from_slice::<IgnoredAny>(self.data).is_ok()
    }
}

/// Returns the frame of an event. `None` if the event has no data, such as a keep-alive comment.
fn sse_frame(event: SseEvent<'_>) -> Option<Frame<'_>> {
    Some(Frame { data: event.data?, is_error: event.name == Some(b"error") })
}

impl From<EventTooLarge> for CallError {
    fn from(error: EventTooLarge) -> Self {
        Self::too_large("an event of the response", error.limit)
    }
}

/// Receives each frame.
pub(super) type OnFrame<'e> = &'e mut dyn FnMut(Frame<'_>) -> Result<(), CallError>;

/// Splits bytes into frames.
#[derive(Debug)]
pub(super) struct Framing {
    kind: Kind,
    max_frame: usize,
}

#[derive(Debug)]
enum Kind {
    /// Only white space and this many bytes of a byte order mark have arrived.
    Start(usize),
    Sse(SseParser),
    Json(JsonFrames),
}

impl Framing {
    pub(super) fn new(max_frame: usize) -> Self {
        Self { kind: Kind::Start(0), max_frame }
    }

    pub(super) fn push(&mut self, bytes: &[u8], on_frame: OnFrame<'_>) -> Result<(), CallError> {
        match &mut self.kind {
            Kind::Start(marks) => {
                let Some((kind, rest)) = detect(bytes, marks, self.max_frame) else { return Ok(()) };
                self.kind = kind;
                self.push(rest, on_frame)
            }
            Kind::Sse(parser) => parser.push(bytes, |event| sse_frame(event).map_or(Ok(()), &mut *on_frame)),
            Kind::Json(frames) => frames.push(bytes, on_frame),
        }
    }

    /// Ends the response. The remaining bytes are a frame if they are complete.
    pub(super) fn finish(&mut self, on_frame: OnFrame<'_>) -> Result<(), CallError> {
        match &mut self.kind {
            Kind::Start(_) => Ok(()),
            Kind::Sse(parser) => {
                parser.finish(|event| sse_frame(event).filter(Frame::is_complete).map_or(Ok(()), &mut *on_frame))?;
                match parser.unrecognized_line() {
                    Some(line) => Err(CallError::malformed(format!(
                        "the response is neither a stream of events nor JSON: {line:?}"
                    ))),
                    None => Ok(()),
                }
            }
            Kind::Json(frames) => frames.finish(on_frame),
        }
    }
}

/// Detects the kind of response, and returns it with the bytes that belong to it. `None` if more bytes are needed.
fn detect<'b>(bytes: &'b [u8], marks: &mut usize, max_frame: usize) -> Option<(Kind, &'b [u8])> {
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        if BYTE_ORDER_MARK.get(*marks) == Some(&first) {
            *marks += 1;
        } else if !first.is_ascii_whitespace() {
            let kind = match first {
                b'{' | b'[' => Kind::Json(JsonFrames::new(max_frame)),
                _ => Kind::Sse(SseParser::new(max_frame)),
            };
            return Some((kind, rest));
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the frames of a text that arrives in chunks of `step` bytes.
    fn frames(text: &[u8], step: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut framing = Framing::new(1_000);
        let mut on_frame = |frame: Frame<'_>| {
            let mark = if frame.is_error { "!" } else { "" };
            found.push(format!("{mark}{}", String::from_utf8_lossy(frame.data)));
            Ok(())
        };
        for piece in text.chunks(step) {
            framing.push(piece, &mut on_frame).unwrap();
        }
        framing.finish(&mut on_frame).unwrap();
        found
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        for step in 1..=text.len().max(1) {
            assert_eq!(frames(text.as_bytes(), step), expected, "in chunks of {step} bytes");
        }
    }

    #[test]
    fn accepts_every_line_ending() {
        for end in ["\n", "\r\n", "\r"] {
            check(&["data: a", "", "data: b", "", ""].join(end), &["a", "b"]);
        }
        check("data: a\r\rdata: b\n\n", &["a", "b"]);
    }

    #[test]
    fn joins_data_lines() {
        check("data: {\ndata: \"a\":1}\n\n", &["{\n\"a\":1}"]);
        check("data\ndata: x\n\n", &["\nx"]);
    }

    #[test]
    fn skips_comments_and_other_fields() {
        check(": keep-alive\n\nevent: ping\nid: 7\nretry: 3\ndata:a\n\nunknown: x\n\n", &["a"]);
        check("event: error\ndata: a\n\ndata: b\n\n", &["!a", "b"]);
    }

    #[test]
    fn strips_one_space_after_colon() {
        check("data:  a\n\ndata:b\n\n", &[" a", "b"]);
    }

    #[test]
    fn skips_byte_order_mark() {
        check("\u{feff}data: a\n\n", &["a"]);
        check("\u{feff}{\"a\":1}", &["{\"a\":1}"]);
    }

    #[test]
    fn accepts_complete_last_event_without_empty_line() {
        check("data: {\"a\":1}", &["{\"a\":1}"]);
        check("data: {\"a\":1}\n", &["{\"a\":1}"]);
        check("data: [DONE]", &["[DONE]"]);
        check("data: {\"a\":", &[]);
    }

    #[test]
    fn splits_ndjson() {
        check("{\"a\":1}\n{\"b\":\"}\\\"{\"}\r\n\n{\"c\":[1]}", &["{\"a\":1}", "{\"b\":\"}\\\"{\"}", "{\"c\":[1]}"]);
        check("{\"a\":1}\n[DONE]\n", &["{\"a\":1}", "[DONE]"]);
    }

    #[test]
    fn accepts_multiline_body() {
        check("{\n  \"a\": {\n    \"b\": []\n  }\n}\n", &["{\n  \"a\": {\n    \"b\": []\n  }\n}"]);
    }

    #[test]
    fn splits_json_array() {
        check("[{\"a\":1},\n {\"b\":2}\n, \"[DONE]\"]\n", &["{\"a\":1}", "{\"b\":2}", "\"[DONE]\""]);
        check("[]", &[]);
        check("[[1],2]", &["[1]", "2"]);
    }

    #[test]
    fn drops_truncated_json() {
        check("{\"a\":1}\n{\"b\":", &["{\"a\":1}"]);
        check("[{\"a\":1},{\"b", &["{\"a\":1}"]);
    }

    #[test]
    fn rejects_oversized_frames() {
        for text in [format!("data: {}", "x".repeat(2_000)), format!("{{\"{}", "x".repeat(2_000))] {
            for step in [1, 100, 5_000] {
                let mut framing = Framing::new(1_000);
                let outcome: Result<(), CallError> =
                    text.as_bytes().chunks(step).try_for_each(|part| framing.push(part, &mut |_| Ok(())));
                assert_eq!(outcome.unwrap_err().kind(), crate::decode::CallErrorKind::TooLarge);
            }
        }
        let lines = "data: 0123456789\n".repeat(100);
        let outcome = Framing::new(1_000).push(lines.as_bytes(), &mut |_| Ok(()));
        assert_eq!(outcome.unwrap_err().kind(), crate::decode::CallErrorKind::TooLarge);
    }
}
