//! The effect of each event on a message.

use pretty_assertions::assert_eq;
use recount_message::{
    Event, EventKind, EventType, FinishedReason, Fold, Msg, Outcome, Reason, ReplyFold, TextBlock, ToolCallBlock,
    ToolCallState, ToolResultBlock, ToolResultState,
};
use serde_json::{Value, json};

use crate::support::{at, content, event, first, fold, fold_to_last, json, reply};

const TEXT: &str = r#"TEXT_BLOCK_START "block_id":"t""#;
const CALL: &str = r#"TOOL_CALL_START "tool_call_id":"c","tool_call_name":"shell""#;
const CALL_END: &str = r#"TOOL_CALL_END "tool_call_id":"c""#;
const RESULT: &str = r#"TOOL_RESULT_START "tool_call_id":"c","tool_call_name":"shell""#;
const RESULT_TEXT: &str = r#"TOOL_RESULT_TEXT_DELTA "tool_call_id":"c","delta":"ok""#;
const RESULT_END: &str = r#"TOOL_RESULT_END "tool_call_id":"c","state":"success""#;
const END: &str = r#"REPLY_END "session_id":"s""#;

/// A reply with text and a tool call.
const WHOLE: &[&str] = &[
    TEXT,
    r#"TEXT_BLOCK_DELTA "block_id":"t","delta":"Let me look.""#,
    r#"TEXT_BLOCK_END "block_id":"t""#,
    CALL,
    r#"TOOL_CALL_DELTA "tool_call_id":"c","delta":"{}""#,
    CALL_END,
    RESULT,
    RESULT_TEXT,
    RESULT_END,
    END,
];

/// Compares the content of a folded reply.
#[track_caller]
fn check_content(lines: &[&str], expected: &Value) {
    assert_eq!(&content(&fold(lines)), expected);
}

/// Compares the outcome of the last event, which must not change the message.
#[track_caller]
fn check_ignored(lines: &[&str], expected: Reason) {
    let (last, before) = lines.split_last().unwrap();
    let (message, outcome) = fold_to_last(lines);
    assert_eq!(outcome, Outcome::Ignored(expected), "{last}");
    assert_eq!(message, fold(before));
}

#[test]
fn a_message_made_at_the_start_takes_all_other_events() {
    let mut message: Option<Msg> = None;
    for event in reply(WHOLE) {
        if let EventKind::ReplyStart(start) = &event.kind {
            message = Some(Msg::assistant(&*start.name, []).with_id(&*start.reply_id));
        } else if let Some(message) = &mut message {
            assert_eq!(message.append_event(&event), Outcome::Applied);
        }
    }
    assert_eq!(message.unwrap().with_created_at(at(0)), fold(WHOLE));
}

#[test]
fn a_message_takes_its_own_start_as_well() {
    let mut message: Option<Msg> = None;
    for event in reply(WHOLE) {
        if let EventKind::ReplyStart(start) = &event.kind {
            message = Some(Msg::assistant(&*start.name, []).with_id(&*start.reply_id));
        }
        if let Some(message) = &mut message {
            assert_eq!(message.append_event(&event), Outcome::Applied);
        }
    }
    assert_eq!(message.unwrap().with_created_at(at(0)), fold(WHOLE));
}

#[test]
fn the_folds_of_a_reply_and_of_a_stream_are_the_same() {
    let events = reply(WHOLE);
    let mut one = ReplyFold::start(&events[0]).unwrap();
    let mut all = Fold::new();
    assert_eq!(all.apply(&events[0]), Outcome::Applied);
    for event in &events[1..] {
        assert_eq!(one.apply(event), all.apply(event));
        assert_eq!(Some(one.message()), all.message("r"));
    }
}

#[test]
fn folding_twice_gives_the_same_bytes() {
    assert_eq!(fold(WHOLE).to_json(), fold(WHOLE).to_json());
}

#[test]
fn the_end_of_a_reply_sets_finished_at_and_the_reason() {
    let message =
        fold(&[r#"REPLY_END "session_id":"s","finished_reason":"error","error":{"type":"upstream","message":"down"}"#]);
    assert_eq!(message.finished_at(), Some(at(1).as_str()));
    assert_eq!(message.finished_reason(), Some(FinishedReason::Error));
    assert_eq!(message.error().map(|error| error.message.as_str()), Some("down"));
    assert_eq!(fold(&[END]).finished_reason(), Some(FinishedReason::Completed));
}

#[test]
fn a_text_start_appends_an_empty_block() {
    let empty = json!({"type": "text", "text": "", "id": "t", "created_at": at(1), "finished_at": null});
    check_content(&[TEXT], &json!([empty]));
}

#[test]
fn text_deltas_are_joined() {
    check_content(
        &[
            TEXT,
            r#"TEXT_BLOCK_DELTA "block_id":"t","delta":"Hel""#,
            r#"TEXT_BLOCK_DELTA "block_id":"t","delta":"lo""#,
            r#"TEXT_BLOCK_END "block_id":"t""#,
        ],
        &json!([{"type": "text", "text": "Hello", "id": "t", "created_at": at(1), "finished_at": at(4)}]),
    );
}

#[test]
fn thinking_deltas_are_joined() {
    check_content(
        &[
            r#"THINKING_BLOCK_START "block_id":"b""#,
            r#"THINKING_BLOCK_DELTA "block_id":"b","delta":"H""#,
            r#"THINKING_BLOCK_DELTA "block_id":"b","delta":"m.""#,
            r#"THINKING_BLOCK_END "block_id":"b""#,
        ],
        &json!([{"type": "thinking", "thinking": "Hm.", "id": "b", "created_at": at(1), "finished_at": at(4)}]),
    );
}

#[test]
fn a_tool_call_starts_with_empty_input_and_its_fragments_are_joined() {
    let call = |input: &str, finished_at: Option<String>| {
        json!([{
            "type": "tool_call",
            "id": "c",
            "name": "shell",
            "input": input,
            "state": "pending",
            "suggested_rules": [],
            "created_at": at(1),
            "finished_at": finished_at,
        }])
    };
    check_content(&[CALL], &call("", None));
    check_content(
        &[
            CALL,
            r#"TOOL_CALL_DELTA "tool_call_id":"c","delta":"{\"comm""#,
            r#"TOOL_CALL_DELTA "tool_call_id":"c","delta":"and\": 1.0}""#,
            CALL_END,
        ],
        &call(r#"{"command": 1.0}"#, Some(at(4))),
    );
}

#[test]
fn a_tool_result_starts_with_empty_output_and_its_text_is_joined() {
    let message = fold(&[CALL, CALL_END, RESULT]);
    let result = first::<ToolResultBlock>(&message);
    assert_eq!((result.output.blocks(), result.state), (&[][..], ToolResultState::Running));

    let message = fold(&[
        CALL,
        CALL_END,
        RESULT,
        r#"TOOL_RESULT_TEXT_DELTA "tool_call_id":"c","delta":"o""#,
        r#"TOOL_RESULT_TEXT_DELTA "tool_call_id":"c","delta":"k""#,
    ]);
    let expected = TextBlock::stamped("c.0", at(4), "ok");
    assert_eq!(first::<ToolResultBlock>(&message).output.blocks(), [expected.into()]);
}

#[test]
fn the_end_of_a_tool_result_sets_its_state_and_finishes_the_call() {
    for state in ["success", "error", "interrupted", "denied", "running"] {
        let end = format!(r#"TOOL_RESULT_END "tool_call_id":"c","state":"{state}","metadata":{{"took":3}}"#);
        let message = fold(&[CALL, CALL_END, RESULT, RESULT_TEXT, &end]);
        let result = first::<ToolResultBlock>(&message);
        assert_eq!((result.state.as_str(), result.metadata.to_json().as_str()), (state, r#"{"took":3}"#));
        assert_eq!(result.finished_at, Some(at(5)));
        assert_eq!(first::<ToolCallBlock>(&message).state, ToolCallState::Finished);
    }
}

#[test]
fn a_hint_is_appended_with_its_source() {
    check_content(
        &[r#"HINT_BLOCK "block_id":"h","source":"cron","hint":"It is noon.""#],
        &json!([{
            "type": "hint",
            "hint": "It is noon.",
            "id": "h",
            "source": "cron",
            "created_at": at(1),
            "finished_at": at(1),
        }]),
    );
}

/// An event of each type, after which the next one can be applied.
const ALL_TYPES: &[&str] = &[
    r#"MODEL_CALL_START "model_name":"m""#,
    r#"THINKING_BLOCK_START "block_id":"b""#,
    r#"THINKING_BLOCK_DELTA "block_id":"b","delta":"Hm.""#,
    r#"THINKING_BLOCK_END "block_id":"b""#,
    TEXT,
    r#"TEXT_BLOCK_DELTA "block_id":"t","delta":"Hello""#,
    r#"TEXT_BLOCK_END "block_id":"t""#,
    r#"DATA_BLOCK_START "block_id":"d","media_type":"image/png""#,
    r#"DATA_BLOCK_DELTA "block_id":"d","media_type":"image/png","data":"iVBO""#,
    r#"DATA_BLOCK_END "block_id":"d""#,
    CALL,
    r#"TOOL_CALL_DELTA "tool_call_id":"c","delta":"{}""#,
    CALL_END,
    r#"MODEL_CALL_END "input_tokens":1,"output_tokens":1"#,
    r#"REQUIRE_USER_CONFIRM "tool_calls":[{"type":"tool_call","id":"c","name":"shell","input":"{}"}]"#,
    r#"USER_CONFIRM_RESULT "confirm_results":[{"confirmed":true,"tool_call":{"type":"tool_call","id":"c","name":"shell","input":"{}"}}]"#,
    RESULT,
    RESULT_TEXT,
    r#"TOOL_RESULT_DATA_DELTA "tool_call_id":"c","block_id":"i","media_type":"image/png","data":"iVBO""#,
    RESULT_END,
    r#"TOOL_CALL_START "tool_call_id":"x","tool_call_name":"elsewhere""#,
    r#"REQUIRE_EXTERNAL_EXECUTION "tool_calls":[{"type":"tool_call","id":"x","name":"elsewhere","input":""}]"#,
    r#"EXTERNAL_EXECUTION_RESULT "execution_results":[{"type":"tool_result","id":"x","name":"elsewhere","output":"ok","state":"success"}]"#,
    r#"HINT_BLOCK "block_id":"h","hint":"It is noon.""#,
    r#"CUSTOM "name":"team_updated""#,
    r#"USER_INTERRUPT"#,
    r#"EXCEED_MAX_ITERS "name":"Friday""#,
    END,
];

#[test]
fn append_event_takes_every_type() {
    let mut types = Vec::new();
    let mut message = Msg::assistant("Friday", []).with_id("r");
    for event in reply(ALL_TYPES) {
        let outcome = message.append_event(&event);
        let is_signal = event.event_type() == Some(EventType::Custom);
        assert_eq!(outcome, if is_signal { Outcome::NotForMessage } else { Outcome::Applied }, "{}", event.to_json());
        types.push(event.event_type().unwrap());
    }
    for event_type in EventType::ALL {
        assert!(types.contains(event_type), "{event_type} was not applied");
    }
}

#[test]
fn interleaved_replies_are_separated_by_id() {
    let of = |reply_id: &str, line: &str| {
        let text = event(1, line).to_json().replace(r#""reply_id":"r""#, &format!(r#""reply_id":"{reply_id}""#));
        Event::from_json(&text).unwrap().into_owned()
    };
    let mut fold = Fold::new();
    for reply_id in ["r1", "r2"] {
        let start = of(reply_id, r#"REPLY_START "session_id":"s","name":"Friday""#);
        assert_eq!(fold.apply(&start), Outcome::Applied);
        assert_eq!(fold.apply(&of(reply_id, TEXT)), Outcome::Applied);
    }
    for (reply_id, delta) in [("r2", "two"), ("r1", "one"), ("r2", " 2"), ("r1", " 1")] {
        let line = format!(r#"TEXT_BLOCK_DELTA "block_id":"t","delta":"{delta}""#);
        assert_eq!(fold.apply(&of(reply_id, &line)), Outcome::Applied);
    }
    let texts: Vec<Option<String>> = fold.messages().map(Msg::text).collect();
    assert_eq!(texts, [Some("one 1".to_owned()), Some("two 2".to_owned())]);
}

#[test]
fn interleaved_blocks_and_calls_are_separated_by_id() {
    let message = fold(&[
        r#"TOOL_CALL_START "tool_call_id":"c1","tool_call_name":"one""#,
        r#"TOOL_CALL_START "tool_call_id":"c2","tool_call_name":"two""#,
        r#"TOOL_CALL_DELTA "tool_call_id":"c1","delta":"{\"a\"""#,
        r#"TOOL_CALL_DELTA "tool_call_id":"c2","delta":"{\"b\"""#,
        r#"TOOL_CALL_DELTA "tool_call_id":"c1","delta":":1}""#,
        r#"TOOL_CALL_DELTA "tool_call_id":"c2","delta":":2}""#,
    ]);
    let inputs: Vec<&str> = message.blocks::<ToolCallBlock>().map(|call| call.input.as_str()).collect();
    assert_eq!(inputs, [r#"{"a":1}"#, r#"{"b":2}"#]);
}

#[test]
fn a_call_and_its_result_share_an_id() {
    let message = fold(WHOLE);
    assert_eq!(message.call("c").unwrap().id, message.result_of("c").unwrap().id);
}

#[test]
fn invalid_event_is_reported_without_effect() {
    let delta = r#"TEXT_BLOCK_DELTA "block_id":"t","delta":"x""#;
    let text_end = r#"TEXT_BLOCK_END "block_id":"t""#;
    check_ignored(&[delta], Reason::UnknownBlock("t".to_owned()));
    check_ignored(&[TEXT, TEXT], Reason::BlockOpen("t".to_owned()));
    check_ignored(&[TEXT, text_end, delta], Reason::BlockEnded("t".to_owned()));
    check_ignored(&[TEXT, text_end, text_end], Reason::BlockEnded("t".to_owned()));
    check_ignored(&[END, TEXT], Reason::ReplyEnded("r".to_owned()));
    check_ignored(&[RESULT], Reason::UnknownCall("c".to_owned()));
}

#[test]
fn event_of_another_reply_is_reported_without_effect() {
    let mut message = Msg::assistant("Friday", []).with_id("other");
    assert_eq!(message.append_event(&event(1, TEXT)), Outcome::Ignored(Reason::OtherReply("r".to_owned())));
    assert_eq!(message.content(), []);
    assert_eq!(Fold::new().apply(&event(1, TEXT)), Outcome::Ignored(Reason::UnknownReply("r".to_owned())));
}

#[test]
fn the_end_of_a_reply_ends_its_blocks() {
    let message = fold(&[TEXT, CALL, END]);
    let ends: Vec<Option<&str>> = message.content().iter().map(|block| block.finished_at()).collect();
    assert_eq!(ends, [Some(at(3).as_str()), Some(at(3).as_str())]);
}

#[test]
fn extensions_are_applied_to_message() {
    let start = concat!(
        r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday","#,
        r#""metadata":{"recount":{"metadata":{"task":1.0},"parent":"r0"}}}"#
    );
    let end = concat!(
        r#"{"type":"REPLY_END","session_id":"s","reply_id":"r","#,
        r#""metadata":{"recount":{"structured_output":{"goal":"tea"},"metadata":{"cost":0.10}}}}"#
    );
    let mut fold = Fold::new();
    assert_eq!(fold.apply(&Event::from_json(start).unwrap()), Outcome::Applied);
    assert_eq!(fold.apply(&Event::from_json(end).unwrap()), Outcome::Applied);
    let message = fold.message("r").unwrap();
    assert_eq!(message.metadata().to_json(), r#"{"task":1.0,"recount":{"parent":"r0"},"cost":0.10}"#);
    assert_eq!(message.parent().as_deref(), Some("r0"));
    assert_eq!(json(message)["structured_output"], json!({"goal": "tea"}));
}
