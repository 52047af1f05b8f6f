//! Text that cannot drive the terminal.

use std::borrow::Cow;

/// Writes the characters that a terminal would act on as escapes, such as `\u{1b}`. Line breaks and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, |character| is_dangerous(character) && !matches!(character, '\n' | '\t'))
}

/// The same for a text that must stay on its line.
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
        // They change the direction of what follows, so that a text reads differently from what it says.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        // Some terminals take them for line breaks.
        '\u{2028}' | '\u{2029}' => true,
        // C0, DEL and C1, which begin every control sequence.
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
    fn leaves_ordinary_text_alone() {
        check("Grüße, 世界 🌍\n\tindented", "Grüße, 世界 🌍\n\tindented");
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn shows_what_would_drive_the_terminal() {
        check("\x1b[2J", r"\u{1b}[2J");
        check("\u{9b}31m", r"\u{9b}31m");
        check("\x1b]0;title\x07", r"\u{1b}]0;title\u{7}");
        check("over\rwrite\x08\x7f", r"over\rwrite\u{8}\u{7f}");
        check("user\u{202e}txt.exe\u{2066}", r"user\u{202e}txt.exe\u{2066}");
    }

    #[test]
    fn keeps_a_line_a_line() {
        assert_eq!(visible_line("a\nb\tc"), r"a\nb\tc");
    }
}
