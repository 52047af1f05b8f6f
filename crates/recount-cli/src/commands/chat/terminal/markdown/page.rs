//! Adds inline text and blocks to a page.

use anstyle::Style;

use super::super::paint::{CODE, DIMMED, PLAIN};
use super::super::wrap::{Margin, Span, truncate, wrap};
use super::{Container, Page};

/// The maximum nesting depth that is indented.
const MAX_INDENTED_DEPTH: usize = 12;

impl Page {
    pub(super) fn text(&mut self, text: &str) {
        let style =
            self.styles.iter().fold(PLAIN, |whole, style| whole.effects(whole.get_effects() | style.get_effects()));
        self.spans.push(Span::new(style, text));
    }

    /// Starts a style. Without colours, the Markdown mark is shown instead.
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
        if self.needs_gap {
            let (_, rest) = self.margins();
            self.lines.push(rest.trim_end().to_owned());
            self.needs_gap = false;
        }
    }

    pub(super) fn break_block(&mut self) {
        self.break_line();
        self.needs_gap = true;
    }

    /// Flushes the pending inline text as lines.
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
        self.lines.push(format!("{first}{}", self.paint.on(DIMMED, &truncate(&fence, self.width))));
        self.use_markers();
        for line in text.lines() {
            self.lines.extend(wrap(&[Span::new(CODE, line)], self.width, Margin::new(&rest, &rest), self.paint));
        }
        self.lines.push(format!("{rest}{}", self.paint.on(DIMMED, "```")));
        self.needs_gap = true;
    }

    /// Returns the prefix of the next line, and of the lines after it.
    pub(super) fn margins(&self) -> (String, String) {
        let (mut first, mut rest) = (String::new(), String::new());
        for container in self.containers.iter().take(MAX_INDENTED_DEPTH) {
            match container {
                Container::Quote => {
                    first.push_str("│ ");
                    rest.push_str("│ ");
                }
                Container::Item { marker, is_used } => {
                    let blank = " ".repeat(marker.len());
                    first.push_str(if *is_used { &blank } else { marker });
                    rest.push_str(&blank);
                }
            }
        }
        (first, rest)
    }

    pub(super) fn use_markers(&mut self) {
        for container in &mut self.containers {
            if let Container::Item { is_used, .. } = container {
                *is_used = true;
            }
        }
    }
}
