//! `recount decode`.

use pretty_assertions::assert_eq;

use crate::run::{cases, recount};

/// Text and a tool call from OpenAI, as server-sent events.
const OPENAI: &str = "\
data: {\"id\":\"chatcmpl-1\",\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Let me look.\"}}]}

data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"function\":{\"name\":\"get_weather\",\"arguments\":\"{\\\"city\\\":\"}}]}}]}

data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"Paris\\\"}\"}}]}}]}

data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":9}}

data: [DONE]

";

/// Thinking with a signature from Anthropic, as a JSON array of chunks.
const ANTHROPIC: &str = r#"[
  {"type": "message_start", "message": {"id": "msg_1", "model": "claude", "usage": {"input_tokens": 8, "output_tokens": 1}}},
  {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
  {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
  {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "c2ln"}},
  {"type": "content_block_stop", "index": 0},
  {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "4"}},
  {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
  {"type": "message_stop"}
]"#;

/// Thinking in `<think>` tags from Ollama, as JSON lines.
const OLLAMA: &str = r#"{"model":"qwen3","message":{"content":"<think>Hm.</think>"},"done":false}
{"model":"qwen3","message":{"content":"4"},"done":true,"done_reason":"length","prompt_eval_count":5,"eval_count":3}
"#;

/// A single response body from Gemini, with line breaks.
const GEMINI: &str = r#"{
  "candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}],
  "responseId": "resp-1"
}"#;

const CUT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Once upon a\"}}]}\n\n";

const FAILED: &str = r#"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#;

const PROMPTED: &str =
    r#"{"message":{"content":"<tool_call>{\"name\":\"now\"}</tool_call>"},"done":true,"done_reason":"stop"}"#;

cases! {
    openai: "decode --provider openai --repeatable" < OPENAI;
    anthropic: "decode --provider anthropic --repeatable --name Friday --model claude-opus" < ANTHROPIC;
    ollama: "decode --provider ollama --repeatable" < OLLAMA;
    ollama_tags_kept: "decode --provider ollama --repeatable --keep-think-tags" < OLLAMA;
    gemini_body: "decode --provider gemini --repeatable" < GEMINI;
    prompt_tools: "decode --provider ollama --repeatable --prompt-tools" < PROMPTED;
    cut: "decode --provider openai --repeatable" < CUT;
    failed: "decode --provider openai --repeatable" < FAILED;
    not_json: "decode --provider openai --repeatable" < "data: oops\n\n";
    empty: "decode --provider openai --repeatable" < "";
    unknown_provider: "decode --provider nobody" < "";
    no_provider: "decode" < "";
    missing_file: "decode --provider openai no/such/file.sse";
}

#[test]
fn decoded_events_pass_check_and_fold() {
    for (provider, response, text) in [
        ("openai", OPENAI, "Let me look."),
        ("anthropic", ANTHROPIC, "4"),
        ("ollama", OLLAMA, "4"),
        ("gemini", GEMINI, "Hello"),
    ] {
        let events = recount(&format!("decode --provider {provider}"), response.as_bytes());
        assert_eq!((events.exit, events.stderr.as_str()), (Some(0), ""));
        let checked = recount("check", events.stdout.as_bytes());
        assert_eq!((checked.exit, checked.stdout.as_str()), (Some(0), ""));
        let folded = recount("fold", events.stdout.as_bytes());
        assert!(folded.stdout.contains(&format!("\"text\":\"{text}\"")), "{}", folded.stdout);
    }
}

#[test]
fn ids_differ_between_runs_without_repeatable() {
    let decode = |options: &str| recount(&format!("decode --provider gemini {options}"), GEMINI.as_bytes()).stdout;
    assert_ne!(decode(""), decode(""));
    assert_eq!(decode("--repeatable"), decode("--repeatable"));
}
