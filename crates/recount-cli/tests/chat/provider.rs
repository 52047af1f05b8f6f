//! Scripted responses of a model provider.

use std::path::Path;

use serde_json::{Value, json};

use crate::server::{ScriptedResponse, Server};

/// Creates a response with parallel tool calls. Their ids are `call_1`, `call_2` and so on.
pub(crate) fn tool_calls(tool_calls: &[(&str, Value)]) -> ScriptedResponse {
    let call = |(index, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"index": index, "id": format!("call_{}", index + 1), "type": "function", "function": function})
    };
    let tool_calls: Vec<Value> = tool_calls.iter().enumerate().map(call).collect();
    streamed(&json!({"role": "assistant", "tool_calls": tool_calls}), "tool_calls")
}

/// Creates a text response.
pub(crate) fn text_response(text: &str) -> ScriptedResponse {
    streamed(&json!({"role": "assistant", "content": text}), "stop")
}

fn streamed(delta: &Value, finish: &str) -> ScriptedResponse {
    let chunk = |delta: &Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "x", "object": "chat.completion.chunk", "choices": [choice]}))
    };
    let end = chunk(&json!({}), json!(finish));
    ScriptedResponse::ok(format!("{}{end}data: [DONE]\n\n", chunk(delta, Value::Null)))
        .header("content-type", "text/event-stream")
}

/// Writes `c.toml` with one agent `a` that uses this provider. Appends `more` to the file.
pub(crate) fn configure(directory: &Path, server: &Server, more: &str) {
    let config = format!("[agents.a]\nmodel = \"openai/gpt-5\"\nbase_url = \"{}\"\nretries = 0\n{more}", server.url());
    std::fs::write(directory.join("c.toml"), config).unwrap();
}

/// The environment variables of the agent.
pub(crate) const ENVIRONMENT: &[(&str, &str)] = &[("NO_COLOR", "1"), ("OPENAI_API_KEY", "sk-test")];
