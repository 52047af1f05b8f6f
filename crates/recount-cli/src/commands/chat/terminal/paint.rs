//! Colours and weights, where they are wanted.

use anstyle::{AnsiColor, Style};

pub(in super::super) const BOLD: Style = Style::new().bold();
pub(in super::super) const DIMMED: Style = Style::new().dimmed();
pub(in super::super) const GOOD: Style = AnsiColor::Green.on_default();
pub(in super::super) const CAREFUL: Style = AnsiColor::Yellow.on_default().bold();
pub(in super::super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(in super::super) const PLAIN: Style = Style::new();
pub(super) const CALL: Style = AnsiColor::Cyan.on_default().bold();
pub(super) const CODE: Style = AnsiColor::Cyan.on_default();

/// Whether there are colours. All meaning is in the words, so nothing is lost without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Paint {
    pub(in super::super) has_color: bool,
}

impl Paint {
    pub(in super::super) fn on(self, style: Style, text: &str) -> String {
        if !self.has_color || style.is_plain() || text.is_empty() {
            return text.to_owned();
        }
        format!("{style}{text}{style:#}")
    }
}
