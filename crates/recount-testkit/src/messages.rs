//! Messages of every role, with every block.

use recount_message::{ContentBlock, ErrorInfo, ErrorType, FinishedReason, Msg, Object, Role, Usage};

use crate::random::Random;
use crate::{Reach, blocks, free, words};

const ROLES: [Role; 4] = [Role::User, Role::Assistant, Role::System, Role::Tool];

/// Messages that follow from a seed. Each has its own id.
pub fn messages(seed: u64) -> Vec<Msg> {
    messages_within(Reach::Recount, seed)
}

/// Messages that follow from a seed and hold nothing beyond a reach.
pub fn messages_within(reach: Reach, seed: u64) -> Vec<Msg> {
    let mut random = Random::new(seed);
    (0..random.between(1, 5)).map(|index| message(&mut random, reach, &format!("m{index}"))).collect()
}

/// A message with an id.
pub fn message(random: &mut Random, reach: Reach, id: &str) -> Msg {
    let role = random.pick(&ROLES);
    let blocks = (0..random.below(6)).map(|index| block(random, reach, role, &format!("{id}.{index}")));
    let content: Vec<ContentBlock> = blocks.filter(|block| role.allows(block)).collect();
    let mut builder = Msg::builder().id(id).role(role).content(content).created_at(words::time(random));
    if random.chance(90) {
        builder = builder.name(words::name(random));
    }
    if random.chance(40) {
        builder = builder.metadata(free::object(random));
    }
    if random.chance(50) {
        builder = builder.finished_at(words::time(random));
    }
    if random.chance(40) {
        builder = builder.usage(usage(random));
    }
    if random.chance(40) {
        builder = builder.finished_reason(random.pick(FinishedReason::ALL));
    }
    if random.chance(20) {
        builder = builder.structured_output(free::object(random));
    }
    if random.chance(15) {
        builder = builder.error(error(random));
    }
    // All blocks are allowed, so that the message can always be built.
    let mut message = builder.build().unwrap_or_else(|_| Msg::assistant("", []).with_id(id).with_created_at(""));
    message.extra = free::rare_fields(random);
    if role == Role::Assistant && random.chance(10) { as_tool(message) } else { message }
}

/// The message as a tool's, with blocks that only somebody else would put there.
fn as_tool(message: Msg) -> Msg {
    let marked = message.clone().with_metadata_entry("recount", Object::from([("role", "tool")]));
    Msg::from_json(&marked.to_json()).unwrap_or(message)
}

fn block(random: &mut Random, reach: Reach, role: Role, id: &str) -> ContentBlock {
    match role {
        Role::System => blocks::text(random, id).into(),
        Role::User => blocks::media(random, reach, id).into(),
        Role::Tool => blocks::result(random, reach, id).into(),
        _ => blocks::any(random, reach, id),
    }
}

fn usage(random: &mut Random) -> Usage {
    let mut usage = Usage::new(count(random), count(random));
    usage.cache_input_tokens = count(random);
    usage.extra = free::rare_fields(random);
    usage
}

/// A number of tokens.
pub fn count(random: &mut Random) -> u64 {
    random.pick(&[0, 1, 17, 4_096, 1_000_000, 9_007_199_254_740_993])
}

/// What went wrong.
pub fn error(random: &mut Random) -> ErrorInfo {
    let mut error = ErrorInfo::new(random.pick(ErrorType::ALL), words::text(random));
    error.extra = free::rare_fields(random);
    error
}
