//! Frames for front ends: JSON objects, written field by field.

use recount_message::wire::{write_key, write_string};
use recount_message::{Json, MediaBlock, Payload, Usage};

use crate::json;

/// An object that is being written.
#[derive(Debug)]
pub(crate) struct Frame(String);

impl Frame {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// One with a `type`.
    pub(crate) fn of(kind: &str) -> Self {
        Self::new().text("type", kind)
    }

    pub(crate) fn text(mut self, name: &str, text: &str) -> Self {
        write_key(&mut self.0, name);
        write_string(&mut self.0, text);
        self
    }

    pub(crate) fn optional(self, name: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(name, text),
            None => self,
        }
    }

    /// A field that is JSON already.
    pub(crate) fn json(mut self, name: &str, json: &str) -> Self {
        write_key(&mut self.0, name);
        self.0.push_str(json);
        self
    }

    /// A list of what is JSON already.
    pub(crate) fn list(self, name: &str, items: &[String]) -> Self {
        self.json(name, &json::list(items))
    }

    /// A number, as far as JavaScript can count.
    pub(crate) fn number(self, name: &str, number: u64) -> Self {
        const MOST: u64 = (1 << 53) - 1;
        self.json(name, &number.min(MOST).to_string())
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// How many tokens a reply took.
pub(crate) fn usage_json(usage: &Usage) -> String {
    let frame = Frame::new().number("inputTokens", usage.input_tokens).number("outputTokens", usage.output_tokens);
    let frame = frame.number("totalTokens", usage.total());
    let frame = frame.number("cachedInputTokens", usage.cache_input_tokens);
    frame.number("cacheWriteInputTokens", usage.cache_creation_input_tokens).end()
}

/// A text, or a list of parts where there is more than text.
pub(crate) fn text_or_parts(payload: &Payload, part: impl Fn(&MediaBlock) -> String) -> String {
    if payload.blocks().iter().all(|block| matches!(block, MediaBlock::Text(_))) {
        return Json::from(payload.text().unwrap_or_default()).as_str().to_owned();
    }
    let parts: Vec<String> = payload.blocks().iter().map(part).collect();
    json::list(&parts)
}
