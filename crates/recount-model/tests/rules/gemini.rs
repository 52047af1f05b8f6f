//! The rules of Gemini.

use serde_json::Value;

use super::chat::is_tool_name;
use super::{Rules, rule};

pub(crate) fn check(body: &Value) -> Rules {
    let mut open_calls: Vec<(&Value, &Value)> = Vec::new();
    for content in body["contents"].as_array().unwrap() {
        let role = content["role"].as_str().unwrap();
        let parts = content["parts"].as_array().unwrap();
        rule!(["user", "model"].contains(&role), "the role {role}");
        rule!(!parts.is_empty(), "an empty content");
        let responses: Vec<(&Value, &Value)> = parts
            .iter()
            .filter_map(|part| part.get("function_response"))
            .map(|said| (&said["id"], &said["name"]))
            .collect();
        rule!(responses.len() == open_calls.len(), "{} responses to {} calls", responses.len(), open_calls.len());
        rule!(responses.iter().all(|response| open_calls.contains(response)), "{responses:?} to {open_calls:?}");
        rule!(responses.is_empty() || (role == "user" && responses.len() == parts.len()), "responses among others");
        open_calls.clear();
        for (at, part) in parts.iter().filter(|part| part.get("function_call").is_some()).enumerate() {
            let call = &part["function_call"];
            rule!(role == "model", "a call of the {role}");
            rule!(is_tool_name(&call["name"]), "the tool name {}", call["name"]);
            rule!(call["args"].is_object(), "the arguments {}", call["args"]);
            rule!(at > 0 || part.get("thought_signature").is_some(), "a first call that is not signed");
            open_calls.push((&call["id"], &call["name"]));
        }
        for part in parts {
            rule!(part["text"] != "" || part.get("thought_signature").is_some(), "an empty text");
        }
    }
    rule!(open_calls.is_empty(), "no response to {open_calls:?}");
    Ok(())
}
