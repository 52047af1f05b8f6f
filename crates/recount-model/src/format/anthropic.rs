//! Anthropic Messages, and the MiniMax variant with video.

use recount_message::{Json, Role, ThinkingBlock};

use super::arguments;
use super::json_builder::{JsonBuilder, ObjectBuilder, object};
use super::media::{Attachment, AttachmentSource, FetchedBy};
use super::multi_agent::{HistoryLine, HistoryStyle, MediaPosition};
use super::names::NameRule;
use super::provider_format::{ContentPart, Context, ProviderFormat, take_system};
use super::request::{RequestParts, Thinking, cache_mark, mark_cached};
use super::schema;
use super::tools::{Mode, Tool};
use super::turns::{CallResult, CallRules, Item, PayloadPart, Turn};
use super::warning::{FormatWarning, FormatWarningKind};

/// The differences between the providers.
#[derive(Debug)]
pub(crate) struct MessagesFormat {
    input_types: &'static [&'static str],
    takes_image: fn(&str) -> bool,
    takes_video: bool,
    /// The maximum length of a base64 image.
    max_image: usize,
    /// Whether only adaptive thinking is supported.
    adaptive_only: bool,
}

pub(crate) static ANTHROPIC: MessagesFormat = MessagesFormat {
    input_types: &["text/plain", "image/*", "application/pdf"],
    // Other images fail the whole request.
    takes_image: |kind| matches!(kind, "jpeg" | "jpg" | "png" | "gif" | "webp"),
    takes_video: false,
    max_image: 5 * 1024 * 1024,
    adaptive_only: false,
};

pub(crate) static MINIMAX: MessagesFormat = MessagesFormat {
    input_types: &["text/plain", "image/*", "video/*"],
    takes_image: |_| true,
    takes_video: true,
    max_image: usize::MAX,
    adaptive_only: true,
};

/// The default for `max_tokens`, which the API requires.
const MAX_TOKENS: u64 = 8192;

impl ProviderFormat for MessagesFormat {
    fn input_types(&self) -> &'static [&'static str] {
        self.input_types
    }

    fn call_rules(&self) -> CallRules {
        CallRules { id: NameRule::word(usize::MAX), name: NameRule::word(64) }
    }

    fn accepts_media(&self, media_type: &str, _: Role) -> Option<FetchedBy> {
        match media_type.split_once('/')? {
            ("image", kind) => (self.takes_image)(kind).then_some(FetchedBy::Client),
            ("video", _) => self.takes_video.then_some(FetchedBy::Client),
            ("application", "pdf") => Some(FetchedBy::Client),
            _ => None,
        }
    }

    fn is_too_large(&self, attachment: &Attachment<'_>, base64: &str) -> bool {
        attachment.main_type() == "image" && base64.len() > self.max_image
    }

    fn media(&self, attachment: &Attachment<'_>, source: &AttachmentSource<'_>) -> JsonBuilder {
        let kind = match attachment.main_type() {
            "image" => "image",
            "video" => "video",
            _ => "document",
        };
        let media_type = if attachment.media_type == "image/jpg" { "image/jpeg" } else { &*attachment.media_type };
        let source = match source {
            // Not used: the client fetches all media.
            AttachmentSource::Url(url) => object! { "type": "url", "url": *url },
            AttachmentSource::Base64(data) => object! { "type": "base64", "media_type": media_type, "data": *data },
        };
        object! { "type": kind, "source": source }.into()
    }

    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<ObjectBuilder> {
        let mut messages = Vec::new();
        for turn in turns {
            let is_opening = messages.iter().all(|message: &ObjectBuilder| message.text("role") == Some("system"));
            let role = match turn.role {
                Role::System if is_opening => "system",
                Role::Assistant => "assistant",
                _ => "user",
            };
            let mut content = Content { role, blocks: Vec::new(), results: Vec::new() };
            if turn.role == Role::System && !is_opening {
                content.blocks.extend(late_system(turn, cx));
                messages.extend(content.flush());
                continue;
            }
            for item in &turn.items {
                if !matches!(item, Item::Result(_)) {
                    messages.extend(content.flush_results());
                }
                match item {
                    Item::Text(text, _) => content.blocks.extend(text_block(text)),
                    Item::Thinking(block) => content.blocks.extend(thinking(block)),
                    Item::Data(block) => {
                        let part = cx.part(self, block, turn.role);
                        content.blocks.extend(blocks(vec![part]));
                    }
                    Item::Call(call) => {
                        let input = arguments::parse_or_empty(call, cx.warnings);
                        content.blocks.push(
                            object! { "type": "tool_use", "id": call.id.as_str(), "name": &*call.name, "input": input }
                                .into(),
                        );
                    }
                    Item::Result(result) => {
                        messages.extend(content.flush());
                        let result = self.result(result, cx);
                        content.results.push(result.into());
                    }
                    Item::Hint(hint) => {
                        let parts = cx.hint(self, hint);
                        if let Some(hint) = self.user(parts) {
                            messages.extend(content.flush());
                            messages.push(hint);
                        }
                    }
                }
            }
            messages.extend(content.flush());
            messages.extend(content.flush_results());
        }
        messages
    }

    fn system(&self, text: String) -> ObjectBuilder {
        object! { "role": "system", "content": blocks(vec![ContentPart::Text(text)]) }
    }

    fn user(&self, parts: Vec<ContentPart>) -> Option<ObjectBuilder> {
        let blocks = blocks(parts);
        (!blocks.is_empty()).then(|| object! { "role": "user", "content": blocks })
    }

    fn user_text(&self, text: String) -> Option<ObjectBuilder> {
        (!text.trim().is_empty()).then(|| object! { "role": "user", "content": text })
    }

    fn history(&self) -> HistoryStyle {
        HistoryStyle { line: HistoryLine::PerMessage { bare_names: false }, media: MediaPosition::InPlace }
    }

    fn body(&self, mut request: RequestParts<'_>) -> ObjectBuilder {
        let options = request.options;
        let mut messages = std::mem::take(&mut request.messages);
        let mut system = take_system(&mut messages, "content");
        let mut tools: Vec<ObjectBuilder> = request.tools.iter().map(|found| tool(found)).collect();
        if request.marks_cache() {
            mark(&mut tools, &mut system, &mut messages);
        }
        let (thinking, max_tokens) = self.thinking(request.thinking, options.max_tokens.unwrap_or(MAX_TOKENS));
        let mut body = request.body();
        body.set_some("system", (!system.is_empty()).then_some(system));
        body.set("messages", messages);
        body.set_some("tools", (!tools.is_empty()).then_some(tools));
        body.set_some("tool_choice", choice(&request));
        body.set("max_tokens", max_tokens);
        let thinks = thinking.as_ref().is_some_and(|thinking| thinking.text("type") != Some("disabled"));
        body.set_some("thinking", thinking);
        let mut output = ObjectBuilder::new();
        output.set_some("effort", options.effort.as_deref());
        output.set_some(
            "format",
            request.schema.map(|schema| object! { "type": "json_schema", "schema": schema::inlined(schema) }),
        );
        body.set_some("output_config", (!output.is_empty()).then_some(output));
        if !thinks {
            // The API rejects sampling options while thinking is enabled.
            body.set_some("temperature", options.temperature);
            body.set_some("top_k", options.top_k);
        }
        body.set_some("top_p", options.top_p.filter(|_| !thinks));
        body.with("stream", options.stream)
    }
}

fn tool(tool: &Tool) -> ObjectBuilder {
    let nothing = || object! { "type": "object", "properties": ObjectBuilder::new() }.into();
    let schema = tool.schema().map_or_else(nothing, |schema| JsonBuilder::Raw(schema.clone()));
    object! { "name": tool.name(), "description": tool.described(), "input_schema": schema }
}

fn choice(request: &RequestParts<'_>) -> Option<ObjectBuilder> {
    let one_at_a_time = !request.options.parallel_tool_calls && !request.tools.is_empty();
    let mut choice = match request.choice.map(|choice| &choice.mode) {
        None if one_at_a_time => object! { "type": "auto" },
        None => return None,
        Some(Mode::Auto) => object! { "type": "auto" },
        Some(Mode::None) => return Some(object! { "type": "none" }),
        Some(Mode::Required) => object! { "type": "any" },
        Some(Mode::Named(name)) => object! { "type": "tool", "name": name.as_str() },
    };
    if one_at_a_time {
        choice.set("disable_parallel_tool_use", true);
    }
    Some(choice)
}

/// Adds the four allowed cache marks: after the tools, the system prompt, and the last two user messages.
fn mark(tools: &mut [ObjectBuilder], system: &mut [JsonBuilder], messages: &mut [ObjectBuilder]) {
    if let Some(tool) = tools.last_mut() {
        tool.set("cache_control", cache_mark());
    }
    if let Some(block) = system.last_mut().and_then(JsonBuilder::as_object_mut) {
        block.set("cache_control", cache_mark());
    }
    let users = messages.iter_mut().rev().filter(|message| message.text("role") == Some("user"));
    for message in users.take(2) {
        mark_cached(message);
    }
}

impl MessagesFormat {
    /// Returns the thinking option and `max_tokens`, which must exceed the thinking budget.
    fn thinking(&self, thinking: Thinking, max_tokens: u64) -> (Option<ObjectBuilder>, u64) {
        let budget = match thinking {
            Thinking::Default => return (None, max_tokens),
            Thinking::Off => return (Some(object! { "type": "disabled" }), max_tokens),
            Thinking::Adaptive => return (Some(object! { "type": "adaptive" }), max_tokens),
            Thinking::On { .. } if self.adaptive_only => return (Some(object! { "type": "adaptive" }), max_tokens),
            Thinking::On { budget } => budget.unwrap_or(max_tokens / 2),
        };
        let max_tokens = if budget >= max_tokens { budget.saturating_add(1024) } else { max_tokens };
        (Some(object! { "type": "enabled", "budget_tokens": budget }), max_tokens)
    }

    fn result(&self, result: &CallResult<'_>, cx: &mut Context<'_>) -> ObjectBuilder {
        let mut content: Vec<JsonBuilder> = Vec::new();
        for part in &result.output {
            match part {
                PayloadPart::Text(text) => content.extend(text_block(text)),
                PayloadPart::Data(block) => match cx.media_in_result(self, block, media_placeholder) {
                    Ok(media) => content.push(media),
                    Err(text) => content.extend(text_block(&text)),
                },
            }
        }
        if content.is_empty() {
            // The API rejects an empty result.
            content.extend(text_block("(empty tool output)"));
        }
        object! { "type": "tool_result", "tool_use_id": result.id.as_str(), "content": content }
    }
}

/// A message under construction. Results belong to user messages.
struct Content {
    role: &'static str,
    blocks: Vec<JsonBuilder>,
    results: Vec<JsonBuilder>,
}

impl Content {
    fn flush(&mut self) -> Option<ObjectBuilder> {
        let blocks = std::mem::take(&mut self.blocks);
        (!blocks.is_empty()).then(|| object! { "role": self.role, "content": blocks })
    }

    fn flush_results(&mut self) -> Option<ObjectBuilder> {
        let results = std::mem::take(&mut self.results);
        (!results.is_empty()).then(|| object! { "role": "user", "content": results })
    }
}

/// Formats a text. `None` if it is blank, because the API rejects that.
fn text_block(text: &str) -> Option<JsonBuilder> {
    (!text.trim().is_empty()).then(|| object! { "type": "text", "text": text }.into())
}

fn blocks(parts: Vec<ContentPart>) -> Vec<JsonBuilder> {
    let block = |part| match part {
        ContentPart::Text(text) => text_block(&text),
        ContentPart::Media(media) => Some(media),
    };
    parts.into_iter().filter_map(block).collect()
}

/// Formats thinking that Anthropic can verify: signed or redacted.
fn thinking(block: &ThinkingBlock) -> Option<JsonBuilder> {
    if let Some(data) = block.extra.get("redacted_thinking_data").filter(|data| !data.is_null()) {
        return Some(object! { "type": "redacted_thinking", "data": data.clone() }.into());
    }
    let signature = block
        .extra
        .get("signature")
        .and_then(Json::as_str)
        .map(str::to_owned)
        .filter(|signature| !signature.is_empty())?;
    Some(object! { "type": "thinking", "thinking": block.thinking.as_str(), "signature": signature }.into())
}

/// Formats a system message inside the conversation, where the API allows only user and assistant messages.
fn late_system(turn: &Turn<'_>, cx: &mut Context<'_>) -> Vec<JsonBuilder> {
    cx.warnings.push(FormatWarning::new(turn.id, FormatWarningKind::SystemMessageAsUser));
    let text = |item: &Item<'_>| match item {
        Item::Text(text, _) if !text.trim().is_empty() => {
            text_block(&format!("<system-reminder>{text}</system-reminder>"))
        }
        _ => None,
    };
    turn.items.iter().filter_map(text).collect()
}

fn media_placeholder(attachment: &Attachment<'_>) -> String {
    let kind = attachment.main_type();
    match attachment.url() {
        Some(url) if !url.starts_with("data:") => format!("[{kind} file returned, URL: {url}]"),
        Some(_) | None => format!("[{kind} file returned, type: {}]", attachment.media_type),
    }
}
