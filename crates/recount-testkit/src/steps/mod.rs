//! Streams from bytes: four bytes are one event about a handful of replies and blocks.
//!
//! With so few ids, events meet each other's blocks all the time, in every order. That is what breaks a fold, and what
//! a fuzzer or a shrinking property test can play with far better than with JSON.

mod blocks;
mod theme;

use recount_message::{
    AgentEvent, ConfirmResult, ContentBlock, CustomEvent, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent,
    Event, EventKind, EventType, ExceedMaxItersEvent, ExternalExecutionResultEvent, FinishedReason, HintBlockEvent,
    ModelCallEndEvent, ModelCallStartEvent, ModelFinishedReason, Msg, Object, ReplyEndEvent, ReplyStartEvent,
    RequireExternalExecutionEvent, RequireUserConfirmEvent, TextBlockDeltaEvent, TextBlockEndEvent,
    TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent, ThinkingBlockStartEvent, ToolCallDeltaEvent,
    ToolCallEndEvent, ToolCallStartEvent, ToolCallState, ToolResultDataDeltaEvent, ToolResultEndEvent,
    ToolResultStartEvent, ToolResultState, ToolResultTextDeltaEvent, UnknownEvent, UserConfirmResultEvent,
    UserInterruptEvent,
};

use theme::Theme;

/// One event: what it is, whom it is about, and two bytes for the rest.
pub type Step = [u8; 4];

const TEXTS: &[&str] = &["x", "", "é\n", "\"", "🌍"];
const PIECES: &[&str] = &["QUJD", "QQ==", "QUI=", "", "Q", "QU", "=", "==", "QR==", "*", "é", "A===", "QUJDQQ=="];
const BLOCKS: &[&str] = &["a", "b", "c"];

/// The events that some bytes stand for, after the starts of two replies. The first byte is the theme.
pub fn stream(bytes: &[u8]) -> Vec<AgentEvent> {
    // Without replies hardly anything would apply.
    let starts = [[0, 0, 0, 0], [0, 1, 0, 0]].map(|step| event(0, step, 0));
    let (&theme, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let (steps, _) = bytes.as_chunks::<4>();
    let events = steps.iter().enumerate().map(|(at, step)| event(theme, *step, at + 1));
    starts.into_iter().chain(events).collect()
}

/// The event that a step stands for, in a stream with a theme and at a place of it.
pub fn event(theme: u8, step: Step, at: usize) -> AgentEvent {
    let [what, whom, one, two] = step;
    let theme = Theme::of(theme);
    let reply = one_of(theme.replies, whom);
    let id = one_of(theme.ids, whom >> 2);
    let kind = match theme.types[usize::from(what) % theme.types.len()] {
        EventType::Custom => custom(theme, reply, id, one, two),
        other => native(other, reply, id, one, two),
    };
    let mut event = Event::stamped(format!("e{at}"), format!("2026-01-01T00:00:00.{at:06}+00:00"), kind);
    if event.event_type().is_none() && two & 1 == 1 {
        event.extra.insert("reply_id", reply);
    }
    if two & 0x80 == 0 { event } else { carrying(event, one) }
}

/// An open reply with some blocks, which need not be ones that a stream could have made.
pub fn message(blocks: &[[u8; 2]]) -> Msg {
    let theme = Theme::of(0);
    let content: Vec<ContentBlock> =
        blocks.iter().map(|[what, whom]| blocks::block(theme, *what, one_of(theme.ids, *whom))).collect();
    Msg::assistant("Friday", content).with_id("r0").with_created_at("2026-01-01T00:00:00.000000+00:00")
}

fn one_of<'t, T: ?Sized>(things: &[&'t T], byte: u8) -> &'t T {
    things[usize::from(byte) % things.len()]
}

/// An event of a type other than CUSTOM.
fn native(what: EventType, reply: &'static str, id: &'static str, one: u8, two: u8) -> EventKind<'static> {
    let (reply_id, block_id, tool_call_id) = (reply.into(), id.into(), id.into());
    let delta = one_of(TEXTS, one).into();
    let data = (one & 0x40 == 0).then(|| one_of(PIECES, one).into());
    let url = data.is_none().then(|| "https://example.com/".into());
    let media_type = "image/png".into();
    let (session_id, name, tool_call_name) = ("s".into(), "Friday".into(), "tool".into());
    let calls = |of: u8| ids(id, one).map(move |id| blocks::call(of, id)).collect();
    match what {
        EventType::ReplyStart => ReplyStartEvent { session_id, reply_id, name, role: "assistant".into() }.into(),
        EventType::ReplyEnd => {
            ReplyEndEvent { session_id, reply_id, finished_reason: FinishedReason::Completed, error: None }.into()
        }
        EventType::ModelCallStart => ModelCallStartEvent { reply_id, model_name: "m".into() }.into(),
        EventType::ModelCallEnd => ModelCallEndEvent {
            reply_id,
            input_tokens: if one == u8::MAX { u64::MAX } else { one.into() },
            output_tokens: two.into(),
            cache_input_tokens: 0,
            cache_creation_input_tokens: 0,
            finished_reason: ModelFinishedReason::Completed,
        }
        .into(),
        EventType::TextBlockStart => TextBlockStartEvent { reply_id, block_id }.into(),
        EventType::TextBlockDelta => TextBlockDeltaEvent { reply_id, block_id, delta }.into(),
        EventType::TextBlockEnd => {
            TextBlockEndEvent { reply_id, block_id, text: (two & 1 == 1).then_some(delta) }.into()
        }
        EventType::ThinkingBlockStart => ThinkingBlockStartEvent { reply_id, block_id }.into(),
        EventType::ThinkingBlockDelta => ThinkingBlockDeltaEvent { reply_id, block_id, delta }.into(),
        EventType::ThinkingBlockEnd => ThinkingBlockEndEvent { reply_id, block_id }.into(),
        EventType::DataBlockStart => DataBlockStartEvent { reply_id, block_id, media_type, name: None }.into(),
        EventType::DataBlockDelta => DataBlockDeltaEvent { reply_id, block_id, media_type, data, url }.into(),
        EventType::DataBlockEnd => DataBlockEndEvent { reply_id, block_id }.into(),
        EventType::HintBlock => {
            HintBlockEvent { reply_id, block_id, source: None, hint: blocks::payload(one, id) }.into()
        }
        EventType::ToolCallStart => ToolCallStartEvent { reply_id, tool_call_id, tool_call_name }.into(),
        EventType::ToolCallDelta => ToolCallDeltaEvent { reply_id, tool_call_id, delta }.into(),
        EventType::ToolCallEnd => ToolCallEndEvent { reply_id, tool_call_id }.into(),
        EventType::ToolResultStart => ToolResultStartEvent { reply_id, tool_call_id, tool_call_name }.into(),
        EventType::ToolResultTextDelta => ToolResultTextDeltaEvent { reply_id, tool_call_id, delta }.into(),
        EventType::ToolResultDataDelta => {
            let block_id = (two & 3 != 0).then(|| format!("{id}.{}", two >> 2 & 1).into());
            ToolResultDataDeltaEvent { reply_id, tool_call_id, block_id, media_type, data, url }.into()
        }
        EventType::ToolResultEnd => {
            let state = ToolResultState::ALL[usize::from(one) % ToolResultState::ALL.len()];
            ToolResultEndEvent { reply_id, tool_call_id, state }.into()
        }
        EventType::ExceedMaxIters => ExceedMaxItersEvent { reply_id, name }.into(),
        EventType::RequireUserConfirm => RequireUserConfirmEvent { reply_id, tool_calls: calls(two) }.into(),
        EventType::RequireExternalExecution => {
            RequireExternalExecutionEvent { reply_id, tool_calls: calls(two) }.into()
        }
        EventType::UserConfirmResult => {
            let answer = |call| if two & 1 == 0 { ConfirmResult::allow(call) } else { ConfirmResult::deny(call) };
            let confirm_results = calls(two >> 1).into_iter().map(answer).collect();
            UserConfirmResultEvent { reply_id, confirm_results }.into()
        }
        EventType::UserInterrupt => UserInterruptEvent { reply_id }.into(),
        EventType::ExternalExecutionResult => {
            let execution_results = ids(id, one).map(|id| blocks::result(two, id)).collect();
            ExternalExecutionResultEvent { reply_id, execution_results }.into()
        }
        _ => EventKind::Unknown(UnknownEvent { type_name: "LATER".into() }),
    }
}

/// Recount's own CUSTOM events, sound and unsound ones, those of others, and what nobody knows.
fn custom(theme: Theme, reply: &'static str, id: &'static str, one: u8, two: u8) -> EventKind<'static> {
    let state = ToolCallState::ALL[usize::from(two) % ToolCallState::ALL.len()];
    let custom = match one % 16 {
        0..9 => CustomEvent::block(reply, &blocks::block(theme, two, id)),
        9 | 10 => CustomEvent::call(reply, id, state),
        11 => {
            let message = Msg::user("Alice", []).with_id(if two & 1 == 0 { reply } else { id });
            CustomEvent::message(&message.with_created_at("").with_finished_at(""))
        }
        12 => CustomEvent::signal("recount.block", Object::from([("reply_id", reply)])),
        13 => CustomEvent::signal("recount.call", Object::from([("reply_id", reply), ("tool_call_id", id)])),
        14 => CustomEvent::signal(if two & 1 == 0 { "recount.message" } else { "another's" }, Object::new()),
        _ => return EventKind::Unknown(UnknownEvent { type_name: "LATER".into() }),
    };
    custom.into()
}

/// One to three ids, beginning with a given one.
fn ids(first: &'static str, byte: u8) -> impl Iterator<Item = &'static str> {
    let at = BLOCKS.iter().position(|id| *id == first).unwrap_or_default();
    (0..=usize::from(byte % 3)).map(move |more| {
        // The last may be one that comes again.
        let step = if byte & 0x10 == 0 { more } else { more % 2 };
        BLOCKS[(at + step) % BLOCKS.len()]
    })
}

/// The event with each of the things that native fields cannot say.
fn carrying(event: AgentEvent, byte: u8) -> AgentEvent {
    let extra = Object::from([("signature", "s"), ("id", "smuggled"), ("type", "smuggled"), ("state", "smuggled")]);
    let event = event.carrying("extra", extra).carrying("name", "chart.png").carrying("parent", "r9");
    let object = Object::from([("a", byte)]);
    let event = event.carrying("metadata", object.clone()).carrying("structured_output", object);
    if byte & 1 == 0 { event.carrying("usage", "unknown") } else { event }
}
