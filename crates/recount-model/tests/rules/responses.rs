//! The rules of OpenAI Responses.

use std::collections::HashSet;

use serde_json::Value;

use super::chat::is_tool_name;
use super::{Rules, rule};

pub(crate) fn check(body: &Value) -> Rules {
    let mut ids = HashSet::new();
    let mut open_calls: Vec<&str> = Vec::new();
    let mut answering = false;
    let mut is_reasoned = false;
    for item in body["input"].as_array().unwrap() {
        let id = item["call_id"].as_str().unwrap_or_default();
        let is_reasoning = item["type"] == "reasoning";
        let comes_of_it = item["type"] == "function_call" || item["role"] == "assistant";
        rule!(!is_reasoned || is_reasoning || comes_of_it, "reasoning before {item}");
        is_reasoned = is_reasoning;
        match item["type"].as_str() {
            Some("function_call") => {
                rule!(!answering || open_calls.is_empty(), "a call before the result of {open_calls:?}");
                rule!(!id.is_empty() && ids.insert(id), "the id {id:?} is empty or taken");
                rule!(id.chars().count() <= 64, "the id {id} is too long");
                rule!(is_tool_name(&item["name"]), "the tool name {}", item["name"]);
                rule!(item["arguments"].as_str().is_some_and(|text| !text.trim().is_empty()), "no arguments");
                open_calls.push(id);
                answering = false;
            }
            Some("function_call_output") => {
                rule!(open_calls.contains(&id), "a result of {id} without an open call");
                open_calls.retain(|open| *open != id);
                answering = true;
            }
            Some("reasoning") => {
                rule!(!answering || open_calls.is_empty(), "reasoning before the result of {open_calls:?}");
            }
            _ => {
                // Text beside calls may be before or after them.
                let goes_with_calls = item["role"] == "assistant" && !answering;
                rule!(open_calls.is_empty() || goes_with_calls, "no result of {open_calls:?} before {item}");
                check_message(item)?;
            }
        }
    }
    rule!(open_calls.is_empty(), "no result of {open_calls:?}");
    rule!(!is_reasoned, "reasoning at the end");
    Ok(())
}

fn check_message(item: &Value) -> Rules {
    let role = item["role"].as_str().unwrap();
    rule!(["system", "user", "assistant"].contains(&role), "the role {role}");
    let Some(parts) = item["content"].as_array() else {
        rule!(item["content"].is_string(), "the content {}", item["content"]);
        return Ok(());
    };
    rule!(!parts.is_empty(), "an empty list of parts");
    for part in parts {
        let kind = part["type"].as_str().unwrap();
        let allowed: &[&str] = match role {
            "assistant" => &["output_text"],
            "user" => &["input_text", "input_image", "input_file"],
            _ => &["input_text"],
        };
        rule!(allowed.contains(&kind), "a part {kind} of the {role}");
    }
    Ok(())
}
