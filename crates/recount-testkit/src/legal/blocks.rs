//! The blocks that a model speaks, and those that come whole.

use recount_message::{
    ContentBlock, CustomEvent, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent, HintBlockEvent, Object,
    TextBlockDeltaEvent, TextBlockEndEvent, TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
};

use super::reply::{Counted, Reply};
use crate::stream::{Desk, Draft};
use crate::{Reach, blocks, data, free, words};

/// Texts and thoughts, one after the other: of these only one is open at a time.
pub(super) fn spoken(reply: &mut Reply, desk: &mut Desk) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for _ in 0..desk.random.pick(&[0, 1, 1, 2, 3]) {
        desk.begin_part(2);
        drafts.extend(if desk.random.chance(40) { thinking(reply, desk) } else { text(reply, desk) });
    }
    desk.end_part(2);
    drafts
}

fn text(reply: &mut Reply, desk: &mut Desk) -> Vec<Draft> {
    let block_id = reply.next_id(Counted::Text);
    let mut drafts = Vec::new();
    // An id that comes again within the same model call opens its block again.
    for _ in 0..if desk.beyond_python(10) { 2 } else { 1 } {
        drafts.push(desk.draft(TextBlockStartEvent::new(reply.id.clone(), block_id.clone())));
        let text = words::text(&mut desk.random);
        for piece in words::pieces(&mut desk.random, &text) {
            drafts.push(desk.draft(TextBlockDeltaEvent::new(reply.id.clone(), block_id.clone(), piece)));
        }
        let mut end = TextBlockEndEvent::new(reply.id.clone(), block_id.clone());
        end.text = desk.random.chance(10).then(|| words::text(&mut desk.random).into());
        let end = desk.draft(end);
        drafts.push(with_extra(desk, end));
    }
    drafts
}

fn thinking(reply: &mut Reply, desk: &mut Desk) -> Vec<Draft> {
    let block_id = reply.next_id(Counted::Thinking);
    let mut drafts = vec![desk.draft(ThinkingBlockStartEvent::new(reply.id.clone(), block_id.clone()))];
    let text = words::text(&mut desk.random);
    for piece in words::pieces(&mut desk.random, &text) {
        drafts.push(desk.draft(ThinkingBlockDeltaEvent::new(reply.id.clone(), block_id.clone(), piece)));
    }
    let end = desk.draft(ThinkingBlockEndEvent::new(reply.id.clone(), block_id));
    drafts.push(with_extra(desk, end));
    drafts
}

/// A data block: pieces of base64, or the URL at which the data is.
pub(super) fn data(reply: &mut Reply, desk: &mut Desk) -> Vec<Draft> {
    desk.begin_part(2);
    let block_id = reply.next_id(Counted::Data);
    let media_type = words::media_type(&mut desk.random);
    let mut start = DataBlockStartEvent::new(reply.id.clone(), block_id.clone(), media_type.clone());
    start.name = desk.random.chance(40).then(|| words::text(&mut desk.random).into());
    let mut drafts = vec![desk.draft(start)];
    let piece = |data: Option<String>, url: Option<String>| {
        let mut delta = DataBlockDeltaEvent::new(reply.id.clone(), block_id.clone(), media_type.clone());
        delta.data = data.map(Into::into);
        delta.url = url.map(Into::into);
        delta
    };
    let pieces = match desk.reach {
        Reach::Recount => data::pieces(&mut desk.random),
        Reach::Python => data::padded_pieces(&mut desk.random),
    };
    let (has_bytes, has_url) = desk.random.pick(&[(true, false), (true, false), (false, true), (true, true)]);
    if has_bytes {
        drafts.extend(pieces.into_iter().map(|data| desk.draft(piece(Some(data), None))));
    }
    if has_url {
        let url = words::url(&mut desk.random);
        drafts.push(desk.draft(piece(None, Some(url))));
    }
    let end = DataBlockEndEvent::new(reply.id.clone(), block_id.clone());
    let end = desk.draft(end);
    drafts.push(with_extra(desk, end));
    desk.end_part(2);
    without_last_end(reply, desk, drafts)
}

/// Something that is said to the model.
pub(super) fn hint(reply: &mut Reply, desk: &mut Desk) -> Draft {
    let block_id = reply.next_id(Counted::Hint);
    let source = desk.random.chance(50).then(|| words::text(&mut desk.random).into());
    let payload = blocks::payload(&mut desk.random, desk.reach, &block_id);
    let mut hint = HintBlockEvent::new(reply.id.clone(), block_id, payload);
    hint.source = source;
    let draft = desk.draft(hint);
    with_extra(desk, draft)
}

/// A block that comes whole, because no start, delta and end could carry it.
pub(super) fn whole(reply: &mut Reply, desk: &mut Desk) -> Draft {
    let random = &mut desk.random;
    let block: ContentBlock = match random.below(5) {
        0 => blocks::text(random, &reply.next_id(Counted::Text)).into(),
        1 => blocks::thinking(random, &reply.next_id(Counted::Thinking)).into(),
        2 => blocks::data(random, &reply.next_id(Counted::Data)).into(),
        3 => blocks::hint(random, desk.reach, &reply.next_id(Counted::Hint)).into(),
        _ => ContentBlock::Unknown(blocks::unknown(random, "whole")),
    };
    desk.draft(CustomEvent::block(reply.id.clone(), &block))
}

/// The same event, now and then with fields for its block, such as a signature.
pub(super) fn with_extra(desk: &mut Desk, draft: Draft) -> Draft {
    if !desk.beyond_python(30) {
        return draft;
    }
    let mut extra = Object::from([("signature", "EqoBCkgIARAB")]);
    for (key, value) in free::unknown_fields(&mut desk.random).iter() {
        extra.insert(key, value.clone());
    }
    draft.with_extension("extra", extra)
}

/// The same events, now and then without the last one: the end of the reply closes what is open.
pub(super) fn without_last_end(reply: &Reply, desk: &mut Desk, mut drafts: Vec<Draft>) -> Vec<Draft> {
    if reply.leaves_open && desk.random.chance(30) {
        drafts.pop();
    }
    drafts
}
