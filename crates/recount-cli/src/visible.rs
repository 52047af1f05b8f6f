//! Escapes control characters, so that text cannot control the terminal.

use std::borrow::Cow;

/// Escapes the characters that a terminal interprets, as in `\u{1b}`. Line breaks and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |character| is_dangerous(character) && !matches!(character, '\n' | '\t'))
}

/// Like [`visible`], but escapes line breaks and tabs too: the result is one line.
pub(crate) fn visible_line(text: &str) -> Cow<'_, str> {
    escape(text, is_dangerous)
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

fn is_dangerous(character: char) -> bool {
    match character {
        // Bidirectional controls: they reorder the text that follows.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Some terminals treat these as line breaks.
        '\u{2028}' | '\u{2029}' => true,
        // C0, DEL and C1, which start all control sequences.
        _ => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(visible(text), expected);
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        check("Grüße, 世界 🌍\n\tindented", "Grüße, 世界 🌍\n\tindented");
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn control_characters_are_escaped() {
        check("\x1b[2J", r"\u{1b}[2J");
        check("\u{9b}31m", r"\u{9b}31m");
        check("\x1b]0;title\x07", r"\u{1b}]0;title\u{7}");
        check("over\rwrite\x08\x7f", r"over\rwrite\u{8}\u{7f}");
        check("user\u{202e}txt.exe\u{2066}", r"user\u{202e}txt.exe\u{2066}");
    }

    #[test]
    fn visible_line_escapes_line_breaks_and_tabs() {
        assert_eq!(visible_line("a\nb\tc"), r"a\nb\tc");
    }
}
