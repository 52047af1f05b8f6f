//! The permission that a tool itself gives a call.

use std::path::PathBuf;

use recount_message::PermissionRule;

use super::Mode;

/// The permission that a tool itself gives a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolPermission {
    /// The call may run.
    Allow,
    /// The call must not run, whatever the rules say. The reason is sent to the model.
    Deny(String),
    /// The user must be asked, for this reason, unless an allow rule matches.
    Ask(String),
    /// The user must be asked, for this reason, even if an allow rule matches: the call could do harm.
    AskForSafety(String),
    /// The tool leaves the decision to rules and mode.
    Passthrough,
}

/// Whether rules match a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// They do not match.
    No,
    /// They may match, as with a shell command whose name is a variable. Such rules never allow a call. If they would deny
    /// it, the user is asked.
    Unclear,
    /// They match.
    Yes,
}

impl From<bool> for Coverage {
    fn from(covered: bool) -> Self {
        if covered { Self::Yes } else { Self::No }
    }
}

/// The part of [`Permissions`](super::Permissions) that a tool may base its own permission on.
/// [`Permissions::context`](super::Permissions::context) creates it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionContext {
    /// The mode.
    pub mode: Mode,
    /// The working directories of the agent.
    pub working_directories: Vec<PathBuf>,
    /// The allow rules for the tool.
    pub allow_rules: Vec<PermissionRule>,
}
