//! What a tool says.

use recount_message::ToolResultState;

use super::super::paint::{BAD, CAREFUL, DIMMED, GOOD, PLAIN, Paint};
use super::super::wrap::{Margin, Span, wrap};
use crate::visible::{visible, visible_line};

/// So many lines are shown.
const SHOWN_LINES: usize = 20;

/// What a tool says, as far as it has come.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) call_id: String,
    name: String,
    /// The line that is not broken yet.
    pending: String,
    lines: usize,
    hidden: usize,
}

/// How lines are written: whether other tools speak too, how wide, and in which colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) has_others: bool,
    pub(super) width: usize,
    pub(super) paint: Paint,
}

impl Output {
    pub(super) fn new(call_id: &str, name: &str) -> Self {
        let name = visible_line(name).into_owned();
        Self { call_id: call_id.to_owned(), name, pending: String::new(), lines: 0, hidden: 0 }
    }

    /// Takes something that stands on a line of its own.
    pub(super) fn push_line(&mut self, line: &str, form: Form) -> Vec<String> {
        let before = if self.pending.is_empty() { "" } else { "\n" };
        self.push(&format!("{before}{line}\n"), form)
    }

    /// Takes more, and gives the lines that are complete by it.
    pub(super) fn push(&mut self, delta: &str, form: Form) -> Vec<String> {
        self.pending.push_str(delta);
        let Some((whole, rest)) = self.pending.rsplit_once('\n') else { return Vec::new() };
        let (whole, rest) = (whole.to_owned(), rest.to_owned());
        self.pending = rest;
        whole.split('\n').flat_map(|line| self.line(line, form)).collect()
    }

    /// The lines that are left, and how it went.
    pub(super) fn end(mut self, state: ToolResultState, form: Form) -> Vec<String> {
        let pending = std::mem::take(&mut self.pending);
        let pending = match state {
            ToolResultState::Denied | ToolResultState::Interrupted => without_tags(&pending),
            _ => &pending,
        };
        let mut lines = if pending.is_empty() { Vec::new() } else { self.line(pending, form) };
        if self.hidden > 0 {
            lines.push(self.more(form.paint));
        }
        let (style, word) = match state {
            ToolResultState::Success => (GOOD, "done"),
            ToolResultState::Error => (BAD, "failed"),
            ToolResultState::Denied => (CAREFUL, "denied"),
            ToolResultState::Interrupted => (CAREFUL, "interrupted"),
            ToolResultState::Running => (DIMMED, "goes on in the background"),
            _ => (PLAIN, "ended"),
        };
        lines.push(form.paint.on(style, &format!("  └ {} {word}", self.name)));
        lines
    }

    /// What is shown of the line that is not complete.
    pub(super) fn live(&self, form: Form) -> Vec<String> {
        let room = SHOWN_LINES.saturating_sub(self.lines);
        if self.hidden > 0 || (room == 0 && !self.pending.is_empty()) {
            return vec![self.more(form.paint)];
        }
        if self.pending.is_empty() {
            Vec::new()
        } else {
            self.wrapped(&self.pending, form).into_iter().take(room).collect()
        }
    }

    /// A line that is complete. One that is broken into several counts as these, and may be hidden in part.
    fn line(&mut self, line: &str, form: Form) -> Vec<String> {
        let mut lines = self.wrapped(line, form);
        let room = SHOWN_LINES.saturating_sub(self.lines);
        self.hidden += usize::from(lines.len() > room);
        lines.truncate(room);
        self.lines += lines.len();
        lines
    }

    fn wrapped(&self, line: &str, form: Form) -> Vec<String> {
        let edge = if form.has_others { format!("  │ {}: ", self.name) } else { "  │ ".to_owned() };
        let margin = Margin { style: DIMMED, ..Margin::new(&edge, "  │ ") };
        // What was written over before the line was complete is not shown: it was progress.
        let shown = line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
        wrap(&[Span::new(PLAIN, visible(shown))], form.width, margin, form.paint)
    }

    fn more(&self, paint: Paint) -> String {
        paint.on(DIMMED, &format!("  │ … {} more lines", self.hidden.max(1)))
    }
}

/// What the model is told of a call that was not run, without what marks it for the model.
fn without_tags(text: &str) -> &str {
    let inner = text.strip_prefix("<system-reminder>").and_then(|text| text.strip_suffix("</system-reminder>"));
    inner.unwrap_or(text)
}
