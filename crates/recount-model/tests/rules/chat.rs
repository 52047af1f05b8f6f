//! The rules of chat completions.

use std::collections::HashSet;

use recount_model::Provider;
use serde_json::Value;

use super::{Rules, rule};

/// Whether a value is a valid tool name.
pub(crate) fn is_tool_name(name: &Value) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.as_str().is_some_and(|name| (1..=64).contains(&name.len()) && name.chars().all(is_allowed))
}

pub(crate) fn check(provider: Provider, body: &Value) -> Rules {
    let mut ids = HashSet::new();
    let mut open_calls: Vec<&str> = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            rule!(open_calls.contains(&id), "a result of {id} without an open call");
            open_calls.retain(|open| *open != id);
            rule!(message["content"].is_string(), "a result that is not text");
            continue;
        }
        rule!(open_calls.is_empty(), "no result of {open_calls:?} before {message}");
        rule!(["system", "user", "assistant"].contains(&role), "the role {role}");
        if let Some(name) = message.get("name") {
            check_name(name.as_str().unwrap())?;
        }
        check_content(provider, message)?;
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().unwrap();
            rule!(role == "assistant", "a call of the {role}");
            rule!(!id.is_empty() && ids.insert(id), "the id {id:?} is empty or taken");
            rule!(provider != Provider::OpenAi || id.chars().count() <= 40, "the id {id} is too long");
            rule!(is_tool_name(&call["function"]["name"]), "the tool name {}", call["function"]["name"]);
            let arguments = call["function"]["arguments"].as_str().unwrap();
            rule!(!arguments.trim().is_empty(), "no arguments");
            let is_json = serde_json::from_str::<Value>(arguments).is_ok();
            rule!(provider != Provider::DashScope || is_json, "the arguments {arguments}");
            open_calls.push(id);
        }
    }
    rule!(open_calls.is_empty(), "no result of {open_calls:?}");
    Ok(())
}

fn check_name(name: &str) -> Rules {
    let is_refused = |c: char| c.is_whitespace() || matches!(c, '<' | '|' | '\\' | '/' | '>');
    rule!(!name.is_empty() && !name.contains(is_refused) && name.chars().count() <= 64, "the name {name:?}");
    Ok(())
}

fn check_content(provider: Provider, message: &Value) -> Rules {
    let thinks = message.get("reasoning_content").is_some();
    match &message["content"] {
        Value::Null => rule!(message.get("tool_calls").is_some() || thinks, "no content in {message}"),
        Value::String(_) => {}
        Value::Array(parts) => {
            rule!(!parts.is_empty(), "an empty list of parts");
            for part in parts {
                let kind = part["type"].as_str().unwrap();
                let from_users_only = matches!(provider, Provider::OpenAi | Provider::DeepSeek | Provider::Xai);
                let is_user = message["role"] == "user";
                rule!(kind == "text" || is_user || !from_users_only, "a part {kind} of the {}", message["role"]);
            }
        }
        other => return Err(format!("the content {other}")),
    }
    Ok(())
}
