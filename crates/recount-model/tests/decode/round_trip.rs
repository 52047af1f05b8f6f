//! Extra fields of a response are sent back to the provider in the next request.

use recount_message::Msg;
use recount_model::Provider;
use recount_model::format::{Formatter, Media};

use crate::support::{decode, sse};

#[track_caller]
fn check(provider: Provider, response: &str, sent: &[&str], not_sent: &[&str]) {
    let messages = [Msg::user("Alice", "Hello"), decode(provider, response).message];
    let json = Formatter::new(provider).format(&messages, &Media::new()).to_value();
    for part in sent {
        assert!(json.as_raw().contains(part), "{part} in {json}");
    }
    for part in not_sent {
        assert!(!json.as_raw().contains(part), "{part} in {json}");
    }
}

#[test]
fn anthropic_thinking_is_sent_back() {
    let response = r#"{"type":"message","stop_reason":"end_turn","content":[
        {"type":"thinking","thinking":"Hm.","signature":"c2ln"},
        {"type":"redacted_thinking","data":"ZW5j"},
        {"type":"text","text":"4"}]}"#;
    let sent = [
        r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#,
        r#"{"type":"redacted_thinking","data":"ZW5j"}"#,
        r#"{"type":"text","text":"4"}"#,
    ];
    check(Provider::Anthropic, response, &sent, &[]);
}

#[test]
fn gemini_signatures_are_sent_back() {
    let response = r#"{"candidates":[{"content":{"parts":[
        {"functionCall":{"id":"fc-1","name":"f","args":{"a":1}},"thoughtSignature":"c2lnLTE="}]},"finishReason":"STOP"}]}"#;
    check(Provider::Gemini, response, &["c2lnLTE=", r#""fc-1""#], &[]);
}

#[test]
fn openai_reasoning_items_are_sent_back() {
    let item = r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"c2VjcmV0"}"#;
    let done = format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#);
    let response = sse(&[
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"a"}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"b"}"#,
        &done,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f"}}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{}"}"#,
        r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#,
    ]);
    check(Provider::OpenAiResponses, &response, &[item, r#""call_id":"call_1""#], &[]);
}

#[test]
fn truncated_blocks_are_not_sent_back() {
    let response = sse(&[r#"{"choices":[{"delta":{"content":"Once upon a"}}]}"#]);
    check(Provider::OpenAi, &response, &["Hello"], &["Once upon a"]);
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a"}}]},"finish_reason":"length"}]}"#;
    check(Provider::OpenAi, &sse(&[call, "[DONE]"]), &["Hello"], &["c1"]);
}
