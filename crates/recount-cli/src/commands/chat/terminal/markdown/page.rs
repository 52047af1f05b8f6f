//! Putting lines on a page.

use anstyle::Style;

use super::super::paint::{CODE, DIMMED, PLAIN};
use super::super::wrap::{Margin, Span, cut, wrap};
use super::{Around, Page};

/// What is nested deeper is not indented any further.
const DEEPEST: usize = 12;

impl Page {
    pub(super) fn text(&mut self, text: &str) {
        let style =
            self.styles.iter().fold(PLAIN, |whole, style| whole.effects(whole.get_effects() | style.get_effects()));
        self.spans.push(Span::new(style, text));
    }

    /// Without colours the marks say it.
    pub(super) fn open(&mut self, style: Style, mark: &str) {
        if !self.paint.has_color {
            self.text(mark);
        }
        self.styles.push(style);
    }

    pub(super) fn close(&mut self, mark: &str) {
        self.styles.pop();
        if !self.paint.has_color {
            self.text(mark);
        }
    }

    pub(super) fn begin_block(&mut self) {
        self.break_line();
        if self.is_apart {
            let (_, rest) = self.margins();
            self.lines.push(rest.trim_end().to_owned());
            self.is_apart = false;
        }
    }

    pub(super) fn break_block(&mut self) {
        self.break_line();
        self.is_apart = true;
    }

    /// Writes the inline text that has come together.
    pub(super) fn break_line(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let (first, rest) = self.margins();
        self.lines.extend(wrap(&spans, self.width, Margin::new(&first, &rest), self.paint));
        self.use_markers();
    }

    pub(super) fn end_code(&mut self) {
        let Some(language) = self.code.take() else { return };
        let text: String = std::mem::take(&mut self.spans).into_iter().map(|span| span.text).collect();
        let (first, rest) = self.margins();
        let fence = if language.is_empty() { "```".to_owned() } else { format!("```{language}") };
        self.lines.push(format!("{first}{}", self.paint.on(DIMMED, &cut(&fence, self.width))));
        self.use_markers();
        for line in text.lines() {
            self.lines.extend(wrap(&[Span::new(CODE, line)], self.width, Margin::new(&rest, &rest), self.paint));
        }
        self.lines.push(format!("{rest}{}", self.paint.on(DIMMED, "```")));
        self.is_apart = true;
    }

    /// What stands before the next line, and before those after it.
    pub(super) fn margins(&self) -> (String, String) {
        let (mut first, mut rest) = (String::new(), String::new());
        for around in self.around.iter().take(DEEPEST) {
            match around {
                Around::Quote => {
                    first.push_str("│ ");
                    rest.push_str("│ ");
                }
                Around::Item { marker, is_used } => {
                    let blank = " ".repeat(marker.len());
                    first.push_str(if *is_used { &blank } else { marker });
                    rest.push_str(&blank);
                }
            }
        }
        (first, rest)
    }

    pub(super) fn use_markers(&mut self) {
        for around in &mut self.around {
            if let Around::Item { is_used, .. } = around {
                *is_used = true;
            }
        }
    }
}
