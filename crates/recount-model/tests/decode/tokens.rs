//! Token counts of responses.

use recount_message::Usage;
use recount_model::Provider;

use crate::support::{decode, sse};

/// Checks the input, output, cache read and cache write tokens.
#[track_caller]
fn check(provider: Provider, response: &str, tokens: Option<[u64; 4]>) {
    let usage = tokens.map(|[input, output, cache_input, cache_creation_input]| {
        let mut usage = Usage::new(input, output);
        usage.cache_input_tokens = cache_input;
        usage.cache_creation_input_tokens = cache_creation_input;
        usage
    });
    let decoded = decode(provider, response);
    assert_eq!(decoded.end.usage, usage, "{provider} {response}");
    assert_eq!(decoded.message.usage(), usage.as_ref(), "{provider} {response}");
}

fn chat(usage: &str) -> String {
    format!(r#"{{"choices":[{{"message":{{"content":"x"}},"finish_reason":"stop"}}],"usage":{usage}}}"#)
}

#[test]
fn parses_usage_of_chat_endpoints() {
    check(Provider::OpenAi, &chat("null"), None);
    check(Provider::OpenAi, &chat("{}"), None);
    check(Provider::OpenAi, &chat(r#"{"prompt_tokens":9,"completion_tokens":1}"#), Some([9, 1, 0, 0]));
    let details = r#"{"prompt_tokens":9,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4,"cache_creation_input_tokens":2}}"#;
    check(Provider::DashScope, &chat(details), Some([9, 1, 4, 2]));
    check(
        Provider::DeepSeek,
        &chat(r#"{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":4}"#),
        Some([9, 1, 4, 0]),
    );
    check(
        Provider::Moonshot,
        &chat(r#"{"prompt_tokens":9,"completion_tokens":1,"cached_tokens":4}"#),
        Some([9, 1, 4, 0]),
    );
    let in_choice = r#"{"choices":[{"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":1}}]}"#;
    check(Provider::Moonshot, in_choice, Some([9, 1, 0, 0]));
}

#[test]
fn last_usage_wins() {
    let response = sse(&[
        r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":0}}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3}}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}"#,
        "[DONE]",
    ]);
    check(Provider::OpenAi, &response, Some([9, 3, 0, 0]));
}

#[test]
fn thinking_tokens_are_counted_once() {
    let apart = r#"{"prompt_tokens":32,"completion_tokens":9,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}"#;
    check(Provider::Xai, &chat(apart), Some([32, 103, 0, 0]));
    let within = r#"{"prompt_tokens":32,"completion_tokens":103,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":94}}"#;
    check(Provider::Xai, &chat(within), Some([32, 103, 0, 0]));
    check(Provider::OpenAi, &chat(within), Some([32, 103, 0, 0]));
    let no_total = r#"{"prompt_tokens":32,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":94}}"#;
    check(Provider::Xai, &chat(no_total), Some([32, 103, 0, 0]));
    check(Provider::OpenAi, &chat(no_total), Some([32, 9, 0, 0]));
}

#[test]
fn anthropic_usage_is_updated_until_the_end() {
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":1,"cache_read_input_tokens":7}}}"#;
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":55,"output_tokens":12,"cache_read_input_tokens":0,"cache_creation_input_tokens":3}}"#;
    check(Provider::Anthropic, &sse(&[start, end]), Some([55, 12, 7, 3]));
}

#[test]
fn gemini_counts_are_added() {
    let body = |usage: &str| format!(r#"{{"candidates":[{{"finishReason":"STOP"}}],"usageMetadata":{usage}}}"#);
    let all = r#"{"promptTokenCount":10,"toolUsePromptTokenCount":3,"candidatesTokenCount":1,"thoughtsTokenCount":2,"cachedContentTokenCount":8,"totalTokenCount":16}"#;
    check(Provider::Gemini, &body(all), Some([13, 3, 8, 0]));
    check(Provider::Gemini, &body(r#"{"promptTokenCount":10,"totalTokenCount":14}"#), Some([10, 4, 0, 0]));
    check(Provider::Gemini, &body(r#"{"promptTokenCount":10,"thoughtsTokenCount":2}"#), Some([10, 2, 0, 0]));
    check(Provider::Gemini, &body("{}"), None);
}

#[test]
fn truncated_response_has_usage() {
    let response = sse(&[
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Once"}"#,
        r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":2},"output_tokens":4}}}"#,
    ]);
    check(Provider::OpenAiResponses, &response, Some([9, 4, 2, 0]));
}

#[test]
fn missing_ollama_counts_are_zero() {
    check(Provider::Ollama, r#"{"done":true,"eval_count":7}"#, Some([0, 7, 0, 0]));
    check(Provider::Ollama, r#"{"done":true}"#, None);
}
