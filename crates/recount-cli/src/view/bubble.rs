//! The frame of a message: a header and one left border.

use std::fmt::Write;

use anstyle::Style;

use super::{DIMMED, Length};
use crate::visible::{visible, visible_line};

/// How many lines are shown of what is cut.
const CUT_AFTER: usize = 20;

/// A frame that is being written.
///
/// What a message says always stands to the right of the border, and what is said about it is on it (`├─`). So no text
/// can pass itself off as a tool's result or as the next message.
pub(super) struct Bubble<'o> {
    out: &'o mut String,
    border: Style,
    /// Whether anything has been written since the header.
    filled: bool,
}

impl<'o> Bubble<'o> {
    pub(super) fn begin(out: &'o mut String, border: Style, header: &[(String, Style)]) -> Self {
        let mut bubble = Self { out, border, filled: false };
        bubble.put("╭─", border);
        for (index, (part, style)) in header.iter().enumerate() {
            bubble.out.push_str(if index == 0 { " " } else { " · " });
            bubble.put(&visible_line(part), *style);
        }
        bubble.out.push('\n');
        bubble
    }

    /// Begins a part that has a name.
    pub(super) fn label(&mut self, label: &str, style: Style) {
        self.put("├─", self.border);
        self.out.push(' ');
        self.put(&visible_line(label), style);
        self.out.push('\n');
        self.filled = true;
    }

    /// Begins a part that needs no name. The header is enough of a beginning for the first one.
    pub(super) fn unnamed(&mut self) {
        if self.filled {
            self.put("├─", self.border);
            self.out.push('\n');
        }
        self.filled = true;
    }

    pub(super) fn text(&mut self, text: &str, style: Style) {
        text.lines().for_each(|line| self.line(line, style));
    }

    /// Writes lines, or the first ones and how many more there are.
    pub(super) fn lines(&mut self, lines: &[impl AsRef<str>], style: Style, length: Length) {
        let shown = match length {
            Length::Whole => lines.len(),
            Length::Cut => lines.len().min(CUT_AFTER),
        };
        lines.iter().take(shown).for_each(|line| self.line(line.as_ref(), style));
        match lines.len() - shown {
            0 => {}
            1 => self.line("… 1 more line (--full shows it)", DIMMED),
            more => self.line(&format!("… {more} more lines (--full shows them)"), DIMMED),
        }
    }

    pub(super) fn end(mut self) {
        self.put("╰─", self.border);
        self.out.push('\n');
    }

    fn line(&mut self, line: &str, style: Style) {
        self.put("│", self.border);
        if !line.is_empty() {
            self.out.push(' ');
            self.put(&visible(line), style);
        }
        self.out.push('\n');
    }

    fn put(&mut self, text: &str, style: Style) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{style}{text}{style:#}");
    }
}
