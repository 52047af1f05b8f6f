//! Data blocks.
//!
//! The package's fold knows no data at a URL and no name when a block begins. So it is not delivered that a block begins until
//! it is clear what the block holds, or until another block follows.

use std::borrow::Cow;

use recount_message::{
    Base64Source, ContentBlock, DataBlock, DataBlockDeltaEvent, DataBlockStartEvent, Event, ReplyFold, ReplyStartEvent,
    Source, UrlSource,
};

use super::{BlockKind, Frames, ReplyView, StartEffect};

/// How many characters of base64 say something by themselves.
const GROUP: usize = 4;

/// A block begins. The package hears of it later.
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

/// The block that the package has not heard of: the last one, while it is open and empty.
fn held_block<'f>(view: &ReplyView<'f>) -> Option<(usize, &'f DataBlock)> {
    match view.content.last() {
        Some(ContentBlock::Data(block)) if is_held(block) => Some((view.content.len() - 1, block)),
        _ => None,
    }
}

/// Whether the package does not hear of a block yet.
pub(super) fn is_held(block: &DataBlock) -> bool {
    block.finished_at.is_none() && matches!(&block.source, Source::Base64(source) if source.data.is_empty())
}

/// Tells the package of the block that it has not heard of.
pub(super) fn flush_held(frames: &mut Frames<'_>, view: &ReplyView<'_>) {
    if let Some((index, block)) = held_block(view) {
        emit(frames, view, block, &view.typescript_id_of(index));
    }
}

/// Tells the package that a block begins. A name can only come with the whole.
pub(super) fn emit(frames: &mut Frames<'_>, view: &ReplyView<'_>, block: &DataBlock, id: &str) {
    if block.name.is_some() || matches!(block.source, Source::Url(_)) {
        let mut block = block.clone();
        block.id = id.to_owned();
        return frames.append_typescript_only(view, &block.into());
    }
    let start = DataBlockStartEvent {
        reply_id: view.reply_id(),
        block_id: id.to_owned().into(),
        media_type: block.media_type().to_owned().into(),
        name: None,
    };
    frames.typescript_only(&block.created_at, start);
}

/// More data, or where it is.
pub(super) fn delta(frames: &mut Frames<'_>, view: &ReplyView<'_>, kind: &DataBlockDeltaEvent<'_>) {
    let Some(index) = view.open(BlockKind::Data, &kind.block_id) else { return };
    let Some(ContentBlock::Data(block)) = view.content.get(index) else { return };
    let is_held = held_block(view).is_some_and(|(held_block, _)| held_block == index);
    let id = view.typescript_id_of(index);
    if let Some(url) = kind.url.as_deref() {
        if is_held && !url.is_empty() {
            let mut located = block.clone();
            located.source = UrlSource::unchecked(url, &*kind.media_type).into();
            emit(frames, view, &located, &id);
        }
        // Where the package has bytes already it keeps them.
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
    DataBlockDeltaEvent {
        reply_id: view.reply_id(),
        block_id: id.to_owned().into(),
        media_type: block.media_type().to_owned().into(),
        data: Some(data.into()),
        url: None,
    }
}

/// The end of a block.
pub(super) fn end(frames: &mut Frames<'_>, view: &ReplyView<'_>, id: &str) {
    let Some(index) = view.open(BlockKind::Data, id) else { return };
    let Some(ContentBlock::Data(block)) = view.content.get(index) else { return };
    let typescript_id = view.typescript_id_of(index);
    if held_block(view).is_some_and(|(held_block, _)| held_block == index) {
        flush_held(frames, view);
    }
    last_piece(frames, view, block, &typescript_id);
    frames.forward_as(id, &typescript_id);
}

/// What is left of data that was cut inside a group. One character alone says nothing.
pub(super) fn last_piece(frames: &mut Frames<'_>, view: &ReplyView<'_>, block: &DataBlock, id: &str) {
    let Source::Base64(source) = &block.source else { return };
    let whole = source.data.len() - source.data.len() % GROUP;
    let suffix = source.data.get(whole..).unwrap_or_default().trim_end_matches('=');
    if suffix.len() >= 2 {
        let padded = format!("{suffix:=<GROUP$}");
        frames.typescript_only(&frames.event.created_at, piece_of(view, block, id, padded));
    }
}

/// The groups that a piece completes, as base64 that can be decoded by itself. Nothing where the piece does not apply.
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

/// What the native fold makes of a piece after the end of some base64. Only the last group counts for that.
fn appended(before: &str, piece: &str) -> Option<String> {
    let start = ReplyStartEvent { session_id: "".into(), reply_id: "".into(), name: "".into(), role: "".into() };
    let mut reply = ReplyFold::start(&Event::stamped("", "", start))?;
    let none: Cow<'_, str> = "".into();
    let begin =
        DataBlockStartEvent { reply_id: none.clone(), block_id: none.clone(), media_type: none.clone(), name: None };
    let _ = reply.apply(&Event::stamped("", "", begin));
    for data in [before, piece] {
        let delta = DataBlockDeltaEvent {
            reply_id: none.clone(),
            block_id: none.clone(),
            media_type: none.clone(),
            data: Some(data.into()),
            url: None,
        };
        reply.apply(&Event::stamped("", "", delta)).reason().is_none().then_some(())?;
    }
    match reply.message().content() {
        [ContentBlock::Data(DataBlock { source: Source::Base64(source), .. })] => Some(source.data.clone()),
        _ => None,
    }
}

/// Whether base64 can begin with a piece.
pub(super) fn is_valid_start(piece: &str) -> bool {
    appended("", piece).is_some()
}
