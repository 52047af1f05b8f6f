//! Streamed text, split into finished lines and lines that may still change.

use super::markdown;
use super::paint::{DIMMED, PLAIN, Paint};
use super::wrap::{Margin, Span, wrap};
use crate::visible::visible;

/// The longest block in bytes that is rendered as a whole. Rendering a longer one again for each delta would be
/// quadratic.
const MAX_BLOCK_BYTES: usize = 16 * 1024;

/// Streamed Markdown. A block is finished when the next one begins.
#[derive(Debug, Default)]
pub(super) struct MarkdownText {
    pending: String,
    /// Whether a block was finished before.
    has_begun: bool,
}

impl MarkdownText {
    pub(super) fn push(&mut self, delta: &str) {
        self.pending.push_str(delta);
    }

    /// Removes the finished blocks and returns them as lines.
    pub(super) fn take_done(&mut self, width: usize, paint: Paint) -> Vec<String> {
        let at = markdown::last_block(&self.pending);
        let rest = self.pending.split_off(at);
        let mut done = std::mem::replace(&mut self.pending, rest);
        if self.pending.len() > MAX_BLOCK_BYTES {
            done.push_str(&self.take_full_lines());
        }
        self.lines(&done, width, paint, true)
    }

    /// Removes the complete lines of a block that is too long. The rest of a code block stays a code block.
    fn take_full_lines(&mut self) -> String {
        let at = self.pending.rfind('\n').map_or(self.pending.len(), |at| at + 1);
        let rest = self.pending.split_off(at);
        let part = std::mem::replace(&mut self.pending, rest);
        let fence = part.split_inclusive('\n').next().filter(|line| line.starts_with("```") || line.starts_with("~~~"));
        if let Some(fence) = fence {
            self.pending.insert_str(0, fence);
        }
        part
    }

    /// Removes the rest and returns it as lines.
    pub(super) fn take_rest(&mut self, width: usize, paint: Paint) -> Vec<String> {
        let rest = std::mem::take(&mut self.pending);
        self.lines(&rest, width, paint, true)
    }

    /// Returns the last block as it looks now.
    pub(super) fn live(&mut self, width: usize, paint: Paint) -> Vec<String> {
        let pending = self.pending.clone();
        self.lines(&pending, width, paint, false)
    }

    fn lines(&mut self, source: &str, width: usize, paint: Paint, is_done: bool) -> Vec<String> {
        let mut lines = markdown::render(&visible(source), width, paint);
        if lines.is_empty() {
            return lines;
        }
        if self.has_begun {
            lines.insert(0, String::new());
        }
        self.has_begun |= is_done;
        lines
    }
}

/// Streamed thinking: verbatim, dimmed and behind a bar. A line is finished at its line break.
#[derive(Debug, Default)]
pub(super) struct ThinkingText {
    pending: String,
    has_begun: bool,
}

impl ThinkingText {
    pub(super) fn push(&mut self, delta: &str) {
        self.pending.push_str(delta);
    }

    pub(super) fn take_done(&mut self, width: usize, paint: Paint) -> Vec<String> {
        let Some((done, rest)) = self.pending.rsplit_once('\n') else { return Vec::new() };
        let (done, rest) = (done.to_owned(), rest.to_owned());
        self.pending = rest;
        let lines = self.lines(&done, width, paint);
        self.has_begun = true;
        lines
    }

    pub(super) fn take_rest(&mut self, width: usize, paint: Paint) -> Vec<String> {
        let rest = std::mem::take(&mut self.pending);
        if rest.is_empty() { Vec::new() } else { self.lines(&rest, width, paint) }
    }

    pub(super) fn live(&self, width: usize, paint: Paint) -> Vec<String> {
        if self.pending.is_empty() { Vec::new() } else { self.lines(&self.pending, width, paint) }
    }

    fn lines(&self, text: &str, width: usize, paint: Paint) -> Vec<String> {
        let first = if self.has_begun { "┊ " } else { "┊ thinking: " };
        let margin = Margin { style: DIMMED, ..Margin::new(first, "┊ ") };
        wrap(&[Span::new(if paint.has_color { DIMMED } else { PLAIN }, visible(text))], width, margin, paint)
    }
}
