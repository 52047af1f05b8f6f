//! A model of the package's `appendEvent`.

use serde_json::{Map, Value, json};

/// Returns a message as created by `AssistantMsg({id, name, content: []})`.
pub(super) fn assistant(event: &Value) -> Value {
    json!({"id": event["reply_id"], "name": event["name"], "role": "assistant", "content": [], "metadata": {}})
}

fn find<'m>(message: &'m mut Value, kind: &str, id: &Value) -> Option<&'m mut Map<String, Value>> {
    let blocks = message["content"].as_array_mut()?.iter_mut();
    blocks.filter_map(Value::as_object_mut).find(|block| block["type"] == kind && block["id"] == *id)
}

fn push(message: &mut Value, block: Value) {
    message["content"].as_array_mut().unwrap().push(block);
}

fn append(block: Option<&mut Map<String, Value>>, key: &str, delta: &Value) {
    if let Some(block) = block {
        let text = [block[key].as_str().unwrap(), delta.as_str().unwrap()].concat();
        block.insert(key.to_owned(), text.into());
    }
}

fn end(block: Option<&mut Map<String, Value>>, event: &Value) {
    if let Some(block) = block {
        block.insert("finished_at".to_owned(), event["created_at"].clone());
    }
}

/// Decodes each piece on its own, as `atob` does: padding can be missing, but a single remaining character is an error.
fn joined(one: &str, other: &str) -> String {
    use recount_message::Base64Source;
    let bytes = |text: &str| {
        let digits = text.trim_end_matches('=');
        assert_ne!(digits.len() % 4, 1, "atob throws on {text:?}");
        let padded = format!("{digits}{}", "=".repeat((4 - digits.len() % 4) % 4));
        Base64Source::from_base64(padded, "").bytes().unwrap()
    };
    Base64Source::new([bytes(one), bytes(other)].concat(), "").data
}

fn items(result: &mut Map<String, Value>) -> &mut Vec<Value> {
    if result["output"].is_string() {
        let item = json!({"type": "text", "text": result["output"]});
        result.insert("output".to_owned(), json!([item]));
    }
    result["output"].as_array_mut().unwrap()
}

/// Applies an event to the message of its reply.
pub(super) fn append_event(message: &mut Value, event: &Value) {
    if event.get("reply_id") != Some(&message["id"]) {
        return;
    }
    let (block_id, call_id, time) = (&event["block_id"], &event["tool_call_id"], &event["created_at"]);
    match event["type"].as_str().unwrap() {
        "REPLY_END" => {
            message["finished_at"] = time.clone();
            message["finished_reason"] = event["finished_reason"].clone();
            message["error"] = event["error"].clone();
        }
        "TEXT_BLOCK_START" => push(message, json!({"type": "text", "id": block_id, "text": "", "created_at": time})),
        "TEXT_BLOCK_DELTA" => append(find(message, "text", block_id), "text", &event["delta"]),
        "TEXT_BLOCK_END" => end(find(message, "text", block_id), event),
        "THINKING_BLOCK_START" => {
            push(message, json!({"type": "thinking", "id": block_id, "thinking": "", "created_at": time}));
        }
        "THINKING_BLOCK_DELTA" => append(find(message, "thinking", block_id), "thinking", &event["delta"]),
        "THINKING_BLOCK_END" => end(find(message, "thinking", block_id), event),
        "HINT_BLOCK" => {
            let hint = json!({"type": "hint", "id": block_id, "hint": event["hint"], "source": event["source"],
                "created_at": time, "finished_at": time});
            push(message, hint);
        }
        "DATA_BLOCK_START" => {
            let source = json!({"type": "base64", "data": "", "media_type": event["media_type"]});
            push(message, json!({"type": "data", "id": block_id, "source": source, "created_at": time}));
        }
        "DATA_BLOCK_DELTA" => {
            let data = event["data"].as_str().unwrap();
            if let Some(block) = find(message, "data", block_id)
                && !data.is_empty()
            {
                let all = joined(block["source"]["data"].as_str().unwrap(), data);
                block["source"]["data"] = all.into();
            }
        }
        "DATA_BLOCK_END" => end(find(message, "data", block_id), event),
        "TOOL_CALL_START" => {
            let call = json!({"type": "tool_call", "id": call_id, "name": event["tool_call_name"], "input": "",
                "state": "pending", "created_at": time});
            push(message, call);
        }
        "TOOL_CALL_DELTA" => append(find(message, "tool_call", call_id), "input", &event["delta"]),
        "TOOL_CALL_END" => end(find(message, "tool_call", call_id), event),
        "TOOL_RESULT_START" => {
            let result = json!({"type": "tool_result", "id": call_id, "name": event["tool_call_name"], "output": [],
                "state": "running", "created_at": time});
            push(message, result);
        }
        "TOOL_RESULT_TEXT_DELTA" => {
            if let Some(result) = find(message, "tool_result", call_id) {
                let items = items(result);
                match items.last_mut().filter(|last| last["type"] == "text") {
                    Some(last) => append(last.as_object_mut(), "text", &event["delta"]),
                    None => items.push(json!({"type": "text", "text": event["delta"], "created_at": time})),
                }
            }
        }
        "TOOL_RESULT_DATA_DELTA" => {
            if let Some(result) = find(message, "tool_result", call_id) {
                let media_type = &event["media_type"];
                let source = match event.get("data") {
                    Some(data) => json!({"type": "base64", "data": data, "media_type": media_type}),
                    None => json!({"type": "url", "url": event["url"], "media_type": media_type}),
                };
                let item = json!({"type": "data", "id": block_id, "source": source, "created_at": time});
                items(result).push(item);
            }
        }
        "TOOL_RESULT_END" => {
            if let Some(result) = find(message, "tool_result", call_id) {
                result.insert("state".to_owned(), event["state"].clone());
                result.insert("metadata".to_owned(), event["metadata"].clone());
                result.insert("finished_at".to_owned(), time.clone());
            }
            set_state(message, call_id, "finished");
        }
        "MODEL_CALL_END" => {
            for name in ["input_tokens", "output_tokens"] {
                let tokens = message["usage"][name].as_u64().unwrap_or(0) + event[name].as_u64().unwrap();
                message["usage"][name] = tokens.into();
            }
        }
        "REQUIRE_USER_CONFIRM" => {
            for asked in event["tool_calls"].as_array().unwrap() {
                set_state(message, &asked["id"], "asking");
                if let Some(call) = find(message, "tool_call", &asked["id"]) {
                    let rules = asked.get("suggested_rules").cloned().unwrap_or_else(|| json!([]));
                    call.insert("suggested_rules".to_owned(), rules);
                }
            }
        }
        "USER_CONFIRM_RESULT" => {
            for answer in event["confirm_results"].as_array().unwrap() {
                let id = &answer["tool_call"]["id"];
                if find(message, "tool_call", id).is_some_and(|call| call["state"] == "asking") {
                    set_state(message, id, if answer["confirmed"] == true { "allowed" } else { "finished" });
                }
            }
        }
        "REQUIRE_EXTERNAL_EXECUTION" => {
            for call in event["tool_calls"].as_array().unwrap() {
                set_state(message, &call["id"], "submitted");
            }
        }
        "EXTERNAL_EXECUTION_RESULT" => {
            let blocks = message["content"].as_array().unwrap();
            let known: Vec<Value> =
                blocks.iter().filter(|block| block["type"] == "tool_result").map(|block| block["id"].clone()).collect();
            for result in event["execution_results"].as_array().unwrap() {
                if known.contains(&result["id"]) {
                    continue;
                }
                let mut result = result.clone();
                if result["finished_at"].is_null() {
                    result["finished_at"] = time.clone();
                }
                push(message, result);
            }
        }
        _ => {}
    }
}

fn set_state(message: &mut Value, call_id: &Value, state: &str) {
    if let Some(call) = find(message, "tool_call", call_id) {
        call.insert("state".to_owned(), state.into());
    }
}
