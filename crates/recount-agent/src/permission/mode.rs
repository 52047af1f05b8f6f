//! What happens where no rule decides.

use serde::{Deserialize, Serialize};

/// How a call is handled where no rule decides.
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
    /// Edits in a working directory need no question. It is the tools that know what an edit is.
    AcceptEdits,
    /// Nothing may be changed.
    Explore,
    /// Everything may run unless a rule or the tool itself forbids it.
    Bypass,
    /// Nobody is there to be asked, so what would be asked is denied.
    DontAsk,
}

impl Mode {
    /// The name of the mode, as it is written.
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

    /// Whether a tool that edits files may do so in the working directories without a question.
    pub fn accepts_edits(self) -> bool {
        match self {
            Self::AcceptEdits | Self::DontAsk => true,
            Self::Default | Self::Explore | Self::Bypass => false,
        }
    }
}
