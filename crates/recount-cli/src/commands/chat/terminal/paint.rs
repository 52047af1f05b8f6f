//! Text styles of the terminal output.

use anstyle::{AnsiColor, Style};

pub(in super::super) const BOLD: Style = Style::new().bold();
pub(in super::super) const DIMMED: Style = Style::new().dimmed();
pub(in super::super) const SUCCESS: Style = AnsiColor::Green.on_default();
pub(in super::super) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(in super::super) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(in super::super) const PLAIN: Style = Style::new();
pub(super) const CALL: Style = AnsiColor::Cyan.on_default().bold();
pub(super) const CODE: Style = AnsiColor::Cyan.on_default();

/// The colour setting of the output. Colours never carry meaning of their own.
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
