//! The status of calls, derived from the message of a reply.

use recount_message::{Msg, ToolCallBlock, ToolCallState, ToolResultBlock};

/// The status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStatus {
    /// Not processed yet.
    Pending,
    /// Waits for a confirmation by the user.
    Asking,
    /// Permitted, but not started.
    Allowed,
    /// Waits for an external result.
    Submitted,
    /// Denied by the user. The result is not written yet.
    Denied,
    /// The tool was started.
    Running,
    /// The result is complete.
    Finished,
    /// The model call failed while it was writing the call. The call must not run.
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

/// The calls of a reply that have no complete result, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenCalls {
    open: Vec<(String, CallStatus)>,
}

impl OpenCalls {
    /// Returns the open calls of a message.
    #[must_use]
    pub fn of(message: &Msg) -> Self {
        let open = message
            .tool_pairs()
            .map(|(call, result)| (call, CallStatus::of(call, result)))
            .filter(|(_, status)| *status != CallStatus::Finished)
            .map(|(call, status)| (call.id.clone(), status));
        Self { open: open.collect() }
    }

    /// Iterates over the ids of the calls and their status.
    pub fn iter(&self) -> impl Iterator<Item = (&str, CallStatus)> {
        self.open.iter().map(|(id, status)| (id.as_str(), *status))
    }

    /// Returns the ids of the calls with this status.
    #[must_use]
    pub fn with_status(&self, wanted: CallStatus) -> Vec<String> {
        self.iter().filter(|(_, status)| *status == wanted).map(|(id, _)| id.to_owned()).collect()
    }

    /// Returns whether a call waits for a confirmation or an external result.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.iter().any(|(_, status)| matches!(status, CallStatus::Asking | CallStatus::Submitted))
    }

    /// Returns the calls that can run now: permitted calls, and unprocessed ones if no call waits, because an answer
    /// may contain a rule that decides about them.
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
