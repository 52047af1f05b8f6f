//! Streams that violate the rules: mutated legal streams.

use recount_message::{
    AgentEvent, ContentBlock, CustomEvent, Event, EventKind, Json, ModelCallStartEvent, Object, UnknownEvent,
};

use crate::random::Random;
use crate::{Profile, blocks, free_json, legal, messages, samples};

/// Generates a stream with one to six mutations.
pub fn illegal(seed: u64) -> Vec<AgentEvent> {
    let mut random = Random::new(seed);
    let mut events = legal(random.number());
    for _ in 0..random.between(1, 6) {
        mutate(&mut random, &mut events);
    }
    events
}

type Mutation = fn(&mut Random, &mut Vec<AgentEvent>);

const MUTATIONS: &[Mutation] = &[
    drop_one,
    drop_several,
    duplicate,
    swap,
    move_one,
    replace_field,
    replace_field,
    replace_field,
    repeat_late,
    corrupt_data,
    unknown_type,
    unknown_block,
    block_with_used_id,
    invalid_custom,
    message_with_used_id,
    add_list_items,
    repeat_block,
    repeat_block_in_new_call,
    drop_field,
];

fn mutate(random: &mut Random, events: &mut Vec<AgentEvent>) {
    if !events.is_empty() {
        let mutation = random.pick(MUTATIONS);
        mutation(random, events);
    }
}

fn random_index(random: &mut Random, events: &[AgentEvent]) -> usize {
    random.below(events.len())
}

/// Inserts an event at a random position.
fn insert(random: &mut Random, events: &mut Vec<AgentEvent>, event: AgentEvent) {
    let at = random.below(events.len() + 1);
    events.insert(at, event);
}

/// Inserts a new event at a random position.
fn add(random: &mut Random, events: &mut Vec<AgentEvent>, kind: impl Into<EventKind<'static>>) {
    let event = Event::stamped("new", samples::time(random), kind);
    insert(random, events, event);
}

fn drop_one(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let at = random_index(random, events);
    events.remove(at);
}

fn drop_several(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let at = random_index(random, events);
    let end = (at + random.between(1, 6)).min(events.len());
    events.drain(at..end);
}

fn duplicate(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let at = random_index(random, events);
    events.insert(at, events[at].clone());
}

fn swap(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let (one, other) = (random_index(random, events), random_index(random, events));
    events.swap(one, other);
}

fn move_one(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let at = random_index(random, events);
    let event = events.remove(at);
    insert(random, events, event);
}

/// Repeats an event at the end of the stream, such as a delta after the end of its block or reply.
fn repeat_late(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let event = random.pick_ref(events).clone();
    events.push(event);
}

/// Replaces a field by that of another event, such as the id of the reply, block or call, or the type.
fn replace_field(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let at = random_index(random, events);
    let name = random.pick(&["reply_id", "block_id", "tool_call_id", "type", "state", "metadata", "created_at"]);
    let other = Object::parse(&random.pick_ref(events).to_json()).unwrap_or_default();
    if let Some(value) = other.get(name).cloned() {
        change_field(&mut events[at], name, |_| Some(value));
    }
}

fn drop_field(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let at = random_index(random, events);
    let name = random.pick(&["id", "created_at", "metadata", "text", "name", "value", "finished_reason", "block_id"]);
    change_field(&mut events[at], name, |_| None);
}

/// Changes a field in the event's JSON. Does nothing if the result is not a valid event.
fn change_field(event: &mut AgentEvent, name: &str, change: impl FnOnce(Option<&Json>) -> Option<Json>) {
    let Ok(mut fields) = Object::parse(&event.to_json()) else { return };
    match change(fields.get(name)) {
        Some(value) => fields.insert(name, value),
        None => {
            fields.remove(name);
        }
    }
    if let Ok(changed) = Event::from_json(&fields.to_json()) {
        *event = changed.into_owned();
    }
}

fn corrupt_data(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let bad = random.pick(&["*", "A===", "=", "Q", "é", "QQ==QQ==", "AA\nAA", "-_-_", "QQ=", "QR=="]);
    for event in events.iter_mut() {
        match &mut event.kind {
            EventKind::DataBlockDelta(kind) if kind.data.is_some() && random.chance(40) => {
                kind.data = Some(bad.into());
            }
            EventKind::ToolResultDataDelta(kind) if kind.data.is_some() && random.chance(40) => {
                kind.data = Some(bad.into());
            }
            _ => {}
        }
    }
}

fn unknown_type(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let type_name = random.pick(&["LATER", "text_block_delta", ""]);
    let mut event = random.pick_ref(events).clone();
    let reply_id = event.reply_id().map(str::to_owned);
    event.kind = EventKind::Unknown(UnknownEvent::new(type_name));
    event.extra = free_json::unknown_fields(random);
    // An event of a later version may belong to a reply.
    if let Some(reply_id) = reply_id {
        event.extra.insert("reply_id", reply_id);
    }
    insert(random, events, event);
}

/// Returns the ids of a reply and a block of an event in the stream.
fn known_ids(random: &mut Random, events: &[AgentEvent]) -> (String, String) {
    let fields = Object::parse(&random.pick_ref(events).to_json()).unwrap_or_default();
    let text = |name: &str| fields.get(name).and_then(Json::as_str).map(str::to_owned);
    let reply_id = text("reply_id").unwrap_or_else(|| "r0".to_owned());
    let block_id = text("tool_call_id").or_else(|| text("block_id")).unwrap_or_else(|| "call1".to_owned());
    (reply_id, block_id)
}

fn unknown_block(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let (reply_id, block_id) = known_ids(random, events);
    let block = ContentBlock::Unknown(blocks::unknown(random, &block_id));
    add(random, events, CustomEvent::block(reply_id, &block));
}

/// Inserts a complete block of any type and state with an id that is in use.
fn block_with_used_id(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let (reply_id, block_id) = known_ids(random, events);
    let block = blocks::any(random, Profile::Recount, &block_id);
    add(random, events, CustomEvent::block(reply_id, &block));
}

fn invalid_custom(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let name = random.pick(&["recount.message", "recount.block", "recount.call"]);
    let (reply_id, call_id) = known_ids(random, events);
    let mut value = free_json::object(random);
    for (key, text) in [("reply_id", &*reply_id), ("tool_call_id", &*call_id), ("state", "allowed")] {
        if random.chance(60) {
            value.insert(key, text);
        }
    }
    add(random, events, CustomEvent::signal(name, value));
}

fn message_with_used_id(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let id = random.pick(&["r0", "r1", "m0", "m1"]);
    let message = messages::message(random, Profile::Recount, id);
    add(random, events, CustomEvent::message(&message));
}

/// Adds unknown or repeated calls to lists.
fn add_list_items(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let (_, known) = known_ids(random, events);
    let id = if random.chance(50) { known } else { "nowhere".to_owned() };
    for event in events.iter_mut() {
        match &mut event.kind {
            EventKind::RequireUserConfirm(kind) => kind.tool_calls.insert(0, blocks::call(random, &id)),
            EventKind::RequireExternalExecution(kind) => kind.tool_calls.push(blocks::call(random, &id)),
            EventKind::UserConfirmResult(kind) => {
                let again = kind.confirm_results.clone();
                kind.confirm_results.extend(again);
            }
            EventKind::ExternalExecutionResult(kind) => {
                kind.execution_results.insert(0, blocks::result(random, Profile::Recount, &id));
                let again = kind.execution_results.clone();
                kind.execution_results.extend(again);
            }
            _ => {}
        }
    }
}

/// Repeats all events of a block later in the stream.
fn repeat_block(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let at = random_index(random, events);
    let Some(id) = block_id(&events[at]).map(str::to_owned) else { return };
    let again: Vec<AgentEvent> = events.iter().filter(|event| block_id(event) == Some(&id)).cloned().collect();
    let at = random.between(at, events.len());
    events.splice(at..at, again);
}

/// Repeats all events of a block later in the stream, after the start of a new model call.
fn repeat_block_in_new_call(random: &mut Random, events: &mut Vec<AgentEvent>) {
    let Some(reply_id) = random.pick_ref(events).reply_id().map(str::to_owned) else { return };
    let start = ModelCallStartEvent::new(reply_id, samples::model(random));
    add(random, events, start);
    repeat_block(random, events);
}

fn block_id(event: &AgentEvent) -> Option<&str> {
    Some(match &event.kind {
        EventKind::TextBlockStart(kind) => &kind.block_id,
        EventKind::TextBlockDelta(kind) => &kind.block_id,
        EventKind::TextBlockEnd(kind) => &kind.block_id,
        EventKind::DataBlockStart(kind) => &kind.block_id,
        EventKind::DataBlockDelta(kind) => &kind.block_id,
        EventKind::DataBlockEnd(kind) => &kind.block_id,
        EventKind::ToolCallStart(kind) => &kind.tool_call_id,
        EventKind::ToolCallDelta(kind) => &kind.tool_call_id,
        EventKind::ToolCallEnd(kind) => &kind.tool_call_id,
        EventKind::ToolResultStart(kind) => &kind.tool_call_id,
        EventKind::ToolResultTextDelta(kind) => &kind.tool_call_id,
        EventKind::ToolResultDataDelta(kind) => &kind.tool_call_id,
        EventKind::ToolResultEnd(kind) => &kind.tool_call_id,
        _ => return None,
    })
}
