//! The permission mode.

use serde::{Deserialize, Serialize};

/// The handling of calls that no rule and no tool decides.
///
/// ```
/// use recount_agent::permission::Mode;
///
/// assert_eq!(serde_json::to_string(&Mode::AcceptEdits)?, r#""accept_edits""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// The user is asked.
    #[default]
    Default,
    /// Edits in a working directory are allowed. Each tool determines which of its calls are edits.
    AcceptEdits,
    /// Changes are denied.
    Explore,
    /// All calls are allowed, unless a rule or the tool itself denies them.
    Bypass,
    /// No user is present. Calls that would ask are denied.
    DontAsk,
}

impl Mode {
    /// The name of the mode in JSON and configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept_edits",
            Self::Explore => "explore",
            Self::Bypass => "bypass",
            Self::DontAsk => "dont_ask",
        }
    }

    /// Returns the access that a sandboxed program has in this mode without a question.
    #[cfg(feature = "builtin")]
    pub fn access(self) -> recount_sandbox::Access {
        match self {
            Self::Default | Self::Explore | Self::DontAsk => recount_sandbox::Access::read_only(),
            Self::AcceptEdits | Self::Bypass => recount_sandbox::Access::workspace(),
        }
    }

    /// Returns whether edits in the working directories are allowed without a question.
    pub fn accepts_edits(self) -> bool {
        match self {
            Self::AcceptEdits | Self::DontAsk => true,
            Self::Default | Self::Explore | Self::Bypass => false,
        }
    }
}
