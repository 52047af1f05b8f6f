//! The terminal itself.

use std::io;

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// How many columns and rows there are.
pub(in super::super) fn size() -> (usize, usize) {
    let known = tcgetwinsize(io::stdout()).ok().map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    known.filter(|(columns, rows)| *columns > 1 && *rows > 1).unwrap_or((80, 24))
}

/// As long as this lives, what is typed is not shown: it would stand in the middle of a reply. It is not lost either, and
/// Ctrl-C works.
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
