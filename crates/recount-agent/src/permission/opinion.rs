//! What a tool has to say about being called.

use std::path::PathBuf;

use super::Mode;

/// What a tool itself thinks of being called.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Opinion {
    /// It may run.
    Allow,
    /// It must not, whatever the rules say. The model is told why.
    Deny(String),
    /// The user has to be asked, with what they are told. A rule may answer for them.
    Ask(String),
    /// The user has to be asked, and no rule may answer for them: it could do harm.
    AskForSafety(String),
    /// It leaves that to rules and mode.
    Passthrough,
}

/// Whether a rule is about an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// It is not.
    No,
    /// That cannot be told, as with a shell command whose name is a variable. Such a rule never allows; where it would
    /// deny, the user is asked.
    Unclear,
    /// It is.
    Yes,
}

impl From<bool> for Coverage {
    fn from(covered: bool) -> Self {
        if covered { Self::Yes } else { Self::No }
    }
}

/// What a tool may take into account when it forms its opinion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The mode.
    pub mode: Mode,
    /// The directories in which the agent works.
    pub working_directories: Vec<PathBuf>,
}
