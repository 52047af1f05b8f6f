//! Blocks that come whole.

use recount_message::{
    ContentBlock, CustomEvent, DataBlockEndEvent, EventKind, Fold, Source, TextBlockEndEvent, ThinkingBlockEndEvent,
    ToolCallEndEvent, ToolCallState, ToolResultEndEvent,
};

use super::{Frames, Kind, View, block_id_mut, calls, data, results};
use crate::native::steps;
use crate::view::{given_block, kind_of};

/// A whole block of a reply: the package appends one that is complete, and is told of one that is open step by step.
pub(super) fn block(frames: &mut Frames<'_>, before: &Fold, custom: &CustomEvent<'_>) {
    if let Some((view, block)) = given_block(before, custom) {
        data::release(frames, &view);
        match &block {
            ContentBlock::ToolResult(result) => {
                let mut result = result.clone();
                result.id = view.next_id(Kind::ToolResult, &result.id).into_owned();
                push(frames, &view, &result.clone().into(), &result.id);
                results::finish_call(frames, &view, &result);
            }
            other => {
                let id = kind_of(other).map_or_else(|| other.id(), |kind| numbered_id(&view, kind, other));
                push(frames, &view, other, &id);
            }
        }
    }
    frames.same();
}

fn numbered_id<'b>(view: &View<'_>, kind: Kind, block: &'b ContentBlock) -> std::borrow::Cow<'b, str> {
    view.next_id(kind, &block.id()).into_owned().into()
}

fn push(frames: &mut Frames<'_>, view: &View<'_>, block: &ContentBlock, id: &str) {
    let is_held = matches!(block, ContentBlock::Data(block) if data::is_held(block));
    if is_held {
        return;
    }
    let mut block = block.clone();
    set_id(&mut block, id);
    let can_begin = |source: &Source| matches!(source, Source::Base64(source) if data::can_begin(&source.data));
    let is_told_in_steps = match &block {
        // The package gives an end to whatever it appends, and passes over what has the id of a result.
        ContentBlock::Data(data) => data.finished_at.is_none() && data.name.is_none() && can_begin(&data.source),
        _ => block.finished_at().is_none() || has_id_of_result(view, &block),
    };
    match steps(&view.reply_id(), &block) {
        Some(events) if is_told_in_steps => {
            let count = events.len();
            for (number, mut event) in events.into_iter().enumerate() {
                // The last item of an open result is told when something follows it.
                let is_last_item = number + 1 == count && matches!(event.kind, EventKind::ToolResultDataDelta(_));
                if is_last_item {
                    break;
                }
                if let Some(of_event) = block_id_mut(&mut event.kind) {
                    *of_event = id.to_owned().into();
                }
                frames.event_for_typescript(event);
            }
            if let ContentBlock::ToolCall(call) = &block
                && call.state != ToolCallState::Pending
            {
                calls::tell_state(frames, view, call, call.state);
            }
        }
        _ => frames.push_for_typescript(view, &block),
    }
}

fn has_id_of_result(view: &View<'_>, block: &ContentBlock) -> bool {
    let is_result = |other: &ContentBlock| matches!(other, ContentBlock::ToolResult(_)) && other.id() == block.id();
    !matches!(block, ContentBlock::ToolResult(_)) && view.content.iter().any(is_result)
}

fn set_id(block: &mut ContentBlock, id: &str) {
    match block {
        ContentBlock::Text(block) => id.clone_into(&mut block.id),
        ContentBlock::Thinking(block) => id.clone_into(&mut block.id),
        ContentBlock::Data(block) => id.clone_into(&mut block.id),
        ContentBlock::ToolCall(block) => id.clone_into(&mut block.id),
        ContentBlock::ToolResult(block) => id.clone_into(&mut block.id),
        _ => {}
    }
}

/// The event that ends a block in TypeScript.
pub(super) fn end_of(view: &View<'_>, block: &ContentBlock, id: &str) -> Option<EventKind<'static>> {
    let reply_id = view.reply_id();
    let block_id = id.to_owned().into();
    Some(match block {
        ContentBlock::Text(_) => TextBlockEndEvent { reply_id, block_id, text: None }.into(),
        ContentBlock::Thinking(_) => ThinkingBlockEndEvent { reply_id, block_id }.into(),
        ContentBlock::Data(_) => DataBlockEndEvent { reply_id, block_id }.into(),
        ContentBlock::ToolCall(_) => ToolCallEndEvent { reply_id, tool_call_id: block_id }.into(),
        ContentBlock::ToolResult(result) => {
            ToolResultEndEvent { reply_id, tool_call_id: block_id, state: result.state }.into()
        }
        _ => return None,
    })
}
