//! The generators cover all features, and are deterministic.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::{BTreeMap, BTreeSet};

use recount_message::{
    AgentEvent, ContentBlock, CustomName, Event, EventKind, EventType, Fold, Json, Msg, Outcome, Role, ToolResultState,
};
use recount_testkit::{Profile, illegal, legal, legal_for, messages, steps};

const SEEDS: u64 = 300;

fn texts(events: &[AgentEvent]) -> Vec<String> {
    events.iter().map(Event::to_json).collect()
}

#[test]
fn generators_are_deterministic() {
    for seed in 0..20 {
        assert_eq!(texts(&legal(seed)), texts(&legal(seed)));
        assert_eq!(texts(&illegal(seed)), texts(&illegal(seed)));
        assert_eq!(messages(seed), messages(seed));
    }
    assert_ne!(texts(&legal(1)), texts(&legal(2)));
}

#[test]
fn steps_are_deterministic() {
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(texts(&steps::stream(&bytes)), texts(&steps::stream(&bytes)));
    let message = |what| steps::message(&[[what, 0], [what, 1]]).to_json();
    assert!((0..=255).all(|what| message(what) == message(what)));
}

#[test]
fn legal_streams_cover_all_event_types_and_signals() {
    let events: Vec<AgentEvent> = (0..SEEDS).flat_map(legal).collect();
    for event_type in EventType::ALL {
        assert!(events.iter().any(|event| event.event_type() == Some(*event_type)), "{event_type}");
    }
    for name in CustomName::ALL {
        assert!(events.iter().any(|event| event.kind.recount_name() == Some(*name)), "{name}");
    }
    for key in ["metadata", "parent", "structured_output", "extra", "name", "usage"] {
        assert!(events.iter().any(|event| event.extension(key).is_some()), "{key}");
    }
    let is_foreign =
        |event: &&AgentEvent| matches!(&event.kind, EventKind::Custom(custom) if custom.recount_name().is_none());
    let foreign: BTreeSet<bool> = events.iter().filter(is_foreign).map(|event| event.reply_id().is_some()).collect();
    assert_eq!(foreign.len(), 2, "foreign signals with a reply and without");
    assert!(events.iter().any(|event| !event.extra.is_empty()), "unknown fields");
}

#[test]
fn legal_streams_interleave_replies_and_end_open_blocks() {
    let (mut interleaved, mut closed_by_end, mut left_open) = (0, 0, 0);
    for seed in 0..SEEDS {
        let stream = legal(seed);
        let replies: Vec<&str> = stream.iter().filter_map(Event::reply_id).collect();
        let mut changes = replies.clone();
        changes.dedup();
        let distinct: BTreeSet<&str> = replies.iter().copied().collect();
        interleaved += usize::from(changes.len() > distinct.len());
        let mut fold = Fold::new();
        for event in &stream {
            if let EventKind::ReplyEnd(end) = &event.kind {
                let message = fold.message(&end.reply_id).unwrap();
                let is_open = |block: &ContentBlock| block.finished_at().is_none() && block.type_name() == "tool_call";
                closed_by_end += usize::from(message.content().iter().any(is_open));
            }
            assert!(matches!(fold.apply(event), Outcome::Applied | Outcome::NotForMessage));
        }
        left_open += fold.open_replies().count();
    }
    assert!(interleaved > 30 && closed_by_end > 5 && left_open > 10, "{interleaved} {closed_by_end} {left_open}");
}

#[test]
fn illegal_streams_cause_every_ignore_reason() {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut partly = 0;
    let streams = (0..SEEDS).map(illegal).chain((0..SEEDS).map(step_stream));
    for stream in streams {
        let mut fold = Fold::new();
        for event in &stream {
            let outcome = fold.apply(event);
            partly += usize::from(matches!(outcome, Outcome::Partial(_)));
            if let Some(reason) = outcome.reason() {
                *reasons.entry(reason.code()).or_default() += 1;
            }
        }
    }
    for code in [
        "unknown_reply",
        "reply_ended",
        "message_exists",
        "not_a_reply",
        "unknown_block",
        "block_open",
        "block_ended",
        "unknown_call",
        "not_asking",
        "result_exists",
        "data_at_url",
        "bad_data",
        "unknown_type",
        "bad_value",
    ] {
        assert!(reasons.contains_key(code), "{code} is not among {reasons:?}");
    }
    assert!(partly > 5, "{partly}");
}

fn step_stream(seed: u64) -> Vec<AgentEvent> {
    let mut random = recount_testkit::random::Random::new(seed);
    let bytes: Vec<u8> = (0..random.below(200)).map(|_| random.number() as u8).collect();
    steps::stream(&bytes)
}

#[test]
fn messages_cover_all_roles_and_blocks() {
    let messages: Vec<Msg> = (0..SEEDS).flat_map(messages).collect();
    for role in [Role::User, Role::Assistant, Role::System, Role::Tool] {
        assert!(messages.iter().any(|message| message.role() == role), "{role}");
    }
    let blocks: BTreeSet<String> =
        messages.iter().flat_map(Msg::content).map(|block| block.type_name().to_owned()).collect();
    for name in ["text", "thinking", "data", "hint", "tool_call", "tool_result", "citation"] {
        assert!(blocks.contains(name), "{name}");
    }
    assert!(messages.iter().any(|message| !message.has_name()));
    assert!(messages.iter().any(|message| message.error().is_some()));
}

#[test]
fn python_profile_omits_recount_features() {
    for event in (0..SEEDS).flat_map(|seed| legal_for(Profile::Python, seed)) {
        assert_ne!(event.event_type(), Some(EventType::Custom));
        assert!(event.metadata.get("recount").is_none_or(Json::is_null));
        match &event.kind {
            EventKind::ToolResultDataDelta(kind) => assert!(kind.block_id.is_some()),
            EventKind::ToolResultEnd(kind) => assert_ne!(kind.state, ToolResultState::Running),
            _ => {}
        }
    }
}
