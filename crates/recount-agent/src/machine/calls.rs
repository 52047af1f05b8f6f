//! Where the calls of a reply stand, as its message tells.

use recount_message::{Msg, ToolCallBlock, ToolCallState, ToolResultBlock};

/// Where one call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// Nobody has looked at it yet.
    Pending,
    /// The user is asked.
    Asking,
    /// It may run.
    Allowed,
    /// Somebody else runs it.
    Submitted,
    /// The user has refused it, and its result is not written yet.
    Denied,
    /// Its tool has begun to run.
    Running,
    /// It has its result.
    Finished,
    /// The model call broke off while it was made. It is not to be run.
    Cut,
}

impl CallStatus {
    fn of(call: &ToolCallBlock, result: Option<&ToolResultBlock>) -> Self {
        if let Some(result) = result {
            return match (result.finished_at.is_some(), call.state) {
                (true, _) => Self::Finished,
                (false, ToolCallState::Submitted) => Self::Submitted,
                (false, _) => Self::Running,
            };
        }
        if call.extra.get("cut").is_some_and(|cut| cut.as_bool() == Some(true)) {
            return Self::Cut;
        }
        match call.state {
            ToolCallState::Asking => Self::Asking,
            ToolCallState::Allowed => Self::Allowed,
            ToolCallState::Submitted => Self::Submitted,
            ToolCallState::Finished => Self::Denied,
            ToolCallState::Pending | _ => Self::Pending,
        }
    }
}

/// The calls of a reply that have no result, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenCalls {
    open: Vec<(String, CallStatus)>,
}

impl OpenCalls {
    /// Reads them from the message.
    #[must_use]
    pub fn of(message: &Msg) -> Self {
        let open = message
            .tool_pairs()
            .map(|(call, result)| (call, CallStatus::of(call, result)))
            .filter(|(_, status)| *status != CallStatus::Finished)
            .map(|(call, status)| (call.id.clone(), status));
        Self { open: open.collect() }
    }

    /// Each with where it stands.
    pub fn iter(&self) -> impl Iterator<Item = (&str, CallStatus)> {
        self.open.iter().map(|(id, status)| (id.as_str(), *status))
    }

    /// The ids of those that stand somewhere.
    #[must_use]
    pub fn with_status(&self, wanted: CallStatus) -> Vec<String> {
        self.iter().filter(|(_, status)| *status == wanted).map(|(id, _)| id.to_owned()).collect()
    }

    /// Whether somebody has to answer before the reply can go on.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.iter().any(|(_, status)| matches!(status, CallStatus::Asking | CallStatus::Submitted))
    }

    /// The calls that can be worked on now: those that may run, and those that nobody has looked at, unless an answer that
    /// is awaited may decide about them.
    #[must_use]
    pub fn executable(&self) -> Vec<String> {
        let is_waiting = self.is_waiting();
        let is_executable = |status| match status {
            CallStatus::Allowed => true,
            CallStatus::Pending => !is_waiting,
            CallStatus::Asking
            | CallStatus::Submitted
            | CallStatus::Denied
            | CallStatus::Running
            | CallStatus::Finished
            | CallStatus::Cut => false,
        };
        self.iter().filter(|(_, status)| is_executable(*status)).map(|(id, _)| id.to_owned()).collect()
    }
}
