#![allow(clippy::unwrap_used, reason = "a test may fail")]

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use recount_message::{Event, Fold, Msg};
use recount_testkit::strategies::streams;

use super::*;

fn texts(fold: &Fold) -> Vec<String> {
    fold.messages().map(Msg::to_json).collect()
}

/// Returns the call floor of each open reply: its number of blocks at the last model call.
fn floors(fold: &Fold) -> Vec<usize> {
    fold.open_replies().map(recount_message::ReplyFold::call_floor).collect()
}

fn join(at: &Fold) -> Fold {
    let mut fold = Fold::new();
    for frame in prelude(at) {
        let event = read_event(&frame).unwrap();
        assert_eq!(fold.apply(&event).reason(), None, "{frame}");
    }
    fold
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 2, failure_persistence: None, ..ProptestConfig::default() })]

    /// A reader who joins at any point has the same messages, and later events have the same effect on them.
    #[test]
    fn joining_reader_has_the_same_fold(stream in streams()) {
        let whole: Fold = stream.iter().collect();
        let mut before = Fold::new();
        for cut in 0..=stream.len() {
            let mut late = join(&before);
            prop_assert_eq!(texts(&late), texts(&before), "after {} events", cut);
            prop_assert_eq!(floors(&late), floors(&before), "after {} events", cut);
            for event in &stream[cut..] {
                for frame in frames(&late, event) {
                    let _ = late.apply(&read_event(&frame).unwrap());
                }
            }
            prop_assert_eq!(texts(&late), texts(&whole), "joined after {} events", cut);
            if let Some(event) = stream.get(cut) {
                let _ = before.apply(event);
            }
        }
    }

    /// The ids of replayed events are derived from their content.
    #[test]
    fn replay_is_deterministic(stream in streams(), cut: prop::sample::Index) {
        let fold: Fold = stream[..cut.index(stream.len() + 1)].iter().collect();
        let events = replay_events(&fold);
        prop_assert_eq!(&events, &replay_events(&fold));
        let mut ids: Vec<&str> = events.iter().map(|event| &*event.id).collect();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), events.len());
    }
}

/// Returns the types of the events that rebuild the only reply of a stream.
fn replayed_types(stream: &str) -> Vec<String> {
    let mut fold = Fold::new();
    for line in stream.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert_eq!(fold.apply(&read_event(line).unwrap()).reason(), None, "{line}");
    }
    let events = replay_events(&fold);
    events
        .iter()
        .map(|event| event.kind.recount_name().map_or(event.type_name(), |name| name.as_str()).to_owned())
        .collect()
}

#[test]
fn replay_uses_minimal_events() {
    let stream = r#"
        {"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}
        {"type":"MODEL_CALL_START","reply_id":"r","model_name":"m"}
        {"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}
        {"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"Hel"}
        {"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"lo"}
        {"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"t"}
        {"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"shell"}
        {"type":"TOOL_CALL_END","reply_id":"r","tool_call_id":"c"}
        {"type":"MODEL_CALL_END","reply_id":"r","input_tokens":1,"output_tokens":2}
        {"type":"REQUIRE_USER_CONFIRM","reply_id":"r","tool_calls":[{"type":"tool_call","id":"c","name":"shell","input":""}]}
    "#;
    assert_eq!(
        replayed_types(stream),
        [
            "REPLY_START",
            "TEXT_BLOCK_START",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_END",
            "TOOL_CALL_START",
            "TOOL_CALL_END",
            "REQUIRE_USER_CONFIRM",
            "MODEL_CALL_END",
        ]
    );
}

#[test]
fn replay_restores_call_state_after_result() {
    let stream = r#"
        {"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}
        {"type":"TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"shell"}
        {"type":"TOOL_CALL_END","reply_id":"r","tool_call_id":"c"}
        {"type":"CUSTOM","name":"recount.call","value":{"reply_id":"r","tool_call_id":"c","state":"allowed"}}
        {"type":"TOOL_RESULT_START","reply_id":"r","tool_call_id":"c","tool_call_name":"shell"}
        {"type":"TOOL_RESULT_TEXT_DELTA","reply_id":"r","tool_call_id":"c","delta":"a b"}
        {"type":"MODEL_CALL_START","reply_id":"r","model_name":"m"}
    "#;
    assert_eq!(
        replayed_types(stream),
        [
            "REPLY_START",
            "TOOL_CALL_START",
            "TOOL_CALL_END",
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "MODEL_CALL_START",
            "recount.call",
        ]
    );
}

#[test]
fn replay_sends_complete_block_without_exact_events() {
    let stream = r#"
        {"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday","metadata":{"recount":{"metadata":{"a":1}}}}
        {"type":"CUSTOM","name":"recount.block","value":{"reply_id":"r","block":{"type":"poll","id":"p"}}}
        {"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}
        {"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"t"}
        {"type":"MODEL_CALL_START","reply_id":"r","model_name":"m"}
        {"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}
    "#;
    let expected =
        ["REPLY_START", "recount.block", "TEXT_BLOCK_START", "TEXT_BLOCK_END", "MODEL_CALL_START", "TEXT_BLOCK_START"];
    assert_eq!(replayed_types(stream), expected);
}

/// In AgentScope Python 2.0.6, the end of a text block has no `text`, data has no `name`, deltas have no `url`, and times
/// have no zone.
#[test]
fn parses_stream_of_python_2_0_6() {
    let stream = r#"
        {"id":"1","created_at":"2026-05-04T10:00:00.000001","metadata":{},"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday","role":"assistant"}
        {"id":"2","created_at":"2026-05-04T10:00:00.000002","metadata":{},"type":"MODEL_CALL_START","reply_id":"r","model_name":"m"}
        {"id":"3","created_at":"2026-05-04T10:00:00.000003","metadata":{},"type":"TEXT_BLOCK_START","reply_id":"r","block_id":"t"}
        {"id":"4","created_at":"2026-05-04T10:00:00.000004","metadata":{},"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"t","delta":"Look:"}
        {"id":"5","created_at":"2026-05-04T10:00:00.000005","metadata":{},"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"t"}
        {"id":"6","created_at":"2026-05-04T10:00:00.000006","metadata":{},"type":"DATA_BLOCK_START","reply_id":"r","block_id":"d","media_type":"image/png"}
        {"id":"7","created_at":"2026-05-04T10:00:00.000007","metadata":{},"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"d","data":"QUI=","media_type":"image/png"}
        {"id":"8","created_at":"2026-05-04T10:00:00.000008","metadata":{},"type":"DATA_BLOCK_END","reply_id":"r","block_id":"d"}
        {"id":"9","created_at":"2026-05-04T10:00:00.000009","metadata":{},"type":"MODEL_CALL_END","reply_id":"r","input_tokens":3,"output_tokens":4}
        {"id":"10","created_at":"2026-05-04T10:00:00.000010","metadata":{},"type":"REPLY_END","session_id":"s","reply_id":"r","finished_reason":"completed","error":null}
    "#;
    let mut fold = Fold::new();
    for line in stream.trim().lines() {
        assert_eq!(fold.apply(&read_event(line.trim()).unwrap()).reason(), None, "{line}");
    }
    let message = fold.into_messages().next().unwrap();
    assert_eq!(message.text().as_deref(), Some("Look:"));
    let image = message.images().next().unwrap();
    assert_eq!((image.name.as_deref(), image.source.media_type()), (None, "image/png"));
    let usage = message.usage().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_input_tokens), (3, 4, 0));
    assert_eq!(message.created_at(), "2026-05-04T10:00:00.000001");
}

/// Messages stored by 2.0.6 have no fields about their end.
#[test]
fn parses_message_of_python_2_0_6() {
    let text = r#"{"name":"Friday","content":[{"type":"text","text":"Hello","id":"t"}],"role":"assistant","id":"m",
        "metadata":{},"created_at":"2026-05-04T10:00:00","usage":{"input_tokens":3,"output_tokens":4}}"#;
    let message = read_message(text).unwrap();
    assert_eq!((message.finished_at(), message.finished_reason(), message.structured_output()), (None, None, None));
    assert_eq!(message.text().as_deref(), Some("Hello"));
    let mut written = String::new();
    write_message(&message, &mut written);
    assert_eq!(read_message(&written).unwrap(), message);
}

#[test]
fn block_round_trips() {
    let text = r#"{"type":"text","text":"Hello","id":"t","created_at":"","finished_at":null}"#;
    let mut written = String::new();
    write_block(&read_block(text).unwrap(), &mut written);
    assert_eq!(written, text);
}

#[test]
fn event_is_written_unchanged() {
    let text = r#"{"id":"1","created_at":"","metadata":{},"type":"USER_INTERRUPT","reply_id":"r"}"#;
    let event = Event::from_json(text).unwrap();
    let mut written = String::new();
    write_event(&event, &mut written);
    assert_eq!((written.as_str(), frames(&Fold::new(), &event)), (text, vec![text.to_owned()]));
}
