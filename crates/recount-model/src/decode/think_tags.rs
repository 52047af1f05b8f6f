//! Thinking that a model writes into its text, between `<think>` and `</think>`.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What a text turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ThinkPart {
    Thinking(String),
    Text(String),
}

/// Finds the tags in text that comes in any pieces. They count only at the very start of a response.
#[derive(Debug)]
pub(super) enum ThinkTags {
    /// Nothing has been said but what is held: white space, and maybe the first part of the opening tag.
    Start { held: String },
    /// Between the tags. What is held may be the first part of the closing one.
    Inside { held: String, said_something: bool },
    /// Right after the closing tag, whose line break is not part of the text.
    AfterClose,
    /// The rest is text.
    Off,
}

impl ThinkTags {
    pub(super) fn new(enabled: bool) -> Self {
        if enabled { Self::Start { held: String::new() } } else { Self::Off }
    }

    pub(super) fn is_off(&self) -> bool {
        matches!(self, Self::Off)
    }

    /// Takes more of the text.
    pub(super) fn push(&mut self, delta: &str, said: &mut Vec<ThinkPart>) {
        match self {
            Self::Start { held } => {
                held.push_str(delta);
                let begun = held.trim_start();
                if let Some(thinking) = begun.strip_prefix(OPEN) {
                    let thinking = thinking.to_owned();
                    *self = Self::Inside { held: String::new(), said_something: false };
                    self.push(&thinking, said);
                } else if !OPEN.starts_with(begun) {
                    said.push(ThinkPart::Text(std::mem::take(held)));
                    *self = Self::Off;
                }
            }
            Self::Inside { held, said_something } => {
                held.push_str(delta);
                if let Some((thinking, text)) = held.split_once(CLOSE) {
                    let text = text.to_owned();
                    say_thinking(thinking, said_something, said);
                    *self = Self::AfterClose;
                    self.push(&text, said);
                } else {
                    let tail = held.split_off(held.len() - partial_tag(held, CLOSE));
                    say_thinking(held, said_something, said);
                    *held = tail;
                }
            }
            Self::AfterClose => {
                let text = delta.trim_start();
                if !text.is_empty() {
                    said.push(ThinkPart::Text(text.to_owned()));
                    *self = Self::Off;
                }
            }
            Self::Off if delta.is_empty() => {}
            Self::Off => said.push(ThinkPart::Text(delta.to_owned())),
        }
    }

    /// Gives out what is held, because the text is interrupted or over. Thinking may go on afterwards.
    pub(super) fn flush(&mut self, said: &mut Vec<ThinkPart>) {
        match self {
            Self::Start { held } => {
                let held = std::mem::take(held);
                if !held.is_empty() {
                    said.push(ThinkPart::Text(held));
                    *self = Self::Off;
                }
            }
            Self::Inside { held, said_something } => {
                let held = std::mem::take(held);
                say_thinking(&held, said_something, said);
            }
            Self::AfterClose | Self::Off => {}
        }
    }
}

/// Thinking begins with its first word: models put a line break after the tag, or only that between the tags.
fn say_thinking(thinking: &str, said_something: &mut bool, said: &mut Vec<ThinkPart>) {
    let thinking = if *said_something { thinking } else { thinking.trim_start() };
    if !thinking.is_empty() {
        *said_something = true;
        said.push(ThinkPart::Thinking(thinking.to_owned()));
    }
}

/// How many bytes at the end of a text may be the first part of a tag.
pub(super) fn partial_tag(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| tag.get(..*length).is_some_and(|part| text.ends_with(part))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a text in pieces: thinking in brackets, then text.
    fn read(pieces: &[&str]) -> String {
        let mut tags = ThinkTags::new(true);
        let mut said = Vec::new();
        for piece in pieces {
            tags.push(piece, &mut said);
        }
        tags.flush(&mut said);
        let mut thinking = String::new();
        let mut text = String::new();
        for part in said {
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
    fn a_pair_of_tags() {
        check("<think>hmm</think>4", "[hmm]4");
        check("\n<think>\nhmm\n</think>\n\n4 < 5", "[hmm\n]4 < 5");
        check("<think>\n\n</think>\n\nHi", "[]Hi");
    }

    #[test]
    fn only_at_the_start() {
        check("4 <think>no</think>", "[]4 <think>no</think>");
        check("<think>a</think>b<think>c</think>", "[a]b<think>c</think>");
        check("<thin", "[]<thin");
        check("<b>x</b>", "[]<b>x</b>");
        check(" \n", "[] \n");
    }

    #[test]
    fn an_open_end() {
        check("<think>hm", "[hm]");
        check("<think>hm</thi", "[hm</thi]");
        check("<think>a</b></thinks></think>", "[a</b></thinks>]");
    }

    #[test]
    fn switched_off() {
        let mut said = Vec::new();
        ThinkTags::new(false).push("<think>a</think>", &mut said);
        assert_eq!(said, [ThinkPart::Text("<think>a</think>".to_owned())]);
    }
}
