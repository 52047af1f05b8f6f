//! Data blocks.
//!
//! The package's fold does not support data at a URL, or a name in the start of a block. The start is therefore held
//! until the content of the block is known or another block follows.

use std::borrow::Cow;

use recount_message::{
    Base64Source, ContentBlock, DataBlock, DataBlockDeltaEvent, DataBlockStartEvent, Event, ReplyFold, ReplyStartEvent,
    Source, UrlSource,
};

use super::{BlockKind, Frames, ReplyView, StartEffect};

/// The number of base64 characters that can be decoded on their own.
const GROUP: usize = 4;

/// Writes the start of a block, which the package receives later.
pub(super) fn start(frames: &mut Frames<'_>, view: &ReplyView<'_>, kind: &DataBlockStartEvent<'_>) {
    match view.start_effect(BlockKind::Data, &kind.block_id) {
        StartEffect::Ignored => {}
        StartEffect::Reopen(_) => frames.carrier(),
        StartEffect::Append => {
            flush_held(frames, view);
            frames.carrier();
        }
    }
}

/// Returns the block whose start is held: the last one, if it is open and empty.
fn held_block<'f>(view: &ReplyView<'f>) -> Option<(usize, &'f DataBlock)> {
    match view.content.last() {
        Some(ContentBlock::Data(block)) if is_held(block) => Some((view.content.len() - 1, block)),
        _ => None,
    }
}

/// Returns whether the start of a block is held.
pub(super) fn is_held(block: &DataBlock) -> bool {
    block.finished_at.is_none() && matches!(&block.source, Source::Base64(source) if source.data.is_empty())
}

/// Writes the start that is held.
pub(super) fn flush_held(frames: &mut Frames<'_>, view: &ReplyView<'_>) {
    if let Some((index, block)) = held_block(view) {
        emit(frames, view, block, &view.typescript_id_of(index));
    }
}

/// Writes the start of a block. A block with a name is written complete.
pub(super) fn emit(frames: &mut Frames<'_>, view: &ReplyView<'_>, block: &DataBlock, id: &str) {
    if block.name.is_some() || matches!(block.source, Source::Url(_)) {
        let mut block = block.clone();
        block.id = id.to_owned();
        return frames.append_typescript_only(view, &block.into());
    }
    let start = DataBlockStartEvent::new(view.reply_id(), id.to_owned(), block.media_type().to_owned());
    frames.typescript_only(&block.created_at, start);
}

/// Writes a piece of data or the URL of a block.
pub(super) fn delta(frames: &mut Frames<'_>, view: &ReplyView<'_>, kind: &DataBlockDeltaEvent<'_>) {
    let Some(index) = view.open(BlockKind::Data, &kind.block_id) else { return };
    let Some(ContentBlock::Data(block)) = view.content.get(index) else { return };
    let is_held = held_block(view).is_some_and(|(held, _)| held == index);
    let id = view.typescript_id_of(index);
    if let Some(url) = kind.url.as_deref() {
        if is_held && !url.is_empty() {
            let mut located = block.clone();
            located.source = UrlSource::unchecked(url, &*kind.media_type).into();
            emit(frames, view, &located, &id);
        }
        // The package cannot replace bytes by a URL.
        return frames.carrier();
    }
    let Source::Base64(source) = &block.source else { return };
    let piece = kind.data.as_deref().unwrap_or_default();
    let Some(groups) = new_groups(source, piece).filter(|_| !piece.is_empty()) else { return frames.carrier() };
    if is_held {
        flush_held(frames, view);
    }
    if groups == piece && id == kind.block_id {
        return frames.forward();
    }
    if !groups.is_empty() {
        frames.typescript_only(&frames.event.created_at, piece_of(view, block, &id, groups));
    }
    frames.carrier();
}

fn piece_of(view: &ReplyView<'_>, block: &DataBlock, id: &str, data: String) -> DataBlockDeltaEvent<'static> {
    DataBlockDeltaEvent::from_base64(view.reply_id(), id.to_owned(), block.media_type().to_owned(), data)
}

/// Writes the end of a block.
pub(super) fn end(frames: &mut Frames<'_>, view: &ReplyView<'_>, id: &str) {
    let Some(index) = view.open(BlockKind::Data, id) else { return };
    let Some(ContentBlock::Data(block)) = view.content.get(index) else { return };
    let typescript_id = view.typescript_id_of(index);
    if held_block(view).is_some_and(|(held, _)| held == index) {
        flush_held(frames, view);
    }
    last_piece(frames, view, block, &typescript_id);
    frames.forward_as(id, &typescript_id);
}

/// Writes the rest of data that was split within a group. A single character is dropped, because it does not encode a
/// byte.
pub(super) fn last_piece(frames: &mut Frames<'_>, view: &ReplyView<'_>, block: &DataBlock, id: &str) {
    let Source::Base64(source) = &block.source else { return };
    let whole = source.data.len() - source.data.len() % GROUP;
    let suffix = source.data.get(whole..).unwrap_or_default().trim_end_matches('=');
    if suffix.len() >= 2 {
        let padded = format!("{suffix:=<GROUP$}");
        frames.typescript_only(&frames.event.created_at, piece_of(view, block, id, padded));
    }
}

/// Returns the groups that a piece completes, as base64 that can be decoded on its own. `None` if the fold rejects the
/// piece.
fn new_groups(source: &Base64Source, piece: &str) -> Option<String> {
    let is_complete = source.data.ends_with('=') && source.data.len().is_multiple_of(GROUP);
    let known = if is_complete { source.data.len() - GROUP } else { source.data.len() - source.data.len() % GROUP };
    let before = source.data.get(known..)?;
    let after = appended(before, piece)?;
    if is_complete {
        return Some(piece.to_owned());
    }
    after.get(..after.len() - after.len() % GROUP).map(str::to_owned)
}

/// Returns the base64 that the native fold makes by appending a piece. It depends only on the last group of `before`.
fn appended(before: &str, piece: &str) -> Option<String> {
    let start = ReplyStartEvent::new("", "", "").with_role("");
    let mut reply = ReplyFold::start(&Event::stamped("", "", start))?;
    let none: Cow<'_, str> = "".into();
    let begin = DataBlockStartEvent::new(none.clone(), none.clone(), none.clone());
    let _ = reply.apply(&Event::stamped("", "", begin));
    for data in [before, piece] {
        let delta = DataBlockDeltaEvent::from_base64(none.clone(), none.clone(), none.clone(), data);
        reply.apply(&Event::stamped("", "", delta)).reason().is_none().then_some(())?;
    }
    match reply.message().content() {
        [ContentBlock::Data(DataBlock { source: Source::Base64(source), .. })] => Some(source.data.clone()),
        _ => None,
    }
}

/// Returns whether base64 can start with a piece.
pub(super) fn is_valid_start(piece: &str) -> bool {
    appended("", piece).is_some()
}
