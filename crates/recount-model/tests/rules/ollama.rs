//! The rules of Ollama.

use serde_json::Value;

use super::{Rules, rule};

pub(crate) fn check(body: &Value) -> Rules {
    let mut open_calls = 0;
    for message in body["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        rule!(message["content"].is_string(), "the content {}", message["content"]);
        if role == "tool" {
            rule!(open_calls > 0, "a result without an open call");
            rule!(message["tool_name"].as_str().is_some_and(|name| !name.is_empty()), "a result without a tool name");
            open_calls -= 1;
            continue;
        }
        rule!(open_calls == 0, "no result before {message}");
        rule!(["system", "user", "assistant"].contains(&role), "the role {role}");
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            rule!(role == "assistant", "a call of the {role}");
            rule!(call["function"]["arguments"].is_object(), "the arguments {}", call["function"]["arguments"]);
            open_calls += 1;
        }
    }
    rule!(open_calls == 0, "no result of a call");
    Ok(())
}
