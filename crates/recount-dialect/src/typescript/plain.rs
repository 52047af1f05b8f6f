//! What AgentScope's TypeScript package 0.0.15 can say, as it writes it: fields that may be absent are, where there is
//! nothing to say.

use recount_message::wire::{write_key, write_string};
use recount_message::{
    ConfirmResult, ContentBlock, DataBlock, ErrorInfo, Event, EventKind, FinishedReason, HintBlock, MediaBlock, Msg,
    Object, Payload, PermissionRule, Role, Source, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock, Usage,
};

use super::kept;

/// Writes a message with the given metadata in place of its own.
pub(super) fn message(out: &mut String, message: &Msg, metadata: &Object) {
    out.push('{');
    text(out, "id", message.id());
    text(out, "name", message.name());
    text(out, "role", role(message));
    write_key(out, "content");
    list(out, message.content(), block);
    object(out, "metadata", metadata);
    text(out, "created_at", message.created_at());
    optional(out, "finished_at", message.finished_at());
    optional(out, "finished_reason", message.finished_reason().map(FinishedReason::as_str));
    match message.error() {
        Some(info) => error(out, info),
        // The package's fold sets it along with the reason.
        None if message.finished_reason().is_some() => {
            write_key(out, "error");
            out.push_str("null");
        }
        None => {}
    }
    if let Some(of_message) = message.usage() {
        usage(out, of_message);
    }
    if let Some(output) = message.structured_output().filter(|output| kept::is_too_deep(output)) {
        object(out, "structured_output", output);
    }
    let declared = [
        "id",
        "name",
        "role",
        "content",
        "metadata",
        "created_at",
        "finished_at",
        "finished_reason",
        "error",
        "usage",
        "structured_output",
    ];
    extra(out, &message.extra, &declared);
    out.push('}');
}

/// The role as TypeScript has it: what it cannot say is in the metadata, as natively.
fn role(message: &Msg) -> &'static str {
    match message.role() {
        role if role != Role::Tool && message.content().iter().all(|block| role.allows(block)) => role.as_str(),
        _ => Role::Assistant.as_str(),
    }
}

fn error(out: &mut String, info: &ErrorInfo) {
    write_key(out, "error");
    out.push('{');
    text(out, "type", info.kind.as_str());
    text(out, "message", &info.message);
    extra(out, &info.extra, &["type", "message"]);
    out.push('}');
}

fn usage(out: &mut String, usage: &Usage) {
    write_key(out, "usage");
    out.push('{');
    number(out, "input_tokens", usage.input_tokens);
    number(out, "output_tokens", usage.output_tokens);
    let declared = ["input_tokens", "output_tokens", "cache_input_tokens", "cache_creation_input_tokens"];
    extra(out, &usage.extra, &declared);
    out.push('}');
}

/// Writes a block.
pub(super) fn block(out: &mut String, block: &ContentBlock) {
    match block {
        ContentBlock::Text(block) => text_block(out, block),
        ContentBlock::Thinking(block) => thinking(out, block),
        ContentBlock::Data(block) => data(out, block),
        ContentBlock::Hint(block) => hint(out, block),
        ContentBlock::ToolCall(block) => call(out, block),
        ContentBlock::ToolResult(block) => result(out, block),
        other => out.push_str(&other.to_json()),
    }
}

fn text_block(out: &mut String, block: &TextBlock) {
    out.push('{');
    text(out, "type", "text");
    text(out, "id", &block.id);
    text(out, "text", &block.text);
    times(out, &block.created_at, block.finished_at.as_deref());
    extra(out, &block.extra, &["type", "id", "text", "created_at", "finished_at"]);
    out.push('}');
}

fn thinking(out: &mut String, block: &ThinkingBlock) {
    out.push('{');
    text(out, "type", "thinking");
    text(out, "id", &block.id);
    text(out, "thinking", &block.thinking);
    times(out, &block.created_at, block.finished_at.as_deref());
    extra(out, &block.extra, &["type", "id", "thinking", "created_at", "finished_at"]);
    out.push('}');
}

fn hint(out: &mut String, block: &HintBlock) {
    out.push('{');
    text(out, "type", "hint");
    text(out, "id", &block.id);
    payload(out, "hint", &block.hint);
    text_or_null(out, "source", block.source.as_deref());
    text(out, "created_at", &block.created_at);
    // A hint without this field would be taken for a complete one.
    text_or_null(out, "finished_at", block.finished_at.as_deref());
    extra(out, &block.extra, &["type", "id", "hint", "source", "created_at", "finished_at"]);
    out.push('}');
}

fn call(out: &mut String, block: &ToolCallBlock) {
    out.push('{');
    text(out, "type", "tool_call");
    text(out, "id", &block.id);
    text(out, "name", &block.name);
    text(out, "input", &block.input);
    text(out, "state", block.state.as_str());
    if !block.suggested_rules.is_empty() {
        write_key(out, "suggested_rules");
        list(out, &block.suggested_rules, rule);
    }
    times(out, &block.created_at, block.finished_at.as_deref());
    let declared = ["type", "id", "name", "input", "state", "suggested_rules", "created_at", "finished_at"];
    extra(out, &block.extra, &declared);
    out.push('}');
}

fn rule(out: &mut String, rule: &PermissionRule) {
    out.push('{');
    text(out, "tool_name", &rule.tool_name);
    text_or_null(out, "rule_content", rule.rule_content.as_deref());
    text(out, "behavior", rule.behavior.as_str());
    text(out, "source", &rule.source);
    extra(out, &rule.extra, &["tool_name", "rule_content", "behavior", "source"]);
    out.push('}');
}

fn result(out: &mut String, block: &ToolResultBlock) {
    out.push('{');
    text(out, "type", "tool_result");
    text(out, "id", &block.id);
    text(out, "name", &block.name);
    payload(out, "output", &block.output);
    text(out, "state", block.state.as_str());
    if !block.metadata.is_empty() {
        object(out, "metadata", &block.metadata);
    }
    times(out, &block.created_at, block.finished_at.as_deref());
    let declared = ["type", "id", "name", "output", "state", "metadata", "created_at", "finished_at"];
    extra(out, &block.extra, &declared);
    out.push('}');
}

fn payload(out: &mut String, key: &str, payload: &Payload) {
    write_key(out, key);
    match payload {
        Payload::Text(text) => write_string(out, text),
        other => list(out, other.blocks(), media),
    }
}

fn media(out: &mut String, block: &MediaBlock) {
    match block {
        MediaBlock::Text(block) => text_block(out, block),
        MediaBlock::Data(block) => data(out, block),
        other => out.push_str(&ContentBlock::from(other.clone()).to_json()),
    }
}

fn data(out: &mut String, block: &DataBlock) {
    out.push('{');
    text(out, "type", "data");
    text(out, "id", &block.id);
    write_key(out, "source");
    source(out, &block.source);
    optional(out, "name", block.name.as_deref());
    times(out, &block.created_at, block.finished_at.as_deref());
    extra(out, &block.extra, &["type", "id", "source", "name", "created_at", "finished_at"]);
    out.push('}');
}

fn source(out: &mut String, source: &Source) {
    out.push('{');
    match source {
        Source::Base64(source) => {
            text(out, "type", "base64");
            text(out, "data", &source.data);
            text(out, "media_type", &source.media_type);
            extra(out, &source.extra, &["type", "data", "media_type"]);
        }
        Source::Url(source) => {
            text(out, "type", "url");
            text(out, "url", source.url());
            text(out, "media_type", &source.media_type);
            extra(out, &source.extra, &["type", "url", "media_type"]);
        }
        other => text(out, "media_type", other.media_type()),
    }
    out.push('}');
}

/// Whether an event says all that its text does. It can be told at once for those that a stream is mostly made of: their
/// fields are texts that must be there.
pub(super) fn is_all_of(event: &Event<'_>, text: &str) -> bool {
    let fields: [&str; 3] = match &event.kind {
        EventKind::TextBlockStart(kind) => [&kind.reply_id, &kind.block_id, ""],
        EventKind::TextBlockDelta(kind) => [&kind.reply_id, &kind.block_id, &kind.delta],
        EventKind::ThinkingBlockStart(kind) => [&kind.reply_id, &kind.block_id, ""],
        EventKind::ThinkingBlockDelta(kind) => [&kind.reply_id, &kind.block_id, &kind.delta],
        EventKind::ThinkingBlockEnd(kind) => [&kind.reply_id, &kind.block_id, ""],
        EventKind::DataBlockEnd(kind) => [&kind.reply_id, &kind.block_id, ""],
        EventKind::ToolCallStart(kind) => [&kind.reply_id, &kind.tool_call_id, &kind.tool_call_name],
        EventKind::ToolCallDelta(kind) => [&kind.reply_id, &kind.tool_call_id, &kind.delta],
        EventKind::ToolCallEnd(kind) => [&kind.reply_id, &kind.tool_call_id, ""],
        EventKind::ToolResultStart(kind) => [&kind.reply_id, &kind.tool_call_id, &kind.tool_call_name],
        EventKind::ToolResultTextDelta(kind) => [&kind.reply_id, &kind.tool_call_id, &kind.delta],
        _ => return false,
    };
    let is_stamped = !event.id.is_empty() && !event.created_at.is_empty();
    if !is_stamped || !event.metadata.is_empty() || !event.extra.is_empty() {
        return false;
    }
    // Metadata that says nothing is all that there still can be, where there is room for it.
    let said: usize = fields.iter().map(|field| field.len()).sum();
    let least = event.id.len() + event.created_at.len() + event.type_name().len() + said;
    let names = r#"{"id":"","created_at":"","type":"","reply_id":"","block_id":""}"#;
    let nothing = r#","metadata":{}"#;
    text.len() < least + names.len() + nothing.len() || !text.contains("\"metadata\"")
}

/// Writes an event. One that TypeScript has no type for must have been made one that it has.
pub(super) fn event(out: &mut String, event: &Event<'_>) {
    match &event.kind {
        EventKind::TextBlockDelta(kind) => delta(out, event, &kind.reply_id, &kind.block_id, &kind.delta),
        EventKind::ThinkingBlockDelta(kind) => delta(out, event, &kind.reply_id, &kind.block_id, &kind.delta),
        EventKind::ReplyEnd(kind) => {
            head(out, event);
            text(out, "session_id", &kind.session_id);
            text(out, "reply_id", &kind.reply_id);
            text(out, "finished_reason", kind.finished_reason.as_str());
            if let Some(info) = &kind.error {
                error(out, info);
            }
            tail(out, event, &["session_id", "reply_id", "finished_reason", "error"]);
        }
        EventKind::ModelCallEnd(kind) => {
            head(out, event);
            text(out, "reply_id", &kind.reply_id);
            number(out, "input_tokens", kind.input_tokens);
            number(out, "output_tokens", kind.output_tokens);
            let declared = [
                "reply_id",
                "input_tokens",
                "output_tokens",
                "cache_input_tokens",
                "cache_creation_input_tokens",
                "finished_reason",
            ];
            tail(out, event, &declared);
        }
        EventKind::TextBlockEnd(kind) => {
            head(out, event);
            text(out, "reply_id", &kind.reply_id);
            text(out, "block_id", &kind.block_id);
            tail(out, event, &["reply_id", "block_id", "text"]);
        }
        EventKind::DataBlockStart(kind) => {
            head(out, event);
            text(out, "reply_id", &kind.reply_id);
            text(out, "block_id", &kind.block_id);
            text(out, "media_type", &kind.media_type);
            tail(out, event, &["reply_id", "block_id", "media_type", "name"]);
        }
        EventKind::DataBlockDelta(kind) => {
            head(out, event);
            text(out, "reply_id", &kind.reply_id);
            text(out, "block_id", &kind.block_id);
            text(out, "data", kind.data.as_deref().unwrap_or_default());
            text(out, "media_type", &kind.media_type);
            tail(out, event, &["reply_id", "block_id", "data", "media_type", "url"]);
        }
        EventKind::HintBlock(kind) => {
            head(out, event);
            text(out, "reply_id", &kind.reply_id);
            text(out, "block_id", &kind.block_id);
            optional(out, "source", kind.source.as_deref());
            payload(out, "hint", &kind.hint);
            tail(out, event, &["reply_id", "block_id", "source", "hint"]);
        }
        EventKind::ToolResultDataDelta(kind) => {
            head(out, event);
            text(out, "reply_id", &kind.reply_id);
            text(out, "tool_call_id", &kind.tool_call_id);
            optional(out, "block_id", kind.block_id.as_deref());
            text(out, "media_type", &kind.media_type);
            optional(out, "data", kind.data.as_deref());
            optional(out, "url", kind.url.as_deref());
            tail(out, event, &["reply_id", "tool_call_id", "block_id", "media_type", "data", "url"]);
        }
        EventKind::RequireUserConfirm(kind) => calls(out, event, &kind.reply_id, &kind.tool_calls),
        EventKind::RequireExternalExecution(kind) => calls(out, event, &kind.reply_id, &kind.tool_calls),
        EventKind::UserConfirmResult(kind) => {
            head(out, event);
            text(out, "reply_id", &kind.reply_id);
            write_key(out, "confirm_results");
            list(out, &kind.confirm_results, answer);
            tail(out, event, &["reply_id", "confirm_results"]);
        }
        EventKind::ExternalExecutionResult(kind) => {
            head(out, event);
            text(out, "reply_id", &kind.reply_id);
            write_key(out, "execution_results");
            list(out, &kind.execution_results, result);
            tail(out, event, &["reply_id", "execution_results"]);
        }
        // Their fields are the same on both sides, and none may be absent.
        _ => as_natively(out, event),
    }
}

/// What a stream is mostly made of. The names need no look at them.
fn delta(out: &mut String, event: &Event<'_>, reply_id: &str, block_id: &str, delta: &str) {
    out.reserve(delta.len() + 256);
    out.push_str("{\"id\":");
    write_string(out, &event.id);
    out.push_str(",\"created_at\":");
    write_string(out, &event.created_at);
    if !event.metadata.is_empty() {
        object(out, "metadata", &event.metadata);
    }
    out.push_str(",\"type\":");
    write_string(out, event.type_name());
    out.push_str(",\"reply_id\":");
    write_string(out, reply_id);
    out.push_str(",\"block_id\":");
    write_string(out, block_id);
    out.push_str(",\"delta\":");
    write_string(out, delta);
    tail(out, event, &["reply_id", "block_id", "delta"]);
}

/// Writes blocks as if they were results that came from elsewhere. The package's fold appends whatever it finds there.
pub(super) fn pushed(out: &mut String, event: &Event<'_>, reply_id: &str, block: &ContentBlock) {
    out.push('{');
    text(out, "id", &event.id);
    text(out, "created_at", &event.created_at);
    object(out, "metadata", &event.metadata);
    text(out, "type", "EXTERNAL_EXECUTION_RESULT");
    text(out, "reply_id", reply_id);
    write_key(out, "execution_results");
    list(out, std::slice::from_ref(block), self::block);
    out.push('}');
}

fn calls(out: &mut String, event: &Event<'_>, reply_id: &str, calls: &[ToolCallBlock]) {
    head(out, event);
    text(out, "reply_id", reply_id);
    write_key(out, "tool_calls");
    list(out, calls, call);
    tail(out, event, &["reply_id", "tool_calls"]);
}

fn answer(out: &mut String, answer: &ConfirmResult) {
    out.push('{');
    write_key(out, "confirmed");
    out.push_str(if answer.confirmed { "true" } else { "false" });
    write_key(out, "tool_call");
    call(out, &answer.tool_call);
    if let Some(rules) = &answer.rules {
        write_key(out, "rules");
        list(out, rules, rule);
    }
    extra(out, &answer.extra, &["confirmed", "tool_call", "rules"]);
    out.push('}');
}

fn head(out: &mut String, event: &Event<'_>) {
    stamp(out, event);
    text(out, "type", event.type_name());
}

fn stamp(out: &mut String, event: &Event<'_>) {
    out.push('{');
    text(out, "id", &event.id);
    text(out, "created_at", &event.created_at);
    if !event.metadata.is_empty() {
        object(out, "metadata", &event.metadata);
    }
}

fn tail(out: &mut String, event: &Event<'_>, declared: &[&str]) {
    for (key, value) in event.extra.iter() {
        if !declared.contains(&key) && !matches!(key, "id" | "created_at" | "metadata" | "type") {
            write_key(out, key);
            out.push_str(value.as_str());
        }
    }
    out.push('}');
}

/// The native text without metadata that says nothing, which is there right after what every event begins with.
fn as_natively(out: &mut String, event: &Event<'_>) {
    if !event.metadata.is_empty() {
        event.write_json(out);
        return;
    }
    let before = out.len();
    stamp(out, event);
    let nothing = ",\"metadata\":{}";
    let said = out.len() - before + nothing.len();
    let native = event.to_json();
    out.push_str(native.get(said..).unwrap_or_default());
}

fn times(out: &mut String, created_at: &str, finished_at: Option<&str>) {
    text(out, "created_at", created_at);
    optional(out, "finished_at", finished_at);
}

fn text(out: &mut String, key: &str, value: &str) {
    write_key(out, key);
    write_string(out, value);
}

fn optional(out: &mut String, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        text(out, key, value);
    }
}

fn text_or_null(out: &mut String, key: &str, value: Option<&str>) {
    match value {
        Some(value) => text(out, key, value),
        None => {
            write_key(out, key);
            out.push_str("null");
        }
    }
}

fn number(out: &mut String, key: &str, value: u64) {
    write_key(out, key);
    out.push_str(&value.to_string());
}

fn object(out: &mut String, key: &str, value: &Object) {
    write_key(out, key);
    out.push_str(&value.to_json());
}

fn list<T>(out: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// Unknown fields, which neither side has declared. They are written as they came.
fn extra(out: &mut String, extra: &Object, declared: &[&str]) {
    for (key, value) in extra.iter().filter(|(key, _)| !declared.contains(key)) {
        write_key(out, key);
        out.push_str(value.as_str());
    }
}
