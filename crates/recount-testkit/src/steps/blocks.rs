//! Decoding of steps into complete blocks.

use recount_message::{
    Base64Source, ContentBlock, DataBlock, HintBlock, MediaBlock, Object, Payload, Source, TextBlock, ThinkingBlock,
    ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState, UnknownBlock, UrlSource,
};

use super::event_mix::{BlockKind, EventMix};
use super::{TEXTS, one_of};

const TIME: &str = "2026-01-01T00:00:00.000000+00:00";

/// The data of complete data blocks, which is not validated and may be invalid base64.
const HELD: &[&str] = &["", "QUJD", "QQ==", "QU", "AA=", "A==", "A===", "aaaéaa=", "aaaé", "*", "é=", "====", "=A="];

/// Decodes a block of one of the types of the event mix.
pub(super) fn block(mix: EventMix, what: u8, id: &str) -> ContentBlock {
    let kind = mix.blocks[usize::from(what) % mix.blocks.len()];
    let rest = what / mix.blocks.len() as u8;
    match kind {
        BlockKind::Text => text(rest, id).into(),
        BlockKind::Thinking => {
            let mut block = ThinkingBlock::new(one_of(TEXTS, rest)).with_id(id);
            block.created_at = TIME.to_owned();
            block.finished_at = finished(rest);
            block.into()
        }
        BlockKind::Data => data(rest, id).into(),
        BlockKind::Hint => {
            let mut block = HintBlock::new(payload(rest, id)).with_id(id);
            block.created_at = TIME.to_owned();
            block.finished_at = Some(TIME.to_owned());
            block.into()
        }
        BlockKind::Call => call(rest, id).into(),
        BlockKind::Result => result(rest, id).into(),
        BlockKind::Unknown => ContentBlock::Unknown(unknown(id)),
    }
}

pub(super) fn call(what: u8, id: &str) -> ToolCallBlock {
    let mut block = ToolCallBlock::new(id, "tool", one_of(TEXTS, what));
    block.state = ToolCallState::ALL[usize::from(what) % ToolCallState::ALL.len()];
    block.created_at = TIME.to_owned();
    block.finished_at = finished(what >> 2);
    block
}

pub(super) fn result(what: u8, id: &str) -> ToolResultBlock {
    let state = ToolResultState::ALL[usize::from(what >> 1) % ToolResultState::ALL.len()];
    let mut block = ToolResultBlock::new(id, "tool", payload(what >> 1, id), state);
    block.created_at = TIME.to_owned();
    block.finished_at = finished(what);
    block
}

pub(super) fn payload(what: u8, owner: &str) -> Payload {
    let (first, second) = (format!("{owner}.0"), format!("{owner}.1"));
    match what % 6 {
        0 => Payload::from(one_of(TEXTS, what)),
        1 => Payload::Blocks(Vec::new()),
        2 => Payload::from((data(what, &first), text(what, &second))),
        3 => Payload::from((text(what, &first), data(what, &second))),
        // The same id twice.
        4 => Payload::from((data(what, &first), data(what >> 1, &first))),
        _ => Payload::Blocks(vec![MediaBlock::Unknown(unknown(&first))]),
    }
}

fn text(what: u8, id: &str) -> TextBlock {
    let mut block = TextBlock::new(one_of(TEXTS, what)).with_id(id);
    block.created_at = TIME.to_owned();
    block.finished_at = finished(what);
    block
}

fn data(what: u8, id: &str) -> DataBlock {
    let source: Source = match what % 16 {
        15 => UrlSource::unchecked("https://example.com/", "image/png").into(),
        _ => Base64Source::from_base64(one_of(HELD, what), "image/png").into(),
    };
    let mut block = DataBlock::new(source).with_id(id);
    block.created_at = TIME.to_owned();
    block.finished_at = finished(what >> 3);
    block
}

fn unknown(id: &str) -> UnknownBlock {
    UnknownBlock::new(Object::from([("type", "later"), ("id", id)]))
}

fn finished(what: u8) -> Option<String> {
    (what & 1 == 1).then(|| TIME.to_owned())
}
