//! Blocks that arrive complete.

use std::borrow::Cow;

use recount_message::{
    ContentBlock, CustomEvent, DataBlockEndEvent, EventKind, Fold, Source, TextBlockEndEvent, ThinkingBlockEndEvent,
    ToolCallEndEvent, ToolCallState, ToolResultEndEvent,
};

use super::{BlockKind, Frames, ReplyView, calls, data, results};
use crate::event_ids::block_or_call_id_mut;
use crate::native::block_events;
use crate::reply_view::{appended_block, kind_of};

/// Writes a block that was appended complete. The package can append a finished block. An open one is written as separate
/// events.
pub(super) fn block(frames: &mut Frames<'_>, before: &Fold, custom: &CustomEvent<'_>) {
    if let Some((view, block)) = appended_block(before, custom) {
        data::flush_held(frames, &view);
        match &block {
            ContentBlock::ToolResult(result) => {
                let mut result = result.clone();
                result.id = view.next_typescript_id(BlockKind::ToolResult, &result.id).into_owned();
                push(frames, &view, &result.clone().into(), &result.id);
                results::finish_call(frames, &view, &result);
            }
            other => {
                let id =
                    kind_of(other).map_or_else(|| Cow::Borrowed(other.id()), |kind| numbered_id(&view, kind, other));
                push(frames, &view, other, &id);
            }
        }
    }
    frames.forward();
}

fn numbered_id<'b>(view: &ReplyView<'_>, kind: BlockKind, block: &'b ContentBlock) -> Cow<'b, str> {
    view.next_typescript_id(kind, block.id()).into_owned().into()
}

fn push(frames: &mut Frames<'_>, view: &ReplyView<'_>, block: &ContentBlock, id: &str) {
    let is_held = matches!(block, ContentBlock::Data(block) if data::is_held(block));
    if is_held {
        return;
    }
    let mut block = block.clone();
    set_id(&mut block, id);
    let is_valid_start =
        |source: &Source| matches!(source, Source::Base64(source) if data::is_valid_start(&source.data));
    let is_sent_as_events = match &block {
        // The package ends every block that it appends, and ignores a block with the id of a result.
        ContentBlock::Data(data) => data.finished_at.is_none() && data.name.is_none() && is_valid_start(&data.source),
        _ => block.finished_at().is_none() || has_id_of_result(view, &block),
    };
    match block_events(&view.reply_id(), &block) {
        Some(events) if is_sent_as_events => {
            let count = events.len();
            for (number, mut event) in events.into_iter().enumerate() {
                // The last data item of an open result is held until something follows it.
                let is_last_item = number + 1 == count && matches!(event.kind, EventKind::ToolResultDataDelta(_));
                if is_last_item {
                    break;
                }
                if let Some(block_id) = block_or_call_id_mut(&mut event.kind) {
                    *block_id = id.to_owned().into();
                }
                frames.typescript_only_event(event);
            }
            if let ContentBlock::ToolCall(call) = &block
                && call.state != ToolCallState::Pending
            {
                calls::emit_state(frames, view, call, call.state);
            }
        }
        _ => frames.append_typescript_only(view, &block),
    }
}

fn has_id_of_result(view: &ReplyView<'_>, block: &ContentBlock) -> bool {
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

/// Returns the event that ends a block in TypeScript.
pub(super) fn end_of(view: &ReplyView<'_>, block: &ContentBlock, id: &str) -> Option<EventKind<'static>> {
    let reply_id = view.reply_id();
    let block_id = id.to_owned();
    Some(match block {
        ContentBlock::Text(_) => TextBlockEndEvent::new(reply_id, block_id).into(),
        ContentBlock::Thinking(_) => ThinkingBlockEndEvent::new(reply_id, block_id).into(),
        ContentBlock::Data(_) => DataBlockEndEvent::new(reply_id, block_id).into(),
        ContentBlock::ToolCall(_) => ToolCallEndEvent::new(reply_id, block_id).into(),
        ContentBlock::ToolResult(result) => ToolResultEndEvent::new(reply_id, block_id, result.state).into(),
        _ => return None,
    })
}
