//! Tool calls.

use pretty_assertions::assert_eq;
use recount_message::{ReplyEnd, ReplyWriter, Stamps, ToolCallBlock};
use recount_model::Provider;
use recount_model::decode::{DecodeOptions, Decoder, StopReason};

use crate::support::{chat_deltas, check_blocks, decode, sse};

/// Returns a chunk for each fragment of a call.
fn fragments(fragments: &[&str]) -> String {
    let deltas: Vec<String> = fragments.iter().map(|fragment| format!("\"tool_calls\":[{fragment}]")).collect();
    chat_deltas(&deltas.iter().map(String::as_str).collect::<Vec<_>>(), "tool_calls")
}

#[test]
fn interleaved_calls_start_and_end_once() {
    let response = fragments(&[
        r#"{"index":0,"id":"c1","function":{"name":"f","arguments":""}}"#,
        r#"{"index":1,"id":"c2","function":{"name":"g","arguments":""}}"#,
        r#"{"index":0,"function":{"arguments":"{\"a\""}}"#,
        r#"{"index":1,"function":{"arguments":"{\"b\""}}"#,
        r#"{"index":0,"function":{"arguments":":1}"}},{"index":1,"function":{"arguments":":2}"}}"#,
    ]);
    let decoded = decode(Provider::OpenAi, &response);
    assert_eq!(decoded.outline(), "c1+ c2+ c1 c2 c1 c2 c1- c2-");
    assert_eq!(decoded.blocks(), r#"c1:f({"a":1}) c2:g({"b":2})"#);
}

#[test]
fn call_starts_when_name_and_id_are_known() {
    let late_name = [
        r#"{"index":0,"id":"c1","function":{"arguments":"{"}}"#,
        r#"{"index":0,"function":{"name":"f","arguments":"}"}}"#,
    ];
    check_blocks(Provider::OpenAi, &fragments(&late_name), "c1:f({})");
    let late_id = [
        r#"{"index":0,"function":{"name":"f","arguments":"{"}}"#,
        r#"{"index":0,"id":"c1","function":{"arguments":"}"}}"#,
    ];
    check_blocks(Provider::OpenAi, &fragments(&late_id), "c1:f({})");
    check_blocks(Provider::OpenAi, &fragments(&[r#"{"index":0,"function":{"name":"f"}}"#]), "$:f()");
    check_blocks(
        Provider::OpenAi,
        &fragments(&[r#"{"index":0,"id":"c1","function":{"arguments":"{}"}}"#]),
        "c1:unknown({})",
    );
}

#[test]
fn fragments_are_assigned_to_calls() {
    let same_index = [
        r#"{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}"#,
        r#"{"index":0,"id":"c2","function":{"name":"f","arguments":"[]"}}"#,
    ];
    check_blocks(Provider::OpenAi, &fragments(&same_index), "c1:f({}) c2:f([])");
    let new_id_each_time = [
        r#"{"index":0,"id":"c1","function":{"name":"f","arguments":"{"}}"#,
        r#"{"index":0,"id":"c2","function":{"arguments":"}"}}"#,
    ];
    check_blocks(Provider::OpenAi, &fragments(&new_id_each_time), "c1:f({})");
    let without_index = [
        r#"{"id":"c1","function":{"name":"f","arguments":"{"}}"#,
        r#"{"function":{"arguments":"}"}}"#,
        r#"{"id":"c2","function":{"name":"g","arguments":"1"}}"#,
        r#"{"id":"c1","function":{"arguments":" "}}"#,
    ];
    check_blocks(Provider::OpenAi, &fragments(&without_index), "c1:f({} ) c2:g(1)");
    let without_anything =
        [r#"{"function":{"name":"f","arguments":"1"}}"#, r#"{"function":{"name":"f","arguments":"2"}}"#];
    check_blocks(Provider::OpenAi, &fragments(&without_anything), "$:f(1) $:f(2)");
}

#[test]
fn duplicate_call_id_is_replaced() {
    let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    for _round in 0..2 {
        reply.model_call("model");
        let mut decoder = Decoder::new(Provider::OpenAi, DecodeOptions::default());
        let response = fragments(&[r#"{"index":0,"id":"call_0","function":{"name":"f","arguments":"{}"}}"#]);
        decoder.push(response.as_bytes(), &mut reply).unwrap();
        decoder.finish(&mut reply).end_model_call(&mut reply);
    }
    let message = reply.end(ReplyEnd::completed());
    let calls: Vec<String> =
        message.blocks::<ToolCallBlock>().map(|call| format!("{} {}", call.id, call.extra)).collect();
    assert_eq!(calls, ["call_0 {}", r#"call_0_2 {"provider_id":"call_0"}"#]);
}

#[test]
fn arguments_of_start_event_are_the_default() {
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}}"#;
    let delta =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"b\":2}"}}"#;
    let stop = r#"{"type":"content_block_stop","index":0}"#;
    let end = r#"{"type":"message_stop"}"#;
    check_blocks(Provider::Anthropic, &sse(&[start, stop, end]), r#"t1:f({"a": 1})"#);
    check_blocks(Provider::Anthropic, &sse(&[start, delta, stop, end]), r#"t1:f({"b":2})"#);
}

#[test]
fn server_tools_are_ignored() {
    let response = sse(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    check_blocks(Provider::Anthropic, &response, "");
}

#[test]
fn truncated_call_is_marked() {
    let cut = |provider, response: &str| {
        let decoded = decode(provider, response);
        assert_eq!(decoded.end.stop_reason, StopReason::Length);
        assert_eq!(decoded.end.error, None);
        decoded.blocks()
    };
    let fragment = r#""tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\": \"On"}}]"#;
    assert_eq!(cut(Provider::OpenAi, &chat_deltas(&[fragment], "length")), r#"c1:f({"a": "On){"cut":true}"#);
    let complete = r#""tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]"#;
    assert_eq!(cut(Provider::OpenAi, &chat_deltas(&[complete], "length")), "c1:f({})");
    let anthropic = sse(&[
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    assert_eq!(cut(Provider::Anthropic, &anthropic), r#"t1:f({"a"){"cut":true}"#);
}

#[test]
fn invalid_arguments_of_complete_call_are_not_marked() {
    let fragment = r#""tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{oops"}}]"#;
    check_blocks(Provider::OpenAi, &chat_deltas(&[fragment], "tool_calls"), "c1:f({oops)");
}
