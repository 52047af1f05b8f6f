//! Blocks that stand by themselves, for messages and for the events that carry whole blocks.

use recount_message::{
    Base64Source, ContentBlock, DataBlock, HintBlock, LegacyMedia, MediaBlock, Payload, PermissionBehavior,
    PermissionRule, Source, TextBlock, ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState,
    UnknownBlock, UrlSource,
};

use crate::random::Random;
use crate::{Reach, data, free, words};

/// Any block that an assistant's message may hold.
pub fn any(random: &mut Random, reach: Reach, id: &str) -> ContentBlock {
    match random.below(if reach == Reach::Recount { 7 } else { 6 }) {
        0 => text(random, id).into(),
        1 => thinking(random, id).into(),
        2 => data(random, id).into(),
        3 => hint(random, reach, id).into(),
        4 => call(random, id).into(),
        5 => result(random, reach, id).into(),
        _ => ContentBlock::Unknown(unknown(random, id)),
    }
}

/// A text block.
pub fn text(random: &mut Random, id: &str) -> TextBlock {
    let text = words::text(random);
    let mut block = TextBlock::stamped(id, words::time(random), text);
    block.finished_at = finished(random);
    block.extra = free::rare_fields(random);
    block
}

/// A thinking block, with a signature now and then.
pub fn thinking(random: &mut Random, id: &str) -> ThinkingBlock {
    let thinking = words::text(random);
    let mut block = ThinkingBlock::stamped(id, words::time(random), thinking);
    block.finished_at = finished(random);
    block.extra = free::rare_fields(random);
    if random.chance(40) {
        block.extra.insert("signature", "EqoBCkgIARAB");
    }
    block
}

/// A data block.
pub fn data(random: &mut Random, id: &str) -> DataBlock {
    let source = source(random);
    let name = random.chance(40).then(|| words::text(random));
    let mut block = DataBlock::stamped(id, words::time(random), source);
    block.name = name;
    block.finished_at = finished(random);
    block.extra = free::rare_fields(random);
    if random.chance(10) {
        block = block.into_legacy(random.pick(LegacyMedia::ALL));
    }
    block
}

fn source(random: &mut Random) -> Source {
    let media_type = words::media_type(random);
    if random.chance(60) {
        let mut source = Base64Source::new(data::bytes(random), media_type);
        source.extra = free::rare_fields(random);
        source.into()
    } else {
        UrlSource::unchecked(words::url(random), media_type).into()
    }
}

/// A hint. It is complete as soon as it is there.
pub fn hint(random: &mut Random, reach: Reach, id: &str) -> HintBlock {
    let created_at = words::time(random);
    let mut block = HintBlock::stamped(id, created_at, payload(random, reach, id));
    block.source = random.chance(50).then(|| words::text(random));
    block.extra = free::rare_fields(random);
    block
}

/// What a hint says or a tool answers.
pub fn payload(random: &mut Random, reach: Reach, owner: &str) -> Payload {
    if random.chance(40) {
        return words::text(random).into();
    }
    let items = (0..random.below(4)).map(|index| media(random, reach, &format!("{owner}.{index}")));
    Payload::Blocks(items.collect())
}

/// A block that may stand in a user's message, a hint or a result.
pub fn media(random: &mut Random, reach: Reach, id: &str) -> MediaBlock {
    match random.below(if reach == Reach::Recount { 9 } else { 8 }) {
        0..4 => text(random, id).into(),
        4..8 => data(random, id).into(),
        _ => MediaBlock::Unknown(unknown(random, id)),
    }
}

/// A tool call.
pub fn call(random: &mut Random, id: &str) -> ToolCallBlock {
    let mut block = ToolCallBlock::stamped(id, "", words::tool(random), arguments(random));
    block.state = random.pick(ToolCallState::ALL);
    block.suggested_rules = (0..random.below(3)).map(|_| rule(random)).collect();
    block.created_at = words::time(random);
    block.finished_at = finished(random);
    block.extra = free::rare_fields(random);
    block
}

/// The arguments of a call: mostly JSON, but a model may write anything.
pub fn arguments(random: &mut Random) -> String {
    if random.chance(80) { free::object(random).to_json() } else { words::text(random) }
}

/// A permission rule.
pub fn rule(random: &mut Random) -> PermissionRule {
    let tool_name = words::tool(random);
    let rule_content = random.chance(60).then(|| words::text(random));
    let behavior = random.pick(PermissionBehavior::ALL);
    let mut rule = PermissionRule::new(tool_name, rule_content.as_deref(), behavior).with_source("suggested");
    rule.extra = free::rare_fields(random);
    rule
}

/// A tool result.
pub fn result(random: &mut Random, reach: Reach, id: &str) -> ToolResultBlock {
    let (name, output) = (words::tool(random), payload(random, reach, id));
    let mut block = ToolResultBlock::stamped(id, "", name, output, random.pick(ToolResultState::ALL));
    block.metadata = free::rare_metadata(random);
    block.created_at = words::time(random);
    block.finished_at = finished(random);
    block.extra = free::rare_fields(random);
    block
}

/// A block of a type that is not known.
pub fn unknown(random: &mut Random, id: &str) -> UnknownBlock {
    let mut fields = free::unknown_fields(random);
    fields.insert("type", random.pick(&["citation", "image", "text2", ""]));
    if random.chance(60) {
        fields.insert("id", id);
    }
    UnknownBlock::new(fields)
}

fn finished(random: &mut Random) -> Option<String> {
    random.chance(70).then(|| words::time(random))
}
