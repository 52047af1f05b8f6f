//! Text in lines of a width.

use anstyle::Style;
use unicode_width::UnicodeWidthChar;

use super::paint::{PLAIN, Paint};

/// A piece of text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) style: Style,
    pub(super) text: String,
}

impl Span {
    pub(super) fn new(style: Style, text: impl Into<String>) -> Self {
        Self { style, text: text.into() }
    }
}

/// What stands before each line: before the first, and before the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Margin<'a> {
    pub(super) first: &'a str,
    pub(super) rest: &'a str,
    pub(super) style: Style,
}

impl<'a> Margin<'a> {
    pub(super) fn new(first: &'a str, rest: &'a str) -> Self {
        Self { first, rest, style: PLAIN }
    }
}

/// Breaks text into lines: where it says so, and between words where a line is full. A word that is longer than a line is
/// broken anywhere.
pub(super) fn wrap(spans: &[Span], width: usize, margin: Margin<'_>, paint: Paint) -> Vec<String> {
    let room = |edge| width.saturating_sub(width_of(edge));
    let lines = broken_with(spans, room(margin.first), room(margin.rest));
    let painted = |(index, line): (usize, &Vec<(char, Style)>)| {
        let edge = if index == 0 { margin.first } else { margin.rest };
        format!("{}{}", paint.on(margin.style, edge), painted(line, paint))
    };
    lines.iter().enumerate().map(painted).collect()
}

/// The lines of a width, as characters with their styles.
pub(super) fn broken(spans: &[Span], width: usize) -> Vec<Vec<(char, Style)>> {
    broken_with(spans, width, width)
}

fn broken_with(spans: &[Span], first: usize, rest: usize) -> Vec<Vec<(char, Style)>> {
    let mut lines: Vec<Vec<(char, Style)>> = Vec::new();
    let mut line = Line::default();
    for span in spans {
        for char in span.text.chars() {
            if char == '\n' {
                lines.push(line.take());
                continue;
            }
            // A tab is as wide as it happens to be. Four spaces are not.
            let (char, times) = if char == '\t' { (' ', 4) } else { (char, 1) };
            for _ in 0..times {
                // The widest character needs two columns.
                let room = if lines.is_empty() { first } else { rest }.max(2);
                if line.width + char.width().unwrap_or(0) <= room {
                    line.push(char, span.style);
                } else if char == ' ' {
                    // It is where the line is broken.
                    lines.push(line.take());
                } else {
                    lines.push(line.take_full());
                    line.push(char, span.style);
                }
            }
        }
    }
    if !line.chars.is_empty() || lines.is_empty() {
        lines.push(line.take());
    }
    lines
}

/// How many columns a text takes.
pub(super) fn width_of(text: &str) -> usize {
    text.chars().map(|char| char.width().unwrap_or(0)).sum()
}

/// The beginning of a line, if it is too long.
pub(super) fn cut(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = text.chars().take_while(|char| {
        taken += char.width().unwrap_or(0);
        taken < width
    });
    fits.chain(['…']).collect()
}

#[derive(Default)]
struct Line {
    chars: Vec<(char, Style)>,
    width: usize,
    /// Where it may be broken: so many characters stay.
    break_at: Option<usize>,
}

impl Line {
    fn push(&mut self, char: char, style: Style) {
        let is_wide = char.width() == Some(2);
        // Chinese and Japanese are broken between any two characters.
        if is_wide && !self.chars.is_empty() {
            self.break_at = Some(self.chars.len());
        }
        self.chars.push((char, style));
        self.width += char.width().unwrap_or(0);
        if char == ' ' || is_wide {
            self.break_at = Some(self.chars.len());
        }
    }

    fn take(&mut self) -> Vec<(char, Style)> {
        std::mem::take(self).chars
    }

    /// The line as far as it can be broken. The rest begins the next one.
    fn take_full(&mut self) -> Vec<(char, Style)> {
        let Some(at) = self.break_at.filter(|at| *at < self.chars.len() || self.chars.last().is_some_and(is_space))
        else {
            return self.take();
        };
        let rest = self.chars.split_off(at);
        let mut full = self.take();
        while full.last().is_some_and(is_space) {
            full.pop();
        }
        self.width = rest.iter().map(|(char, _)| char.width().unwrap_or(0)).sum();
        self.chars = rest;
        full
    }
}

fn is_space((char, _): &(char, Style)) -> bool {
    *char == ' '
}

/// Characters as a terminal takes them.
pub(super) fn painted(line: &[(char, Style)], paint: Paint) -> String {
    let runs = line.chunk_by(|(_, one), (_, other)| one == other);
    runs.map(|run| {
        let text: String = run.iter().map(|(char, _)| char).collect();
        paint.on(run.first().map_or(PLAIN, |(_, style)| *style), &text)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAINLY: Paint = Paint { has_color: false };

    #[track_caller]
    fn check(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(wrap(&[Span::new(PLAIN, text)], width, Margin::new("", ""), PLAINLY), expected);
    }

    #[test]
    fn breaks_between_words() {
        check("one two three four", 10, &["one two", "three four"]);
        check("one two", 80, &["one two"]);
        check("", 80, &[""]);
        check("a\nb\n", 80, &["a", "b"]);
        check("exactly10! more", 10, &["exactly10!", "more"]);
    }

    #[test]
    fn breaks_long_words_and_wide_characters() {
        check("abcdefghijklmno", 10, &["abcdefghij", "klmno"]);
        check("你好世界你好世界", 10, &["你好世界你", "好世界"]);
    }

    #[test]
    fn margins_stand_before_every_line() {
        let lines = wrap(&[Span::new(PLAIN, "one two three")], 12, Margin::new("- ", "  "), PLAINLY);
        assert_eq!(lines, ["- one two", "  three"]);
        let lines = wrap(&[Span::new(PLAIN, "one two three four")], 12, Margin::new("thought: ", "| "), PLAINLY);
        assert_eq!(lines, ["thought: one", "| two three", "| four"]);
    }

    #[test]
    fn styles_are_closed_on_every_line() {
        let paint = Paint { has_color: true };
        let lines = wrap(&[Span::new(Style::new().bold(), "one two")], 8, Margin::new("", ""), paint);
        assert_eq!(lines, ["\x1b[1mone two\x1b[0m"]);
        let lines = wrap(&[Span::new(Style::new().bold(), "number two")], 8, Margin::new("", ""), paint);
        assert_eq!(lines, ["\x1b[1mnumber\x1b[0m", "\x1b[1mtwo\x1b[0m"]);
    }

    #[test]
    fn a_long_line_is_cut() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("a long line", 6), "a lon…");
    }
}
