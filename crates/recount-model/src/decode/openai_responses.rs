//! Events of the OpenAI Responses API.

use std::borrow::Cow;
use std::collections::HashMap;

use recount_message::{Json, Object};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_end::StopReason;
use super::error::CallError;
use super::lenient::{self, Count, List, Maybe, Text, TextOrNumber};
use super::response_part::{BlockKey, CallPart, CallSlot, DataSource, ResponsePart, Tokens};

#[derive(Debug, Default)]
pub(super) struct ResponsesChunks {
    /// The known items, by output index.
    items: HashMap<u64, SeenItem>,
    /// The open thinking block: the output index of its item, and its key.
    open_thinking: Option<(u64, BlockKey)>,
}

#[derive(Debug, Default)]
struct SeenItem {
    /// Whether any content of the item was emitted.
    is_emitted: bool,
    /// Whether the raw reasoning item was emitted.
    is_raw_emitted: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    object: Text<'a>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    output_index: Count,
    content_index: Count,
    summary_index: Count,
    #[serde(borrow)]
    delta: Text<'a>,
    #[serde(borrow)]
    arguments: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    code: TextOrNumber<'a>,
    #[serde(borrow)]
    error: Maybe<ErrorBody<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    usage: Maybe<Usage>,
    #[serde(borrow)]
    error: Maybe<ErrorBody<'a>>,
    #[serde(borrow)]
    incomplete_details: Maybe<IncompleteDetails<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    call_id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Text<'a>,
    #[serde(borrow)]
    content: List<Part<'a>>,
    #[serde(borrow)]
    summary: List<Part<'a>>,
    #[serde(borrow)]
    encrypted_content: Text<'a>,
    #[serde(borrow)]
    result: Text<'a>,
    #[serde(borrow)]
    output_format: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    input_tokens: Count,
    output_tokens: Count,
    input_tokens_details: Maybe<InputDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct IncompleteDetails<'a> {
    #[serde(borrow)]
    reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorBody<'a> {
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    code: TextOrNumber<'a>,
    #[serde(borrow, rename = "type")]
    kind: TextOrNumber<'a>,
}

/// The list of an item that holds a part.
#[derive(Debug, Clone, Copy)]
enum PartOf {
    Content,
    Summary,
}

impl ResponsesChunks {
    pub(super) fn read(&mut self, text: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), serde_json::Error> {
        let event: Event<'_> = lenient::object(text)?;
        if event.object.as_deref() == Some("response") {
            return self.response(text, emit);
        }
        let index = event.output_index.0.unwrap_or(0);
        let part = event.content_index.0.or(event.summary_index.0).unwrap_or(0);
        match event.kind.0.as_deref().unwrap_or_default() {
            "response.created" | "response.in_progress" | "response.queued" => {
                let response =
                    event.response.map(|response| lenient::object::<Response<'_>>(response.get())).transpose()?;
                if let Some(response) = response {
                    emit(ResponsePart::Response { id: response.id.non_empty(), model: response.model.non_empty() });
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                if let Some(response) = event.response {
                    self.response(response.get(), emit)?;
                }
                emit(ResponsePart::Done);
            }
            "response.output_item.added" => self.item_added(index, event.item, emit)?,
            "response.output_item.done" => self.item_done(index, event.item, emit)?,
            "response.output_text.delta" => {
                if let Some(delta) = event.delta.non_empty() {
                    self.mark_emitted(index);
                    emit(ResponsePart::Text { key: key(index, PartOf::Content, part), delta });
                }
            }
            "response.refusal.delta" => {
                if let Some(delta) = event.delta.non_empty() {
                    self.mark_emitted(index);
                    emit(ResponsePart::Refusal { key: key(index, PartOf::Content, part), delta });
                }
            }
            "response.reasoning_text.delta" => self.thinking(index, PartOf::Content, part, event, emit),
            "response.reasoning_summary_text.delta" => self.thinking(index, PartOf::Summary, part, event, emit),
            "response.function_call_arguments.delta" => {
                self.mark_emitted(index);
                if let Some(input) = event.delta.non_empty() {
                    emit(ResponsePart::Call(CallPart { slot: CallSlot(index), id: None, name: None, input }));
                }
            }
            "response.function_call_arguments.done" => {
                let default_input = event.arguments.non_empty().unwrap_or(Cow::Borrowed("{}"));
                emit(ResponsePart::CallEnd { slot: CallSlot(index), default_input });
            }
            "error" => {
                let error = event.error.0.unwrap_or_default();
                let message = error.message.as_deref().or(event.message.as_deref());
                let codes = [error.code.as_deref(), error.kind.as_deref(), event.code.as_deref()];
                emit(ResponsePart::Error(CallError::reported(message, &codes, None)));
            }
            _ => {
                if let Some(error) = event.error.0 {
                    emit(ResponsePart::Error(error.into_error()));
                }
            }
        }
        Ok(())
    }

    fn thinking(
        &mut self,
        index: u64,
        part_of: PartOf,
        part: u64,
        event: Event<'_>,
        emit: &mut dyn FnMut(ResponsePart<'_>),
    ) {
        let Some(delta) = event.delta.non_empty() else { return };
        let key = key(index, part_of, part);
        self.mark_emitted(index);
        self.open_thinking = Some((index, key));
        emit(ResponsePart::Thinking { key, delta });
    }

    /// Records that content of an item was emitted. Thinking of other items ends.
    fn mark_emitted(&mut self, index: u64) {
        self.open_thinking = None;
        self.item(index).is_emitted = true;
    }

    fn item(&mut self, output_index: u64) -> &mut SeenItem {
        self.items.entry(output_index).or_default()
    }

    fn item_added(
        &mut self,
        index: u64,
        item: Option<&RawValue>,
        emit: &mut dyn FnMut(ResponsePart<'_>),
    ) -> Result<(), serde_json::Error> {
        let Some(item) = item else { return Ok(()) };
        let item: Item<'_> = lenient::object(item.get())?;
        if item.kind.as_deref() == Some("function_call") {
            self.begin_call(index, &item, emit);
        }
        Ok(())
    }

    fn begin_call(&mut self, index: u64, item: &Item<'_>, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        self.mark_emitted(index);
        let slot = CallSlot(index);
        let id = item.call_id.clone().non_empty().or_else(|| item.id.clone().non_empty());
        emit(ResponsePart::Call(CallPart { slot, id, name: item.name.clone().non_empty(), input: Cow::Borrowed("") }));
        if let Some(id) = item.id.clone().non_empty() {
            emit(ResponsePart::CallExtra { slot, name: "item_id", value: Json::from(id.into_owned()) });
        }
    }

    /// Handles a completed item: emits the content that no delta has emitted.
    fn item_done(
        &mut self,
        index: u64,
        raw: Option<&RawValue>,
        emit: &mut dyn FnMut(ResponsePart<'_>),
    ) -> Result<(), serde_json::Error> {
        let Some(raw) = raw else { return Ok(()) };
        let item: Item<'_> = lenient::object(raw.get())?;
        let has_secret = item.encrypted_content.as_deref().is_some_and(|content| !content.is_empty());
        // A reasoning item without content may be completed by the final response.
        let is_hidden = item.kind.as_deref() == Some("reasoning")
            && !self.item(index).is_emitted
            && !has_secret
            && item.summary.0.is_empty()
            && item.content.0.is_empty();
        if !is_hidden {
            self.emit_item(index, item, raw.get(), emit);
        }
        Ok(())
    }

    /// Emits the content of an item that was not emitted before.
    fn emit_item(&mut self, index: u64, item: Item<'_>, raw: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let is_emitted = self.item(index).is_emitted;
        match item.kind.as_deref().unwrap_or_default() {
            "message" if !is_emitted => {
                self.mark_emitted(index);
                for (part, text) in (0..).zip(item.content.0) {
                    let key = key(index, PartOf::Content, part);
                    if let Some(delta) = text.refusal.non_empty() {
                        emit(ResponsePart::Refusal { key, delta });
                    } else if let Some(delta) = text.text.non_empty() {
                        emit(ResponsePart::Text { key, delta });
                    }
                }
            }
            "function_call" => {
                if !is_emitted {
                    self.begin_call(index, &item, emit);
                }
                let default_input = item.arguments.non_empty().unwrap_or(Cow::Borrowed("{}"));
                emit(ResponsePart::CallEnd { slot: CallSlot(index), default_input });
            }
            "reasoning" => self.emit_reasoning(index, item, raw, emit),
            "image_generation_call" if !is_emitted => {
                if let Some(data) = item.result.non_empty() {
                    self.mark_emitted(index);
                    let format = item.output_format.non_empty().unwrap_or(Cow::Borrowed("png"));
                    let media_type = Cow::Owned(format!("image/{format}"));
                    emit(ResponsePart::Data { media_type, source: DataSource::Base64(data) });
                }
            }
            _ => {}
        }
    }

    /// Emits the raw reasoning item, which later requests must contain unchanged. It is attached to the item's thinking
    /// block if that is open, or else to an empty one.
    fn emit_reasoning(&mut self, index: u64, item: Item<'_>, raw: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let Some(id) = item.id.non_empty().map(Cow::into_owned) else { return };
        if std::mem::replace(&mut self.item(index).is_raw_emitted, true) {
            return;
        }
        let raw = without_nulls(raw);
        let keep = |key: BlockKey, emit: &mut dyn FnMut(ResponsePart<'_>)| {
            emit(ResponsePart::ThinkingExtra { key, name: "reasoning_item_id", value: Json::from(id.clone()) });
            if let Some(raw) = &raw {
                emit(ResponsePart::ThinkingExtra { key, name: "reasoning_item_raw", value: raw.clone() });
            }
            emit(ResponsePart::ProseEnd { key });
        };
        if let Some((_, key)) = self.open_thinking.filter(|(open, _)| *open == index) {
            keep(key, emit);
        } else if self.item(index).is_emitted {
            keep(key(index, PartOf::Summary, u64::MAX), emit);
        } else {
            self.mark_emitted(index);
            let summary = (0..).zip(item.summary.0).map(|(part, text)| (key(index, PartOf::Summary, part), text));
            let content = (0..).zip(item.content.0).map(|(part, text)| (key(index, PartOf::Content, part), text));
            let mut is_empty = true;
            for (key, text) in summary.chain(content) {
                if let Some(delta) = text.text.non_empty() {
                    is_empty = false;
                    emit(ResponsePart::Thinking { key, delta });
                    keep(key, emit);
                }
            }
            if is_empty {
                keep(key(index, PartOf::Summary, u64::MAX), emit);
            }
        }
        self.open_thinking = None;
    }

    /// Handles a full response, at the end of a stream or instead of one.
    fn response(&mut self, text: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), serde_json::Error> {
        let response: Response<'_> = lenient::object(text)?;
        let output: Vec<&RawValue> =
            response.output.and_then(|output| serde_json::from_str(output.get()).ok()).unwrap_or_default();
        // All items are parsed first, so that an invalid response emits nothing.
        let items: Vec<Maybe<Item<'_>>> =
            output.iter().map(|item| serde_json::from_str(item.get())).collect::<Result<_, _>>()?;
        emit(ResponsePart::Response { id: response.id.non_empty(), model: response.model.non_empty() });
        if let Some(usage) = response.usage.0 {
            emit(ResponsePart::Usage(usage.tokens()));
        }
        for ((index, raw), item) in (0..).zip(output).zip(items) {
            if let Some(item) = item.0 {
                self.emit_item(index, item, raw.get(), emit);
            }
        }
        let reason = response.incomplete_details.0.and_then(|details| details.reason.non_empty());
        match response.status.0.as_deref().unwrap_or_default() {
            "completed" => {
                emit(ResponsePart::StopReason { stop_reason: StopReason::Stop, reason: Cow::Borrowed("completed") });
            }
            "incomplete" => emit(incomplete(reason.unwrap_or(Cow::Borrowed("incomplete")))),
            status @ ("failed" | "cancelled") => {
                emit(ResponsePart::Error(
                    response
                        .error
                        .0
                        .map_or_else(|| CallError::reported(None, &[Some(status)], None), ErrorBody::into_error),
                ));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Usage {
    fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input_tokens.0,
            output: self.output_tokens.0,
            cache_input: self.input_tokens_details.0.as_ref().and_then(|details| details.cached_tokens.0),
            cache_creation_input: None,
        }
    }
}

impl ErrorBody<'_> {
    fn into_error(self) -> CallError {
        CallError::reported(self.message.as_deref(), &[self.code.as_deref(), self.kind.as_deref()], None)
    }
}

/// Returns the block key for a part of an item.
fn key(output_index: u64, part_of: PartOf, part: u64) -> BlockKey {
    let part = part.wrapping_mul(2).wrapping_add(match part_of {
        PartOf::Content => 0,
        PartOf::Summary => 1,
    });
    BlockKey(output_index.wrapping_mul(1 << 24).wrapping_add(part))
}

/// Returns an item in the form required by later requests: the API rejects `null` fields.
fn without_nulls(raw: &str) -> Option<Json> {
    let mut item = Object::parse(raw).ok()?;
    let nulls: Vec<String> =
        item.iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name.to_owned()).collect();
    for name in nulls {
        item.remove(&name);
    }
    Some(Json::from(item))
}

fn incomplete(reason: Cow<'_, str>) -> ResponsePart<'_> {
    let stop_reason = match &*reason {
        "max_output_tokens" => StopReason::Length,
        "content_filter" => StopReason::ContentFilter,
        _ => StopReason::Other,
    };
    ResponsePart::StopReason { stop_reason, reason }
}
