//! Google Gemini: contents made of parts.

use recount_message::{Json, Object, Role};

use super::arguments;
use super::dialect::{Context, Dialect, Part, lift_system};
use super::media::{Datum, Fetch, Sent};
use super::multi_agent::{History, Line, MediaPlace};
use super::names::Rule;
use super::request::{RequestDraft, Thinking};
use super::schema;
use super::tools::{Mode, ToolChoice};
use super::tree::{Map, Tree, map};
use super::turns::{Call, CallRules, Item, Turn};

/// What Gemini signs its thoughts with. It is kept in the extra fields of the block that it came with, and goes back
/// with the same part.
const SIGNATURE: &str = "thought_signature";

pub(crate) struct Gemini;

impl Dialect for Gemini {
    fn input_types(&self) -> &'static [&'static str] {
        &["text/plain", "image/*", "audio/*", "video/*", "application/pdf"]
    }

    fn call_rules(&self) -> CallRules {
        CallRules { id: Rule::length(usize::MAX), name: Rule::word(64) }
    }

    fn fetch(&self, _: &str, _: Role) -> Option<Fetch> {
        Some(Fetch::Us)
    }

    fn media(&self, datum: &Datum<'_>, sent: &Sent<'_>) -> Tree {
        match sent {
            // It is never asked to fetch; this is how it would be.
            Sent::Url(url) => map! { "file_data": map! { "file_uri": *url, "mime_type": &*datum.media_type } }.into(),
            Sent::Base64(data) => {
                map! { "inline_data": map! { "data": *data, "mime_type": &*datum.media_type } }.into()
            }
        }
    }

    fn chat(&self, turns: &[Turn<'_>], cx: &mut Context<'_>) -> Vec<Map> {
        let mut contents: Vec<Map> = Vec::new();
        for turn in turns {
            let is_opening = contents.iter().all(|content| content.text("role") == Some("system"));
            let role = match turn.role {
                Role::Assistant => "model",
                Role::System if is_opening => "system",
                _ => "user",
            };
            let mut draft = Draft { role, parts: Vec::new(), results: Vec::new(), promoted: Vec::new() };
            for item in &turn.items {
                if !matches!(item, Item::Result(_)) {
                    draft.flush_results(&mut contents);
                }
                match item {
                    Item::Text(text, extra) => draft.parts.extend(signed_text(text, *extra)),
                    Item::Thinking(block) if !block.thinking.is_empty() => {
                        let part = map! { "thought": true, "text": block.thinking.as_str() };
                        draft.parts.push(signed(part, &block.extra).into());
                    }
                    Item::Thinking(_) => {}
                    Item::Data(block) => {
                        let part = cx.part(self, block, turn.role);
                        draft.parts.extend(parts(vec![part]));
                    }
                    Item::Call(call) => draft.parts.push(function_call(call, cx).into()),
                    Item::Hint(said) => {
                        let said = cx.hint(self, said);
                        if let Some(hint) = self.user(said) {
                            draft.flush(&mut contents);
                            contents.push(hint);
                        }
                    }
                    Item::Result(result) => {
                        draft.flush(&mut contents);
                        let (text, promoted) = cx.result_text(self, result);
                        let response = map! {
                            "id": result.id.as_str(), "name": &*result.name, "response": map! { "output": text },
                        };
                        draft.results.push(map! { "function_response": response }.into());
                        draft.promoted.extend(self.user(promoted));
                    }
                }
            }
            draft.flush_results(&mut contents);
            draft.flush(&mut contents);
        }
        contents
    }

    fn system(&self, text: String) -> Map {
        map! { "role": "system", "parts": parts(vec![Part::Text(text)]) }
    }

    fn user(&self, said: Vec<Part>) -> Option<Map> {
        let parts = parts(said);
        (!parts.is_empty()).then(|| map! { "role": "user", "parts": parts })
    }

    fn history(&self) -> History {
        History { line: Line::PerBlock, media: MediaPlace::InPlace }
    }

    fn body(&self, mut draft: RequestDraft<'_>) -> Map {
        let options = draft.options;
        let mut contents = std::mem::take(&mut draft.messages);
        let system = lift_system(&mut contents, "parts");
        if wants_signatures(&options.model) {
            contents.iter_mut().for_each(sign_first_call);
        }
        // The model is part of the address.
        let mut body = Map::new();
        body.set_some("system_instruction", (!system.is_empty()).then(|| map! { "parts": system }));
        body.set("contents", contents);
        if !draft.tools.is_empty() {
            let tools: Vec<Map> = draft.tools.iter().map(|tool| tool.function(schema::for_gemini)).collect();
            body.set("tools", vec![map! { "function_declarations": tools }]);
        }
        let config = draft.choice.map(|choice| map! { "function_calling_config": calling(choice) });
        body.set_some("tool_config", config);
        let mut generation = Map::new();
        generation.set_some("max_output_tokens", options.max_tokens);
        generation.set_some("temperature", options.temperature);
        generation.set_some("top_p", options.top_p);
        generation.set_some("top_k", options.top_k);
        generation.set_some("thinking_config", thinking(draft.thinking));
        if let Some(schema) = draft.schema {
            generation.set("response_mime_type", "application/json");
            generation.set("response_schema", schema::for_gemini(schema));
        }
        body.set_some("generation_config", (!generation.is_empty()).then_some(generation));
        body
    }
}

fn calling(choice: &ToolChoice) -> Map {
    match &choice.mode {
        Mode::Auto => map! { "mode": "AUTO" },
        Mode::None => map! { "mode": "NONE" },
        Mode::Required => map! { "mode": "ANY" },
        Mode::Named(name) => map! { "mode": "ANY", "allowed_function_names": vec![name.as_str()] },
    }
}

fn thinking(thinking: Thinking) -> Option<Map> {
    const BUDGET: u64 = 1024;
    match thinking {
        Thinking::Default => None,
        Thinking::Off => Some(map! { "include_thoughts": false, "thinking_budget": 0_u64 }),
        Thinking::On { budget } => Some(map! { "include_thoughts": true, "thinking_budget": budget.unwrap_or(BUDGET) }),
        Thinking::Adaptive => Some(map! { "include_thoughts": true }),
    }
}

/// Whether a model refuses a call of its own that is not signed: from the third generation on.
fn wants_signatures(model: &str) -> bool {
    let name = model.strip_prefix("models/").unwrap_or(model);
    let generation = name.strip_prefix("gemini-").and_then(|rest| rest.split(['.', '-']).next());
    generation.and_then(|generation| generation.parse::<u32>().ok()).is_some_and(|generation| generation >= 3)
}

/// Gives the calls of a content that has another model's a signature that is not checked. Google has it for this: a
/// conversation that moves to Gemini would be refused otherwise. Of parallel calls only the first is signed.
fn sign_first_call(content: &mut Map) {
    let Some(parts) = content.list_mut("parts") else { return };
    let call = parts.iter_mut().filter_map(Tree::as_map_mut).find(|part| part.get("function_call").is_some());
    if let Some(call) = call.filter(|call| call.get(SIGNATURE).is_none()) {
        call.set(SIGNATURE, "skip_thought_signature_validator");
    }
}

/// A content of which some blocks have been read.
struct Draft {
    role: &'static str,
    parts: Vec<Tree>,
    /// The answers to the calls of one content, which have to be one content too.
    results: Vec<Tree>,
    /// The media that they speak of.
    promoted: Vec<Map>,
}

impl Draft {
    fn flush(&mut self, contents: &mut Vec<Map>) {
        let parts = std::mem::take(&mut self.parts);
        if !parts.is_empty() {
            contents.push(map! { "role": self.role, "parts": parts });
        }
    }

    fn flush_results(&mut self, contents: &mut Vec<Map>) {
        let results = std::mem::take(&mut self.results);
        if !results.is_empty() {
            contents.push(map! { "role": "user", "parts": results });
        }
        contents.append(&mut self.promoted);
    }
}

/// A text, unless it is empty, which is refused.
fn text_part(text: &str) -> Option<Tree> {
    (!text.is_empty()).then(|| map! { "text": text }.into())
}

/// A text with the signature that it came with. Gemini may sign a text that is empty, and wants that back too.
fn signed_text(text: &str, extra: Option<&Object>) -> Option<Tree> {
    let part = map! { "text": text };
    let part = match extra {
        Some(extra) => signed(part, extra),
        None => part,
    };
    (!text.is_empty() || part.get(SIGNATURE).is_some()).then(|| part.into())
}

fn parts(said: Vec<Part>) -> Vec<Tree> {
    let part = |part| match part {
        Part::Text(text) => text_part(&text),
        Part::Media(tree) => Some(tree),
    };
    said.into_iter().filter_map(part).collect()
}

fn function_call(call: &Call<'_>, cx: &mut Context<'_>) -> Map {
    let args = arguments::sent(call, cx.notes);
    let call_part = map! { "id": call.id.as_str(), "name": &*call.name, "args": args };
    signed(map! { "function_call": call_part }, call.extra)
}

fn signed(mut part: Map, extra: &Object) -> Map {
    part.set_some(SIGNATURE, extra.get(SIGNATURE).and_then(Json::to_text));
    part
}
