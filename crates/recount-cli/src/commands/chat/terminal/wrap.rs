//! Wraps styled text to a width.

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

/// The prefix of the first line and of the following lines.
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

/// Wraps text at line breaks, and between words if a line is full. A word that is longer than a line is broken
/// anywhere.
pub(super) fn wrap(spans: &[Span], width: usize, margin: Margin<'_>, paint: Paint) -> Vec<String> {
    let available = |edge| width.saturating_sub(width_of(edge));
    let lines = break_lines_with(spans, available(margin.first), available(margin.rest));
    let format_line = |(index, line): (usize, &Vec<(char, Style)>)| {
        let edge = if index == 0 { margin.first } else { margin.rest };
        format!("{}{}", paint.on(margin.style, edge), paint_chars(line, paint))
    };
    lines.iter().enumerate().map(format_line).collect()
}

/// Wraps text to a width. Returns the lines as styled characters.
pub(super) fn break_lines(spans: &[Span], width: usize) -> Vec<Vec<(char, Style)>> {
    break_lines_with(spans, width, width)
}

fn break_lines_with(spans: &[Span], first: usize, rest: usize) -> Vec<Vec<(char, Style)>> {
    let mut lines: Vec<Vec<(char, Style)>> = Vec::new();
    let mut line = Line::default();
    for span in spans {
        for char in span.text.chars() {
            if char == '\n' {
                lines.push(line.take());
                continue;
            }
            // Replace tabs by four spaces: the width of a tab depends on its column.
            let (char, times) = if char == '\t' { (' ', 4) } else { (char, 1) };
            for _ in 0..times {
                // The widest character takes two columns.
                let available = if lines.is_empty() { first } else { rest }.max(2);
                if line.width + char.width().unwrap_or(0) <= available {
                    line.push(char, span.style);
                } else if char == ' ' {
                    // The line is broken here, so drop the space.
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

/// Returns how many columns a text takes.
pub(super) fn width_of(text: &str) -> usize {
    text.chars().map(|char| char.width().unwrap_or(0)).sum()
}

/// Truncates a line to a width and marks the cut with `…`.
pub(super) fn truncate(text: &str, width: usize) -> String {
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
    /// The last break opportunity, as a number of characters.
    break_at: Option<usize>,
}

impl Line {
    fn push(&mut self, char: char, style: Style) {
        let is_wide = char.width() == Some(2);
        // Wide characters (Chinese, Japanese) can be separated anywhere.
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

    /// Takes the line up to its last break opportunity. The rest stays for the next line.
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

/// Formats styled characters with escape sequences.
pub(super) fn paint_chars(line: &[(char, Style)], paint: Paint) -> String {
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
    fn wrap_breaks_between_words() {
        check("one two three four", 10, &["one two", "three four"]);
        check("one two", 80, &["one two"]);
        check("", 80, &[""]);
        check("a\nb\n", 80, &["a", "b"]);
        check("exactly10! more", 10, &["exactly10!", "more"]);
    }

    #[test]
    fn wrap_breaks_long_words_and_wide_characters() {
        check("abcdefghijklmno", 10, &["abcdefghij", "klmno"]);
        check("你好世界你好世界", 10, &["你好世界你", "好世界"]);
    }

    #[test]
    fn wrap_adds_margin_to_every_line() {
        let lines = wrap(&[Span::new(PLAIN, "one two three")], 12, Margin::new("- ", "  "), PLAINLY);
        assert_eq!(lines, ["- one two", "  three"]);
        let lines = wrap(&[Span::new(PLAIN, "one two three four")], 12, Margin::new("thought: ", "| "), PLAINLY);
        assert_eq!(lines, ["thought: one", "| two three", "| four"]);
    }

    #[test]
    fn wrap_closes_styles_on_every_line() {
        let paint = Paint { has_color: true };
        let lines = wrap(&[Span::new(Style::new().bold(), "one two")], 8, Margin::new("", ""), paint);
        assert_eq!(lines, ["\x1b[1mone two\x1b[0m"]);
        let lines = wrap(&[Span::new(Style::new().bold(), "number two")], 8, Margin::new("", ""), paint);
        assert_eq!(lines, ["\x1b[1mnumber\x1b[0m", "\x1b[1mtwo\x1b[0m"]);
    }

    #[test]
    fn truncate_marks_long_lines() {
        assert_eq!(truncate("short", 10), "short");
        assert_eq!(truncate("a long line", 6), "a lon…");
    }
}
