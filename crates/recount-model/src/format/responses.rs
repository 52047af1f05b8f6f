//! OpenAI Responses: a list of items, including messages.

use std::collections::HashSet;

use recount_message::{Json, Role, ThinkingBlock};

use super::json_builder::{JsonBuilder, ObjectBuilder, object};
use super::media::{Attachment, AttachmentSource, FetchedBy};
use super::multi_agent::{HistoryLine, HistoryStyle, MediaPosition};
use super::names::NameRule;
use super::provider_format::{ContentPart, Context, ProviderFormat, media_placeholder};
use super::request::RequestParts;
use super::schema;
use super::tools::{Mode, Tool, ToolChoice};
use super::turns::{Call, CallResult, CallRules, Item, PayloadPart, Turn};

pub(crate) struct Responses;

impl ProviderFormat for Responses {
    fn input_types(&self) -> &'static [&'static str] {
        &["text/plain", "image/*", "application/pdf"]
    }

    fn call_rules(&self) -> CallRules {
        CallRules { id: NameRule::length(64), name: NameRule::word(64) }
    }

    fn accepts_media(&self, media_type: &str, role: Role) -> Option<FetchedBy> {
        if role == Role::Assistant {
            // Assistant messages may only contain text.
            return None;
        }
        match media_type.split_once('/')? {
            ("image", _) => Some(FetchedBy::Provider),
            ("application", "pdf") => Some(FetchedBy::Client),
            _ => None,
        }
    }

    fn media(&self, attachment: &Attachment<'_>, source: &AttachmentSource<'_>) -> JsonBuilder {
        let url = source.to_url(&attachment.media_type);
        if attachment.main_type() == "image" {
            return object! { "type": "input_image", "image_url": url }.into();
        }
        let name = attachment.block.name.as_deref().filter(|name| !name.is_empty()).unwrap_or("document.pdf");
        object! { "type": "input_file", "filename": name, "file_data": url }.into()
    }

    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<ObjectBuilder> {
        let mut all = Vec::new();
        for turn in turns {
            let mut items = Vec::new();
            let mut pending = PendingItems { role: turn.role, ..PendingItems::default() };
            for item in &turn.items {
                match item {
                    Item::Text(text, _) => pending.parts.push(ContentPart::Text(text.clone().into_owned())),
                    Item::Data(block) => {
                        cx.media_or_move(self, block, turn.role, &mut pending.parts, &mut pending.moved_media);
                    }
                    Item::Thinking(block) => items.extend(pending.reasoning(block)),
                    Item::Call(call) => {
                        let item = pending.call(call);
                        pending.calls.push(item);
                    }
                    Item::Hint(hint) => {
                        pending.flush(&mut items);
                        pending.flush_moved_media(&mut items, self);
                        let parts = cx.hint(self, hint);
                        items.extend(self.user(parts));
                    }
                    Item::Result(result) => {
                        pending.flush(&mut items);
                        items.push(self.result(result, cx));
                    }
                }
            }
            pending.flush(&mut items);
            pending.flush_moved_media(&mut items, self);
            all.extend(without_trailing_reasoning(items));
        }
        all
    }

    fn system(&self, text: String) -> ObjectBuilder {
        object! { "role": "system", "content": text }
    }

    fn user(&self, parts: Vec<ContentPart>) -> Option<ObjectBuilder> {
        (!parts.is_empty()).then(|| object! { "role": "user", "content": content(parts, "input_text") })
    }

    fn user_text(&self, text: String) -> Option<ObjectBuilder> {
        Some(object! { "role": "user", "content": text })
    }

    fn history(&self) -> HistoryStyle {
        HistoryStyle { line: HistoryLine::PerBlock, media: MediaPosition::Last { tags_without_text: true } }
    }

    fn body(&self, mut request: RequestParts<'_>) -> ObjectBuilder {
        let options = request.options;
        let mut body = request.body();
        body.set("input", std::mem::take(&mut request.messages));
        // Sends all tools, even those excluded by the tool choice, so that the prefix of the request stays the same for
        // prompt caching.
        if !request.all_tools.is_empty() {
            let tool = |tool: &Tool| -> ObjectBuilder {
                let mut item = object! { "type": "function" };
                item.append(tool.function(schema::unchanged));
                item
            };
            body.set("tools", request.all_tools.iter().map(tool).collect::<Vec<_>>());
            if !options.parallel_tool_calls {
                body.set("parallel_tool_calls", false);
            }
        }
        body.set_some("tool_choice", request.choice.map(choice));
        body.set_some(
            "text",
            request.schema.map(|schema| {
                let format =
                    object! { "type": "json_schema", "name": "structured_output", "schema": schema::inlined(schema) };
                object! { "format": format }
            }),
        );
        body.set_some("max_output_tokens", options.max_tokens);
        body.set_some("temperature", options.temperature);
        body.set_some("top_p", options.top_p);
        body.set_some("reasoning", request.effort_of_thinking().map(|effort| object! { "effort": effort }));
        body.set_some("prompt_cache_key", request.cache_key());
        body.with("stream", options.stream)
    }
}

fn choice(choice: &ToolChoice) -> JsonBuilder {
    let mode = match &choice.mode {
        Mode::Auto => "auto",
        Mode::None => "none",
        Mode::Required => "required",
        Mode::Named(name) => return object! { "type": "function", "name": name.as_str() }.into(),
    };
    match &choice.among {
        Some(names) if choice.mode != Mode::None => {
            let tools: Vec<ObjectBuilder> =
                names.iter().map(|name| object! { "type": "function", "name": name.as_str() }).collect();
            object! { "type": "allowed_tools", "mode": mode, "tools": tools }.into()
        }
        Some(_) | None => mode.into(),
    }
}

impl Responses {
    /// Formats a result: a string if it is only text, a list otherwise.
    fn result(&self, result: &CallResult<'_>, cx: &mut Context<'_>) -> ObjectBuilder {
        let mut parts: Vec<ContentPart> = Vec::new();
        for part in &result.output {
            parts.push(match part {
                PayloadPart::Text(text) => ContentPart::Text(text.clone().into_owned()),
                PayloadPart::Data(block) => match cx.media_in_result(self, block, media_placeholder) {
                    Ok(media) => ContentPart::Media(media),
                    Err(text) => ContentPart::Text(text),
                },
            });
        }
        let texts: Option<Vec<&str>> = parts
            .iter()
            .map(|part| match part {
                ContentPart::Text(text) => Some(text.as_str()),
                ContentPart::Media(_) => None,
            })
            .collect();
        let output = match texts {
            Some(texts) => texts.join("\n").into(),
            None => content(parts, "input_text"),
        };
        object! { "type": "function_call_output", "call_id": result.id.as_str(), "output": output }
    }
}

/// Removes reasoning items that no assistant message or call follows, because the API rejects them.
fn without_trailing_reasoning(items: Vec<ObjectBuilder>) -> Vec<ObjectBuilder> {
    let mut kept = Vec::with_capacity(items.len());
    let mut is_followed = false;
    for item in items.into_iter().rev() {
        let is_reasoning = item.text("type") == Some("reasoning");
        if !is_reasoning {
            is_followed = item.text("role") == Some("assistant") || item.text("type") == Some("function_call");
        }
        if !is_reasoning || is_followed {
            kept.push(item);
        }
    }
    kept.reverse();
    kept
}

fn content(parts: Vec<ContentPart>, text_type: &'static str) -> JsonBuilder {
    let parts = parts.into_iter().map(|part| match part {
        ContentPart::Text(text) => object! { "type": text_type, "text": text }.into(),
        ContentPart::Media(media) => media,
    });
    JsonBuilder::Array(parts.collect())
}

/// A message under construction.
struct PendingItems {
    role: Role,
    parts: Vec<ContentPart>,
    calls: Vec<ObjectBuilder>,
    /// Media of an assistant message, which is sent in a user message.
    moved_media: Vec<ContentPart>,
    /// The ids of the reasoning items sent for this message.
    reasoned: HashSet<String>,
}

impl Default for PendingItems {
    fn default() -> Self {
        Self {
            role: Role::User,
            parts: Vec::new(),
            calls: Vec::new(),
            moved_media: Vec::new(),
            reasoned: HashSet::new(),
        }
    }
}

impl PendingItems {
    fn flush(&mut self, items: &mut Vec<ObjectBuilder>) {
        items.extend(self.message());
        items.append(&mut self.calls);
    }

    /// Formats a call. If reasoning precedes it, the item id links the two.
    fn call(&self, call: &Call<'_>) -> ObjectBuilder {
        let mut item = object! {
            "type": "function_call",
            "call_id": call.id.as_str(),
            "name": &*call.name,
            "arguments": if call.input.trim().is_empty() { "{}" } else { call.input },
        };
        let id = call.extra.get("item_id").and_then(Json::as_str).map(str::to_owned);
        item.set_some("id", id.filter(|_| !self.reasoned.is_empty()));
        item
    }

    fn message(&mut self) -> Option<ObjectBuilder> {
        let parts = std::mem::take(&mut self.parts);
        let text_type = if self.role == Role::Assistant { "output_text" } else { "input_text" };
        (!parts.is_empty()).then(|| object! { "role": self.role.as_str(), "content": content(parts, text_type) })
    }

    fn flush_moved_media(&mut self, items: &mut Vec<ObjectBuilder>, format: &Responses) {
        items.extend(format.user(std::mem::take(&mut self.moved_media)));
    }

    /// Returns the reasoning item of a block. Thinking without an item is not sent, because the API accepts only its
    /// own items.
    ///
    /// A summary and the reasoning itself may be two blocks of one item. An empty block only records the item. It comes
    /// last in the stream, but belongs before the item's calls, so pending items are not flushed for it.
    fn reasoning(&mut self, block: &ThinkingBlock) -> Vec<ObjectBuilder> {
        let id =
            block.extra.get("reasoning_item_id").and_then(Json::as_str).map(str::to_owned).filter(|id| !id.is_empty());
        let Some(id) = id.filter(|id| self.reasoned.insert(id.clone())) else { return Vec::new() };
        let mut items = Vec::new();
        // Calls have an item id if their stream was recorded in its original order.
        let is_in_order = self.calls.iter().any(|call| call.get("id").is_some());
        if is_in_order || !block.thinking.is_empty() {
            self.flush(&mut items);
        }
        let raw = block.extra.get("reasoning_item_raw").and_then(Json::to_object).filter(|raw| {
            let text = |key| raw.get(key).and_then(Json::as_str).map(str::to_owned);
            text("type").as_deref() == Some("reasoning") && text("id").as_deref() == Some(&id)
        });
        items.push(match raw {
            Some(raw) => {
                let item: ObjectBuilder = raw.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
                item.with("type", "reasoning")
            }
            None => {
                let summary = object! { "type": "summary_text", "text": block.thinking.as_str() };
                let summary = if block.thinking.is_empty() { Vec::new() } else { vec![summary] };
                object! { "type": "reasoning", "id": id, "summary": summary, "content": JsonBuilder::Array(Vec::new()) }
            }
        });
        items
    }
}
