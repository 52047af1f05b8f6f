//! Tool calls that wait for somebody, and their steps.

use recount_message::{
    ConfirmResult, ContentBlock, CustomEvent, EventKind, Fold, Json, Object, RequireExternalExecutionEvent,
    RequireUserConfirmEvent, ToolCallBlock, ToolCallState, UserConfirmResultEvent,
};

use super::{Frames, Kind, View, kept, results};
use crate::residue;

/// An event that names calls.
pub(super) fn named(frames: &mut Frames<'_>, view: &View<'_>, calls: &[ToolCallBlock]) {
    if calls.iter().all(|call| view.call_id(&call.id) == call.id) {
        return frames.same();
    }
    let mut event = frames.event.clone();
    match &mut event.kind {
        EventKind::RequireUserConfirm(kind) => kind.tool_calls = calls.iter().map(|call| renamed(view, call)).collect(),
        EventKind::RequireExternalExecution(kind) => {
            kind.tool_calls = calls.iter().map(|call| renamed(view, call)).collect();
        }
        _ => {}
    }
    frames.event_for_typescript(event);
    frames.standing();
}

/// The answers of a user.
pub(super) fn answered(frames: &mut Frames<'_>, view: &View<'_>, answers: &[ConfirmResult]) {
    if answers.iter().all(|answer| view.call_id(&answer.tool_call.id) == answer.tool_call.id) {
        return frames.same();
    }
    let mut event = frames.event.clone();
    if let EventKind::UserConfirmResult(kind) = &mut event.kind {
        for answer in &mut kind.confirm_results {
            answer.tool_call = renamed(view, &answer.tool_call);
        }
    }
    frames.event_for_typescript(event);
    frames.standing();
}

/// A call under its id in TypeScript. It says what the native one is, so that an answer can be understood.
fn renamed(view: &View<'_>, call: &ToolCallBlock) -> ToolCallBlock {
    let mut renamed = call.clone();
    let id = view.call_id(&call.id);
    if id != call.id {
        renamed.id = id.into_owned();
        residue::keep(&mut renamed.extra, kept::NATIVE, Object::from([("id", call.id.as_str())]));
    }
    renamed
}

/// A step of a call that no other event says.
pub(super) fn step(frames: &mut Frames<'_>, before: &Fold, custom: &CustomEvent<'_>) {
    if let Some((view, index, state)) = stepping(before, custom)
        && let Some(ContentBlock::ToolCall(call)) = view.content.get(index)
    {
        tell_state(frames, &view, call, state);
    }
    frames.same();
}

fn stepping<'f>(before: &'f Fold, custom: &CustomEvent<'_>) -> Option<(View<'f>, usize, ToolCallState)> {
    let text = |name: &str| custom.value.get(name).and_then(Json::to_text);
    let view = View::of(before.open_reply(&text("reply_id")?)?);
    let index = view.newest(Kind::ToolCall, &text("tool_call_id")?)?;
    Some((view, index, ToolCallState::from_word(&text("state")?)?))
}

/// Tells the package a state of a call, as far as one of its events leads there from where it is. To be allowed a call
/// must have been asked about, and nothing leads back.
pub(super) fn tell_state(frames: &mut Frames<'_>, view: &View<'_>, call: &ToolCallBlock, state: ToolCallState) {
    let time = frames.event.created_at.to_string();
    let reply_id = view.reply_id();
    let mut told = renamed(view, call);
    told.state = state;
    match state {
        ToolCallState::Asking => {
            frames.for_typescript(&time, RequireUserConfirmEvent { reply_id, tool_calls: vec![told] });
        }
        ToolCallState::Submitted => {
            frames.for_typescript(&time, RequireExternalExecutionEvent { reply_id, tool_calls: vec![told] });
        }
        ToolCallState::Allowed if call.state == ToolCallState::Asking => {
            let answers = vec![ConfirmResult::allow(told)];
            frames.for_typescript(&time, UserConfirmResultEvent { reply_id, confirm_results: answers });
        }
        ToolCallState::Finished if call.state == ToolCallState::Asking => {
            let answers = vec![ConfirmResult::deny(told)];
            frames.for_typescript(&time, UserConfirmResultEvent { reply_id, confirm_results: answers });
        }
        ToolCallState::Finished => {
            let index = view.newest(Kind::ToolResult, &call.id).and_then(|index| view.content.get(index));
            if let Some(ContentBlock::ToolResult(result)) = index {
                let mut result = result.clone();
                result.id = told.id;
                results::finish_call(frames, view, &result);
            }
        }
        _ => {}
    }
}
