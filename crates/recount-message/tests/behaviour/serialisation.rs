//! Messages in JSON.

use pretty_assertions::assert_eq;
use recount_message::{DecodeErrorKind, Msg, ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState};

use crate::support::{block, block_json};

const WHOLE: &str = concat!(
    r#"{"name":"Friday","content":[{"type":"text","text":"Hello","id":"t1","created_at":"2026-01-01T00:00:00Z","#,
    r#""finished_at":null}],"role":"assistant","id":"m1","metadata":{},"created_at":"2026-01-01T00:00:00Z","#,
    r#""usage":{"input_tokens":10,"output_tokens":2,"cache_input_tokens":0,"cache_creation_input_tokens":0},"#,
    r#""finished_at":"2026-01-01T00:00:09Z","finished_reason":"completed","structured_output":null,"error":null}"#
);

#[test]
fn a_message_is_written_in_one_line_with_its_keys_in_order() {
    assert_eq!(Msg::from_json(WHOLE).unwrap().to_json(), WHOLE);
}

#[test]
fn a_message_survives_a_round_trip_through_json() {
    let message = Msg::user("Alice", "Hello").with_metadata([("priority", 3)]);
    assert_eq!(Msg::from_json(&message.to_json()).unwrap(), message);
}

#[test]
fn a_message_goes_through_serde_json() {
    let message: Msg = serde_json::from_str(WHOLE).unwrap();
    assert_eq!(serde_json::to_string(&message).unwrap(), WHOLE);
    let list: Vec<Msg> = serde_json::from_str(&format!("[{WHOLE}]")).unwrap();
    assert_eq!(list, [message]);
}

#[test]
fn white_space_and_the_order_of_keys_do_not_matter() {
    let text = r#"
        {"created_at": "2026-01-01T00:00:00Z", "id": "m1", "role": "assistant", "name": "Friday",
         "finished_reason": "completed", "finished_at": "2026-01-01T00:00:09Z",
         "usage": {"output_tokens": 2, "input_tokens": 10},
         "content": [{"id": "t1", "text": "Hello", "type": "text"}]}"#;
    assert_eq!(Msg::from_json(text).unwrap().to_json(), WHOLE);
}

#[test]
fn block_type_is_the_discriminator() {
    for (text, expected) in [
        (r#"{"type":"text","text":"x"}"#, "text"),
        (r#"{"type":"thinking","thinking":"x"}"#, "thinking"),
        (r#"{"type":"data","source":{"type":"url","url":"https://a.b/c","media_type":"image/png"}}"#, "data"),
        (r#"{"type":"data","source":{"type":"base64","data":"","media_type":"image/png"}}"#, "data"),
        (r#"{"type":"hint","hint":"x"}"#, "hint"),
        (r#"{"type":"tool_call","id":"c","name":"t","input":"{}"}"#, "tool_call"),
        (r#"{"type":"tool_result","id":"c","name":"t","output":"x"}"#, "tool_result"),
    ] {
        assert_eq!(block(text).type_name(), expected);
    }
}

#[test]
fn states_are_lower_case_in_json() {
    for &state in ToolCallState::ALL {
        let text = block_json(ToolCallBlock::new("c", "t", "{}").with_state(state));
        assert!(text.contains(&format!(r#""state":"{state}""#)), "{text}");
        assert_eq!(state.as_str().to_lowercase(), state.as_str());
    }
    for &state in ToolResultState::ALL {
        let text = block_json(ToolResultBlock::new("c", "t", "ok", state));
        assert!(text.contains(&format!(r#""state":"{state}""#)), "{text}");
        assert_eq!(state.as_str().to_lowercase(), state.as_str());
    }
}

#[test]
fn a_message_without_id_and_times_is_read_the_same_each_time() {
    let text = r#"{"name": "user", "role": "user", "content": [{"type": "text", "text": "What is this image?"}]}"#;
    let message = Msg::from_json(text).unwrap();
    assert_eq!(message, Msg::from_json(text).unwrap());
    assert!(!message.id().is_empty());
    assert_eq!(message.content()[0].id(), format!("{}.0", message.id()));
    let other = Msg::from_json(&text.replace("image", "sound")).unwrap();
    assert_ne!(message.id(), other.id());
}

#[test]
fn unknown_fields_survive() {
    let text = WHOLE.replace(r#""error":null}"#, r#""error":null,"mood":{"happy":1.0}}"#);
    assert_eq!(Msg::from_json(&text).unwrap().to_json(), text);
}

#[test]
fn an_error_names_the_field() {
    for (text, kind, expected) in [
        ("{", DecodeErrorKind::Syntax, ""),
        (r#"{"role":"user","content":[]}"#, DecodeErrorKind::Missing, "name"),
        (r#"{"name":"n","role":"owner","content":[]}"#, DecodeErrorKind::UnknownValue, "role"),
        (r#"{"name":"n","role":"user","content":[{"type":"text"}]}"#, DecodeErrorKind::Missing, "content[0].text"),
        (
            r#"{"name":"n","role":"user","content":[{"type":"data","source":{"type":"ftp"}}]}"#,
            DecodeErrorKind::UnknownValue,
            "content[0].source.type",
        ),
    ] {
        let error = Msg::from_json(text).unwrap_err();
        assert_eq!((error.kind(), error.path()), (kind, expected), "{text}");
    }
}
