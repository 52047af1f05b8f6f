//! The events and their fields.

use pretty_assertions::assert_eq;
use recount_message::{
    AgentEvent, CustomEvent, DataBlock, DecodeErrorKind, Event, EventKind, EventType, Fold, Outcome, Payload, Reason,
    ReplyEnd, ReplyWriter, Role, Stamps, TextBlockDeltaEvent, ToolResultState, Usage,
};

use crate::support::{at, event, fold, fold_to_last};

const CALL: &str = concat!(
    r#"{"type":"tool_call","id":"c","name":"shell","input":"{}","state":"pending","suggested_rules":[],"#,
    r#""created_at":"","finished_at":null}"#
);
const RESULT: &str = concat!(
    r#"{"type":"tool_result","id":"c","name":"shell","output":"ok","state":"success","metadata":{},"#,
    r#""created_at":"","finished_at":""}"#
);

/// Every event with its documented fields.
fn documented() -> Vec<String> {
    [
        r#""REPLY_START","session_id":"s","reply_id":"r","name":"Friday","role":"assistant""#,
        r#""REPLY_END","session_id":"s","reply_id":"r","finished_reason":"completed","error":null"#,
        r#""EXCEED_MAX_ITERS","reply_id":"r","name":"Friday""#,
        r#""TEXT_BLOCK_START","reply_id":"r","block_id":"b""#,
        r#""TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"Hello""#,
        r#""TEXT_BLOCK_END","reply_id":"r","block_id":"b","text":null"#,
        r#""THINKING_BLOCK_START","reply_id":"r","block_id":"b""#,
        r#""THINKING_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"Hm.""#,
        r#""THINKING_BLOCK_END","reply_id":"r","block_id":"b""#,
        r#""DATA_BLOCK_START","reply_id":"r","block_id":"b","media_type":"image/png","name":null"#,
        r#""DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png","data":"iVBO","url":null"#,
        r#""DATA_BLOCK_END","reply_id":"r","block_id":"b""#,
        r#""TOOL_CALL_START","reply_id":"r","tool_call_id":"c","tool_call_name":"shell""#,
        r#""TOOL_CALL_DELTA","reply_id":"r","tool_call_id":"c","delta":"{\"co""#,
        r#""TOOL_CALL_END","reply_id":"r","tool_call_id":"c""#,
        r#""TOOL_RESULT_START","reply_id":"r","tool_call_id":"c","tool_call_name":"shell""#,
        r#""TOOL_RESULT_TEXT_DELTA","reply_id":"r","tool_call_id":"c","delta":"ok""#,
        r#""TOOL_RESULT_DATA_DELTA","reply_id":"r","tool_call_id":"c","block_id":"b","media_type":"image/png","data":null,"url":"https://a.b/c""#,
        r#""TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"success""#,
        r#""MODEL_CALL_START","reply_id":"r","model_name":"m""#,
        r#""MODEL_CALL_END","reply_id":"r","input_tokens":100,"output_tokens":20,"cache_input_tokens":0,"cache_creation_input_tokens":0,"finished_reason":"completed""#,
        &format!(r#""REQUIRE_USER_CONFIRM","reply_id":"r","tool_calls":[{CALL}]"#),
        &format!(r#""REQUIRE_EXTERNAL_EXECUTION","reply_id":"r","tool_calls":[{CALL}]"#),
        &format!(r#""USER_CONFIRM_RESULT","reply_id":"r","confirm_results":[{{"confirmed":true,"tool_call":{CALL},"rules":null}}]"#),
        &format!(r#""EXTERNAL_EXECUTION_RESULT","reply_id":"r","execution_results":[{RESULT}]"#),
        r#""USER_INTERRUPT","reply_id":"r""#,
        r#""HINT_BLOCK","reply_id":"r","block_id":"b","source":"cron","hint":"It is noon.""#,
        r#""CUSTOM","reply_id":"r","name":"team_updated","value":{"members":["alice"]}"#,
    ]
    .iter()
    .enumerate()
    .map(|(place, fields)| format!(r#"{{"id":"e{place}","created_at":"{}","metadata":{{}},"type":{fields}}}"#, at(place)))
    .collect()
}

#[test]
fn every_documented_event_is_read_and_written_as_it_was() {
    let mut seen: Vec<EventType> = Vec::new();
    for text in documented() {
        let event = Event::from_json(&text).unwrap();
        assert_eq!(event.to_json(), text);
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
        seen.push(event.event_type().unwrap());
    }
    for event_type in EventType::ALL {
        assert!(seen.contains(event_type), "{event_type} is not documented here");
    }
}

#[test]
fn every_event_has_an_id_a_time_and_a_type() {
    for (place, text) in documented().iter().enumerate() {
        let event = Event::from_json(text).unwrap();
        assert_eq!((event.id.as_ref(), event.created_at.as_ref()), (format!("e{place}").as_str(), at(place).as_str()));
        assert!(event.created().is_some());
        assert_eq!(event.event_type().unwrap().as_str(), event.type_name());
    }
}

#[test]
fn every_event_names_its_reply() {
    for text in documented() {
        assert_eq!(Event::from_json(&text).unwrap().reply_id(), Some("r"), "{text}");
    }
}

#[test]
fn a_new_event_gets_an_id_and_a_time() {
    let delta = || TextBlockDeltaEvent::new("r", "b", "Hello");
    let (one, other) = (Event::new(delta()), Event::new(delta()));
    assert_eq!((one.type_name(), one.id.len()), ("TEXT_BLOCK_DELTA", 32));
    assert_ne!(one.id, other.id);
    assert!(one.created().is_some());
}

#[test]
fn fields_with_a_default_may_be_missing() {
    let read = Event::from_json(r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday"}"#).unwrap();
    let EventKind::ReplyStart(start) = &read.kind else { panic!("{read:?}") };
    assert_eq!(start.role, "assistant");
    assert_eq!((read.id.as_ref(), read.created_at.as_ref(), read.metadata.is_empty()), ("", "", true));
}

#[test]
fn decode_error_names_missing_field() {
    let error = Event::from_json(r#"{"type":"TEXT_BLOCK_DELTA","reply_id":"r","delta":"x"}"#).unwrap_err();
    assert_eq!((error.kind(), error.path()), (DecodeErrorKind::Missing, "block_id"));
}

#[test]
fn reply_events_have_documented_order() {
    let mut types = Vec::new();
    let sink = |event: AgentEvent| types.push(event.type_name().to_owned());
    let mut reply = ReplyWriter::start(sink, Stamps::repeatable(), "s", "Friday");
    reply.model_call("model");
    reply.text("Hello");
    reply.end_prose();
    reply.data_block(DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n")).unwrap();
    let call = reply.tool_call("c", "shell");
    reply.tool_input(&call, "{}");
    reply.end_model_call(Some(Usage::new(1, 1)));
    let result = reply.tool_result(call);
    reply.result_text(&result, "ok");
    reply.result_data(&result, DataBlock::from_bytes(b"\x89PNG\r\n\x1a\n")).unwrap();
    reply.end_result(result, ToolResultState::Success);
    reply.end(ReplyEnd::completed());

    assert_eq!(
        types,
        [
            "REPLY_START",
            "MODEL_CALL_START",
            "TEXT_BLOCK_START",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_END",
            "DATA_BLOCK_START",
            "DATA_BLOCK_DELTA",
            "DATA_BLOCK_END",
            "TOOL_CALL_START",
            "TOOL_CALL_DELTA",
            "TOOL_CALL_END",
            "MODEL_CALL_END",
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_DATA_DELTA",
            "TOOL_RESULT_END",
            "REPLY_END",
        ]
    );
}

#[test]
fn message_role_is_assistant_regardless_of_start() {
    let text = r#"{"type":"REPLY_START","session_id":"s","reply_id":"r","name":"Friday","role":"user"}"#;
    let start = Event::from_json(text).unwrap();
    assert!(start.to_json().contains(r#""role":"user""#));
    let mut fold = Fold::new();
    assert_eq!(fold.apply(&start), Outcome::Applied);
    assert_eq!(fold.message("r").unwrap().role(), Role::Assistant);
}

#[test]
fn session_id_is_preserved_and_not_compared() {
    let end = event(9, r#"REPLY_END "session_id":"another session""#);
    assert!(end.to_json().contains(r#""session_id":"another session""#));
    let mut message = fold(&[]);
    assert_eq!(message.append_event(&end), Outcome::Applied);
    assert!(message.finished_at().is_some());
}

#[test]
fn data_and_url_exclude_each_other() {
    for head in [
        r#"{"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png""#,
        r#"{"type":"TOOL_RESULT_DATA_DELTA","reply_id":"r","tool_call_id":"c","block_id":"b","media_type":"image/png""#,
    ] {
        for (fields, found) in [
            ("", "neither"),
            (r#","data":null,"url":null"#, "neither"),
            (r#","data":"iVBO","url":"https://a.b/c""#, "both"),
        ] {
            let error = Event::from_json(&format!("{head}{fields}}}")).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::Rule);
            assert_eq!(error.to_string(), format!("exactly one of `data` and `url` must be given, found {found}"));
        }
        for fields in [r#","data":"iVBO""#, r#","url":"https://a.b/c","data":null"#] {
            assert!(Event::from_json(&format!("{head}{fields}}}")).is_ok());
        }
    }
}

#[test]
fn a_result_ends_in_any_of_the_five_states() {
    for &state in ToolResultState::ALL {
        let end = event(1, &format!(r#"TOOL_RESULT_END "tool_call_id":"c","state":"{state}""#));
        let EventKind::ToolResultEnd(end) = &end.kind else { panic!("{end:?}") };
        assert_eq!(end.state, state);
    }
    let unknown = r#"{"type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"done"}"#;
    assert_eq!(Event::from_json(unknown).unwrap_err().path(), "state");
}

#[test]
fn hint_is_one_event() {
    let hint = event(1, r#"HINT_BLOCK "block_id":"h","hint":[{"type":"text","text":"It is noon."}]"#);
    let EventKind::HintBlock(hint) = &hint.kind else { panic!("{hint:?}") };
    assert!(matches!(&hint.hint, Payload::Blocks(blocks) if blocks.len() == 1));
    assert_eq!(hint.source, None);
}

#[test]
fn a_custom_event_is_read_with_and_without_a_reply() {
    for text in [
        r#"{"id":"e","created_at":"","metadata":{},"type":"CUSTOM","reply_id":"r","name":"tasks_context","value":{"n":1.0}}"#,
        r#"{"id":"e","created_at":"","metadata":{},"type":"CUSTOM","name":"tasks_context","value":{"n":1.0}}"#,
    ] {
        let event = Event::from_json(text).unwrap();
        assert_eq!(event.to_json(), text);
        assert_eq!(event.reply_id().is_some(), text.contains("reply_id"));
    }
}

#[test]
fn a_custom_event_changes_no_message() {
    let (message, outcome) = fold_to_last(&[r#"CUSTOM "name":"team_updated","value":{"members":["alice"]}"#]);
    assert_eq!(outcome, Outcome::NotForMessage);
    assert_eq!(message, fold(&[]));

    let mut held = fold(&[]);
    let signal = Event::new(CustomEvent::signal("tasks_context", [("done", 3)]));
    assert_eq!(held.append_event(&signal), Outcome::NotForMessage);
    assert_eq!(Fold::new().apply(&signal), Outcome::NotForMessage);
    assert_eq!(held, message);
}

#[test]
fn an_event_of_an_unknown_type_is_kept_and_reported() {
    let text = r#"{"id":"e","created_at":"","metadata":{},"type":"HOLOGRAM_START","reply_id":"r","depth":3.0}"#;
    let event = Event::from_json(text).unwrap();
    assert_eq!((event.event_type(), event.type_name()), (None, "HOLOGRAM_START"));
    assert_eq!(event.to_json(), text);
    let mut message = fold(&[]);
    let before = message.clone();
    assert_eq!(message.append_event(&event), Outcome::Ignored(Reason::UnknownType("HOLOGRAM_START".to_owned())));
    assert_eq!(message, before);
}

#[test]
fn unknown_fields_of_an_event_survive() {
    let text = concat!(
        r#"{"id":"e","created_at":"","metadata":{"trace":"t-1"},"type":"TEXT_BLOCK_DELTA","reply_id":"r","#,
        r#""block_id":"b","delta":"x","confidence":0.50}"#
    );
    assert_eq!(Event::from_json(text).unwrap().to_json(), text);
}

#[test]
fn an_unknown_event_without_a_reply_is_for_the_session() {
    let event = Event::from_json(r#"{"type":"NEW_THING","weight":1.50}"#).unwrap();
    assert_eq!(Fold::new().apply(&event), Outcome::NotForMessage);
}
