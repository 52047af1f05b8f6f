//! Generator of streamed and complete blocks.

use recount_message::{
    ContentBlock, CustomEvent, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent, HintBlockEvent, Object,
    TextBlockDeltaEvent, TextBlockEndEvent, TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
};

use super::reply::{BlockKind, Reply};
use crate::stream::{StreamBuilder, UnstampedEvent};
use crate::{Profile, base64_data, blocks, free_json, samples};

/// Generates text and thinking blocks in sequence, because only one of them may be open at a time.
pub(super) fn text_and_thinking(reply: &mut Reply, builder: &mut StreamBuilder) -> Vec<UnstampedEvent> {
    let mut events = Vec::new();
    for _ in 0..builder.random.pick(&[0, 1, 1, 2, 3]) {
        builder.begin_part(2);
        events.extend(if builder.random.chance(40) { thinking(reply, builder) } else { text(reply, builder) });
    }
    builder.end_part(2);
    events
}

fn text(reply: &mut Reply, builder: &mut StreamBuilder) -> Vec<UnstampedEvent> {
    let block_id = reply.next_id(BlockKind::Text);
    let mut events = Vec::new();
    // Reusing an id within the same model call reopens its block.
    for _ in 0..if builder.beyond_python(10) { 2 } else { 1 } {
        events.push(builder.event(TextBlockStartEvent::new(reply.id.clone(), block_id.clone())));
        let text = samples::text(&mut builder.random);
        for piece in samples::pieces(&mut builder.random, &text) {
            events.push(builder.event(TextBlockDeltaEvent::new(reply.id.clone(), block_id.clone(), piece)));
        }
        let mut end = TextBlockEndEvent::new(reply.id.clone(), block_id.clone());
        end.text = builder.random.chance(10).then(|| samples::text(&mut builder.random).into());
        let end = builder.event(end);
        events.push(with_extra(builder, end));
    }
    events
}

fn thinking(reply: &mut Reply, builder: &mut StreamBuilder) -> Vec<UnstampedEvent> {
    let block_id = reply.next_id(BlockKind::Thinking);
    let mut events = vec![builder.event(ThinkingBlockStartEvent::new(reply.id.clone(), block_id.clone()))];
    let text = samples::text(&mut builder.random);
    for piece in samples::pieces(&mut builder.random, &text) {
        events.push(builder.event(ThinkingBlockDeltaEvent::new(reply.id.clone(), block_id.clone(), piece)));
    }
    let end = builder.event(ThinkingBlockEndEvent::new(reply.id.clone(), block_id));
    events.push(with_extra(builder, end));
    events
}

/// Generates a data block: pieces of base64, a URL, or both.
pub(super) fn data(reply: &mut Reply, builder: &mut StreamBuilder) -> Vec<UnstampedEvent> {
    builder.begin_part(2);
    let block_id = reply.next_id(BlockKind::Data);
    let media_type = samples::media_type(&mut builder.random);
    let mut start = DataBlockStartEvent::new(reply.id.clone(), block_id.clone(), media_type.clone());
    start.name = builder.random.chance(40).then(|| samples::text(&mut builder.random).into());
    let mut events = vec![builder.event(start)];
    let piece = |data: Option<String>, url: Option<String>| {
        let mut delta = DataBlockDeltaEvent::new(reply.id.clone(), block_id.clone(), media_type.clone());
        delta.data = data.map(Into::into);
        delta.url = url.map(Into::into);
        delta
    };
    let pieces = match builder.profile {
        Profile::Recount => base64_data::pieces(&mut builder.random),
        Profile::Python => base64_data::padded_pieces(&mut builder.random),
    };
    let (has_bytes, has_url) = builder.random.pick(&[(true, false), (true, false), (false, true), (true, true)]);
    if has_bytes {
        events.extend(pieces.into_iter().map(|data| builder.event(piece(Some(data), None))));
    }
    if has_url {
        let url = samples::url(&mut builder.random);
        events.push(builder.event(piece(None, Some(url))));
    }
    let end = DataBlockEndEvent::new(reply.id.clone(), block_id.clone());
    let end = builder.event(end);
    events.push(with_extra(builder, end));
    builder.end_part(2);
    without_last_end(reply, builder, events)
}

/// Generates a hint.
pub(super) fn hint(reply: &mut Reply, builder: &mut StreamBuilder) -> UnstampedEvent {
    let block_id = reply.next_id(BlockKind::Hint);
    let source = builder.random.chance(50).then(|| samples::text(&mut builder.random).into());
    let payload = blocks::payload(&mut builder.random, builder.profile, &block_id);
    let mut hint = HintBlockEvent::new(reply.id.clone(), block_id, payload);
    hint.source = source;
    let event = builder.event(hint);
    with_extra(builder, event)
}

/// Generates a complete block that start, delta and end events cannot express.
pub(super) fn whole(reply: &mut Reply, builder: &mut StreamBuilder) -> UnstampedEvent {
    let random = &mut builder.random;
    let block: ContentBlock = match random.below(5) {
        0 => blocks::text(random, &reply.next_id(BlockKind::Text)).into(),
        1 => blocks::thinking(random, &reply.next_id(BlockKind::Thinking)).into(),
        2 => blocks::data(random, &reply.next_id(BlockKind::Data)).into(),
        3 => blocks::hint(random, builder.profile, &reply.next_id(BlockKind::Hint)).into(),
        _ => ContentBlock::Unknown(blocks::unknown(random, "whole")),
    };
    builder.event(CustomEvent::block(reply.id.clone(), &block))
}

/// Adds extra fields for the block, such as a signature, to some events.
pub(super) fn with_extra(builder: &mut StreamBuilder, event: UnstampedEvent) -> UnstampedEvent {
    if !builder.beyond_python(30) {
        return event;
    }
    let mut extra = Object::from([("signature", "EqoBCkgIARAB")]);
    for (key, value) in free_json::unknown_fields(&mut builder.random).iter() {
        extra.insert(key, value.clone());
    }
    event.with_extension("extra", extra)
}

/// Sometimes removes the last event, so that the end of the reply closes the block.
pub(super) fn without_last_end(
    reply: &Reply,
    builder: &mut StreamBuilder,
    mut events: Vec<UnstampedEvent>,
) -> Vec<UnstampedEvent> {
    if reply.leaves_open && builder.random.chance(30) {
        events.pop();
    }
    events
}
