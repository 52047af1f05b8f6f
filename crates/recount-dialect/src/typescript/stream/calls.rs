//! Tool calls that wait for somebody, and their steps.

use recount_message::{
    ConfirmResult, ContentBlock, CustomEvent, EventKind, Fold, Json, Object, RequireExternalExecutionEvent,
    RequireUserConfirmEvent, ToolCallBlock, ToolCallState, UserConfirmResultEvent,
};

use super::{BlockKind, Frames, ReplyView, native_only, results};
use crate::preserved;

/// An event that names calls.
pub(super) fn calls_listed(frames: &mut Frames<'_>, view: &ReplyView<'_>, calls: &[ToolCallBlock]) {
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

/// The results_given of a user.
pub(super) fn confirmed(frames: &mut Frames<'_>, view: &ReplyView<'_>, results_given: &[ConfirmResult]) {
    if results_given.iter().all(|result| view.typescript_call_id(&result.tool_call.id) == result.tool_call.id) {
        return frames.forward();
    }
    let mut event = frames.event.clone();
    if let EventKind::UserConfirmResult(kind) = &mut event.kind {
        for result in &mut kind.confirm_results {
            result.tool_call = renamed(view, &result.tool_call);
        }
    }
    frames.typescript_only_event(event);
    frames.carrier();
}

/// A call under its id in TypeScript. It says what the native one is, so that an result can be understood.
fn renamed(view: &ReplyView<'_>, call: &ToolCallBlock) -> ToolCallBlock {
    let mut renamed = call.clone();
    let id = view.typescript_call_id(&call.id);
    if id != call.id {
        renamed.id = id.into_owned();
        preserved::store(&mut renamed.extra, native_only::NATIVE, Object::from([("id", call.id.as_str())]));
    }
    renamed
}

/// A change_state of a call that no other event says.
pub(super) fn change_state(frames: &mut Frames<'_>, before: &Fold, custom: &CustomEvent<'_>) {
    if let Some((view, index, state)) = state_change(before, custom)
        && let Some(ContentBlock::ToolCall(call)) = view.content.get(index)
    {
        emit_state(frames, &view, call, state);
    }
    frames.forward();
}

fn state_change<'f>(before: &'f Fold, custom: &CustomEvent<'_>) -> Option<(ReplyView<'f>, usize, ToolCallState)> {
    let text = |name: &str| custom.value.get(name).and_then(Json::to_text);
    let view = ReplyView::of(before.open_reply(&text("reply_id")?)?);
    let index = view.latest(BlockKind::ToolCall, &text("tool_call_id")?)?;
    Some((view, index, ToolCallState::from_word(&text("state")?)?))
}

/// Tells the package a state of a call, as far as one of its events leads there from where it is. To be allowed a call
/// must have been asked about, and nothing leads back.
pub(super) fn emit_state(frames: &mut Frames<'_>, view: &ReplyView<'_>, call: &ToolCallBlock, state: ToolCallState) {
    let time = frames.event.created_at.to_string();
    let reply_id = view.reply_id();
    let mut delivered = renamed(view, call);
    delivered.state = state;
    match state {
        ToolCallState::Asking => {
            frames.typescript_only(&time, RequireUserConfirmEvent { reply_id, tool_calls: vec![delivered] });
        }
        ToolCallState::Submitted => {
            frames.typescript_only(&time, RequireExternalExecutionEvent { reply_id, tool_calls: vec![delivered] });
        }
        ToolCallState::Allowed if call.state == ToolCallState::Asking => {
            let results_given = vec![ConfirmResult::allow(delivered)];
            frames.typescript_only(&time, UserConfirmResultEvent { reply_id, confirm_results: results_given });
        }
        ToolCallState::Finished if call.state == ToolCallState::Asking => {
            let results_given = vec![ConfirmResult::deny(delivered)];
            frames.typescript_only(&time, UserConfirmResultEvent { reply_id, confirm_results: results_given });
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
