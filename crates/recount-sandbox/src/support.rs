//! The level of enforcement on this machine.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much of a profile is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Level {
    /// Nothing.
    None,
    /// Landlock and seccomp: the `read-only` profile, without namespaces.
    Landlock,
    /// Namespaces, read-only mounts, seccomp, Landlock and resource limits: every profile.
    Full,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Landlock => "landlock-only",
            Self::Full => "full",
        })
    }
}

/// The level of enforcement on this machine, and the reason if it is not the full one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Support {
    /// How much of a profile is enforced.
    pub level: Level,
    /// Why the level is not [`Level::Full`].
    pub cause: Option<String>,
    /// A way for the user to raise the level.
    pub hint: Option<String>,
    /// Limits that this machine does not enforce, one sentence each.
    pub gaps: Vec<String>,
}

impl Support {
    pub(crate) fn full() -> Self {
        Self { level: Level::Full, cause: None, hint: None, gaps: Vec::new() }
    }

    pub(crate) fn none(cause: impl Into<String>) -> Self {
        Self { level: Level::None, cause: Some(cause.into()), hint: None, gaps: Vec::new() }
    }

    /// The cause and the hint as one text.
    pub fn explanation(&self) -> String {
        let cause = self.cause.as_deref().unwrap_or("every profile is enforced");
        match &self.hint {
            Some(hint) => format!("{cause}; hint: {hint}"),
            None => cause.to_owned(),
        }
    }
}
