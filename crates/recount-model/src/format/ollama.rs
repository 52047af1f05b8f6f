//! Ollama's chat API: separate text and images, arguments as objects, no call ids.

use recount_message::Role;

use super::arguments;
use super::json_builder::{JsonBuilder, ObjectBuilder, object};
use super::media::{Attachment, AttachmentSource, FetchedBy};
use super::multi_agent::{HistoryLine, HistoryStyle, MediaPosition};
use super::names::NameRule;
use super::provider_format::{ContentPart, Context, ProviderFormat};
use super::request::{RequestParts, Thinking};
use super::schema;
use super::tools::{Mode, Tool};
use super::turns::{CallRules, Item, Turn};

pub(crate) struct Ollama;

impl ProviderFormat for Ollama {
    fn input_types(&self) -> &'static [&'static str] {
        &["text/plain", "image/*"]
    }

    fn call_rules(&self) -> CallRules {
        CallRules { id: NameRule::length(usize::MAX), name: NameRule::length(usize::MAX) }
    }

    fn accepts_media(&self, media_type: &str, _: Role) -> Option<FetchedBy> {
        media_type.starts_with("image/").then_some(FetchedBy::Client)
    }

    fn media(&self, _: &Attachment<'_>, source: &AttachmentSource<'_>) -> JsonBuilder {
        match source {
            // Not used: the client fetches all media.
            AttachmentSource::Url(data) | AttachmentSource::Base64(data) => (*data).into(),
        }
    }

    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<ObjectBuilder> {
        let mut messages = Vec::new();
        for turn in turns {
            let mut pending = PendingMessage { role: turn.role.as_str(), parts: Vec::new(), calls: Vec::new() };
            let mut promoted: Vec<ObjectBuilder> = Vec::new();
            for item in &turn.items {
                if !matches!(item, Item::Result(_)) {
                    messages.append(&mut promoted);
                }
                match item {
                    Item::Text(text, _) => pending.parts.push(ContentPart::Text(text.clone().into_owned())),
                    Item::Data(block) => pending.parts.push(cx.part(self, block, turn.role)),
                    // The API does not accept thinking in messages.
                    Item::Thinking(_) => {}
                    Item::Call(call) => {
                        let arguments = arguments::parse_or_empty(call, cx.warnings);
                        let function = object! { "name": &*call.name, "arguments": arguments };
                        pending.calls.push(object! { "function": function }.into());
                    }
                    Item::Hint(hint) => {
                        messages.extend(pending.flush());
                        let parts = cx.hint(self, hint);
                        messages.extend(self.user(parts));
                    }
                    Item::Result(result) => {
                        messages.extend(pending.flush());
                        let (text, media) = cx.result_text(self, result);
                        messages.push(object! { "role": "tool", "tool_name": &*result.name, "content": text });
                        promoted.extend(self.user(media));
                    }
                }
            }
            messages.append(&mut promoted);
            messages.extend(pending.flush());
        }
        messages
    }

    fn system(&self, text: String) -> ObjectBuilder {
        object! { "role": "system", "content": text }
    }

    fn user(&self, parts: Vec<ContentPart>) -> Option<ObjectBuilder> {
        PendingMessage { role: Role::User.as_str(), parts, calls: Vec::new() }.flush()
    }

    fn history(&self) -> HistoryStyle {
        HistoryStyle { line: HistoryLine::Stacked, media: MediaPosition::Last { tags_without_text: false } }
    }

    fn body(&self, mut request: RequestParts<'_>) -> ObjectBuilder {
        let options = request.options;
        let mut body = request.body();
        body.set("messages", std::mem::take(&mut request.messages));
        // The API has no tool choice, but tools can be omitted.
        let may_call = request.choice.is_none_or(|choice| choice.mode != Mode::None);
        if may_call && !request.tools.is_empty() {
            let tool = |tool: &&Tool| object! { "type": "function", "function": tool.function(schema::unchanged) };
            body.set("tools", request.tools.iter().map(tool).collect::<Vec<_>>());
        }
        body.set_some("format", request.schema.map(schema::inlined));
        match request.thinking {
            Thinking::Default => {}
            Thinking::Off => body.set("think", false),
            Thinking::On { .. } | Thinking::Adaptive => body.set("think", true),
        }
        let mut settings = ObjectBuilder::new();
        settings.set_some("num_predict", options.max_tokens);
        settings.set_some("temperature", options.temperature);
        settings.set_some("top_p", options.top_p);
        settings.set_some("top_k", options.top_k);
        body.set_some("options", (!settings.is_empty()).then_some(settings));
        body.with("stream", options.stream)
    }
}

/// A message under construction. All calls of a round are in one message: of two messages with the same role, the
/// server joins the text and drops the rest of the second.
struct PendingMessage {
    role: &'static str,
    parts: Vec<ContentPart>,
    calls: Vec<JsonBuilder>,
}

impl PendingMessage {
    fn flush(&mut self) -> Option<ObjectBuilder> {
        let (parts, calls) = (std::mem::take(&mut self.parts), std::mem::take(&mut self.calls));
        if parts.is_empty() && calls.is_empty() {
            return None;
        }
        let mut texts = Vec::new();
        let mut images = Vec::new();
        for part in parts {
            match part {
                ContentPart::Text(text) => texts.push(text),
                ContentPart::Media(media) => images.push(media),
            }
        }
        let mut message = object! { "role": self.role, "content": texts.join("\n") };
        message.set_some("tool_calls", (!calls.is_empty()).then_some(calls));
        message.set_some("images", (!images.is_empty()).then_some(images));
        Some(message)
    }
}
