//! Tool results.
//!
//! The package's fold appends an item for every piece of data. An item is therefore held until it is complete, that is,
//! until something follows it.

use recount_message::{
    ContentBlock, DataBlock, EventKind, ExternalExecutionResultEvent, MediaBlock, Source, ToolResultBlock,
    ToolResultDataDeltaEvent, ToolResultEndEvent, ToolResultStartEvent,
};

use super::{BlockKind, Event, Frames, ReplyView, StartEffect, data};

/// Writes the start of a result.
pub(super) fn start(frames: &mut Frames<'_>, view: &ReplyView<'_>, kind: &ToolResultStartEvent<'_>) {
    let id = &*kind.tool_call_id;
    match view.result_start_effect(id) {
        StartEffect::Ignored => {}
        StartEffect::Reopen(_) => frames.carrier(),
        StartEffect::Append => {
            data::flush_held(frames, view);
            frames.forward_as(id, &view.next_typescript_id(BlockKind::ToolResult, id));
        }
    }
}

/// Returns the item that is held: the last one of an open result, if it is data.
fn held_block<'f>(view: &ReplyView<'f>, index: usize) -> Option<&'f DataBlock> {
    match view.content.get(index) {
        Some(ContentBlock::ToolResult(result)) if result.finished_at.is_none() => match result.output.blocks().last() {
            Some(MediaBlock::Data(item)) => Some(item),
            _ => None,
        },
        _ => None,
    }
}

/// Writes the item that is held.
pub(super) fn flush_held(frames: &mut Frames<'_>, view: &ReplyView<'_>, index: usize) {
    if let Some(item) = held_block(view, index) {
        emit(frames, view, item, &view.typescript_id_of(index));
    }
}

/// Writes an item of data.
pub(super) fn emit(frames: &mut Frames<'_>, view: &ReplyView<'_>, item: &DataBlock, id: &str) {
    let (data, url) = match &item.source {
        Source::Url(source) => (None, Some(source.url().to_owned().into())),
        Source::Base64(source) => (Some(source.data.clone().into()), None),
        _ => return,
    };
    let mut delta = ToolResultDataDeltaEvent::new(view.reply_id(), id.to_owned(), item.media_type().to_owned())
        .with_block_id(item.id.clone());
    delta.data = data;
    delta.url = url;
    frames.typescript_only(&item.created_at, delta);
}

/// Writes text of a result.
pub(super) fn text(frames: &mut Frames<'_>, view: &ReplyView<'_>, id: &str) {
    let Some(index) = view.open(BlockKind::ToolResult, id) else { return };
    flush_held(frames, view, index);
    frames.forward_as(id, &view.typescript_id_of(index));
}

/// Writes data of a result, which can be a new item or continue the last one.
pub(super) fn data(frames: &mut Frames<'_>, view: &ReplyView<'_>, kind: &ToolResultDataDeltaEvent<'_>) {
    let Some(index) = view.open(BlockKind::ToolResult, &kind.tool_call_id) else { return };
    if is_new_item(view, index, kind) {
        if kind.data.as_deref().is_some_and(|piece| !data::is_valid_start(piece)) {
            return;
        }
        flush_held(frames, view, index);
    }
    frames.carrier();
}

fn is_new_item(view: &ReplyView<'_>, index: usize, kind: &ToolResultDataDeltaEvent<'_>) -> bool {
    let (Some(ContentBlock::ToolResult(result)), Some(id)) = (view.content.get(index), &kind.block_id) else {
        return true;
    };
    let items = result.output.blocks().iter().rev();
    let mut known = items.filter_map(|item| match item {
        MediaBlock::Data(item) if item.id == *id => Some(&item.source),
        _ => None,
    });
    match known.next() {
        None => true,
        // Bytes cannot be appended to a URL, so they begin a new item.
        Some(source) => kind.data.is_some() && matches!(source, Source::Url(_)),
    }
}

/// Writes the end of a result.
pub(super) fn end(frames: &mut Frames<'_>, view: &ReplyView<'_>, id: &str) {
    let Some(index) = view.open(BlockKind::ToolResult, id) else { return };
    flush_held(frames, view, index);
    frames.forward_as(id, &view.typescript_id_of(index));
}

/// Writes results of external executions. The package appends them without finishing their calls, so these are finished
/// here.
pub(super) fn external(frames: &mut Frames<'_>, view: &ReplyView<'_>, results: &[ToolResultBlock]) {
    let accepted = accepted(view, results);
    if accepted.is_empty() {
        return frames.carrier();
    }
    data::flush_held(frames, view);
    let finished = |result: &ToolResultBlock| {
        let mut result = result.clone();
        result.id = view.typescript_call_id(&result.id).into_owned();
        result.finished_at.get_or_insert_with(|| frames.event.created_at.to_string());
        result
    };
    let pushed: Vec<ToolResultBlock> = accepted.iter().map(|result| finished(result)).collect();
    let is_same =
        accepted.len() == results.len() && pushed.iter().zip(results).all(|(pushed, given)| pushed.id == given.id);
    if is_same {
        frames.forward();
    } else {
        let event = ExternalExecutionResultEvent::new(view.reply_id(), pushed.clone());
        frames.typescript_only(&frames.event.created_at, event);
        frames.carrier();
    }
    for result in &pushed {
        finish_call(frames, view, result);
    }
}

/// Returns the results that the native fold accepts.
fn accepted<'r>(view: &ReplyView<'_>, results: &'r [ToolResultBlock]) -> Vec<&'r ToolResultBlock> {
    let mut accepted: Vec<&ToolResultBlock> = Vec::new();
    for result in results {
        let Some(call) = view.latest(BlockKind::ToolCall, &result.id) else { continue };
        let has_result = view.latest(BlockKind::ToolResult, &result.id).is_some_and(|result| result > call);
        if !has_result && accepted.iter().all(|other| other.id != result.id) {
            accepted.push(result);
        }
    }
    accepted
}

/// Finishes the call of a result that arrived complete.
pub(super) fn finish_call(frames: &mut Frames<'_>, view: &ReplyView<'_>, result: &ToolResultBlock) {
    let Some(time) = &result.finished_at else { return };
    let end = ToolResultEndEvent::new(view.reply_id(), result.id.clone(), result.state);
    let mut event = Event::stamped("", time.clone(), EventKind::from(end));
    event.metadata = result.metadata.clone();
    frames.typescript_only_event(event);
}
