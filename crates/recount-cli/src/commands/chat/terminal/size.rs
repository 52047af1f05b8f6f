//! The state of the terminal: its size, its input queue and its echo.

use std::io;

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetwinsize, tcsetattr,
};

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Size {
    pub(in super::super) columns: usize,
    pub(in super::super) rows: usize,
}

/// Returns the size of the terminal, or 80 × 24 if it is unknown.
pub(in super::super) fn size() -> Size {
    let known = tcgetwinsize(io::stdout()).ok();
    let known = known.map(|size| Size { columns: usize::from(size.ws_col), rows: usize::from(size.ws_row) });
    known.filter(|size| size.columns > 1 && size.rows > 1).unwrap_or(Size { columns: 80, rows: 24 })
}

/// Discards input that was typed but not read yet.
pub(in super::super) fn discard_typeahead() {
    // Fails only if standard input is not a terminal. Then there is no typed input.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// Disables echo until dropped, so that typed input does not appear inside a reply. The input stays queued for the next
/// prompt, and Ctrl-C still works.
pub(in super::super) struct EchoGuard {
    before: Option<Termios>,
}

impl EchoGuard {
    pub(in super::super) fn new() -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(modes) = &before {
            let mut quiet = modes.clone();
            quiet.local_modes.remove(LocalModes::ECHO);
            // Echo is a cosmetic problem only, so ignore errors.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &quiet);
        }
        Self { before }
    }
}

impl Drop for EchoGuard {
    fn drop(&mut self) {
        if let Some(modes) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
        }
    }
}
