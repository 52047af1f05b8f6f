//! Validates inputs against the replies that they are for.
//!
//! Confirmations, external results and interrupts are entries like any other, except that the writer checks them against
//! the fold of all earlier entries. The first valid input wins. A rejected input never enters the log.

use std::collections::HashSet;

use recount_message::{
    ContentBlock, CustomName, Event, EventKind, Msg, ReplyFold, ToolCallBlock, ToolCallState, ToolResultBlock,
};

use crate::RefusalReason;
use crate::replies::{AcceptedInputs, Replies, StatusLookup};
use crate::storage::{MessageStatus, StorageResult};

/// The kind of an [input](crate::InputEntry).
///
/// ```
/// use recount_log::InputKind;
/// use recount_message::{Event, UserInterruptEvent};
///
/// assert_eq!(InputKind::of(&Event::new(UserInterruptEvent::new("r1"))), Some(InputKind::Interrupt));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputKind {
    /// The user's decision about tool calls (`USER_CONFIRM_RESULT`).
    Confirmation,
    /// Results of tools that run elsewhere (`EXTERNAL_EXECUTION_RESULT`).
    ExternalResult,
    /// A request to stop a reply (`USER_INTERRUPT`).
    Interrupt,
    /// A lease of the session was taken over (`recount.taken_over`). A holder renews its lease to find out whether it is
    /// affected.
    TakeOver,
}

impl InputKind {
    /// Classifies an event. `None` if it is not an input.
    #[inline]
    pub fn of(event: &Event<'_>) -> Option<Self> {
        match &event.kind {
            EventKind::UserConfirmResult(_) => Some(Self::Confirmation),
            EventKind::ExternalExecutionResult(_) => Some(Self::ExternalResult),
            EventKind::UserInterrupt(_) => Some(Self::Interrupt),
            EventKind::Custom(custom) if custom.recount_name() == Some(CustomName::TakenOver) => Some(Self::TakeOver),
            _ => None,
        }
    }
}

/// Whether an event is an input to a reply.
pub(crate) fn is_input(event: &Event<'_>) -> bool {
    matches!(
        event.kind,
        EventKind::UserConfirmResult(_) | EventKind::ExternalExecutionResult(_) | EventKind::UserInterrupt(_)
    )
}

/// Validates an event. Returns the reason for rejecting it, or `None` if it may be written.
pub(crate) fn refusal(
    replies: &Replies,
    event: &Event<'_>,
    stored: StatusLookup<'_>,
) -> StorageResult<Option<RefusalReason>> {
    let Some(id) = event.reply_id().filter(|_| is_input(event)) else { return Ok(None) };
    let Some(reply) = replies.get(id) else {
        return Ok(Some(match replies.status(id, stored)? {
            Some(MessageStatus::EndedReply) => RefusalReason::Late,
            Some(MessageStatus::Message) | None => RefusalReason::Foreign,
        }));
    };
    let message = reply.fold.message();
    let is_interrupted = reply.inputs.is_interrupted;
    // An interrupted reply no longer acts on inputs.
    let late = is_interrupted.then_some(RefusalReason::Late);
    Ok(match &event.kind {
        EventKind::UserInterrupt(_) => is_interrupted.then_some(RefusalReason::Duplicate),
        EventKind::UserConfirmResult(kind) => {
            let ids = kind.confirm_results.iter().map(|result| result.tool_call.id.as_str());
            first_refusal(ids, |id| check_confirmation(message, id)).or(late)
        }
        EventKind::ExternalExecutionResult(kind) => {
            let ids = kind.execution_results.iter().map(|result| result.id.as_str());
            first_refusal(ids, |id| check_external_result(message, &reply.inputs, id)).or(late)
        }
        _ => None,
    })
}

/// Checks the calls of one input in order. A call that occurs twice is a duplicate.
fn first_refusal<'i>(
    ids: impl Iterator<Item = &'i str>,
    check: impl Fn(&str) -> Option<RefusalReason>,
) -> Option<RefusalReason> {
    let mut seen = HashSet::new();
    for id in ids {
        if let Some(reason) = check(id) {
            return Some(reason);
        }
        if !seen.insert(id) {
            return Some(RefusalReason::Duplicate);
        }
    }
    None
}

fn check_confirmation(message: &Msg, id: &str) -> Option<RefusalReason> {
    let Some((_, call)) = newest_call(message, id) else { return Some(RefusalReason::Foreign) };
    match call.state {
        ToolCallState::Asking => None,
        ToolCallState::Allowed | ToolCallState::Finished => Some(RefusalReason::Duplicate),
        _ => Some(RefusalReason::NotWaiting),
    }
}

fn check_external_result(message: &Msg, inputs: &AcceptedInputs, id: &str) -> Option<RefusalReason> {
    let Some((index, call)) = newest_call(message, id) else { return Some(RefusalReason::Foreign) };
    if inputs.answered.contains(&answered_key(index, id)) {
        return Some(RefusalReason::Duplicate);
    }
    match call.state {
        ToolCallState::Submitted if newest_result(message, index, id).is_none_or(is_open) => None,
        ToolCallState::Submitted | ToolCallState::Finished => Some(RefusalReason::Duplicate),
        _ => Some(RefusalReason::NotWaiting),
    }
}

fn newest_call<'m>(message: &'m Msg, id: &str) -> Option<(usize, &'m ToolCallBlock)> {
    message.content().iter().enumerate().rev().find_map(|(index, block)| match block {
        ContentBlock::ToolCall(call) if call.id == id => Some((index, call)),
        _ => None,
    })
}

fn newest_result<'m>(message: &'m Msg, after: usize, id: &str) -> Option<&'m ToolResultBlock> {
    message.content().iter().skip(after).rev().find_map(|block| match block {
        ContentBlock::ToolResult(result) if result.id == id => Some(result),
        _ => None,
    })
}

fn is_open(result: &ToolResultBlock) -> bool {
    result.finished_at.is_none()
}

/// Identifies a call in [`AcceptedInputs::answered`]. The block index tells calls with the same id apart.
fn answered_key(call_index: usize, id: &str) -> String {
    format!("{call_index}.{id}")
}

impl AcceptedInputs {
    /// Records an event that was applied to the fold.
    #[inline]
    pub(crate) fn record(&mut self, reply: &ReplyFold, event: &Event<'_>) {
        match &event.kind {
            EventKind::UserInterrupt(_) => self.is_interrupted = true,
            // The agent has resumed the reply.
            EventKind::RequireUserConfirm(_) | EventKind::RequireExternalExecution(_) => self.is_interrupted = false,
            EventKind::ExternalExecutionResult(kind) => {
                for result in &kind.execution_results {
                    if let Some((index, _)) = newest_call(reply.message(), &result.id) {
                        self.answered.push(answered_key(index, &result.id));
                    }
                }
            }
            _ => {}
        }
    }
}
