//! Conversion of the format of 0.0.2 to that of 0.0.15. It differs in its camel-case names and event names, and has no
//! block times or call states.

use std::collections::HashSet;

use recount_message::wire::Fields;
use recount_message::{DecodeError, Json, Object, ToolCallState};

/// The renamed events.
const EVENTS: [(&str, &str); 8] = [
    ("RUN_STARTED", "REPLY_START"),
    ("RUN_FINISHED", "REPLY_END"),
    ("MODEL_CALL_STARTED", "MODEL_CALL_START"),
    ("MODEL_CALL_ENDED", "MODEL_CALL_END"),
    ("BINARY_BLOCK_START", "DATA_BLOCK_START"),
    ("BINARY_BLOCK_DELTA", "DATA_BLOCK_DELTA"),
    ("BINARY_BLOCK_END", "DATA_BLOCK_END"),
    ("TOOL_RESULT_BINARY_DELTA", "TOOL_RESULT_DATA_DELTA"),
];

/// The renamed fields. `agentId` exists only in 0.0.2 and is kept.
const FIELDS: [(&str, &str); 16] = [
    ("replyId", "reply_id"),
    ("sessionId", "session_id"),
    ("blockId", "block_id"),
    ("toolCallId", "tool_call_id"),
    ("toolCallName", "tool_call_name"),
    ("toolCall", "tool_call"),
    ("toolCalls", "tool_calls"),
    ("mediaType", "media_type"),
    ("createdAt", "created_at"),
    ("finishedAt", "finished_at"),
    ("modelName", "model_name"),
    ("inputTokens", "input_tokens"),
    ("outputTokens", "output_tokens"),
    ("confirmResults", "confirm_results"),
    ("executionResults", "execution_results"),
    ("timestamp", "created_at"),
];

/// Converts a message of 0.0.2. Returns `None` if it is not in this format.
pub(super) fn message(text: &str) -> Result<Option<String>, DecodeError> {
    let fields = Fields::document(text)?;
    if fields.peek("timestamp").is_none() || fields.peek("created_at").is_some() {
        return Ok(None);
    }
    let mut message = renamed(&fields.rest()?);
    if let Some(blocks) = message.get("content").and_then(Json::to_array) {
        message.insert("content", with_states(&blocks));
    }
    Ok(Some(message.to_json()))
}

/// Converts a block of 0.0.2. Returns `None` if it is not in this format.
pub(super) fn block(text: &str) -> Result<Option<String>, DecodeError> {
    let fields = Fields::document(text)?;
    let is_legacy = fields.peek("awaitUserConfirmation").is_some()
        || (fields.peek("source").is_some() || fields.peek("output").is_some())
            && text.contains("\"mediaType\"")
            && !text.contains("\"media_type\"");
    if !is_legacy {
        return Ok(None);
    }
    Ok(Some(with_state(&renamed(&fields.rest()?), &HashSet::new()).to_json()))
}

/// Converts an event of 0.0.2. Returns `None` if it is not in this format.
pub(super) fn event(text: &str) -> Result<Option<String>, DecodeError> {
    // Every event of 0.0.15 has a field `reply_id`.
    if text.contains("\"reply_id\"") || !text.contains("\"replyId\"") {
        return Ok(None);
    }
    let fields = Fields::document(text)?;
    if fields.peek("reply_id").is_some() || fields.peek("replyId").is_none() {
        return Ok(None);
    }
    let mut event = renamed(&fields.rest()?);
    let type_name = event.get("type").and_then(Json::as_str).map(str::to_owned).unwrap_or_default();
    if let Some((_, newer)) = EVENTS.iter().find(|(older, _)| *older == type_name) {
        event.insert("type", *newer);
    }
    if let Some(calls) = event.get("tool_calls").and_then(Json::to_array) {
        event.insert("tool_calls", with_states(&calls));
    }
    if let Some(decisions) = event.get("confirm_results").and_then(Json::to_array) {
        event.insert("confirm_results", decisions.iter().map(decision).collect::<Vec<_>>());
    }
    Ok(Some(event.to_json()))
}

fn decision(decision: &Json) -> Json {
    let Some(mut fields) = decision.to_object() else { return decision.clone() };
    if let Some(call) = fields.get("tool_call").and_then(Json::to_object) {
        fields.insert("tool_call", with_state(&call, &HashSet::new()));
    }
    fields.into()
}

/// Renames fields recursively. Metadata and arguments are left unchanged.
fn renamed(fields: &Object) -> Object {
    let newer = |name: &str| {
        FIELDS
            .iter()
            .find(|(older, _)| *older == name)
            .map_or_else(|| name.to_owned(), |(_, newer)| (*newer).to_owned())
    };
    let field = |(name, value): (&str, &Json)| match name {
        "metadata" | "input" => (name.to_owned(), value.clone()),
        _ => (newer(name), renamed_within(value)),
    };
    fields.iter().map(field).collect()
}

fn renamed_within(value: &Json) -> Json {
    if let Some(object) = value.to_object() {
        return renamed(&object).into();
    }
    match value.to_array() {
        Some(items) => items.iter().map(renamed_within).collect::<Vec<_>>().into(),
        None => value.clone(),
    }
}

/// Adds the states of calls to a list of blocks. A call with a result is finished.
fn with_states(blocks: &[Json]) -> Vec<Json> {
    let objects: Vec<Option<Object>> = blocks.iter().map(Json::to_object).collect();
    let text = |block: &Object, name: &str| block.get(name).and_then(Json::as_str).map(str::to_owned);
    let is_result = |block: &&Object| text(block, "type").as_deref() == Some("tool_result");
    let ids_with_result: HashSet<String> =
        objects.iter().flatten().filter(is_result).filter_map(|block| text(block, "id")).collect();
    let states = |(block, object): (&Json, &Option<Object>)| match object {
        Some(object) => with_state(object, &ids_with_result).into(),
        None => block.clone(),
    };
    blocks.iter().zip(&objects).map(states).collect()
}

/// Adds the state of a call to its block, derived from `awaitUserConfirmation`.
fn with_state(block: &Object, ids_with_result: &HashSet<String>) -> Object {
    let mut block = block.clone();
    let text = |name: &str| block.get(name).and_then(Json::as_str).map(str::to_owned);
    if text("type").as_deref() != Some("tool_call") || block.contains_key("state") {
        return block;
    }
    let has_result = text("id").is_some_and(|id| ids_with_result.contains(&id));
    let state = match block.remove("awaitUserConfirmation") {
        _ if has_result => ToolCallState::Finished,
        Some(awaits) if awaits.as_bool() == Some(true) => ToolCallState::Asking,
        _ => ToolCallState::Pending,
    };
    block.insert("state", state.as_str());
    block
}
