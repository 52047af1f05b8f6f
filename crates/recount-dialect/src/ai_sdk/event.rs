//! What is said in a reply, event by event.

use recount_message::{ContentBlock, Event, EventKind, Msg, ReplyFold, ToolCallState};

use super::{dropped, parts};
use crate::frame::Frame;
use crate::line::Said;
use crate::view::{Begins, Kind, View, is_open_again};

/// The chunks of an event of an open reply, and the reply after it where it may have begun or ceased to wait.
pub(super) fn told(view: &View<'_>, event: &Event<'_>) -> (Vec<String>, Option<ReplyFold>) {
    match Said::by(&event.kind) {
        Said::Nothing => (Vec::new(), None),
        Said::More(kind, id, text) => (delta(view, kind, id, text), None),
        Said::Output(id, text) => (output(view, id, text), None),
        Said::Step => {
            let mut after = view.reply.clone();
            let _ = after.apply(event);
            let chunks = step(view, &event.kind, after.message()).unwrap_or_else(|Again| again(after.message(), false));
            (chunks, Some(after))
        }
    }
}

/// All parts have to be told again.
struct Again;

fn again(after: &Msg, is_complete: bool) -> Vec<String> {
    let mut chunks = vec![dropped()];
    chunks.extend(parts::of(after, is_complete));
    chunks
}

/// An event that begins or ends something, or changes a call.
fn step(view: &View<'_>, kind: &EventKind<'_>, after: &Msg) -> Result<Vec<String>, Again> {
    match kind {
        EventKind::TextBlockStart(kind) => started(view, Kind::Text, &kind.block_id, after),
        EventKind::ThinkingBlockStart(kind) => started(view, Kind::Thinking, &kind.block_id, after),
        EventKind::DataBlockStart(kind) => started(view, Kind::Data, &kind.block_id, after),
        EventKind::ToolCallStart(kind) => started(view, Kind::ToolCall, &kind.tool_call_id, after),
        EventKind::TextBlockEnd(kind) => ended(view, Kind::Text, &kind.block_id, after),
        EventKind::ThinkingBlockEnd(kind) => ended(view, Kind::Thinking, &kind.block_id, after),
        EventKind::DataBlockEnd(kind) => ended(view, Kind::Data, &kind.block_id, after),
        EventKind::ToolCallEnd(kind) => ended(view, Kind::ToolCall, &kind.tool_call_id, after),
        EventKind::ToolResultEnd(kind) => ended(view, Kind::ToolResult, &kind.tool_call_id, after),
        EventKind::HintBlock(_) => Ok(added(view, after)),
        EventKind::RequireUserConfirm(_) => asked(view, after),
        EventKind::ToolResultStart(_) => Ok(Vec::new()),
        EventKind::Custom(_) if has_only_grown(view, after) => Ok(added(view, after)),
        _ if parts::of(after, false) == parts::of(view.reply.message(), false) => Ok(Vec::new()),
        _ => Err(Again),
    }
}

/// A block begins.
fn started(view: &View<'_>, kind: Kind, id: &str, after: &Msg) -> Result<Vec<String>, Again> {
    match view.begins(kind, id) {
        Begins::Nothing => Ok(Vec::new()),
        Begins::Again(_) => Err(Again),
        Begins::New => Ok(added(view, after)),
    }
}

/// Blocks that are new, as far as they have come.
fn added(view: &View<'_>, after: &Msg) -> Vec<String> {
    let new = after.content().iter().enumerate().skip(view.content.len());
    new.flat_map(|(index, block)| parts::part(after.content(), index, block, false)).collect()
}

/// Whether blocks have come and nothing else. A result is no part of its own.
fn has_only_grown(view: &View<'_>, after: &Msg) -> bool {
    let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
    after.content().starts_with(view.content) && !after.content().iter().skip(view.content.len()).any(is_result)
}

/// More of an open block.
fn delta(view: &View<'_>, kind: Kind, id: &str, text: &str) -> Vec<String> {
    let Some(index) = view.open(kind, id) else { return Vec::new() };
    let chunk = match kind {
        Kind::Text => parts::delta("text", &index.to_string(), text),
        Kind::Thinking => parts::delta("reasoning", &index.to_string(), text),
        Kind::ToolCall => parts::input_delta(&parts::call_id(view.content, index), text),
        Kind::Data | Kind::ToolResult => None,
    };
    chunk.into_iter().collect()
}

/// What a tool has said, for who wants to show it before all of it is there.
fn output(view: &View<'_>, id: &str, delta: &str) -> Vec<String> {
    let call = view.open(Kind::ToolResult, id).and_then(|_| view.newest(Kind::ToolCall, id));
    let Some(call) = call.filter(|_| !delta.is_empty()) else { return Vec::new() };
    let data = Frame::new().text("toolCallId", &parts::call_id(view.content, call)).text("delta", delta).end();
    vec![transient("tool-output", &data)]
}

/// Data that is not kept in the message.
pub(super) fn transient(name: &str, data: &str) -> String {
    Frame::of(&format!("data-{name}")).json("data", data).json("transient", "true").end()
}

fn ended(view: &View<'_>, kind: Kind, id: &str, after: &Msg) -> Result<Vec<String>, Again> {
    match view.open(kind, id) {
        Some(index) => closing(view, index, after),
        None => Ok(Vec::new()),
    }
}

/// The end of the open block at an index.
fn closing(view: &View<'_>, index: usize, after: &Msg) -> Result<Vec<String>, Again> {
    let id = index.to_string();
    match (view.content.get(index), after.content().get(index)) {
        (Some(ContentBlock::Text(before)), Some(ContentBlock::Text(text))) => {
            // A part only grows.
            let rest = text.text.strip_prefix(before.text.as_str()).ok_or(Again)?;
            let mut chunks: Vec<String> = parts::delta("text", &id, rest).into_iter().collect();
            chunks.push(parts::end("text", &id));
            Ok(chunks)
        }
        (_, Some(ContentBlock::Thinking(_))) => Ok(vec![parts::end("reasoning", &id)]),
        // What began after it is told already.
        (_, Some(ContentBlock::Data(_))) if index + 1 < view.content.len() => Err(Again),
        (_, Some(ContentBlock::Data(data))) => Ok(vec![parts::file(data)]),
        (_, Some(ContentBlock::ToolCall(call))) => {
            let is_plain = call.state == ToolCallState::Pending;
            is_plain.then(|| vec![parts::input(&parts::call_id(after.content(), index), call, false)]).ok_or(Again)
        }
        (Some(ContentBlock::ToolResult(before)), Some(ContentBlock::ToolResult(result))) => {
            let call = view.newest(Kind::ToolCall, &result.id).ok_or(Again)?;
            let is_plain = matches!(view.content.get(call), Some(ContentBlock::ToolCall(call))
                if call.finished_at.is_some() && !is_waiting(call.state));
            (is_plain && !is_open_again(before))
                .then(|| vec![parts::output(&parts::call_id(view.content, call), result)])
                .ok_or(Again)
        }
        _ => Ok(Vec::new()),
    }
}

fn is_waiting(state: ToolCallState) -> bool {
    matches!(state, ToolCallState::Asking | ToolCallState::Submitted)
}

/// The calls that somebody is asked about.
fn asked(view: &View<'_>, after: &Msg) -> Result<Vec<String>, Again> {
    let mut chunks = Vec::new();
    for (index, pair) in view.content.iter().zip(after.content()).enumerate() {
        let (ContentBlock::ToolCall(before), ContentBlock::ToolCall(call)) = pair else { continue };
        if before.state == call.state {
            continue;
        }
        let has_result = view.newest(Kind::ToolResult, &call.id).is_some_and(|result| result > index);
        if call.finished_at.is_none() || has_result || is_waiting(before.state) {
            return Err(Again);
        }
        chunks.push(parts::approval(&parts::call_id(view.content, index)));
    }
    Ok(chunks)
}

/// The end of all that is open.
pub(super) fn closed(view: &View<'_>, after: &Msg) -> Vec<String> {
    let mut chunks = Vec::new();
    let mut results = Vec::new();
    for index in (0..view.content.len()).filter(|&index| view.is_open(index)) {
        let is_result = matches!(view.content.get(index), Some(ContentBlock::ToolResult(_)));
        match closing(view, index, after) {
            Ok(closing) if is_result => results.extend(closing),
            Ok(closing) => chunks.extend(closing),
            Err(Again) => return again(after, true),
        }
    }
    // A call that ends now would hide what became of it.
    chunks.extend(results);
    chunks
}
