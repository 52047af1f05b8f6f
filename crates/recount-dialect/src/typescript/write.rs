//! Writing the JSON of AgentScope's TypeScript package 0.0.15. Optional fields without a value are omitted.

use recount_message::wire::write_string;
use recount_message::{
    ConfirmResult, ContentBlock, DataBlock, ErrorInfo, Event, EventKind, FinishedReason, HintBlock, MediaBlock, Msg,
    Object, Payload, PermissionRule, Role, Source, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock, Usage,
};

use super::native_only;
use crate::json::{self, ObjectWriter};

/// Writes a message with the given metadata instead of its own.
pub(super) fn message(out: &mut String, message: &Msg, metadata: &Object) {
    let mut object = ObjectWriter::begin(out);
    object.text("id", message.id());
    object.text("name", message.name());
    object.text("role", role(message));
    object.list("content", message.content(), |_, item, out| block(out, item));
    object.object("metadata", metadata);
    object.text("created_at", message.created_at());
    object.text_if_any("finished_at", message.finished_at());
    object.text_if_any("finished_reason", message.finished_reason().map(FinishedReason::as_str));
    match message.error() {
        Some(info) => error(object.key("error"), info),
        // The package's fold sets it along with the reason.
        None if message.finished_reason().is_some() => object.raw("error", "null"),
        None => {}
    }
    if let Some(tokens) = message.usage() {
        usage(object.key("usage"), tokens);
    }
    if let Some(output) = message.structured_output().filter(|output| native_only::is_too_deep(output)) {
        object.object("structured_output", output);
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
    extra(&mut object, &message.extra, &declared);
    object.end();
}

/// Returns the role to write. A role that TypeScript does not have is stored in the metadata, as it is natively.
fn role(message: &Msg) -> &'static str {
    match message.role() {
        role if role != Role::Tool && message.content().iter().all(|block| role.allows(block)) => role.as_str(),
        _ => Role::Assistant.as_str(),
    }
}

fn error(out: &mut String, info: &ErrorInfo) {
    let mut object = ObjectWriter::begin(out);
    object.text("type", info.kind.as_str());
    object.text("message", &info.message);
    extra(&mut object, &info.extra, &["type", "message"]);
    object.end();
}

fn usage(out: &mut String, usage: &Usage) {
    let mut object = ObjectWriter::begin(out);
    object.number("input_tokens", usage.input_tokens);
    object.number("output_tokens", usage.output_tokens);
    let declared = ["input_tokens", "output_tokens", "cache_input_tokens", "cache_creation_input_tokens"];
    extra(&mut object, &usage.extra, &declared);
    object.end();
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
    let mut object = ObjectWriter::begin(out);
    object.text("type", "text");
    object.text("id", &block.id);
    object.text("text", &block.text);
    times(&mut object, &block.created_at, block.finished_at.as_deref());
    extra(&mut object, &block.extra, &["type", "id", "text", "created_at", "finished_at"]);
    object.end();
}

fn thinking(out: &mut String, block: &ThinkingBlock) {
    let mut object = ObjectWriter::begin(out);
    object.text("type", "thinking");
    object.text("id", &block.id);
    object.text("thinking", &block.thinking);
    times(&mut object, &block.created_at, block.finished_at.as_deref());
    extra(&mut object, &block.extra, &["type", "id", "thinking", "created_at", "finished_at"]);
    object.end();
}

fn hint(out: &mut String, block: &HintBlock) {
    let mut object = ObjectWriter::begin(out);
    object.text("type", "hint");
    object.text("id", &block.id);
    payload(object.key("hint"), &block.hint);
    object.text_or_null("source", block.source.as_deref());
    object.text("created_at", &block.created_at);
    // A hint without this field is read as a finished one.
    object.text_or_null("finished_at", block.finished_at.as_deref());
    extra(&mut object, &block.extra, &["type", "id", "hint", "source", "created_at", "finished_at"]);
    object.end();
}

fn call(out: &mut String, block: &ToolCallBlock) {
    let mut object = ObjectWriter::begin(out);
    object.text("type", "tool_call");
    object.text("id", &block.id);
    object.text("name", &block.name);
    object.text("input", &block.input);
    object.text("state", block.state.as_str());
    if !block.suggested_rules.is_empty() {
        object.list("suggested_rules", &block.suggested_rules, |_, item, out| rule(out, item));
    }
    times(&mut object, &block.created_at, block.finished_at.as_deref());
    let declared = ["type", "id", "name", "input", "state", "suggested_rules", "created_at", "finished_at"];
    extra(&mut object, &block.extra, &declared);
    object.end();
}

fn rule(out: &mut String, rule: &PermissionRule) {
    let mut object = ObjectWriter::begin(out);
    object.text("tool_name", &rule.tool_name);
    object.text_or_null("rule_content", rule.rule_content.as_deref());
    object.text("behavior", rule.behavior.as_str());
    object.text("source", &rule.source);
    extra(&mut object, &rule.extra, &["tool_name", "rule_content", "behavior", "source"]);
    object.end();
}

fn result(out: &mut String, block: &ToolResultBlock) {
    let mut object = ObjectWriter::begin(out);
    object.text("type", "tool_result");
    object.text("id", &block.id);
    object.text("name", &block.name);
    payload(object.key("output"), &block.output);
    object.text("state", block.state.as_str());
    if !block.metadata.is_empty() {
        object.object("metadata", &block.metadata);
    }
    times(&mut object, &block.created_at, block.finished_at.as_deref());
    let declared = ["type", "id", "name", "output", "state", "metadata", "created_at", "finished_at"];
    extra(&mut object, &block.extra, &declared);
    object.end();
}

fn payload(out: &mut String, payload: &Payload) {
    match payload {
        Payload::Text(text) => write_string(out, text),
        other => json::write_list(out, other.blocks(), |_, item, out| media(out, item)),
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
    let mut object = ObjectWriter::begin(out);
    object.text("type", "data");
    object.text("id", &block.id);
    source(object.key("source"), &block.source);
    object.text_if_any("name", block.name.as_deref());
    times(&mut object, &block.created_at, block.finished_at.as_deref());
    extra(&mut object, &block.extra, &["type", "id", "source", "name", "created_at", "finished_at"]);
    object.end();
}

fn source(out: &mut String, source: &Source) {
    let mut object = ObjectWriter::begin(out);
    match source {
        Source::Base64(source) => {
            object.text("type", "base64");
            object.text("data", &source.data);
            object.text("media_type", &source.media_type);
            extra(&mut object, &source.extra, &["type", "data", "media_type"]);
        }
        Source::Url(source) => {
            object.text("type", "url");
            object.text("url", source.url());
            object.text("media_type", &source.media_type);
            extra(&mut object, &source.extra, &["type", "url", "media_type"]);
        }
        other => object.text("media_type", other.media_type()),
    }
    object.end();
}

/// Returns whether `event` holds everything that `text` does. A cheap check for the most frequent events, whose fields are
/// required strings. `false` means unknown.
pub(super) fn is_complete(event: &Event<'_>, text: &str) -> bool {
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
    // The only field that can still differ is an explicit empty `metadata`, if the text is long enough to hold it.
    let values: usize = fields.iter().map(|field| field.len()).sum();
    let shortest = event.id.len() + event.created_at.len() + event.type_name().len() + values;
    let names = r#"{"id":"","created_at":"","type":"","reply_id":"","block_id":""}"#;
    let empty_metadata = r#","metadata":{}"#;
    text.len() < shortest + names.len() + empty_metadata.len() || !text.contains("\"metadata\"")
}

/// Writes an event. The caller converts events of types that TypeScript does not have.
pub(super) fn event(out: &mut String, event: &Event<'_>) {
    let object = match &event.kind {
        EventKind::ReplyEnd(kind) => {
            let mut object = head(out, event);
            object.text("session_id", &kind.session_id);
            object.text("reply_id", &kind.reply_id);
            object.text("finished_reason", kind.finished_reason.as_str());
            if let Some(info) = &kind.error {
                error(object.key("error"), info);
            }
            tail(&mut object, event, &["session_id", "reply_id", "finished_reason", "error"]);
            object
        }
        EventKind::ModelCallEnd(kind) => {
            let mut object = head(out, event);
            object.text("reply_id", &kind.reply_id);
            object.number("input_tokens", kind.input_tokens);
            object.number("output_tokens", kind.output_tokens);
            let declared = [
                "reply_id",
                "input_tokens",
                "output_tokens",
                "cache_input_tokens",
                "cache_creation_input_tokens",
                "finished_reason",
            ];
            tail(&mut object, event, &declared);
            object
        }
        EventKind::TextBlockEnd(kind) => {
            let mut object = head(out, event);
            object.text("reply_id", &kind.reply_id);
            object.text("block_id", &kind.block_id);
            tail(&mut object, event, &["reply_id", "block_id", "text"]);
            object
        }
        EventKind::DataBlockStart(kind) => {
            let mut object = head(out, event);
            object.text("reply_id", &kind.reply_id);
            object.text("block_id", &kind.block_id);
            object.text("media_type", &kind.media_type);
            tail(&mut object, event, &["reply_id", "block_id", "media_type", "name"]);
            object
        }
        EventKind::DataBlockDelta(kind) => {
            let mut object = head(out, event);
            object.text("reply_id", &kind.reply_id);
            object.text("block_id", &kind.block_id);
            object.text("data", kind.data.as_deref().unwrap_or_default());
            object.text("media_type", &kind.media_type);
            tail(&mut object, event, &["reply_id", "block_id", "data", "media_type", "url"]);
            object
        }
        EventKind::HintBlock(kind) => {
            let mut object = head(out, event);
            object.text("reply_id", &kind.reply_id);
            object.text("block_id", &kind.block_id);
            object.text_if_any("source", kind.source.as_deref());
            payload(object.key("hint"), &kind.hint);
            tail(&mut object, event, &["reply_id", "block_id", "source", "hint"]);
            object
        }
        EventKind::ToolResultDataDelta(kind) => {
            let mut object = head(out, event);
            object.text("reply_id", &kind.reply_id);
            object.text("tool_call_id", &kind.tool_call_id);
            object.text_if_any("block_id", kind.block_id.as_deref());
            object.text("media_type", &kind.media_type);
            object.text_if_any("data", kind.data.as_deref());
            object.text_if_any("url", kind.url.as_deref());
            tail(&mut object, event, &["reply_id", "tool_call_id", "block_id", "media_type", "data", "url"]);
            object
        }
        EventKind::RequireUserConfirm(kind) => required_calls(out, event, &kind.reply_id, &kind.tool_calls),
        EventKind::RequireExternalExecution(kind) => required_calls(out, event, &kind.reply_id, &kind.tool_calls),
        EventKind::UserConfirmResult(kind) => {
            let mut object = head(out, event);
            object.text("reply_id", &kind.reply_id);
            object.list("confirm_results", &kind.confirm_results, |_, item, out| confirm_result(out, item));
            tail(&mut object, event, &["reply_id", "confirm_results"]);
            object
        }
        EventKind::ExternalExecutionResult(kind) => {
            let mut object = head(out, event);
            object.text("reply_id", &kind.reply_id);
            object.list("execution_results", &kind.execution_results, |_, item, out| result(out, item));
            tail(&mut object, event, &["reply_id", "execution_results"]);
            object
        }
        // Their fields are the same on both sides, and all of them are required.
        _ => return native_event(out, event),
    };
    object.end();
}

/// Writes a block as the result of an external execution. The package's fold appends any block it finds there.
pub(super) fn pushed_block(out: &mut String, event: &Event<'_>, reply_id: &str, block: &ContentBlock) {
    let mut object = ObjectWriter::begin(out);
    object.text("id", &event.id);
    object.text("created_at", &event.created_at);
    object.object("metadata", &event.metadata);
    object.text("type", "EXTERNAL_EXECUTION_RESULT");
    object.text("reply_id", reply_id);
    object.list("execution_results", std::slice::from_ref(block), |_, item, out| self::block(out, item));
    object.end();
}

fn required_calls<'o>(
    out: &'o mut String,
    event: &Event<'_>,
    reply_id: &str,
    calls: &[ToolCallBlock],
) -> ObjectWriter<'o> {
    let mut object = head(out, event);
    object.text("reply_id", reply_id);
    object.list("tool_calls", calls, |_, item, out| call(out, item));
    tail(&mut object, event, &["reply_id", "tool_calls"]);
    object
}

fn confirm_result(out: &mut String, result: &ConfirmResult) {
    let mut object = ObjectWriter::begin(out);
    object.boolean("confirmed", result.confirmed);
    call(object.key("tool_call"), &result.tool_call);
    if let Some(rules) = &result.rules {
        object.list("rules", rules, |_, item, out| rule(out, item));
    }
    extra(&mut object, &result.extra, &["confirmed", "tool_call", "rules"]);
    object.end();
}

fn head<'o>(out: &'o mut String, event: &Event<'_>) -> ObjectWriter<'o> {
    let mut object = stamp(out, event);
    object.text("type", event.type_name());
    object
}

fn stamp<'o>(out: &'o mut String, event: &Event<'_>) -> ObjectWriter<'o> {
    let mut object = ObjectWriter::begin(out);
    object.text("id", &event.id);
    object.text("created_at", &event.created_at);
    if !event.metadata.is_empty() {
        object.object("metadata", &event.metadata);
    }
    object
}

fn tail(object: &mut ObjectWriter<'_>, event: &Event<'_>, declared: &[&str]) {
    let fields = event.extra.iter().filter(|(key, _)| !matches!(*key, "id" | "created_at" | "metadata" | "type"));
    for (key, value) in fields.filter(|(key, _)| !declared.contains(key)) {
        object.json(key, value);
    }
}

/// Writes the native JSON without an empty `metadata`, which native events have after the id and the time.
fn native_event(out: &mut String, event: &Event<'_>) {
    if !event.metadata.is_empty() {
        event.write_json(out);
        return;
    }
    let before = out.len();
    let _ = stamp(out, event);
    let prefix = out.len() - before + r#","metadata":{}"#.len();
    out.push_str(event.to_json().get(prefix..).unwrap_or_default());
}

fn times(object: &mut ObjectWriter<'_>, created_at: &str, finished_at: Option<&str>) {
    object.text("created_at", created_at);
    object.text_if_any("finished_at", finished_at);
}

/// Writes the fields that neither side declares.
fn extra(object: &mut ObjectWriter<'_>, extra: &Object, declared: &[&str]) {
    for (key, value) in extra.iter().filter(|(key, _)| !declared.contains(key)) {
        object.json(key, value);
    }
}
