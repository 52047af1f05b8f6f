//! Data blocks.
//!
//! The package's fold knows no data at a URL and no name when a block begins. So it is not told that a block begins until
//! it is clear what the block holds, or until another block follows.

use std::borrow::Cow;

use recount_message::{
    Base64Source, ContentBlock, DataBlock, DataBlockDeltaEvent, DataBlockStartEvent, Event, ReplyFold, ReplyStartEvent,
    Source, UrlSource,
};

use super::{Begins, Frames, Kind, View};

/// How many characters of base64 say something by themselves.
const GROUP: usize = 4;

/// A block begins. The package hears of it later.
pub(super) fn start(frames: &mut Frames<'_>, view: &View<'_>, kind: &DataBlockStartEvent<'_>) {
    match view.begins(Kind::Data, &kind.block_id) {
        Begins::Nothing => {}
        Begins::Again(_) => frames.standing(),
        Begins::New => {
            release(frames, view);
            frames.standing();
        }
    }
}

/// The block that the package has not heard of: the last one, while it is open and empty.
fn held<'f>(view: &View<'f>) -> Option<(usize, &'f DataBlock)> {
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
pub(super) fn release(frames: &mut Frames<'_>, view: &View<'_>) {
    if let Some((index, block)) = held(view) {
        tell(frames, view, block, &view.id_of(index));
    }
}

/// Tells the package that a block begins. A name can only come with the whole.
pub(super) fn tell(frames: &mut Frames<'_>, view: &View<'_>, block: &DataBlock, id: &str) {
    if block.name.is_some() || matches!(block.source, Source::Url(_)) {
        let mut block = block.clone();
        block.id = id.to_owned();
        return frames.push_for_typescript(view, &block.into());
    }
    let start = DataBlockStartEvent {
        reply_id: view.reply_id(),
        block_id: id.to_owned().into(),
        media_type: block.media_type().to_owned().into(),
        name: None,
    };
    frames.for_typescript(&block.created_at, start);
}

/// More data, or where it is.
pub(super) fn delta(frames: &mut Frames<'_>, view: &View<'_>, kind: &DataBlockDeltaEvent<'_>) {
    let Some(index) = view.open(Kind::Data, &kind.block_id) else { return };
    let Some(ContentBlock::Data(block)) = view.content.get(index) else { return };
    let is_held = held(view).is_some_and(|(held, _)| held == index);
    let id = view.id_of(index);
    if let Some(url) = kind.url.as_deref() {
        if is_held && !url.is_empty() {
            let mut located = block.clone();
            located.source = UrlSource::unchecked(url, &*kind.media_type).into();
            tell(frames, view, &located, &id);
        }
        // Where the package has bytes already it keeps them.
        return frames.standing();
    }
    let Source::Base64(source) = &block.source else { return };
    let piece = kind.data.as_deref().unwrap_or_default();
    let Some(groups) = new_groups(source, piece).filter(|_| !piece.is_empty()) else { return frames.standing() };
    if is_held {
        release(frames, view);
    }
    if groups == piece && id == kind.block_id {
        return frames.same();
    }
    if !groups.is_empty() {
        frames.for_typescript(&frames.event.created_at, piece_of(view, block, &id, groups));
    }
    frames.standing();
}

fn piece_of(view: &View<'_>, block: &DataBlock, id: &str, data: String) -> DataBlockDeltaEvent<'static> {
    DataBlockDeltaEvent {
        reply_id: view.reply_id(),
        block_id: id.to_owned().into(),
        media_type: block.media_type().to_owned().into(),
        data: Some(data.into()),
        url: None,
    }
}

/// The end of a block.
pub(super) fn end(frames: &mut Frames<'_>, view: &View<'_>, id: &str) {
    let Some(index) = view.open(Kind::Data, id) else { return };
    let Some(ContentBlock::Data(block)) = view.content.get(index) else { return };
    let id_there = view.id_of(index);
    if held(view).is_some_and(|(held, _)| held == index) {
        release(frames, view);
    }
    last_piece(frames, view, block, &id_there);
    frames.under(id, &id_there);
}

/// What is left of data that was cut inside a group. One character alone says nothing.
pub(super) fn last_piece(frames: &mut Frames<'_>, view: &View<'_>, block: &DataBlock, id: &str) {
    let Source::Base64(source) = &block.source else { return };
    let whole = source.data.len() - source.data.len() % GROUP;
    let rest = source.data.get(whole..).unwrap_or_default().trim_end_matches('=');
    if rest.len() >= 2 {
        let padded = format!("{rest:=<GROUP$}");
        frames.for_typescript(&frames.event.created_at, piece_of(view, block, id, padded));
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
pub(super) fn can_begin(piece: &str) -> bool {
    appended("", piece).is_some()
}
