//! Inputs: what comes to a reply from outside, held to what the reply waits for.
//!
//! A confirmation, a result from elsewhere and an interrupt are entries like any other, with one difference: they are
//! checked whole before they are written, against the fold of all that was written before them. The first one wins, and
//! one that was refused never enters the log.

use std::collections::HashSet;

use recount_message::{ContentBlock, Event, EventKind, Msg, ReplyFold, ToolCallBlock, ToolCallState, ToolResultBlock};

use crate::RefusalReason;
use crate::replies::{Inputs, Lookup, Replies};
use crate::storage::{MessageStatus, StorageResult};

/// Whether an event is an input.
pub(crate) fn is_input(event: &Event<'_>) -> bool {
    matches!(
        event.kind,
        EventKind::UserConfirmResult(_) | EventKind::ExternalExecutionResult(_) | EventKind::UserInterrupt(_)
    )
}

/// Why an event may not be written, if it is an input that does not fit.
pub(crate) fn refusal(
    replies: &Replies,
    event: &Event<'_>,
    stored: Lookup<'_>,
) -> StorageResult<Option<RefusalReason>> {
    let Some(id) = event.reply_id().filter(|_| is_input(event)) else { return Ok(None) };
    let Some(reply) = replies.get(id) else {
        return Ok(Some(match replies.known(id, stored)? {
            Some(MessageStatus::EndedReply) => RefusalReason::Late,
            Some(MessageStatus::Message) | None => RefusalReason::Foreign,
        }));
    };
    let message = reply.fold.message();
    let is_interrupted = reply.inputs.is_interrupted;
    // Nobody acts on an answer to what was stopped.
    let late = is_interrupted.then_some(RefusalReason::Late);
    Ok(match &event.kind {
        EventKind::UserInterrupt(_) => is_interrupted.then_some(RefusalReason::Duplicate),
        EventKind::UserConfirmResult(kind) => {
            let ids = kind.confirm_results.iter().map(|answer| answer.tool_call.id.as_str());
            first_refusal(ids, |id| confirmation(message, id)).or(late)
        }
        EventKind::ExternalExecutionResult(kind) => {
            let ids = kind.execution_results.iter().map(|result| result.id.as_str());
            first_refusal(ids, |id| external_result(message, &reply.inputs, id)).or(late)
        }
        _ => None,
    })
}

/// The first reason among several answers. A second one for the same call is one too many.
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

fn confirmation(message: &Msg, id: &str) -> Option<RefusalReason> {
    let Some((_, call)) = newest_call(message, id) else { return Some(RefusalReason::Foreign) };
    match call.state {
        ToolCallState::Asking => None,
        ToolCallState::Allowed | ToolCallState::Finished => Some(RefusalReason::Duplicate),
        _ => Some(RefusalReason::NotWaiting),
    }
}

fn external_result(message: &Msg, inputs: &Inputs, id: &str) -> Option<RefusalReason> {
    let Some((index, call)) = newest_call(message, id) else { return Some(RefusalReason::Foreign) };
    if inputs.answered.contains(&answered(index, id)) {
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

fn answered(call_index: usize, id: &str) -> String {
    format!("{call_index}.{id}")
}

impl Inputs {
    /// Notes what an event that was folded says and its message does not.
    #[inline]
    pub(crate) fn note(&mut self, reply: &ReplyFold, event: &Event<'_>) {
        match &event.kind {
            EventKind::UserInterrupt(_) => self.is_interrupted = true,
            // Whoever asks something has gone on.
            EventKind::RequireUserConfirm(_) | EventKind::RequireExternalExecution(_) => self.is_interrupted = false,
            EventKind::ExternalExecutionResult(kind) => {
                for result in &kind.execution_results {
                    if let Some((index, _)) = newest_call(reply.message(), &result.id) {
                        self.answered.push(answered(index, &result.id));
                    }
                }
            }
            _ => {}
        }
    }
}
