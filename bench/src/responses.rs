//! Responses of models, as their providers stream them: thinking, text and a tool call, one small delta per chunk.

use recount_model::Provider;
use serde_json::{Value, json};

/// A response of a provider.
#[derive(Debug)]
pub struct Response {
    /// The provider.
    pub provider: Provider,
    /// The JSON of each chunk.
    pub chunks: Vec<String>,
    /// The bytes on the wire.
    pub bytes: Vec<u8>,
}

/// Returns one response per provider API, each with `deltas` deltas: an eighth thinking, an eighth arguments, the rest text.
pub fn all(deltas: usize) -> Vec<Response> {
    vec![
        response(Provider::OpenAi, &openai(deltas)),
        response(Provider::OpenAiResponses, &openai_responses(deltas)),
        response(Provider::Anthropic, &anthropic(deltas)),
        response(Provider::Gemini, &gemini(deltas)),
        response(Provider::Ollama, &ollama(deltas)),
    ]
}

fn response(provider: Provider, chunks: &[Value]) -> Response {
    let chunks: Vec<String> = chunks.iter().map(Value::to_string).collect();
    let bytes = chunks.iter().map(|chunk| match provider {
        Provider::Ollama => format!("{chunk}\n"),
        _ => format!("data: {chunk}\n\n"),
    });
    Response { provider, bytes: bytes.collect::<String>().into_bytes(), chunks }
}

/// The kind of a delta.
enum Delta {
    Thinking,
    Text,
    Arguments,
}

fn delta(number: usize, deltas: usize) -> Delta {
    match number * 8 / deltas.max(1) {
        0 => Delta::Thinking,
        7 => Delta::Arguments,
        _ => Delta::Text,
    }
}

const TEXT: &str = "twelve chars";
/// A part of arguments. They are JSON in a JSON string and therefore full of escapes.
const ARGUED: &str = r#""key":"value","#;

fn openai(deltas: usize) -> Vec<Value> {
    let chunk = |delta: Value, reason: Option<&str>| {
        json!({
            "id": "chatcmpl-BRzV2ynxOlVMVNgEBnhSdKWOmtwoK", "object": "chat.completion.chunk", "created": 1_790_000_000,
            "model": "gpt-5-2026-08-07", "service_tier": "default", "system_fingerprint": "fp_0123456789",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}], "usage": null,
        })
    };
    let call = |fragment: Value| json!({"tool_calls": [fragment]});
    let begin =
        call(json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{"}}));
    let mut chunks = vec![chunk(begin, None)];
    chunks.extend((0..deltas).map(|number| match delta(number, deltas) {
        Delta::Thinking => chunk(json!({"reasoning_content": TEXT}), None),
        Delta::Text => chunk(json!({"content": TEXT}), None),
        Delta::Arguments => chunk(call(json!({"index": 0, "function": {"arguments": ARGUED}})), None),
    }));
    chunks.push(chunk(json!({}), Some("tool_calls")));
    chunks
}

fn openai_responses(deltas: usize) -> Vec<Value> {
    let item = json!({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "search", "arguments": ""});
    let mut chunks = vec![json!({"type": "response.output_item.added", "output_index": 2, "item": item})];
    chunks.extend((0..deltas).map(|number| {
        let (kind, item, index, said) = match delta(number, deltas) {
            Delta::Thinking => ("reasoning_summary_text", "rs_68af4030baa48193b0b43b4c2a176a1a", 0, TEXT),
            Delta::Text => ("output_text", "msg_68af4030baa48193b0b43b4c2a176a1b", 1, TEXT),
            Delta::Arguments => ("function_call_arguments", "fc_68af4030baa48193b0b43b4c2a176a1c", 2, ARGUED),
        };
        json!({
            "type": format!("response.{kind}.delta"), "sequence_number": number, "item_id": item, "output_index": index,
            "content_index": 0, "delta": said, "logprobs": [], "obfuscation": "0123456789",
        })
    }));
    chunks.push(json!({"type": "response.completed", "response": {"status": "completed", "output": []}}));
    chunks
}

fn anthropic(deltas: usize) -> Vec<Value> {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}});
    let mut chunks = vec![json!({"type": "content_block_start", "index": 2, "content_block": call})];
    chunks.extend((0..deltas).map(|number| {
        let (index, delta) = match delta(number, deltas) {
            Delta::Thinking => (0, json!({"type": "thinking_delta", "thinking": TEXT})),
            Delta::Text => (1, json!({"type": "text_delta", "text": TEXT})),
            Delta::Arguments => (2, json!({"type": "input_json_delta", "partial_json": ARGUED})),
        };
        json!({"type": "content_block_delta", "index": index, "delta": delta})
    }));
    chunks.push(json!({"type": "message_stop"}));
    chunks
}

fn gemini(deltas: usize) -> Vec<Value> {
    let chunk = |part: Value, number: usize| {
        json!({
            "candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}],
            "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": number, "totalTokenCount": number + 100},
            "modelVersion": "gemini-3-pro", "responseId": "resp-0123456789",
        })
    };
    let mut chunks: Vec<Value> = (0..deltas)
        .map(|number| match delta(number, deltas) {
            Delta::Thinking => chunk(json!({"text": TEXT, "thought": true}), number),
            // Gemini sends complete calls.
            Delta::Text | Delta::Arguments => chunk(json!({"text": TEXT}), number),
        })
        .collect();
    chunks.push(json!({"candidates": [{"finishReason": "STOP"}]}));
    chunks
}

fn ollama(deltas: usize) -> Vec<Value> {
    let mut chunks: Vec<Value> = (0..deltas)
        .map(|number| {
            let message = match delta(number, deltas) {
                Delta::Thinking => json!({"role": "assistant", "content": "", "thinking": TEXT}),
                // Ollama sends complete calls.
                Delta::Text | Delta::Arguments => json!({"role": "assistant", "content": TEXT}),
            };
            json!({"model": "qwen3:14b", "created_at": "2026-01-01T00:00:00.123456Z", "message": message, "done": false})
        })
        .collect();
    chunks.push(json!({"model": "qwen3:14b", "done": true, "done_reason": "stop", "eval_count": deltas}));
    chunks
}
