//! Waiting tool calls and their state changes.

use recount_message::{
    ConfirmResult, ContentBlock, CustomEvent, EventKind, Fold, Json, Object, RequireExternalExecutionEvent,
    RequireUserConfirmEvent, ToolCallBlock, ToolCallState, UserConfirmResultEvent,
};

use super::{BlockKind, Frames, ReplyView, native_only, results};
use crate::preserved;

/// Writes an event that lists calls.
pub(super) fn listed_calls(frames: &mut Frames<'_>, view: &ReplyView<'_>, calls: &[ToolCallBlock]) {
    if calls.iter().all(|call| view.typescript_call_id(&call.id) == call.id) {
        return frames.forward();
    }
    let mut event = frames.event.clone();
    match &mut event.kind {
        EventKind::RequireUserConfirm(kind) => kind.tool_calls = calls.iter().map(|call| renamed(view, call)).collect(),
        EventKind::RequireExternalExecution(kind) => {
            kind.tool_calls = calls.iter().map(|call| renamed(view, call)).collect();
        }
        _ => {}
    }
    frames.typescript_only_event(event);
    frames.carrier();
}

/// Writes the decisions of a user.
pub(super) fn confirmed(frames: &mut Frames<'_>, view: &ReplyView<'_>, decisions: &[ConfirmResult]) {
    if decisions.iter().all(|decision| view.typescript_call_id(&decision.tool_call.id) == decision.tool_call.id) {
        return frames.forward();
    }
    let mut event = frames.event.clone();
    if let EventKind::UserConfirmResult(kind) = &mut event.kind {
        for decision in &mut kind.confirm_results {
            decision.tool_call = renamed(view, &decision.tool_call);
        }
    }
    frames.typescript_only_event(event);
    frames.carrier();
}

/// Returns a call under its TypeScript id. The native id is stored in it, so that a decision about the call can be
/// converted back.
fn renamed(view: &ReplyView<'_>, call: &ToolCallBlock) -> ToolCallBlock {
    let mut renamed = call.clone();
    let id = view.typescript_call_id(&call.id);
    if id != call.id {
        renamed.id = id.into_owned();
        preserved::store(&mut renamed.extra, native_only::NATIVE, Object::from([("id", call.id.as_str())]));
    }
    renamed
}

/// Writes a state change for which no other event exists.
pub(super) fn change_state(frames: &mut Frames<'_>, before: &Fold, custom: &CustomEvent<'_>) {
    if let Some((view, index, state)) = state_change(before, custom)
        && let Some(ContentBlock::ToolCall(call)) = view.content.get(index)
    {
        emit_state(frames, &view, call, state);
    }
    frames.forward();
}

fn state_change<'f>(before: &'f Fold, custom: &CustomEvent<'_>) -> Option<(ReplyView<'f>, usize, ToolCallState)> {
    let text = |name: &str| custom.value.get(name).and_then(Json::as_str).map(str::to_owned);
    let view = ReplyView::of(before.open_reply(&text("reply_id")?)?);
    let index = view.latest(BlockKind::ToolCall, &text("tool_call_id")?)?;
    Some((view, index, ToolCallState::from_name(&text("state")?)?))
}

/// Writes the TypeScript-only event that changes the state of a call, if the package has one. A call can be allowed only
/// after it asked, and no event restores an earlier state.
pub(super) fn emit_state(frames: &mut Frames<'_>, view: &ReplyView<'_>, call: &ToolCallBlock, state: ToolCallState) {
    let time = frames.event.created_at.to_string();
    let reply_id = view.reply_id();
    let mut delivered = renamed(view, call);
    delivered.state = state;
    match state {
        ToolCallState::Asking => {
            frames.typescript_only(&time, RequireUserConfirmEvent::new(reply_id, [delivered]));
        }
        ToolCallState::Submitted => {
            frames.typescript_only(&time, RequireExternalExecutionEvent::new(reply_id, [delivered]));
        }
        ToolCallState::Allowed if call.state == ToolCallState::Asking => {
            let results_given = vec![ConfirmResult::allow(delivered)];
            frames.typescript_only(&time, UserConfirmResultEvent::new(reply_id, results_given));
        }
        ToolCallState::Finished if call.state == ToolCallState::Asking => {
            let results_given = vec![ConfirmResult::deny(delivered)];
            frames.typescript_only(&time, UserConfirmResultEvent::new(reply_id, results_given));
        }
        ToolCallState::Finished => {
            let index = view.latest(BlockKind::ToolResult, &call.id).and_then(|index| view.content.get(index));
            if let Some(ContentBlock::ToolResult(result)) = index {
                let mut result = result.clone();
                result.id = delivered.id;
                results::finish_call(frames, view, &result);
            }
        }
        _ => {}
    }
}
