//! The terminal itself.

use std::io;

use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetwinsize, tcsetattr,
};

/// How much a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Size {
    pub(in super::super) columns: usize,
    pub(in super::super) rows: usize,
}

/// How large the terminal is.
pub(in super::super) fn size() -> Size {
    let known = tcgetwinsize(io::stdout()).ok();
    let known = known.map(|size| Size { columns: usize::from(size.ws_col), rows: usize::from(size.ws_row) });
    known.filter(|size| size.columns > 1 && size.rows > 1).unwrap_or(Size { columns: 80, rows: 24 })
}

/// Forgets what was typed and not read yet: it was not meant for what comes next.
pub(in super::super) fn forget_typed() {
    // Where that cannot be done, nobody has typed.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// As long as this lives, what is typed is not shown: it would stand in the middle of a reply. It is not lost either, but
/// stands where the next message is written, and Ctrl-C works.
pub(in super::super) struct Quiet {
    before: Option<Termios>,
}

impl Quiet {
    pub(in super::super) fn begin() -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(modes) = &before {
            let mut quiet = modes.clone();
            quiet.local_modes.remove(LocalModes::ECHO);
            // Without it the terminal is only less tidy.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &quiet);
        }
        Self { before }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(modes) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
        }
    }
}
