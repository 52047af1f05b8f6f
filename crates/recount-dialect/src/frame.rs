//! Frames for front ends: JSON objects, built field by field.

use recount_message::wire::{write_key, write_string};
use recount_message::{Json, MediaBlock, Payload, Usage};

use crate::json;

/// Builds a JSON object.
#[derive(Debug)]
pub(crate) struct Frame(String);

impl Frame {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// Creates an object with the field `type`.
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

    /// Adds a value that is JSON text already.
    pub(crate) fn json(mut self, name: &str, json: &str) -> Self {
        write_key(&mut self.0, name);
        self.0.push_str(json);
        self
    }

    /// Adds a list of values that are JSON text already.
    pub(crate) fn list(self, name: &str, items: &[String]) -> Self {
        self.json(name, &json::list(items))
    }

    /// Adds a number, limited to the largest integer that JavaScript represents exactly.
    pub(crate) fn number(self, name: &str, number: u64) -> Self {
        const MOST: u64 = (1 << 53) - 1;
        self.json(name, &number.min(MOST).to_string())
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Returns the token usage of a reply as JSON.
pub(crate) fn usage_json(usage: &Usage) -> String {
    let frame = Frame::new().number("inputTokens", usage.input_tokens).number("outputTokens", usage.output_tokens);
    let frame = frame.number("totalTokens", usage.total());
    let frame = frame.number("cachedInputTokens", usage.cache_input_tokens);
    frame.number("cacheWriteInputTokens", usage.cache_creation_input_tokens).end()
}

/// Returns a JSON string if a payload is only text, otherwise a list of parts.
pub(crate) fn text_or_parts(payload: &Payload, part: impl Fn(&MediaBlock) -> String) -> String {
    if payload.blocks().iter().all(|block| matches!(block, MediaBlock::Text(_))) {
        return Json::from(payload.text().unwrap_or_default()).as_raw().to_owned();
    }
    let parts: Vec<String> = payload.blocks().iter().map(part).collect();
    json::list(&parts)
}
