//! Native fields that TypeScript does not have, and carriers: events that hold another event.

use std::borrow::Cow;

use recount_message::{AgentEvent, CustomEvent, Event, EventKind, Json, ModelFinishedReason, Msg, MsgParts, Object};

use super::write;
use crate::json::parse_fields;
use crate::preserved::{self, event_holder_mut};

/// The key for native data in TypeScript messages and events.
pub(super) const NATIVE: &str = "native";

/// The native name of an event that only a TypeScript reader needs.
const TYPESCRIPT_ONLY: &str = "agentscope.typescript";

/// The maximum depth of structured output that is stored in the metadata, which would otherwise exceed its own limit.
const MAX_DEPTH: usize = 100;

/// Returns the fields of a message that TypeScript does not have.
pub(super) fn message_fields(message: &Msg) -> Object {
    let mut stored = Object::new();
    if let Some(output) = message.structured_output().filter(|output| !is_too_deep(output)) {
        stored.insert("structured_output", output.clone());
    }
    if let Some(usage) = message.usage() {
        let tokens = cache_tokens(usage.cache_input_tokens, usage.cache_creation_input_tokens);
        if !tokens.is_empty() {
            stored.insert("usage", tokens);
        }
    }
    stored
}

/// Returns whether structured output is nested too deeply for the metadata. It then stays in its native field, which
/// TypeScript readers ignore.
pub(super) fn is_too_deep(output: &Object) -> bool {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in output.to_json().bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest > MAX_DEPTH
}

fn cache_tokens(read: u64, written: u64) -> Object {
    let tokens = [("cache_input_tokens", read), ("cache_creation_input_tokens", written)];
    tokens.into_iter().filter(|(_, tokens)| *tokens > 0).collect()
}

fn restore_tokens(stored: &Object, name: &str, now: &mut u64) {
    if *now == 0
        && let Some(stored) = stored.get(name).and_then(|tokens| tokens.as_raw().parse().ok())
    {
        *now = stored;
    }
}

/// Restores the stored fields of a message. Fields that TypeScript does have take precedence.
pub(super) fn restore_message(parts: &mut MsgParts, stored: &Object) {
    if parts.structured_output.is_none() {
        parts.structured_output = stored.get("structured_output").and_then(Json::to_object);
    }
    if let Some(usage) = &mut parts.usage {
        let stored = stored.get("usage").and_then(Json::to_object).unwrap_or_default();
        restore_tokens(&stored, "cache_input_tokens", &mut usage.cache_input_tokens);
        restore_tokens(&stored, "cache_creation_input_tokens", &mut usage.cache_creation_input_tokens);
    }
}

/// Returns the fields of an event that TypeScript does not have.
pub(super) fn event_fields(event: &Event<'_>) -> Object {
    let text = |name: &str, value: &Option<Cow<'_, str>>| {
        value.iter().map(|value| (name.to_owned(), Json::from(&**value))).collect()
    };
    match &event.kind {
        EventKind::ModelCallEnd(kind) => {
            let mut stored = cache_tokens(kind.cache_input_tokens, kind.cache_creation_input_tokens);
            if kind.finished_reason != ModelFinishedReason::Completed {
                stored.insert("finished_reason", kind.finished_reason.as_str());
            }
            stored
        }
        EventKind::TextBlockEnd(kind) => text("text", &kind.text),
        EventKind::DataBlockStart(kind) => text("name", &kind.name),
        EventKind::DataBlockDelta(kind) => text("url", &kind.url),
        _ => Object::new(),
    }
}

/// Restores the stored fields of an event. Fields that TypeScript does have take precedence.
pub(super) fn restore_event(event: &mut Event<'_>, stored: &Object) {
    let text = |name: &str| stored.get(name).and_then(Json::as_str).map(str::to_owned).map(Cow::Owned);
    match &mut event.kind {
        EventKind::ModelCallEnd(kind) => {
            restore_tokens(stored, "cache_input_tokens", &mut kind.cache_input_tokens);
            restore_tokens(stored, "cache_creation_input_tokens", &mut kind.cache_creation_input_tokens);
            if kind.finished_reason == ModelFinishedReason::Completed
                && let Some(reason) = text("finished_reason").and_then(|word| ModelFinishedReason::from_name(&word))
            {
                kind.finished_reason = reason;
            }
        }
        EventKind::TextBlockEnd(kind) if kind.text.is_none() => kind.text = text("text"),
        EventKind::DataBlockStart(kind) if kind.name.is_none() => kind.name = text("name"),
        EventKind::DataBlockDelta(kind) if kind.data.as_deref() == Some("") => {
            if let Some(url) = text("url") {
                (kind.data, kind.url) = (None, Some(url));
            }
        }
        EventKind::UserConfirmResult(kind) => {
            // The client returns the call under the id that it was listed with.
            for decision in &mut kind.confirm_results {
                let stored = preserved::take(&mut decision.tool_call.extra, NATIVE);
                if let Some(id) = stored.get("id").and_then(Json::as_str).map(str::to_owned) {
                    decision.tool_call.id = id;
                }
            }
        }
        _ => {}
    }
}

/// Returns whether TypeScript does not have this type of event.
pub(super) fn is_unsupported(event: &Event<'_>) -> bool {
    matches!(event.kind, EventKind::UserInterrupt(_))
}

/// Writes a CUSTOM event that carries another event: one that TypeScript does not have, or one that its fold must ignore.
pub(super) fn write_carrier(event: &Event<'_>, out: &mut String) {
    let Some(mut fields) = parse_fields(&event.to_json()) else { return write::event(out, event) };
    for name in ["id", "created_at"] {
        fields.remove(name);
    }
    let mut metadata = event.metadata.clone();
    if matches!(event.kind, EventKind::ToolResultEnd(_)) {
        metadata = Object::new();
    } else {
        fields.remove("metadata");
    }
    preserved::store(&mut metadata, NATIVE, Object::from([("event", fields)]));
    let mut custom = CustomEvent::new(event.type_name());
    custom.reply_id = event.reply_id().map(Cow::Borrowed);
    let stand_in = Event::stamped(&*event.id, &*event.created_at, custom).with_metadata(metadata);
    write::event(out, &stand_in);
}

/// Marks an event that only a TypeScript reader needs.
pub(super) fn mark_typescript_only(event: &mut Event<'_>) {
    preserved::store(event_holder_mut(event), NATIVE, Object::from([("event", Json::null())]));
}

/// Returns the event that a text carries. `None` if it is not a carrier.
pub(super) fn read_carrier(text: &str) -> Option<AgentEvent> {
    if !text.contains("\"recount\"") {
        return None;
    }
    let fields = parse_fields(text)?;
    let mut metadata = fields.get("metadata").and_then(Json::to_object).unwrap_or_default();
    let event = preserved::take(&mut metadata, NATIVE).remove("event");
    let event = event.or_else(|| preserved::get(&fields, NATIVE).remove("event"))?;
    let text = |name: &str| fields.get(name).and_then(Json::as_str).map(str::to_owned);
    if event.is_null() {
        let nothing = CustomEvent::signal(TYPESCRIPT_ONLY, Object::new());
        return Some(Event::stamped(text("id").unwrap_or_default(), text("created_at").unwrap_or_default(), nothing));
    }
    let mut carried = event.to_object()?;
    if text("type").as_deref() != Some("CUSTOM")
        || text("name") != carried.get("type").and_then(Json::as_str).map(str::to_owned)
    {
        return None;
    }
    for name in ["id", "created_at"] {
        if let Some(value) = fields.get(name) {
            carried.insert(name, value.clone());
        }
    }
    if !metadata.is_empty() {
        carried.insert("metadata", metadata);
    }
    Event::from_json(&carried.to_json()).map(Event::into_owned).ok()
}
