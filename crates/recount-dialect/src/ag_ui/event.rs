//! The frames for the events of an open reply.

use recount_message::{ContentBlock, Event, EventKind, ReplyFold};

use super::messages::{self, Activity, ReplyLayout, id_at};
use crate::frame::Frame;
use crate::reply_queue::ReplyChange;
use crate::reply_view::{BlockKind, ReplyView, StartEffect, is_reopened};

/// The name of the signal that replaces streamed text, arguments or output.
const REPLACED: &str = "recount.replaced";
/// The name of the signal that carries partial output of a tool.
const OUTPUT: &str = "recount.tool_output";

/// Returns the frames for an event of an open reply. Also returns the reply after the event if the event can start or end
/// a wait.
pub(super) fn frames_of(view: &ReplyView<'_>, event: &Event<'_>) -> (Vec<String>, Option<ReplyFold>) {
    match ReplyChange::of(&event.kind) {
        ReplyChange::Ignored => (Vec::new(), None),
        ReplyChange::Delta(kind, id, text) => (delta(view, kind, id, text), None),
        ReplyChange::ToolOutput(id, text) => (output(view, id, text), None),
        ReplyChange::Structural => {
            let mut after = view.reply.clone();
            let _ = after.apply(event);
            (step(view, &event.kind, after.message().content()), Some(after))
        }
    }
}

/// Returns the frames for an event that begins or ends a block, or changes a call.
fn step(view: &ReplyView<'_>, kind: &EventKind<'_>, after: &[ContentBlock]) -> Vec<String> {
    let mut frames = match kind {
        EventKind::TextBlockStart(kind) => {
            block_started(view, view.start_effect(BlockKind::Text, &kind.block_id), after)
        }
        EventKind::ThinkingBlockStart(kind) => {
            block_started(view, view.start_effect(BlockKind::Thinking, &kind.block_id), after)
        }
        EventKind::DataBlockStart(kind) => {
            block_started(view, view.start_effect(BlockKind::Data, &kind.block_id), after)
        }
        EventKind::ToolCallStart(kind) => {
            block_started(view, view.start_effect(BlockKind::ToolCall, &kind.tool_call_id), after)
        }
        EventKind::TextBlockEnd(kind) => block_ended(view, BlockKind::Text, &kind.block_id, after),
        EventKind::ThinkingBlockEnd(kind) => block_ended(view, BlockKind::Thinking, &kind.block_id, after),
        EventKind::DataBlockEnd(kind) => block_ended(view, BlockKind::Data, &kind.block_id, after),
        EventKind::ToolCallEnd(kind) => block_ended(view, BlockKind::ToolCall, &kind.tool_call_id, after),
        EventKind::ToolResultEnd(kind) => result_changed(view, &kind.tool_call_id, after),
        EventKind::UserConfirmResult(_) => inputs_changed(view, after),
        EventKind::HintBlock(_) | EventKind::Custom(_) => appended(view, after),
        _ => Vec::new(),
    };
    frames.extend(new_results(view, after, false));
    frames
}

/// Returns the frames for the start of a block. Empty if the fold ignores the start.
fn block_started(view: &ReplyView<'_>, begins: StartEffect, after: &[ContentBlock]) -> Vec<String> {
    let index = match begins {
        StartEffect::Ignored => return Vec::new(),
        StartEffect::Reopen(index) => index,
        StartEffect::Append => view.content.len(),
    };
    after.get(index).map(|block| start(view, index, block)).unwrap_or_default()
}

/// Returns the frames for the start of the block at an index. The block can exist in the view already.
pub(super) fn start(view: &ReplyView<'_>, index: usize, block: &ContentBlock) -> Vec<String> {
    let message = view.reply.message();
    let id = id_at(message.id(), index);
    match block {
        ContentBlock::Text(_) => {
            let frame = Frame::of("TEXT_MESSAGE_START").text("messageId", &id).text("role", "assistant");
            vec![frame.optional("name", messages::name_of(message)).end()]
        }
        ContentBlock::Thinking(_) => vec![
            Frame::of("REASONING_START").text("messageId", &id).end(),
            Frame::of("REASONING_MESSAGE_START").text("messageId", &id).text("role", "reasoning").end(),
        ],
        ContentBlock::ToolCall(call) => {
            let before = view.content.get(..index).unwrap_or(view.content);
            let parent = ReplyLayout::of(before).current_message().unwrap_or(index);
            let frame = Frame::of("TOOL_CALL_START").text("toolCallId", &id).text("toolCallName", &call.name);
            let frame = frame.text("parentMessageId", &id_at(message.id(), parent));
            vec![frame.json("metadata", &messages::call_metadata(&call.id)).end()]
        }
        ContentBlock::ToolResult(_) => Vec::new(),
        block => activity(&id, block),
    }
}

fn activity(id: &str, block: &ContentBlock) -> Vec<String> {
    let Some(activity) = Activity::of(block, false) else { return Vec::new() };
    let frame = Frame::of("ACTIVITY_SNAPSHOT").text("messageId", id).text("activityType", activity.kind);
    vec![frame.json("content", &activity.content).end()]
}

/// Returns the frames for a delta of an open block.
fn delta(view: &ReplyView<'_>, kind: BlockKind, id: &str, text: &str) -> Vec<String> {
    match view.open(kind, id) {
        Some(index) => content(kind, &id_at(view.reply.message().id(), index), text),
        None => Vec::new(),
    }
}

fn content(kind: BlockKind, id: &str, text: &str) -> Vec<String> {
    let frame = match kind {
        _ if text.is_empty() => return Vec::new(),
        BlockKind::Text => Frame::of("TEXT_MESSAGE_CONTENT").text("messageId", id),
        BlockKind::Thinking => Frame::of("REASONING_MESSAGE_CONTENT").text("messageId", id),
        BlockKind::ToolCall => Frame::of("TOOL_CALL_ARGS").text("toolCallId", id),
        BlockKind::Data | BlockKind::ToolResult => return Vec::new(),
    };
    vec![frame.text("delta", text).end()]
}

/// Returns a signal with partial output of a tool, for clients that show it before the result is complete.
fn output(view: &ReplyView<'_>, call_id: &str, delta: &str) -> Vec<String> {
    let call = view.open(BlockKind::ToolResult, call_id).and_then(|_| view.latest(BlockKind::ToolCall, call_id));
    let Some(call) = call.filter(|_| !delta.is_empty()) else { return Vec::new() };
    let value = Frame::new().text("toolCallId", &id_at(view.reply.message().id(), call)).text("delta", delta).end();
    vec![custom(OUTPUT, &value)]
}

fn block_ended(view: &ReplyView<'_>, kind: BlockKind, id: &str, after: &[ContentBlock]) -> Vec<String> {
    let Some(index) = view.open(kind, id) else { return Vec::new() };
    after.get(index).map(|block| end(view, index, block)).unwrap_or_default()
}

/// Returns the frames for the end of an open block. `block` is its final state.
pub(super) fn end(view: &ReplyView<'_>, index: usize, block: &ContentBlock) -> Vec<String> {
    let id = id_at(view.reply.message().id(), index);
    let end = |kind: &str, field: &str| Frame::of(kind).text(field, &id).end();
    match block {
        ContentBlock::Text(text) => {
            let mut frames = text_remainder(view, index, &id, &text.text);
            frames.push(end("TEXT_MESSAGE_END", "messageId"));
            frames
        }
        ContentBlock::Thinking(_) => {
            vec![end("REASONING_MESSAGE_END", "messageId"), end("REASONING_END", "messageId")]
        }
        ContentBlock::ToolCall(_) => vec![end("TOOL_CALL_END", "toolCallId")],
        ContentBlock::ToolResult(_) => Vec::new(),
        block => activity(&id, block),
    }
}

/// Returns the frames for text that the end of a block adds. An AG-UI text can only be appended to, so a text that
/// changes otherwise is sent as a signal.
fn text_remainder(view: &ReplyView<'_>, index: usize, id: &str, text: &str) -> Vec<String> {
    let Some(ContentBlock::Text(before)) = view.content.get(index) else { return Vec::new() };
    match text.strip_prefix(before.text.as_str()) {
        Some(rest) => content(BlockKind::Text, id, rest),
        None => vec![custom(REPLACED, &Frame::new().text("messageId", id).text("content", text).end())],
    }
}

/// Returns a signal for a result that was delivered, reopened and ended again.
fn result_changed(view: &ReplyView<'_>, call_id: &str, after: &[ContentBlock]) -> Vec<String> {
    let Some(index) = view.open(BlockKind::ToolResult, call_id) else { return Vec::new() };
    let was_visible = messages::result_at(view.content, index).is_some_and(is_reopened);
    match messages::result_at(after, index).filter(|_| was_visible) {
        Some(result) => {
            let id = id_at(view.reply.message().id(), index);
            let content = messages::result_content(&result.output);
            vec![custom(REPLACED, &Frame::new().text("messageId", &id).json("content", &content).end())]
        }
        None => Vec::new(),
    }
}

/// Returns a signal for each call whose arguments were edited when it was approved.
fn inputs_changed(view: &ReplyView<'_>, after: &[ContentBlock]) -> Vec<String> {
    let changed = view.content.iter().zip(after).enumerate().filter_map(|(index, pair)| match pair {
        (ContentBlock::ToolCall(before), ContentBlock::ToolCall(call)) if before.input != call.input => {
            let id = id_at(view.reply.message().id(), index);
            let value = Frame::new().text("toolCallId", &id).text("arguments", &call.input).end();
            Some(custom(REPLACED, &value))
        }
        _ => None,
    });
    changed.collect()
}

/// Returns the frames for blocks that were appended complete.
fn appended(view: &ReplyView<'_>, after: &[ContentBlock]) -> Vec<String> {
    let mut frames = Vec::new();
    for (index, block) in after.iter().enumerate().skip(view.content.len()) {
        let id = id_at(view.reply.message().id(), index);
        frames.extend(start(view, index, block));
        frames.extend(match block {
            ContentBlock::Text(block) => content(BlockKind::Text, &id, &block.text),
            ContentBlock::Thinking(block) => content(BlockKind::Thinking, &id, &block.thinking),
            ContentBlock::ToolCall(block) => content(BlockKind::ToolCall, &id, &block.input),
            _ => Vec::new(),
        });
        let is_bracketed =
            matches!(block, ContentBlock::Text(_) | ContentBlock::Thinking(_) | ContentBlock::ToolCall(_));
        if is_bracketed && block.finished_at().is_some() {
            frames.extend(end(view, index, block));
        }
    }
    frames
}

/// Returns the frames for the results that become visible.
pub(super) fn new_results(view: &ReplyView<'_>, after: &[ContentBlock], is_complete: bool) -> Vec<String> {
    let reply_id = view.reply.message().id();
    let known = ReplyLayout::of(view.content).visible_results(view.content, false);
    let visible = ReplyLayout::of(after).visible_results(after, is_complete);
    let new = visible.into_iter().filter(|result| !known.contains(result));
    let frames = new.filter_map(|(index, call)| {
        let result = messages::result_at(after, index)?;
        let frame = Frame::of("TOOL_CALL_RESULT").text("messageId", &id_at(reply_id, index));
        Some(messages::result_fields(frame, &id_at(reply_id, call), result).text("role", "tool").end())
    });
    frames.collect()
}

/// Returns a signal.
pub(super) fn custom(name: &str, value: &str) -> String {
    Frame::of("CUSTOM").text("name", name).json("value", value).end()
}
