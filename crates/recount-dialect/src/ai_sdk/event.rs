//! The chunks for the events of an open reply.

use recount_message::{ContentBlock, Event, EventKind, Msg, ReplyFold, ToolCallState};

use super::{parts, reset};
use crate::frame::Frame;
use crate::reply_queue::ReplyChange;
use crate::reply_view::{BlockKind, ReplyView, StartEffect, is_reopened};

/// Returns the chunks for an event of an open reply. Also returns the reply after the event if the event can start or end
/// a wait.
pub(super) fn chunks_of(view: &ReplyView<'_>, event: &Event<'_>) -> (Vec<String>, Option<ReplyFold>) {
    match ReplyChange::of(&event.kind) {
        ReplyChange::Ignored => (Vec::new(), None),
        ReplyChange::Delta(kind, id, text) => (delta(view, kind, id, text), None),
        ReplyChange::ToolOutput(id, text) => (output(view, id, text), None),
        ReplyChange::Structural => {
            let mut after = view.reply.clone();
            let _ = after.apply(event);
            let chunks =
                step(view, &event.kind, after.message()).unwrap_or_else(|Rebuild| rebuild(after.message(), false));
            (chunks, Some(after))
        }
    }
}

/// The error for a change that chunks cannot express: all parts must be sent again.
struct Rebuild;

fn rebuild(after: &Msg, is_complete: bool) -> Vec<String> {
    let mut chunks = vec![reset()];
    chunks.extend(parts::of(after, is_complete));
    chunks
}

/// Returns the chunks for an event that begins or ends a block, or changes a call.
fn step(view: &ReplyView<'_>, kind: &EventKind<'_>, after: &Msg) -> Result<Vec<String>, Rebuild> {
    match kind {
        EventKind::TextBlockStart(kind) => block_started(view, BlockKind::Text, &kind.block_id, after),
        EventKind::ThinkingBlockStart(kind) => block_started(view, BlockKind::Thinking, &kind.block_id, after),
        EventKind::DataBlockStart(kind) => block_started(view, BlockKind::Data, &kind.block_id, after),
        EventKind::ToolCallStart(kind) => block_started(view, BlockKind::ToolCall, &kind.tool_call_id, after),
        EventKind::TextBlockEnd(kind) => block_ended(view, BlockKind::Text, &kind.block_id, after),
        EventKind::ThinkingBlockEnd(kind) => block_ended(view, BlockKind::Thinking, &kind.block_id, after),
        EventKind::DataBlockEnd(kind) => block_ended(view, BlockKind::Data, &kind.block_id, after),
        EventKind::ToolCallEnd(kind) => block_ended(view, BlockKind::ToolCall, &kind.tool_call_id, after),
        EventKind::ToolResultEnd(kind) => block_ended(view, BlockKind::ToolResult, &kind.tool_call_id, after),
        EventKind::HintBlock(_) => Ok(appended(view, after)),
        EventKind::RequireUserConfirm(_) => approval_requests(view, after),
        EventKind::ToolResultStart(_) => Ok(Vec::new()),
        EventKind::Custom(_) if has_only_appended(view, after) => Ok(appended(view, after)),
        _ if parts::of(after, false) == parts::of(view.reply.message(), false) => Ok(Vec::new()),
        _ => Err(Rebuild),
    }
}

/// Returns the chunks for the start of a block.
fn block_started(view: &ReplyView<'_>, kind: BlockKind, id: &str, after: &Msg) -> Result<Vec<String>, Rebuild> {
    match view.start_effect(kind, id) {
        StartEffect::Ignored => Ok(Vec::new()),
        StartEffect::Reopen(_) => Err(Rebuild),
        StartEffect::Append => Ok(appended(view, after)),
    }
}

/// Returns the chunks for appended blocks, which may still be open.
fn appended(view: &ReplyView<'_>, after: &Msg) -> Vec<String> {
    let new = after.content().iter().enumerate().skip(view.content.len());
    new.flat_map(|(index, block)| parts::part(after.content(), index, block, false)).collect()
}

/// Returns whether blocks were only appended. A result changes the part of its call, so it does not count as appended.
fn has_only_appended(view: &ReplyView<'_>, after: &Msg) -> bool {
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
    after.content().starts_with(view.content) && !after.content().iter().skip(view.content.len()).any(is_result)
}

/// Returns the chunk for a delta of an open block.
fn delta(view: &ReplyView<'_>, kind: BlockKind, id: &str, text: &str) -> Vec<String> {
    let Some(index) = view.open(kind, id) else { return Vec::new() };
    let chunk = match kind {
        BlockKind::Text => parts::delta("text", &index.to_string(), text),
        BlockKind::Thinking => parts::delta("reasoning", &index.to_string(), text),
        BlockKind::ToolCall => parts::input_delta(&parts::call_id(view.content, index), text),
        BlockKind::Data | BlockKind::ToolResult => None,
    };
    chunk.into_iter().collect()
}

/// Returns a chunk with partial output of a tool, for clients that show it before the result is complete.
fn output(view: &ReplyView<'_>, id: &str, delta: &str) -> Vec<String> {
    let call = view.open(BlockKind::ToolResult, id).and_then(|_| view.latest(BlockKind::ToolCall, id));
    let Some(call) = call.filter(|_| !delta.is_empty()) else { return Vec::new() };
    let data = Frame::new().text("toolCallId", &parts::call_id(view.content, call)).text("delta", delta).end();
    vec![transient("tool-output", &data)]
}

/// Returns a data chunk that clients do not store in the message.
pub(super) fn transient(name: &str, data: &str) -> String {
    Frame::of(&format!("data-{name}")).json("data", data).json("transient", "true").end()
}

fn block_ended(view: &ReplyView<'_>, kind: BlockKind, id: &str, after: &Msg) -> Result<Vec<String>, Rebuild> {
    match view.open(kind, id) {
        Some(index) => end_block(view, index, after),
        None => Ok(Vec::new()),
    }
}

/// Returns the chunks for the end of the open block at an index.
fn end_block(view: &ReplyView<'_>, index: usize, after: &Msg) -> Result<Vec<String>, Rebuild> {
    let id = index.to_string();
    match (view.content.get(index), after.content().get(index)) {
        (Some(ContentBlock::Text(before)), Some(ContentBlock::Text(text))) => {
            // A part can only be appended to.
            let rest = text.text.strip_prefix(before.text.as_str()).ok_or(Rebuild)?;
            let mut chunks: Vec<String> = parts::delta("text", &id, rest).into_iter().collect();
            chunks.push(parts::end("text", &id));
            Ok(chunks)
        }
        (_, Some(ContentBlock::Thinking(_))) => Ok(vec![parts::end("reasoning", &id)]),
        // Later blocks have been sent already, and parts cannot be inserted.
        (_, Some(ContentBlock::Data(_))) if index + 1 < view.content.len() => Err(Rebuild),
        (_, Some(ContentBlock::Data(data))) => Ok(vec![parts::file(data)]),
        (_, Some(ContentBlock::ToolCall(call))) => {
            let is_plain = call.state == ToolCallState::Pending;
            is_plain.then(|| vec![parts::input(&parts::call_id(after.content(), index), call, false)]).ok_or(Rebuild)
        }
        (Some(ContentBlock::ToolResult(before)), Some(ContentBlock::ToolResult(result))) => {
            let call = view.latest(BlockKind::ToolCall, &result.id).ok_or(Rebuild)?;
            let is_plain = matches!(view.content.get(call), Some(ContentBlock::ToolCall(call))
                if call.finished_at.is_some() && !is_waiting(call.state));
            (is_plain && !is_reopened(before))
                .then(|| vec![parts::output(&parts::call_id(view.content, call), result)])
                .ok_or(Rebuild)
        }
        _ => Ok(Vec::new()),
    }
}

fn is_waiting(state: ToolCallState) -> bool {
    matches!(state, ToolCallState::Asking | ToolCallState::Submitted)
}

/// Returns an approval request for each call that starts to wait for a decision.
fn approval_requests(view: &ReplyView<'_>, after: &Msg) -> Result<Vec<String>, Rebuild> {
    let mut chunks = Vec::new();
    for (index, pair) in view.content.iter().zip(after.content()).enumerate() {
        let (ContentBlock::ToolCall(before), ContentBlock::ToolCall(call)) = pair else { continue };
        if before.state == call.state {
            continue;
        }
        let has_result = view.latest(BlockKind::ToolResult, &call.id).is_some_and(|result| result > index);
        if call.finished_at.is_none() || has_result || is_waiting(before.state) {
            return Err(Rebuild);
        }
        chunks.push(parts::approval(&parts::call_id(view.content, index)));
    }
    Ok(chunks)
}

/// Returns the chunks that end all open blocks.
pub(super) fn end_open_blocks(view: &ReplyView<'_>, after: &Msg) -> Vec<String> {
    let mut chunks = Vec::new();
    let mut results = Vec::new();
    for index in (0..view.content.len()).filter(|&index| view.is_open(index)) {
        let is_result = matches!(view.content.get(index), Some(ContentBlock::ToolResult(_)));
        match end_block(view, index, after) {
            Ok(closing) if is_result => results.extend(closing),
            Ok(closing) => chunks.extend(closing),
            Err(Rebuild) => return rebuild(after, true),
        }
    }
    // The end of a call would overwrite its result, so results come last.
    chunks.extend(results);
    chunks
}
