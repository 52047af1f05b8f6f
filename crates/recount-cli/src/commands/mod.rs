//! The subcommands, one file each.

pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod fold;
pub(crate) mod schema;
pub(crate) mod show;

use recount_message::{Event, Outcome};

use crate::input::Lines;

/// How a command that could be carried out has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is well.
    Clean,
    /// The input has faults, which the user has been told of.
    Flawed,
}

impl Status {
    fn flawed_if(flawed: bool) -> Self {
        if flawed { Self::Flawed } else { Self::Clean }
    }
}

/// Says on standard error which event, or which part of it, changed nothing.
fn tell_unapplied(lines: &Lines, event: &Event<'_>, outcome: &Outcome) {
    let type_name = event.type_name();
    match outcome {
        Outcome::Ignored(reason) => lines.tell(&format!("{type_name} ignored: {reason}")),
        Outcome::Partly(parts) => {
            for part in parts {
                lines.tell(&format!("{type_name} ignored in part, item {}: {}", part.index, part.reason));
            }
        }
        // What was applied, and what is for the session, needs no word.
        _ => {}
    }
}
