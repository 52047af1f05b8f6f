//! Single messages, blocks and events.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use recount_message::{ContentBlock, Event, Json, Msg};
use recount_testkit::strategies::{any_messages, streams};
use serde_json::Value;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Converts from native to TypeScript and back.
    #[test]
    fn messages_round_trip(messages in any_messages()) {
        for message in messages {
            let text = message_text(&message);
            let back = read_message(&text).unwrap();
            prop_assert_eq!(back.to_json(), message.to_json(), "by {}", text);
        }
    }

    #[test]
    fn blocks_round_trip(messages in any_messages()) {
        for block in messages.iter().flat_map(Msg::content) {
            let text = block_text(block);
            let back = read_block(&text).unwrap();
            prop_assert_eq!(&back, block, "by {}", text);
        }
    }

    #[test]
    fn events_round_trip(stream in streams()) {
        for event in stream.iter() {
            let text = event_text(event);
            let back = read_event(&text).unwrap();
            prop_assert_eq!(&back, event, "by {}", text);
        }
    }

    /// Python's JSON with explicit nulls is also valid TypeScript JSON. Converts from TypeScript to native and back.
    #[test]
    fn spelling_round_trips(messages in any_messages(), stream in streams()) {
        for text in messages.iter().map(Msg::to_json) {
            let back = message_text(&Msg::from_json(&read_message(&text).unwrap().to_json()).unwrap());
            prop_assert_eq!(comparable(&back), comparable(&text));
        }
        for text in stream.iter().map(Event::to_json) {
            let native = read_event(&text).unwrap().to_json();
            let back = event_text(&Event::from_json(&native).unwrap());
            prop_assert_eq!(comparable(&back), comparable(&text));
        }
        for text in messages.iter().flat_map(Msg::content).map(ContentBlock::to_json) {
            let native = read_block(&text).unwrap().to_json();
            let back = block_text(&ContentBlock::from_json(&native, "", "").unwrap());
            prop_assert_eq!(comparable(&back), comparable(&text));
        }
    }
}

/// Returns a text with its keys sorted.
fn comparable(text: &str) -> String {
    fn sorted(json: &Json) -> String {
        if let Some(object) = json.to_object() {
            let mut entries: Vec<String> =
                object.iter().map(|(key, value)| format!("{key:?}:{}", sorted(value))).collect();
            entries.sort();
            return format!("{{{}}}", entries.join(","));
        }
        match json.to_array() {
            Some(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
            None => json.as_raw().to_owned(),
        }
    }
    sorted(&Json::parse(text).unwrap())
}

#[track_caller]
fn check_message(native: &str, typescript: &str) {
    let message = Msg::from_json(native).unwrap();
    assert_eq!(message_text(&message), typescript);
    assert_eq!(read_message(typescript).unwrap(), message);
}

#[test]
fn empty_optional_fields_are_omitted() {
    check_message(
        r#"{"name":"Friday","content":[
            {"type":"text","text":"Hello","id":"t","created_at":"1","finished_at":null},
            {"type":"tool_call","id":"c","name":"shell","input":"{}","state":"pending","suggested_rules":[],"created_at":"2","finished_at":"3"},
            {"type":"tool_result","id":"c","name":"shell","output":[{"type":"data","id":"d","source":{"type":"url","url":"https://example.com","media_type":"image/png"},"name":null,"created_at":"4","finished_at":null}],"state":"success","metadata":{},"created_at":"4","finished_at":"5"},
            {"type":"hint","hint":"It is noon.","id":"h","source":null,"created_at":"6","finished_at":"6"}
        ],"role":"assistant","id":"m","metadata":{},"created_at":"1","usage":null,"finished_at":null,"finished_reason":null,"structured_output":null,"error":null}"#,
        concat!(
            r#"{"id":"m","name":"Friday","role":"assistant","content":["#,
            r#"{"type":"text","id":"t","text":"Hello","created_at":"1"},"#,
            r#"{"type":"tool_call","id":"c","name":"shell","input":"{}","state":"pending","created_at":"2","finished_at":"3"},"#,
            r#"{"type":"tool_result","id":"c","name":"shell","output":[{"type":"data","id":"d","source":{"type":"url","url":"https://example.com","media_type":"image/png"},"created_at":"4"}],"state":"success","created_at":"4","finished_at":"5"},"#,
            r#"{"type":"hint","id":"h","hint":"It is noon.","source":null,"created_at":"6","finished_at":"6"}"#,
            r#"],"metadata":{},"created_at":"1"}"#,
        ),
    );
}

#[test]
fn structured_output_and_cache_tokens_are_stored() {
    check_message(
        r#"{"name":"Friday","content":[],"role":"assistant","id":"m","metadata":{"a":1},"created_at":"1",
            "usage":{"input_tokens":5,"output_tokens":6,"cache_input_tokens":7,"cache_creation_input_tokens":0},
            "finished_at":"2","finished_reason":"completed","structured_output":{"x":null},"error":null}"#,
        concat!(
            r#"{"id":"m","name":"Friday","role":"assistant","content":[],"#,
            r#""metadata":{"a":1,"recount":{"native":{"structured_output":{"x":null},"usage":{"cache_input_tokens":7}}}},"#,
            r#""created_at":"1","finished_at":"2","finished_reason":"completed","error":null,"#,
            r#""usage":{"input_tokens":5,"output_tokens":6}}"#,
        ),
    );
}

#[track_caller]
fn check_event(native: &str, typescript: &str) {
    let event = Event::from_json(native).unwrap();
    assert_eq!(event_text(&event), typescript);
    assert_eq!(read_event(typescript).unwrap(), event);
}

#[test]
fn events_match_package_format() {
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"x"}"#,
        r#"{"id":"1","created_at":"t","type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"x"}"#,
    );
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{"a":1},"type":"REPLY_END","session_id":"s","reply_id":"r","finished_reason":"completed","error":null}"#,
        r#"{"id":"1","created_at":"t","metadata":{"a":1},"type":"REPLY_END","session_id":"s","reply_id":"r","finished_reason":"completed"}"#,
    );
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png","data":"QQ==","url":null}"#,
        r#"{"id":"1","created_at":"t","type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","data":"QQ==","media_type":"image/png"}"#,
    );
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"TOOL_RESULT_DATA_DELTA","reply_id":"r","tool_call_id":"c","media_type":"image/png","data":null,"url":"u"}"#,
        r#"{"id":"1","created_at":"t","type":"TOOL_RESULT_DATA_DELTA","reply_id":"r","tool_call_id":"c","media_type":"image/png","url":"u"}"#,
    );
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"CUSTOM","name":"progress","value":{"done":3}}"#,
        r#"{"id":"1","created_at":"t","type":"CUSTOM","name":"progress","value":{"done":3}}"#,
    );
}

#[test]
fn native_only_event_fields_are_stored() {
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"b","text":"all"}"#,
        r#"{"id":"1","created_at":"t","metadata":{"recount":{"native":{"text":"all"}}},"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"b"}"#,
    );
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"DATA_BLOCK_START","reply_id":"r","block_id":"b","media_type":"image/png","name":"a.png"}"#,
        r#"{"id":"1","created_at":"t","metadata":{"recount":{"native":{"name":"a.png"}}},"type":"DATA_BLOCK_START","reply_id":"r","block_id":"b","media_type":"image/png"}"#,
    );
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","media_type":"image/png","data":null,"url":"u"}"#,
        r#"{"id":"1","created_at":"t","metadata":{"recount":{"native":{"url":"u"}}},"type":"DATA_BLOCK_DELTA","reply_id":"r","block_id":"b","data":"","media_type":"image/png"}"#,
    );
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"MODEL_CALL_END","reply_id":"r","input_tokens":1,"output_tokens":2,"cache_input_tokens":3,"cache_creation_input_tokens":0,"finished_reason":"interrupted"}"#,
        r#"{"id":"1","created_at":"t","metadata":{"recount":{"native":{"cache_input_tokens":3,"finished_reason":"interrupted"}}},"type":"MODEL_CALL_END","reply_id":"r","input_tokens":1,"output_tokens":2}"#,
    );
    // The package does not have this event.
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{},"type":"USER_INTERRUPT","reply_id":"r"}"#,
        r#"{"id":"1","created_at":"t","metadata":{"recount":{"native":{"event":{"type":"USER_INTERRUPT","reply_id":"r"}}}},"type":"CUSTOM","reply_id":"r","name":"USER_INTERRUPT","value":{}}"#,
    );
}

#[test]
fn tool_metadata_is_unchanged() {
    check_event(
        r#"{"id":"1","created_at":"t","metadata":{"recount":{"native":{"a":1}}},"type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"success"}"#,
        r#"{"id":"1","created_at":"t","metadata":{"recount":{"native":{"a":1}}},"type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"success"}"#,
    );
    let spelled = r#"{"id":"1","created_at":"t","metadata":null,"type":"TOOL_RESULT_END","reply_id":"r","tool_call_id":"c","state":"SUCCESS"}"#;
    let event = read_event(spelled).unwrap();
    assert!(event.metadata.is_empty());
    assert_eq!(value(&event_text(&event)), value(spelled));
}

/// A TypeScript message is edited natively or in TypeScript before it is converted back.
#[test]
fn edits_override_stored_fields() {
    let native = Msg::from_json(
        r#"{"name":"Friday","content":[],"role":"assistant","id":"m","metadata":{},"created_at":"1","structured_output":{"x":1},
            "usage":{"input_tokens":5,"output_tokens":6,"cache_input_tokens":7}}"#,
    );
    let mut there = value(&message_text(&native.unwrap()));
    there["structured_output"] = serde_json::json!({"x": 2});
    there["usage"] = Value::Null;
    let back = read_message(&there.to_string()).unwrap();
    assert_eq!(back.structured_output().unwrap().to_json(), r#"{"x":2}"#);
    assert_eq!(back.usage(), None);

    let spelled = r#"{"id":"m","name":"Friday","role":"assistant","metadata":{},"created_at":"1","finished_at":null,"content":[
        {"type":"text","id":"a","text":"x","created_at":"1","finished_at":null},{"type":"text","id":"b","text":"y","created_at":"1","finished_at":null}]}"#;
    let edited = read_message(spelled).unwrap().to_json().replacen(
        r#""text":"x","id":"a","created_at":"1","finished_at":null"#,
        r#""text":"x","id":"a","created_at":"1","finished_at":"2""#,
        1,
    );
    let back = value(&message_text(&Msg::from_json(&edited).unwrap()));
    assert_eq!(back["content"][0]["finished_at"], "2");
    assert_eq!(back["content"][1].get("finished_at"), Some(&Value::Null));
    assert_eq!(back.get("finished_at"), Some(&Value::Null));
}

#[test]
fn parses_states_in_any_case() {
    let text = r#"{"type":"tool_result","id":"c","name":"f","output":"x","state":"DENIED","created_at":"1"}"#;
    let block = read_block(text).unwrap();
    assert!(matches!(&block, ContentBlock::ToolResult(result) if result.state.as_str() == "denied"));
    assert_eq!(value(&block_text(&block)), value(text));
    let text = r#"{"id":"1","created_at":"t","type":"REQUIRE_USER_CONFIRM","reply_id":"r","tool_calls":[{"type":"tool_call","id":"c","name":"f","input":"{}","state":"ASKING","created_at":"1"}]}"#;
    assert_eq!(value(&event_text(&read_event(text).unwrap())), value(text));
}

/// The package validates messages when it creates them, but not when it reads them.
#[test]
fn parses_message_with_blocks_outside_its_role() {
    let text = r#"{"id":"m","name":"Alice","role":"user","content":[{"type":"thinking","id":"a","thinking":"x","created_at":"1"}],"metadata":{},"created_at":"1"}"#;
    let message = read_message(text).unwrap();
    assert_eq!(message.role(), recount_message::Role::User);
    let back = read_message(&message_text(&message)).unwrap();
    assert_eq!(back, message);
}

#[test]
fn parses_data_with_both_or_neither_of_bytes_and_url() {
    let both = r#"{"id":"1","created_at":"t","type":"TOOL_RESULT_DATA_DELTA","reply_id":"r","tool_call_id":"c","media_type":"image/png","data":"QQ==","url":"u"}"#;
    let event = read_event(both).unwrap();
    assert!(event.to_json().contains(r#""data":"QQ==","url":null"#));
    assert_eq!(value(&event_text(&event)), value(both));
    let neither = r#"{"id":"1","created_at":"t","type":"TOOL_RESULT_DATA_DELTA","reply_id":"r","tool_call_id":"c","media_type":"image/png"}"#;
    assert_eq!(value(&event_text(&read_event(neither).unwrap())), value(neither));
}
