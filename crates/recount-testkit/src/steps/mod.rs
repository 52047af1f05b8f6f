//! Decoding of bytes into streams: every four bytes are one event about a few replies and blocks.
//!
//! With so few ids, events often refer to the same blocks in any order, which is likely to reveal errors in a fold. Fuzzers and
//! shrinking property tests explore such bytes far better than JSON.

mod blocks;
mod event_mix;

use recount_message::{
    AgentEvent, ConfirmResult, ContentBlock, CustomEvent, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent,
    Event, EventKind, EventType, ExceedMaxItersEvent, ExternalExecutionResultEvent, HintBlockEvent, ModelCallEndEvent,
    ModelCallStartEvent, Msg, Object, ReplyEndEvent, ReplyStartEvent, RequireExternalExecutionEvent,
    RequireUserConfirmEvent, TextBlockDeltaEvent, TextBlockEndEvent, TextBlockStartEvent, ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent, ThinkingBlockStartEvent, ToolCallDeltaEvent, ToolCallEndEvent, ToolCallStartEvent,
    ToolCallState, ToolResultDataDeltaEvent, ToolResultEndEvent, ToolResultStartEvent, ToolResultState,
    ToolResultTextDeltaEvent, UnknownEvent, UserConfirmResultEvent, UserInterruptEvent,
};

use event_mix::EventMix;

/// One event: its type, the ids of its reply and block, and two bytes for its content.
pub type Step = [u8; 4];

const TEXTS: &[&str] = &["x", "", "é\n", "\"", "🌍"];
const PIECES: &[&str] = &["QUJD", "QQ==", "QUI=", "", "Q", "QU", "=", "==", "QR==", "*", "é", "A===", "QUJDQQ=="];
const BLOCKS: &[&str] = &["a", "b", "c"];

/// Decodes bytes into events, after the starts of two replies. The first byte selects the event mix.
pub fn stream(bytes: &[u8]) -> Vec<AgentEvent> {
    // Without open replies, hardly any event would apply.
    let starts = [[0, 0, 0, 0], [0, 1, 0, 0]].map(|step| event(0, step, 0));
    let (&mix, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let (steps, _) = bytes.as_chunks::<4>();
    let events = steps.iter().enumerate().map(|(at, step)| event(mix, *step, at + 1));
    starts.into_iter().chain(events).collect()
}

/// Decodes a step into the event at a position of a stream.
pub fn event(mix: u8, step: Step, at: usize) -> AgentEvent {
    let [what, whom, one, two] = step;
    let mix = EventMix::from_byte(mix);
    let reply = one_of(mix.replies, whom);
    let id = one_of(mix.ids, whom >> 2);
    let kind = match mix.types[usize::from(what) % mix.types.len()] {
        EventType::Custom => custom(mix, reply, id, one, two),
        other => native(other, reply, id, one, two),
    };
    let mut event = Event::stamped(format!("e{at}"), format!("2026-01-01T00:00:00.{at:06}+00:00"), kind);
    if event.event_type().is_none() && two & 1 == 1 {
        event.extra.insert("reply_id", reply);
    }
    if two & 0x80 == 0 { event } else { carrying(event, one) }
}

/// Decodes bytes into an open reply. Its blocks need not be the result of a legal stream.
pub fn message(blocks: &[[u8; 2]]) -> Msg {
    let mix = EventMix::from_byte(0);
    let content: Vec<ContentBlock> =
        blocks.iter().map(|[what, whom]| blocks::block(mix, *what, one_of(mix.ids, *whom))).collect();
    Msg::assistant("Friday", content).with_id("r0").with_created_at("2026-01-01T00:00:00.000000+00:00")
}

fn one_of<'t, T: ?Sized>(things: &[&'t T], byte: u8) -> &'t T {
    things[usize::from(byte) % things.len()]
}

/// An event of a type other than CUSTOM.
fn native(what: EventType, reply: &'static str, id: &'static str, one: u8, two: u8) -> EventKind<'static> {
    let (reply_id, block_id, tool_call_id) = (reply, id, id);
    let delta = one_of(TEXTS, one);
    let data = (one & 0x40 == 0).then(|| one_of(PIECES, one).into());
    let url = data.is_none().then(|| "https://example.com/".into());
    let media_type = "image/png";
    let (session_id, name, tool_call_name) = ("s", "Friday", "tool");
    let calls = |of: u8| ids(id, one).map(move |id| blocks::call(of, id)).collect::<Vec<_>>();
    match what {
        EventType::ReplyStart => ReplyStartEvent::new(session_id, reply_id, name).into(),
        EventType::ReplyEnd => ReplyEndEvent::new(session_id, reply_id).into(),
        EventType::ModelCallStart => ModelCallStartEvent::new(reply_id, "m").into(),
        EventType::ModelCallEnd => {
            ModelCallEndEvent::new(reply_id, if one == u8::MAX { u64::MAX } else { one.into() }, two.into()).into()
        }
        EventType::TextBlockStart => TextBlockStartEvent::new(reply_id, block_id).into(),
        EventType::TextBlockDelta => TextBlockDeltaEvent::new(reply_id, block_id, delta).into(),
        EventType::TextBlockEnd => {
            let mut end = TextBlockEndEvent::new(reply_id, block_id);
            end.text = (two & 1 == 1).then_some(delta.into());
            end.into()
        }
        EventType::ThinkingBlockStart => ThinkingBlockStartEvent::new(reply_id, block_id).into(),
        EventType::ThinkingBlockDelta => ThinkingBlockDeltaEvent::new(reply_id, block_id, delta).into(),
        EventType::ThinkingBlockEnd => ThinkingBlockEndEvent::new(reply_id, block_id).into(),
        EventType::DataBlockStart => DataBlockStartEvent::new(reply_id, block_id, media_type).into(),
        EventType::DataBlockDelta => {
            let mut delta = DataBlockDeltaEvent::new(reply_id, block_id, media_type);
            (delta.data, delta.url) = (data, url);
            delta.into()
        }
        EventType::DataBlockEnd => DataBlockEndEvent::new(reply_id, block_id).into(),
        EventType::HintBlock => HintBlockEvent::new(reply_id, block_id, blocks::payload(one, id)).into(),
        EventType::ToolCallStart => ToolCallStartEvent::new(reply_id, tool_call_id, tool_call_name).into(),
        EventType::ToolCallDelta => ToolCallDeltaEvent::new(reply_id, tool_call_id, delta).into(),
        EventType::ToolCallEnd => ToolCallEndEvent::new(reply_id, tool_call_id).into(),
        EventType::ToolResultStart => ToolResultStartEvent::new(reply_id, tool_call_id, tool_call_name).into(),
        EventType::ToolResultTextDelta => ToolResultTextDeltaEvent::new(reply_id, tool_call_id, delta).into(),
        EventType::ToolResultDataDelta => {
            let mut delta = ToolResultDataDeltaEvent::new(reply_id, tool_call_id, media_type);
            delta.block_id = (two & 3 != 0).then(|| format!("{id}.{}", two >> 2 & 1).into());
            (delta.data, delta.url) = (data, url);
            delta.into()
        }
        EventType::ToolResultEnd => {
            let state = ToolResultState::ALL[usize::from(one) % ToolResultState::ALL.len()];
            ToolResultEndEvent::new(reply_id, tool_call_id, state).into()
        }
        EventType::ExceedMaxIters => ExceedMaxItersEvent::new(reply_id, name).into(),
        EventType::RequireUserConfirm => RequireUserConfirmEvent::new(reply_id, calls(two)).into(),
        EventType::RequireExternalExecution => RequireExternalExecutionEvent::new(reply_id, calls(two)).into(),
        EventType::UserConfirmResult => {
            let answer = |call| if two & 1 == 0 { ConfirmResult::allow(call) } else { ConfirmResult::deny(call) };
            UserConfirmResultEvent::new(reply_id, calls(two >> 1).into_iter().map(answer)).into()
        }
        EventType::UserInterrupt => UserInterruptEvent::new(reply_id).into(),
        EventType::ExternalExecutionResult => {
            ExternalExecutionResultEvent::new(reply_id, ids(id, one).map(|id| blocks::result(two, id))).into()
        }
        _ => EventKind::Unknown(UnknownEvent::new("LATER")),
    }
}

/// Decodes a CUSTOM event: a valid or invalid one of Recount, one of another application, or an unknown event.
fn custom(mix: EventMix, reply: &'static str, id: &'static str, one: u8, two: u8) -> EventKind<'static> {
    let state = ToolCallState::ALL[usize::from(two) % ToolCallState::ALL.len()];
    let custom = match one % 16 {
        0..9 => CustomEvent::block(reply, &blocks::block(mix, two, id)),
        9 | 10 => CustomEvent::call(reply, id, state),
        11 => {
            let message = Msg::user("Alice", []).with_id(if two & 1 == 0 { reply } else { id });
            CustomEvent::message(&message.with_created_at("").with_finished_at(""))
        }
        12 => CustomEvent::signal("recount.block", Object::from([("reply_id", reply)])),
        13 => CustomEvent::signal("recount.call", Object::from([("reply_id", reply), ("tool_call_id", id)])),
        14 => CustomEvent::signal(if two & 1 == 0 { "recount.message" } else { "another's" }, Object::new()),
        _ => return EventKind::Unknown(UnknownEvent::new("LATER")),
    };
    custom.into()
}

/// Returns one to three ids, starting with a given one.
fn ids(first: &'static str, byte: u8) -> impl Iterator<Item = &'static str> {
    let at = BLOCKS.iter().position(|id| *id == first).unwrap_or_default();
    (0..=usize::from(byte % 3)).map(move |more| {
        // The last id may repeat the first.
        let step = if byte & 0x10 == 0 { more } else { more % 2 };
        BLOCKS[(at + step) % BLOCKS.len()]
    })
}

/// Adds all values for which there are no native fields.
fn carrying(event: AgentEvent, byte: u8) -> AgentEvent {
    let extra = Object::from([("signature", "s"), ("id", "smuggled"), ("type", "smuggled"), ("state", "smuggled")]);
    let event = event.with_extension("extra", extra).with_extension("name", "chart.png").with_extension("parent", "r9");
    let object = Object::from([("a", byte)]);
    let event = event.with_extension("metadata", object.clone()).with_extension("structured_output", object);
    if byte & 1 == 0 { event.with_extension("usage", "unknown") } else { event }
}
