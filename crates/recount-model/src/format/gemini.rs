//! Google Gemini: contents made of parts.

use recount_message::{Json, Object, Role};

use super::arguments;
use super::json_builder::{JsonBuilder, ObjectBuilder, object};
use super::media::{Attachment, AttachmentSource, FetchedBy};
use super::multi_agent::{HistoryLine, HistoryStyle, MediaPosition};
use super::names::NameRule;
use super::provider_format::{ContentPart, Context, ProviderFormat, take_system};
use super::request::{RequestParts, Thinking};
use super::schema;
use super::tools::{Mode, ToolChoice};
use super::turns::{Call, CallRules, Item, Turn};

/// The field for Gemini's thought signature. It is stored in the extra fields of a block and sent back with the same
/// part.
const SIGNATURE: &str = "thought_signature";

pub(crate) struct Gemini;

impl ProviderFormat for Gemini {
    fn input_types(&self) -> &'static [&'static str] {
        &["text/plain", "image/*", "audio/*", "video/*", "application/pdf"]
    }

    fn call_rules(&self) -> CallRules {
        CallRules { id: NameRule::length(usize::MAX), name: NameRule::word(64) }
    }

    fn accepts_media(&self, _: &str, _: Role) -> Option<FetchedBy> {
        Some(FetchedBy::Client)
    }

    fn media(&self, attachment: &Attachment<'_>, source: &AttachmentSource<'_>) -> JsonBuilder {
        match source {
            // Not used: the client fetches all media.
            AttachmentSource::Url(url) => {
                object! { "file_data": object! { "file_uri": *url, "mime_type": &*attachment.media_type } }.into()
            }
            AttachmentSource::Base64(data) => {
                object! { "inline_data": object! { "data": *data, "mime_type": &*attachment.media_type } }.into()
            }
        }
    }

    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<ObjectBuilder> {
        let mut contents: Vec<ObjectBuilder> = Vec::new();
        for turn in turns {
            let is_opening = contents.iter().all(|content| content.text("role") == Some("system"));
            let role = match turn.role {
                Role::Assistant => "model",
                Role::System if is_opening => "system",
                _ => "user",
            };
            let mut pending = PendingContent { role, parts: Vec::new(), results: Vec::new(), promoted: Vec::new() };
            for item in &turn.items {
                if !matches!(item, Item::Result(_)) {
                    pending.flush_results(&mut contents);
                }
                match item {
                    Item::Text(text, extra) => pending.parts.extend(signed_text(text, *extra)),
                    Item::Thinking(block) if !block.thinking.is_empty() => {
                        let part = object! { "thought": true, "text": block.thinking.as_str() };
                        pending.parts.push(signed(part, &block.extra).into());
                    }
                    Item::Thinking(_) => {}
                    Item::Data(block) => {
                        let part = cx.part(self, block, turn.role);
                        pending.parts.extend(to_parts(vec![part]));
                    }
                    Item::Call(call) => pending.parts.push(function_call(call, cx).into()),
                    Item::Hint(hint) => {
                        let content = cx.hint(self, hint);
                        if let Some(hint) = self.user(content) {
                            pending.flush(&mut contents);
                            contents.push(hint);
                        }
                    }
                    Item::Result(result) => {
                        pending.flush(&mut contents);
                        let (text, promoted) = cx.result_text(self, result);
                        let response = object! {
                            "id": result.id.as_str(), "name": &*result.name, "response": object! { "output": text },
                        };
                        pending.results.push(object! { "function_response": response }.into());
                        pending.promoted.extend(self.user(promoted));
                    }
                }
            }
            pending.flush_results(&mut contents);
            pending.flush(&mut contents);
        }
        contents
    }

    fn system(&self, text: String) -> ObjectBuilder {
        object! { "role": "system", "parts": to_parts(vec![ContentPart::Text(text)]) }
    }

    fn user(&self, content: Vec<ContentPart>) -> Option<ObjectBuilder> {
        let parts = to_parts(content);
        (!parts.is_empty()).then(|| object! { "role": "user", "parts": parts })
    }

    fn history(&self) -> HistoryStyle {
        HistoryStyle { line: HistoryLine::PerBlock, media: MediaPosition::InPlace }
    }

    fn body(&self, mut request: RequestParts<'_>) -> ObjectBuilder {
        let options = request.options;
        let mut contents = std::mem::take(&mut request.messages);
        let system = take_system(&mut contents, "parts");
        if wants_signatures(&options.model) {
            contents.iter_mut().for_each(sign_first_call);
        }
        // The model is part of the URL.
        let mut body = ObjectBuilder::new();
        body.set_some("system_instruction", (!system.is_empty()).then(|| object! { "parts": system }));
        body.set("contents", contents);
        if !request.tools.is_empty() {
            let tools: Vec<ObjectBuilder> =
                request.tools.iter().map(|tool| tool.function(schema::for_gemini)).collect();
            body.set("tools", vec![object! { "function_declarations": tools }]);
        }
        let config = request.choice.map(|choice| object! { "function_calling_config": calling(choice) });
        body.set_some("tool_config", config);
        let mut generation = ObjectBuilder::new();
        generation.set_some("max_output_tokens", options.max_tokens);
        generation.set_some("temperature", options.temperature);
        generation.set_some("top_p", options.top_p);
        generation.set_some("top_k", options.top_k);
        generation.set_some("thinking_config", thinking(request.thinking));
        if let Some(schema) = request.schema {
            generation.set("response_mime_type", "application/json");
            generation.set("response_schema", schema::for_gemini(schema));
        }
        body.set_some("generation_config", (!generation.is_empty()).then_some(generation));
        body
    }
}

fn calling(choice: &ToolChoice) -> ObjectBuilder {
    match &choice.mode {
        Mode::Auto => object! { "mode": "AUTO" },
        Mode::None => object! { "mode": "NONE" },
        Mode::Required => object! { "mode": "ANY" },
        Mode::Named(name) => object! { "mode": "ANY", "allowed_function_names": vec![name.as_str()] },
    }
}

fn thinking(thinking: Thinking) -> Option<ObjectBuilder> {
    const BUDGET: u64 = 1024;
    match thinking {
        Thinking::Default => None,
        Thinking::Off => Some(object! { "include_thoughts": false, "thinking_budget": 0_u64 }),
        Thinking::On { budget } => {
            Some(object! { "include_thoughts": true, "thinking_budget": budget.unwrap_or(BUDGET) })
        }
        Thinking::Adaptive => Some(object! { "include_thoughts": true }),
    }
}

/// Whether a model rejects its own calls without a signature: generation 3 and later.
fn wants_signatures(model: &str) -> bool {
    let name = model.strip_prefix("models/").unwrap_or(model);
    let generation = name.strip_prefix("gemini-").and_then(|rest| rest.split(['.', '-']).next());
    generation.and_then(|generation| generation.parse::<u32>().ok()).is_some_and(|generation| generation >= 3)
}

/// Adds Google's documented placeholder signature to the first call of a content, if it has none. Calls of other models
/// have no signature, and a conversation that switches to Gemini would be rejected. Of parallel calls only the first is
/// signed.
fn sign_first_call(content: &mut ObjectBuilder) {
    let Some(parts) = content.array_mut("parts") else { return };
    let call = parts.iter_mut().filter_map(JsonBuilder::as_object_mut).find(|part| part.get("function_call").is_some());
    if let Some(call) = call.filter(|call| call.get(SIGNATURE).is_none()) {
        call.set(SIGNATURE, "skip_thought_signature_validator");
    }
}

/// A content under construction.
struct PendingContent {
    role: &'static str,
    parts: Vec<JsonBuilder>,
    /// The results for the calls of one content, which must be one content too.
    results: Vec<JsonBuilder>,
    /// The media of the results.
    promoted: Vec<ObjectBuilder>,
}

impl PendingContent {
    fn flush(&mut self, contents: &mut Vec<ObjectBuilder>) {
        let parts = std::mem::take(&mut self.parts);
        if !parts.is_empty() {
            contents.push(object! { "role": self.role, "parts": parts });
        }
    }

    fn flush_results(&mut self, contents: &mut Vec<ObjectBuilder>) {
        let results = std::mem::take(&mut self.results);
        if !results.is_empty() {
            contents.push(object! { "role": "user", "parts": results });
        }
        contents.append(&mut self.promoted);
    }
}

/// Formats a text. `None` if it is empty, because the API rejects that.
fn text_part(text: &str) -> Option<JsonBuilder> {
    (!text.is_empty()).then(|| object! { "text": text }.into())
}

/// Formats a text with its signature. Gemini may sign an empty text and requires it back.
fn signed_text(text: &str, extra: Option<&Object>) -> Option<JsonBuilder> {
    let part = object! { "text": text };
    let part = match extra {
        Some(extra) => signed(part, extra),
        None => part,
    };
    (!text.is_empty() || part.get(SIGNATURE).is_some()).then(|| part.into())
}

fn to_parts(content: Vec<ContentPart>) -> Vec<JsonBuilder> {
    let part = |part| match part {
        ContentPart::Text(text) => text_part(&text),
        ContentPart::Media(media) => Some(media),
    };
    content.into_iter().filter_map(part).collect()
}

fn function_call(call: &Call<'_>, cx: &mut Context<'_>) -> ObjectBuilder {
    let args = arguments::parse_or_empty(call, cx.warnings);
    let call_part = object! { "id": call.id.as_str(), "name": &*call.name, "args": args };
    signed(object! { "function_call": call_part }, call.extra)
}

fn signed(mut part: ObjectBuilder, extra: &Object) -> ObjectBuilder {
    part.set_some(SIGNATURE, extra.get(SIGNATURE).and_then(Json::as_str).map(str::to_owned));
    part
}
