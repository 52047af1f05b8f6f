//! Thinking in the text of a response, between `<think>` and `</think>`.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// A part of the parsed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ThinkPart {
    Thinking(String),
    Text(String),
}

/// Parses think tags in text that arrives in chunks of any size. Only a tag at the start of a response counts.
#[derive(Debug)]
pub(super) enum ThinkTags {
    /// At the start. `held` is white space and possibly the start of the opening tag.
    Start { held: String },
    /// Between the tags. `held` may be the start of the closing tag.
    Inside { held: String, has_content: bool },
    /// Right after the closing tag. White space there is not part of the text.
    AfterClose,
    /// The remaining text has no tags.
    Off,
}

impl ThinkTags {
    pub(super) fn new(enabled: bool) -> Self {
        if enabled { Self::Start { held: String::new() } } else { Self::Off }
    }

    pub(super) fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }

    /// Parses the next text.
    pub(super) fn push(&mut self, delta: &str, parts: &mut Vec<ThinkPart>) {
        match self {
            Self::Start { held } => {
                held.push_str(delta);
                let begun = held.trim_start();
                if let Some(thinking) = begun.strip_prefix(OPEN) {
                    let thinking = thinking.to_owned();
                    *self = Self::Inside { held: String::new(), has_content: false };
                    self.push(&thinking, parts);
                } else if !OPEN.starts_with(begun) {
                    parts.push(ThinkPart::Text(std::mem::take(held)));
                    *self = Self::Off;
                }
            }
            Self::Inside { held, has_content } => {
                held.push_str(delta);
                if let Some((thinking, text)) = held.split_once(CLOSE) {
                    let text = text.to_owned();
                    push_thinking(thinking, has_content, parts);
                    *self = Self::AfterClose;
                    self.push(&text, parts);
                } else {
                    let tail = held.split_off(held.len() - partial_tag(held, CLOSE));
                    push_thinking(held, has_content, parts);
                    *held = tail;
                }
            }
            Self::AfterClose => {
                let text = delta.trim_start();
                if !text.is_empty() {
                    parts.push(ThinkPart::Text(text.to_owned()));
                    *self = Self::Off;
                }
            }
            Self::Off if delta.is_empty() => {}
            Self::Off => parts.push(ThinkPart::Text(delta.to_owned())),
        }
    }

    /// Returns the buffered text, because the text ended or was interrupted. Thinking may continue afterwards.
    pub(super) fn flush(&mut self, parts: &mut Vec<ThinkPart>) {
        match self {
            Self::Start { held } => {
                let held = std::mem::take(held);
                if !held.is_empty() {
                    parts.push(ThinkPart::Text(held));
                    *self = Self::Off;
                }
            }
            Self::Inside { held, has_content } => {
                let held = std::mem::take(held);
                push_thinking(&held, has_content, parts);
            }
            Self::AfterClose | Self::Off => {}
        }
    }
}

/// Drops leading white space: models write a line break after the tag, or nothing else between the tags.
fn push_thinking(thinking: &str, has_content: &mut bool, parts: &mut Vec<ThinkPart>) {
    let thinking = if *has_content { thinking } else { thinking.trim_start() };
    if !thinking.is_empty() {
        *has_content = true;
        parts.push(ThinkPart::Thinking(thinking.to_owned()));
    }
}

/// Returns the number of bytes at the end of a text that may be the start of a tag.
pub(super) fn partial_tag(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| tag.get(..*length).is_some_and(|part| text.ends_with(part))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a text in chunks and returns the thinking in brackets, then the text.
    fn read(pieces: &[&str]) -> String {
        let mut tags = ThinkTags::new(true);
        let mut parts = Vec::new();
        for piece in pieces {
            tags.push(piece, &mut parts);
        }
        tags.flush(&mut parts);
        let mut thinking = String::new();
        let mut text = String::new();
        for part in parts {
            match part {
                ThinkPart::Thinking(part) => thinking.push_str(&part),
                ThinkPart::Text(part) => text.push_str(&part),
            }
        }
        format!("[{thinking}]{text}")
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
    fn parses_leading_tags() {
        check("<think>hmm</think>4", "[hmm]4");
        check("\n<think>\nhmm\n</think>\n\n4 < 5", "[hmm\n]4 < 5");
        check("<think>\n\n</think>\n\nHi", "[]Hi");
    }

    #[test]
    fn ignores_tags_after_the_start() {
        check("4 <think>no</think>", "[]4 <think>no</think>");
        check("<think>a</think>b<think>c</think>", "[a]b<think>c</think>");
        check("<thin", "[]<thin");
        check("<b>x</b>", "[]<b>x</b>");
        check(" \n", "[] \n");
    }

    #[test]
    fn unclosed_tag_is_thinking() {
        check("<think>hm", "[hm]");
        check("<think>hm</thi", "[hm</thi]");
        check("<think>a</b></thinks></think>", "[a</b></thinks>]");
    }

    #[test]
    fn disabled_parser_returns_text() {
        let mut parts = Vec::new();
        ThinkTags::new(false).push("<think>a</think>", &mut parts);
        assert_eq!(parts, [ThinkPart::Text("<think>a</think>".to_owned())]);
    }
}
