//! The rules of Anthropic Messages.

use std::collections::HashSet;

use recount_model::Provider;
use serde_json::Value;

use super::chat::is_tool_name;
use super::{Rules, rule};

pub(crate) fn check(provider: Provider, body: &Value) -> Rules {
    let mut ids = HashSet::new();
    let mut open_calls: Vec<&str> = Vec::new();
    for (role, blocks) in turns(body)? {
        let (results, others): (Vec<&Value>, Vec<&Value>) =
            blocks.iter().copied().partition(|block| block["type"] == "tool_result");
        rule!(results.is_empty() || role == "user", "a result of the {role}");
        rule!(blocks[..results.len()] == results[..], "a result after something else");
        for result in results {
            let id = result["tool_use_id"].as_str().unwrap();
            rule!(open_calls.contains(&id), "a result of {id} without an open call");
            open_calls.retain(|open| *open != id);
            rule!(result["content"].as_array().is_some_and(|content| !content.is_empty()), "an empty result");
            for block in result["content"].as_array().unwrap() {
                check_block(provider, block)?;
            }
        }
        rule!(open_calls.is_empty(), "no result of {open_calls:?} in the next turn");
        for block in others {
            check_block(provider, block)?;
            if block["type"] == "tool_use" {
                let id = block["id"].as_str().unwrap();
                let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                rule!(role == "assistant", "a call of the {role}");
                rule!(!id.is_empty() && id.chars().all(is_allowed), "the id {id:?}");
                rule!(ids.insert(id), "the id {id} is taken");
                rule!(is_tool_name(&block["name"]), "the tool name {}", block["name"]);
                rule!(block["input"].is_object(), "the input {}", block["input"]);
                open_calls.push(id);
            }
        }
    }
    rule!(open_calls.is_empty(), "no result of {open_calls:?}");
    let marks = body.to_string().matches(r#""cache_control""#).count();
    rule!(marks <= 4, "{marks} cache marks");
    for block in body["system"].as_array().into_iter().flatten() {
        rule!(block["type"] == "text" && block["text"] != "", "the system block {block}");
    }
    Ok(())
}

/// Returns the turns. The API merges consecutive messages of the same role.
fn turns(body: &Value) -> Result<Vec<(&str, Vec<&Value>)>, String> {
    let mut turns: Vec<(&str, Vec<&Value>)> = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        rule!(["user", "assistant"].contains(&role), "the role {role}");
        let Some(blocks) = message["content"].as_array() else {
            rule!(message["content"].as_str().is_some_and(|text| !text.is_empty()), "the message {message}");
            turns.push((role, Vec::new()));
            continue;
        };
        rule!(!blocks.is_empty(), "an empty message");
        match turns.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => turns.push((role, blocks.iter().collect())),
        }
    }
    Ok(turns)
}

fn check_block(provider: Provider, block: &Value) -> Rules {
    match block["type"].as_str().unwrap() {
        "text" => rule!(block["text"].as_str().is_some_and(|text| !text.trim().is_empty()), "a blank text"),
        "image" if provider == Provider::Anthropic => {
            let media_type = block["source"]["media_type"].as_str().unwrap();
            let taken = ["image/jpeg", "image/png", "image/gif", "image/webp"];
            rule!(taken.contains(&media_type), "an image of type {media_type}");
        }
        "thinking" => rule!(block["signature"] != "" && block.get("cache_control").is_none(), "the thinking {block}"),
        "image" | "document" | "video" | "redacted_thinking" | "tool_use" => {}
        other => return Err(format!("a block {other}")),
    }
    Ok(())
}
