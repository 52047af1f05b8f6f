//! What was decided about a call, and why.

use recount_message::PermissionRule;

/// What shall happen to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Behavior {
    /// It runs.
    Allow,
    /// It does not run.
    Deny,
    /// The user is asked.
    Ask,
}

/// A decision about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What shall happen.
    pub behavior: Behavior,
    /// What the model is told when the call is denied.
    pub message: String,
    /// Why, for the user and the record.
    pub reason: String,
    /// Rules that the user may accept when they are asked.
    pub suggested_rules: Vec<PermissionRule>,
    /// The user is asked because it could do harm, so no rule may answer for them.
    pub for_safety: bool,
}

impl Decision {
    pub(super) fn allow(tool: &str, reason: impl Into<String>) -> Self {
        Self::new(Behavior::Allow, format!("`{tool}` may run"), reason)
    }

    pub(super) fn deny(tool: &str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let message = format!("`{tool}` was not run: {reason}. Go on without it, or ask the user what to do instead.");
        Self::new(Behavior::Deny, message, reason)
    }

    pub(super) fn ask(tool: &str, reason: impl Into<String>) -> Self {
        Self::new(Behavior::Ask, format!("`{tool}` may run only if the user agrees"), reason)
    }

    fn new(behavior: Behavior, message: String, reason: impl Into<String>) -> Self {
        Self { behavior, message, reason: reason.into(), suggested_rules: Vec::new(), for_safety: false }
    }

    /// Whether the call runs.
    pub fn is_allowed(&self) -> bool {
        self.behavior == Behavior::Allow
    }
}
