//! The frame of a message: a header line and a left border.

use std::fmt::Write;

use anstyle::Style;

use super::{DIMMED, Length};
use crate::visible::{visible, visible_line};

/// The number of lines shown with [`Length::Cut`].
const CUT_AFTER: usize = 20;

/// Writes the frame of one message.
///
/// Content is always to the right of the border; labels interrupt the border (`├─`). So no text can imitate a tool result
/// or the next message.
pub(super) struct Bubble<'o> {
    out: &'o mut String,
    border: Style,
    /// Whether a part was written after the header.
    filled: bool,
}

impl<'o> Bubble<'o> {
    pub(super) fn start(out: &'o mut String, border: Style, header: &[(String, Style)]) -> Self {
        let mut bubble = Self { out, border, filled: false };
        bubble.put("╭─", border);
        for (index, (part, style)) in header.iter().enumerate() {
            bubble.out.push_str(if index == 0 { " " } else { " · " });
            bubble.put(&visible_line(part), *style);
        }
        bubble.out.push('\n');
        bubble
    }

    /// Starts a part with a label.
    pub(super) fn label(&mut self, label: &str, style: Style) {
        self.put("├─", self.border);
        self.out.push(' ');
        self.put(&visible_line(label), style);
        self.out.push('\n');
        self.filled = true;
    }

    /// Starts a part without a label. Writes no separator directly after the header.
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

    /// Writes lines. With [`Length::Cut`], writes the first ones and the number of the others.
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
