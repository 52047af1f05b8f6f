//! Thinking and tool calls in the text.

use pretty_assertions::assert_eq;
use recount_model::Provider;
use recount_model::decode::{DecodeOptions, StopReason};

use crate::support::{chat_deltas, check_blocks, decode, decode_with, sse};

#[test]
fn parses_think_tags_of_every_provider() {
    check_blocks(
        Provider::OpenAi,
        &chat_deltas(&[r#""content":"<thi""#, r#""content":"nk>a</think>b""#], "stop"),
        r#"[a] "b""#,
    );
    let anthropic = sse(&[
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"<think>a</th"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ink>\n\nb"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    check_blocks(Provider::Anthropic, &anthropic, r#"[a] "b""#);
    check_blocks(Provider::MiniMax, &anthropic, r#"[a] "b""#);
    check_blocks(Provider::Ollama, r#"{"message":{"content":"<think>a</think>b"},"done":true}"#, r#"[a] "b""#);
    let gemini =
        r#"{"candidates":[{"content":{"parts":[{"text":"<think>a"},{"text":"</think>b"}]},"finishReason":"STOP"}]}"#;
    check_blocks(Provider::Gemini, gemini, r#"[a] "b""#);
    let responses = r#"{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"<think>a</think>b"}]}]}"#;
    check_blocks(Provider::OpenAiResponses, responses, r#"[a] "b""#);
}

#[test]
fn tags_are_text_if_thinking_has_a_field() {
    let deltas = [r#""reasoning_content":"a""#, r#""content":"<think>b</think>c""#];
    check_blocks(Provider::DeepSeek, &chat_deltas(&deltas, "stop"), r#"[a] "<think>b</think>c""#);
    let after = [r#""content":"<th""#, r#""reasoning_content":"a""#, r#""content":"ink>b""#];
    check_blocks(Provider::DeepSeek, &chat_deltas(&after, "stop"), r#""<th" [a] "ink>b""#);
}

#[test]
fn buffered_text_stays_in_its_block() {
    let response = sse(&[
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"<th"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"ink>"}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    check_blocks(Provider::Anthropic, &response, r#""<th" "ink>""#);
}

#[test]
fn think_tags_can_be_disabled() {
    let response = chat_deltas(&[r#""content":"<think>a</think>b""#], "stop");
    let options = DecodeOptions { think_tags: false, ..DecodeOptions::default() };
    assert_eq!(decode_with(Provider::OpenAi, response.as_bytes(), options).blocks(), r#""<think>a</think>b""#);
}

#[test]
fn unclosed_thinking_ends_with_stream() {
    let whole = chat_deltas(&[r#""content":"<think>a""#, r#""content":"b</thi""#], "length");
    check_blocks(Provider::OpenAi, &whole, "[ab</thi]");
    check_blocks(Provider::OpenAi, &sse(&[r#"{"choices":[{"delta":{"content":"<think>a"}}]}"#]), r#"[a]{"cut":true}"#);
    check_blocks(Provider::OpenAi, &chat_deltas(&[r#""content":"<thin""#], "stop"), r#""<thin""#);
}

#[test]
fn call_may_interrupt_thinking() {
    let call = r#""tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}]"#;
    let response = chat_deltas(&[r#""content":"<think>a</t""#, call, r#""content":"b</think>c""#], "tool_calls");
    check_blocks(Provider::OpenAi, &response, r#"[a</t] c1:f({}) [b] "c""#);
}

#[test]
fn parses_calls_in_text() {
    let options = DecodeOptions { prompt_tools: true, ..DecodeOptions::default() };
    let response = chat_deltas(
        &[
            r#""content":"<think>A tool.</think>\nLet me look.\n<tool_""#,
            r#""content":"call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n</tool_call>\n<tool_call>{\"name\":\"g\"}</tool""#,
            r#""content":"_call>\n""#,
        ],
        "stop",
    );
    let decoded = decode_with(Provider::OpenAi, response.as_bytes(), options);
    assert_eq!(decoded.blocks(), r#"[A tool.] "Let me look.\n" $:f({"a": 1}) $:g({})"#);
    assert_eq!(decoded.end.stop_reason, StopReason::ToolCalls);
    check_blocks(
        Provider::OpenAi,
        &chat_deltas(&[r#""content":"<tool_call>{}</tool_call>""#], "stop"),
        r#""<tool_call>{}</tool_call>""#,
    );
}

#[test]
fn truncated_call_in_text_is_marked() {
    let options = DecodeOptions { prompt_tools: true, ..DecodeOptions::default() };
    let response = chat_deltas(&[r#""content":"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\"""#], "length");
    let decoded = decode_with(Provider::OpenAi, response.as_bytes(), options);
    assert_eq!(decoded.blocks(), r#"$:f({"a"){"cut":true}"#);
    assert_eq!(decode(Provider::OpenAi, &response).end.stop_reason, StopReason::Length);
}
