//! The output of a tool.

use recount_message::ToolResultState;

use super::super::paint::{DIMMED, ERROR, PLAIN, Paint, SUCCESS, WARNING};
use super::super::wrap::{Margin, Span, wrap};
use crate::visible::{visible, visible_line};

/// The maximum number of lines that are shown.
const MAX_LINES: usize = 20;

/// The streamed output of one tool call.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) call_id: String,
    name: String,
    /// The current, incomplete line.
    pending: String,
    lines: usize,
    hidden: usize,
}

/// The format of output lines. They have the tool name if several tools run.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineFormat {
    pub(super) has_others: bool,
    pub(super) width: usize,
    pub(super) paint: Paint,
}

impl Output {
    pub(super) fn new(call_id: &str, name: &str) -> Self {
        let name = visible_line(name).into_owned();
        Self { call_id: call_id.to_owned(), name, pending: String::new(), lines: 0, hidden: 0 }
    }

    /// Appends a separate line. Returns the finished lines.
    pub(super) fn push_line(&mut self, line: &str, line_format: LineFormat) -> Vec<String> {
        let before = if self.pending.is_empty() { "" } else { "\n" };
        self.push(&format!("{before}{line}\n"), line_format)
    }

    /// Appends text. Returns the lines that are complete.
    pub(super) fn push(&mut self, delta: &str, line_format: LineFormat) -> Vec<String> {
        self.pending.push_str(delta);
        let Some((whole, rest)) = self.pending.rsplit_once('\n') else { return Vec::new() };
        let (whole, rest) = (whole.to_owned(), rest.to_owned());
        self.pending = rest;
        whole.split('\n').flat_map(|line| self.line(line, line_format)).collect()
    }

    /// Returns the remaining lines and a line with the state.
    pub(super) fn end(mut self, state: ToolResultState, line_format: LineFormat) -> Vec<String> {
        let pending = std::mem::take(&mut self.pending);
        let pending = match state {
            ToolResultState::Denied | ToolResultState::Interrupted => without_tags(&pending),
            _ => &pending,
        };
        let mut lines = if pending.is_empty() { Vec::new() } else { self.line(pending, line_format) };
        if self.hidden > 0 {
            lines.push(self.more(line_format.paint));
        }
        let (style, word) = match state {
            ToolResultState::Success => (SUCCESS, "done"),
            ToolResultState::Error => (ERROR, "failed"),
            ToolResultState::Denied => (WARNING, "denied"),
            ToolResultState::Interrupted => (WARNING, "interrupted"),
            ToolResultState::Running => (DIMMED, "goes on in the background"),
            _ => (PLAIN, "ended"),
        };
        lines.push(line_format.paint.on(style, &format!("  └ {} {word}", self.name)));
        lines
    }

    /// Returns the incomplete line as it looks now.
    pub(super) fn live(&self, line_format: LineFormat) -> Vec<String> {
        let available = MAX_LINES.saturating_sub(self.lines);
        if self.hidden > 0 || (available == 0 && !self.pending.is_empty()) {
            return vec![self.more(line_format.paint)];
        }
        if self.pending.is_empty() {
            Vec::new()
        } else {
            self.wrapped(&self.pending, line_format).into_iter().take(available).collect()
        }
    }

    /// Formats a complete line. Each wrapped line counts towards the limit, so a long one may be hidden in part.
    fn line(&mut self, line: &str, line_format: LineFormat) -> Vec<String> {
        let mut lines = self.wrapped(line, line_format);
        let available = MAX_LINES.saturating_sub(self.lines);
        self.hidden += usize::from(lines.len() > available);
        lines.truncate(available);
        self.lines += lines.len();
        lines
    }

    fn wrapped(&self, line: &str, line_format: LineFormat) -> Vec<String> {
        let edge = if line_format.has_others { format!("  │ {}: ", self.name) } else { "  │ ".to_owned() };
        let margin = Margin { style: DIMMED, ..Margin::new(&edge, "  │ ") };
        // Text that was overwritten by a carriage return was progress output.
        let shown = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
        wrap(&[Span::new(PLAIN, visible(shown))], line_format.width, margin, line_format.paint)
    }

    fn more(&self, paint: Paint) -> String {
        paint.on(DIMMED, &format!("  │ … {} more lines", self.hidden.max(1)))
    }
}

/// Removes the `<system-reminder>` tags from the result of a call that did not run.
fn without_tags(text: &str) -> &str {
    let inner = text.strip_prefix("<system-reminder>").and_then(|text| text.strip_suffix("</system-reminder>"));
    inner.unwrap_or(text)
}
