//! The decision about a call.

use recount_message::PermissionRule;

/// The result of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Behavior {
    /// The call runs.
    Allow,
    /// The call does not run.
    Deny,
    /// The user is asked.
    Ask,
}

/// A decision about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The result.
    pub behavior: Behavior,
    /// The message for the model if the call is denied.
    pub message: String,
    /// The reason, for the user and for logs.
    pub reason: String,
    /// The rules that the user can accept with the question.
    pub suggested_rules: Vec<PermissionRule>,
    /// The user is asked because the call could do harm. No rule can answer this question.
    pub for_safety: bool,
}

impl Decision {
    pub(super) fn allow(tool: &str, reason: impl Into<String>) -> Self {
        Self::new(Behavior::Allow, format!("`{tool}` may run"), reason)
    }

    pub(super) fn deny(tool: &str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let message =
            format!("`{tool}` was not run: {reason}. Continue without it, or ask the user what to do instead.");
        Self::new(Behavior::Deny, message, reason)
    }

    pub(super) fn ask(tool: &str, reason: impl Into<String>) -> Self {
        Self::new(Behavior::Ask, format!("`{tool}` needs the approval of the user"), reason)
    }

    fn new(behavior: Behavior, message: String, reason: impl Into<String>) -> Self {
        Self { behavior, message, reason: reason.into(), suggested_rules: Vec::new(), for_safety: false }
    }

    /// Returns whether the call runs.
    pub fn is_allowed(&self) -> bool {
        self.behavior == Behavior::Allow
    }
}
