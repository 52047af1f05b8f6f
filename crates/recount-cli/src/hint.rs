//! Hints for lines that cannot be decoded.

use recount_message::{DecodeError, DecodeErrorKind, Object};

use crate::line::{has_no_type, is_message};

/// A line that cannot be decoded.
pub(crate) struct BadLine<'a> {
    pub(crate) line: &'a [u8],
    pub(crate) error: &'a DecodeError,
    /// Whether the input ends before the line break.
    pub(crate) is_unterminated: bool,
}

/// Guesses the format that the user passed instead of events. `None` if the line matches no known mistake.
pub(crate) fn hint(bad: &BadLine<'_>) -> Option<&'static str> {
    let line = bad.line.trim_ascii_start();
    let text = std::str::from_utf8(line).unwrap_or_default();
    match bad.error.kind() {
        DecodeErrorKind::Encoding if line.starts_with(b"\x1f\x8b") => {
            Some("this looks compressed; `gzip -dc` makes it readable")
        }
        DecodeErrorKind::Encoding if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") => {
            Some("this looks like UTF-16; `iconv -f UTF-16 -t UTF-8` makes it readable")
        }
        DecodeErrorKind::Missing if text.contains("\"replyId\"") => Some(
            "this looks like AgentScope Java's JSON; `recount convert --from java` translates it, and `fold`, `check` and `show` \
             read it with `--dialect java`",
        ),
        DecodeErrorKind::Missing if has_no_type(bad.error) && is_message(text) => {
            Some("this is a message, not an event; `recount show` and `recount check` take both")
        }
        DecodeErrorKind::Missing if has_no_type(bad.error) && is_checkpoint(text) => {
            Some("this is a checkpoint; `recount fold --resume` goes on from it")
        }
        DecodeErrorKind::Syntax if ["data:", "event:", "id:", ":"].iter().any(|start| text.starts_with(start)) => {
            Some("this looks like a server-sent event stream; `sed -n 's/^data: *//p'` takes the events out of it")
        }
        DecodeErrorKind::Syntax | DecodeErrorKind::WrongType if text.starts_with('[') => {
            Some("each event must be on a line of its own; `jq -c '.[]'` takes an array apart")
        }
        DecodeErrorKind::Syntax if text == "{" => {
            Some("each event must be on one line; `jq -c .` puts indented JSON on one")
        }
        DecodeErrorKind::Syntax if bad.is_unterminated && text.starts_with('{') => {
            Some("the input ends in the middle of this line")
        }
        _ => None,
    }
}

fn is_checkpoint(text: &str) -> bool {
    Object::parse(text).is_ok_and(|object| object.contains_key("cursor") && object.contains_key("replies"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use recount_message::Event;

    use super::*;

    #[track_caller]
    fn check(line: &[u8], is_unterminated: bool, expected: Option<&str>) {
        let error = Event::from_slice(line).unwrap_err();
        let hint = hint(&BadLine { line, error: &error, is_unterminated });
        match expected {
            Some(part) => assert!(hint.is_some_and(|hint| hint.contains(part)), "{hint:?}"),
            None => assert_eq!(hint, None),
        }
    }

    #[test]
    fn common_mistakes_get_a_hint() {
        check(b"\x1f\x8b\x08\x00\xff", false, Some("gzip"));
        check(b"\xff\xfe{\x00", false, Some("UTF-16"));
        check(br#"{"name":"Alice","role":"user","content":[]}"#, false, Some("recount show"));
        check(br#"{"type":"TEXT_BLOCK_START","replyId":"r","blockId":"b"}"#, false, Some("--dialect java"));
        check(br#"{"version":1,"cursor":"2","replies":[]}"#, false, Some("--resume"));
        check(br#"data: {"type":"REPLY_START"}"#, false, Some("server-sent"));
        check(b": heartbeat", false, Some("server-sent"));
        check(br#"[{"type":"REPLY_START"}]"#, false, Some("'.[]'"));
        check(b"[", false, Some("'.[]'"));
        check(b"{", false, Some("jq -c ."));
        check(br#"{"type":"REPLY_STA"#, true, Some("in the middle"));
    }

    #[test]
    fn other_lines_get_no_hint() {
        check(b"hello", false, None);
        check(br#"{"type":"REPLY_STA"#, false, None);
        check(br#"{"type":"REPLY_START"}"#, true, None);
        check(b"\xff", true, None);
    }
}
