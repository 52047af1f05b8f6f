//! Generator of messages of every role, with blocks of every type.

use recount_message::{ContentBlock, ErrorInfo, ErrorType, FinishedReason, Msg, Object, Role, Usage};

use crate::random::Random;
use crate::{Profile, blocks, free_json, samples};

const ROLES: [Role; 4] = [Role::User, Role::Assistant, Role::System, Role::Tool];

/// Generates messages with distinct ids.
pub fn messages(seed: u64) -> Vec<Msg> {
    messages_for(Profile::Recount, seed)
}

/// Generates messages that use only the features of a profile.
pub fn messages_for(profile: Profile, seed: u64) -> Vec<Msg> {
    let mut random = Random::new(seed);
    (0..random.between(1, 5)).map(|index| message(&mut random, profile, &format!("m{index}"))).collect()
}

/// Generates a message with an id.
pub fn message(random: &mut Random, profile: Profile, id: &str) -> Msg {
    let role = random.pick(&ROLES);
    let blocks = (0..random.below(6)).map(|index| block(random, profile, role, &format!("{id}.{index}")));
    let content: Vec<ContentBlock> = blocks.filter(|block| role.allows(block)).collect();
    let mut builder = Msg::builder().id(id).role(role).content(content).created_at(samples::time(random));
    if random.chance(90) {
        builder = builder.name(samples::name(random));
    }
    if random.chance(40) {
        builder = builder.metadata(free_json::object(random));
    }
    if random.chance(50) {
        builder = builder.finished_at(samples::time(random));
    }
    if random.chance(40) {
        builder = builder.usage(usage(random));
    }
    if random.chance(40) {
        builder = builder.finished_reason(random.pick(FinishedReason::ALL));
    }
    if random.chance(20) {
        builder = builder.structured_output(free_json::object(random));
    }
    if random.chance(15) {
        builder = builder.error(error(random));
    }
    // The blocks are filtered by role, so building does not fail.
    let mut message = builder.build().unwrap_or_else(|_| Msg::assistant("", []).with_id(id).with_created_at(""));
    message.extra = free_json::rare_fields(random);
    if role == Role::Assistant && random.chance(10) { as_tool(message) } else { message }
}

/// Changes the role to `tool`, with blocks that only other implementations allow for it.
fn as_tool(message: Msg) -> Msg {
    let marked = message.clone().with_metadata_entry("recount", Object::from([("role", "tool")]));
    Msg::from_json(&marked.to_json()).unwrap_or(message)
}

fn block(random: &mut Random, profile: Profile, role: Role, id: &str) -> ContentBlock {
    match role {
        Role::System => blocks::text(random, id).into(),
        Role::User => blocks::media(random, profile, id).into(),
        Role::Tool => blocks::result(random, profile, id).into(),
        _ => blocks::any(random, profile, id),
    }
}

fn usage(random: &mut Random) -> Usage {
    let mut usage = Usage::new(count(random), count(random));
    usage.cache_input_tokens = count(random);
    usage.extra = free_json::rare_fields(random);
    usage
}

/// Generates a number of tokens.
pub fn count(random: &mut Random) -> u64 {
    random.pick(&[0, 1, 17, 4_096, 1_000_000, 9_007_199_254_740_993])
}

/// Generates an error.
pub fn error(random: &mut Random) -> ErrorInfo {
    let mut error = ErrorInfo::new(random.pick(ErrorType::ALL), samples::text(random));
    error.extra = free_json::rare_fields(random);
    error
}
