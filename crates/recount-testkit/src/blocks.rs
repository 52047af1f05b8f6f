//! Generator of complete blocks, for messages and for events that contain complete blocks.

use recount_message::{
    Base64Source, ContentBlock, DataBlock, HintBlock, LegacyMedia, MediaBlock, Payload, PermissionBehavior,
    PermissionRule, Source, TextBlock, ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState,
    UnknownBlock, UrlSource,
};

use crate::random::Random;
use crate::{Profile, base64_data, free_json, samples};

/// Generates any block that an assistant's message may contain.
pub fn any(random: &mut Random, profile: Profile, id: &str) -> ContentBlock {
    match random.below(if profile == Profile::Recount { 7 } else { 6 }) {
        0 => text(random, id).into(),
        1 => thinking(random, id).into(),
        2 => data(random, id).into(),
        3 => hint(random, profile, id).into(),
        4 => call(random, id).into(),
        5 => result(random, profile, id).into(),
        _ => ContentBlock::Unknown(unknown(random, id)),
    }
}

/// Generates a text block.
pub fn text(random: &mut Random, id: &str) -> TextBlock {
    let text = samples::text(random);
    let mut block = TextBlock::stamped(id, samples::time(random), text);
    block.finished_at = finished(random);
    block.extra = free_json::rare_fields(random);
    block
}

/// Generates a thinking block, sometimes with a signature.
pub fn thinking(random: &mut Random, id: &str) -> ThinkingBlock {
    let thinking = samples::text(random);
    let mut block = ThinkingBlock::stamped(id, samples::time(random), thinking);
    block.finished_at = finished(random);
    block.extra = free_json::rare_fields(random);
    if random.chance(40) {
        block.extra.insert("signature", "EqoBCkgIARAB");
    }
    block
}

/// Generates a data block.
pub fn data(random: &mut Random, id: &str) -> DataBlock {
    let source = source(random);
    let name = random.chance(40).then(|| samples::text(random));
    let mut block = DataBlock::stamped(id, samples::time(random), source);
    block.name = name;
    block.finished_at = finished(random);
    block.extra = free_json::rare_fields(random);
    if random.chance(10) {
        block = block.into_legacy(random.pick(LegacyMedia::ALL));
    }
    block
}

fn source(random: &mut Random) -> Source {
    let media_type = samples::media_type(random);
    if random.chance(60) {
        let mut source = Base64Source::new(base64_data::bytes(random), media_type);
        source.extra = free_json::rare_fields(random);
        source.into()
    } else {
        UrlSource::unchecked(samples::url(random), media_type).into()
    }
}

/// Generates a hint, which is always finished.
pub fn hint(random: &mut Random, profile: Profile, id: &str) -> HintBlock {
    let created_at = samples::time(random);
    let mut block = HintBlock::stamped(id, created_at, payload(random, profile, id));
    block.source = random.chance(50).then(|| samples::text(random));
    block.extra = free_json::rare_fields(random);
    block
}

/// Generates the content of a hint or a tool result.
pub fn payload(random: &mut Random, profile: Profile, owner: &str) -> Payload {
    if random.chance(40) {
        return samples::text(random).into();
    }
    let items = (0..random.below(4)).map(|index| media(random, profile, &format!("{owner}.{index}")));
    Payload::Blocks(items.collect())
}

/// Generates a block for a user's message, a hint or a tool result.
pub fn media(random: &mut Random, profile: Profile, id: &str) -> MediaBlock {
    match random.below(if profile == Profile::Recount { 9 } else { 8 }) {
        0..4 => text(random, id).into(),
        4..8 => data(random, id).into(),
        _ => MediaBlock::Unknown(unknown(random, id)),
    }
}

/// Generates a tool call.
pub fn call(random: &mut Random, id: &str) -> ToolCallBlock {
    let mut block = ToolCallBlock::stamped(id, "", samples::tool(random), arguments(random));
    block.state = random.pick(ToolCallState::ALL);
    block.suggested_rules = (0..random.below(3)).map(|_| rule(random)).collect();
    block.created_at = samples::time(random);
    block.finished_at = finished(random);
    block.extra = free_json::rare_fields(random);
    block
}

/// Generates the arguments of a call: usually JSON, sometimes any text.
pub fn arguments(random: &mut Random) -> String {
    if random.chance(80) { free_json::object(random).to_json() } else { samples::text(random) }
}

/// Generates a permission rule.
pub fn rule(random: &mut Random) -> PermissionRule {
    let tool_name = samples::tool(random);
    let rule_content = random.chance(60).then(|| samples::text(random));
    let behavior = random.pick(PermissionBehavior::ALL);
    let mut rule = PermissionRule::new(tool_name, rule_content.as_deref(), behavior).with_source("suggested");
    rule.extra = free_json::rare_fields(random);
    rule
}

/// Generates a tool result.
pub fn result(random: &mut Random, profile: Profile, id: &str) -> ToolResultBlock {
    let (name, output) = (samples::tool(random), payload(random, profile, id));
    let mut block = ToolResultBlock::stamped(id, "", name, output, random.pick(ToolResultState::ALL));
    block.metadata = free_json::rare_metadata(random);
    block.created_at = samples::time(random);
    block.finished_at = finished(random);
    block.extra = free_json::rare_fields(random);
    block
}

/// Generates a block of an unknown type.
pub fn unknown(random: &mut Random, id: &str) -> UnknownBlock {
    let mut fields = free_json::unknown_fields(random);
    fields.insert("type", random.pick(&["citation", "image", "text2", ""]));
    if random.chance(60) {
        fields.insert("id", id);
    }
    UnknownBlock::new(fields)
}

fn finished(random: &mut Random) -> Option<String> {
    random.chance(70).then(|| samples::time(random))
}
