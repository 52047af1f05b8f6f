//! Events, one by one. How what only one side says is kept is told in `block`.
//!
//! What belongs together over several events (replies, blocks that are opened again, calls without results) is the matter
//! of `stream`.

use std::borrow::Cow;

use recount_message::wire::Raw;
use recount_message::{
    ConfirmResult, ContentBlock, CustomEvent, DataBlock, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent,
    DecodeError, DecodeErrorKind, Event, EventKind, ExceedMaxItersEvent, ExternalExecutionResultEvent, FinishedReason,
    HintBlockEvent, Json, ModelCallEndEvent, ModelCallStartEvent, ModelFinishedReason, Object, Payload, ReplyEndEvent,
    ReplyStartEvent, RequireExternalExecutionEvent, RequireUserConfirmEvent, Source, TextBlockDeltaEvent,
    TextBlockEndEvent, TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent, ThinkingBlockStartEvent,
    ToolCallBlock, ToolCallDeltaEvent, ToolCallEndEvent, ToolCallStartEvent, ToolResultBlock, ToolResultDataDeltaEvent,
    ToolResultEndEvent, ToolResultStartEvent, ToolResultState, ToolResultTextDeltaEvent, Usage, UserConfirmResultEvent,
};

use super::fields::{JavaFields, object};
use super::plain::{self, Place};
use super::text::ObjectWriter;
use super::{NAME, NATIVE, Version, block, time, usage};
use crate::residue;

/// The fields that are compared field by field.
const NESTED: &[&str] = &["metadata", "usage", "data"];

/// The types that only Java has. Natively they are signals with their names.
const ONLY_JAVA: &[&str] = &["AGENT_RESULT", "REQUEST_STOP", "SUBAGENT_EXPOSED", "ALL_TOOLS_DENIED"];

/// What the documents show, or Java would not take. It has been understood, and is written as Java has it.
const NEVER_KEPT: &[&str] = &["type", "state", "inputTokens", "outputTokens", "modelName", "mediaType", "media_type"];

/// The type that brings a block to a tool's result, of whatever kind.
const DATA: &str = "TOOL_RESULT_DATA_DELTA";

/// What is not known about data.
const UNKNOWN_MEDIA: &str = "application/octet-stream";

/// Java's own order of fields, over all types.
const ORDER: &[&str] = &[
    "type",
    "id",
    "createdAt",
    "subagentId",
    "agentId",
    "sessionId",
    "label",
    "replyId",
    "name",
    "role",
    "value",
    "result",
    "usage",
    "blockId",
    "hintSource",
    "hint",
    "toolCallId",
    "toolCallName",
    "delta",
    "data",
    "state",
    "maxIters",
    "currentIter",
    "toolCalls",
    "confirmResults",
    "toolResults",
    "reason",
    "generateReason",
    "source",
    "metadata",
    "deniedToolCalls",
];

/// Reads an event.
pub(super) fn read(text: &str) -> Result<Event<'_>, DecodeError> {
    let mut fields = JavaFields::document(text)?;
    let Checked { mut event, is_complete, tool_name } = read_checked(&mut fields, &[])?;
    if is_complete && event.metadata.is_empty() && is_simple(&event.kind) && fields.is_exhausted() {
        if let Some(name) = tool_name {
            residue::keep(marks_of(&mut event), NAME, Object::from([("toolCallName", &*name)]));
        }
        return Ok(event);
    }
    let given = object(Raw::document(text)?)?;
    let left = residue::take(marks_of(&mut event), NATIVE);
    if !left.is_empty() {
        let lists = left.get("items").and_then(Json::to_list).unwrap_or_default();
        if !lists.is_empty() {
            event = read_plain(&mut JavaFields::document(text)?, &lists)?;
            residue::take(marks_of(&mut event), NATIVE);
        }
        event = restore(event, &left, &given);
    }
    let mut kept = residue::difference(&given, &said(&event, None), NESTED);
    for name in NEVER_KEPT {
        kept.remove(name);
    }
    // Data as the documents show it: a string, where Java has a block or another name.
    if given.get("data").is_some_and(|data| data.to_text().is_some()) {
        kept.remove("data");
        kept.remove("-");
    }
    kept.remove("metadata");
    kept.remove(residue::KEY);
    if let Some(kind) = residue::get(marks_of(&mut event), NAME).get("type") {
        kept.insert("type", kind.clone());
    }
    residue::keep(marks_of(&mut event), NAME, kept);
    Ok(event)
}

/// Writes an event. Java says the name of a tool more often than the native side; `tool_name` is it, where it is known.
pub(super) fn write(event: &Event<'_>, tool_name: Option<&str>, out: &mut String) {
    let is_plain = event.metadata.is_empty() && event.extra.is_empty() && is_simple(&event.kind);
    if is_plain && time::comes_back(&event.created_at) {
        write_plain(event, tool_name, out);
    } else {
        write_ordered(&with_what_is_kept(event, tool_name), out);
    }
}

fn with_what_is_kept(event: &Event<'_>, tool_name: Option<&str>) -> Object {
    let mut event = event.clone();
    let said = said(&event, tool_name);
    let mut kept = residue::get(marks_of(&mut event), NAME);
    kept.remove("type");
    let means_the_same = |fields: &Object| {
        let text = fields.to_json();
        let read =
            JavaFields::document(&text).and_then(|mut fields| read_plain(&mut fields, &[]).map(Event::into_owned));
        read.is_ok_and(|read| self::said(&read, tool_name) == said)
    };
    let mut fields = residue::apply_what_holds(&said, &kept, NESTED, means_the_same);
    let left = left_out(&event, &fields);
    if !left.is_empty() {
        // The metadata of a result's end is the tool's own.
        if let EventKind::ToolResultEnd(_) = event.kind {
            residue::keep(&mut fields, NATIVE, left);
        } else {
            let mut metadata = fields.get("metadata").and_then(Json::to_object).unwrap_or_default();
            let mut native = residue::take(&mut metadata, NATIVE);
            left.iter().for_each(|(name, value)| native.insert(name, value.clone()));
            residue::keep(&mut metadata, NATIVE, native);
            fields.insert("metadata", metadata);
        }
    }
    fields
}

/// What reading back would not give.
fn left_out(event: &Event<'_>, written: &Object) -> Object {
    let mut event = event.clone().into_owned();
    residue::take(marks_of(&mut event), NAME);
    let text = written.to_json();
    let read = JavaFields::document(&text).and_then(|mut fields| read_plain(&mut fields, &[]));
    let Ok(mut read) = read else { return Object::new() };
    residue::take(marks_of(&mut read), NAME);
    if read == event {
        return Object::new();
    }
    let (mut wanted, mut given) = (native_fields(&event), native_fields(&read));
    let items = left_of_items(&event);
    for name in LISTS {
        wanted.remove(name);
        given.remove(name);
    }
    let mut left = residue::difference(&wanted, &given, NESTED);
    if items.iter().any(|item| !item.is_empty()) {
        left.insert("items", items);
    }
    left
}

/// Puts back what Java could not say, as far as Java says what it would say about it.
fn restore<'a>(event: Event<'a>, left: &Object, given: &Object) -> Event<'a> {
    let mut left = left.clone();
    left.remove("items");
    let said = said(&event, None);
    let native = |fields: &Object| Event::from_json(&fields.to_json()).map(Event::into_owned).ok();
    let means_the_same = |fields: &Object| {
        native(fields).is_some_and(|event| residue::is_as_near(&self::said(&event, None), &said, given))
    };
    let whole = residue::apply_what_holds(&native_fields(&event), &left, NESTED, means_the_same);
    native(&whole).unwrap_or(event)
}

fn native_fields(event: &Event<'_>) -> Object {
    Object::parse(&event.to_json()).unwrap_or_default()
}

/// What an event says in Java, but for what is kept.
fn said(event: &Event<'_>, tool_name: Option<&str>) -> Object {
    let mut out = String::new();
    write_plain(event, tool_name, &mut out);
    Object::parse(&out).unwrap_or_default()
}

/// Writes fields in Java's order.
fn write_ordered(fields: &Object, out: &mut String) {
    let mut object = ObjectWriter::begin(out);
    for name in ORDER {
        if let Some(value) = fields.get(name) {
            object.json(name, value);
        }
    }
    for (name, value) in fields.iter().filter(|(name, _)| !ORDER.contains(name)) {
        object.json(name, value);
    }
    object.end();
}

/// Where the marks of an event are: in its metadata, or beside it where the metadata is the tool's own.
fn marks_of<'e>(event: &'e mut Event<'_>) -> &'e mut Object {
    match event.kind {
        EventKind::ToolResultEnd(_) => &mut event.extra,
        _ => &mut event.metadata,
    }
}

/// The events that streams are full of, which say the same on both sides, field by field.
fn is_simple(kind: &EventKind<'_>) -> bool {
    match kind {
        EventKind::TextBlockEnd(event) => event.text.is_none(),
        EventKind::TextBlockStart(_)
        | EventKind::TextBlockDelta(_)
        | EventKind::ThinkingBlockStart(_)
        | EventKind::ThinkingBlockDelta(_)
        | EventKind::ThinkingBlockEnd(_)
        | EventKind::ToolCallStart(_)
        | EventKind::ToolCallDelta(_)
        | EventKind::ToolCallEnd(_)
        | EventKind::ToolResultStart(_)
        | EventKind::ToolResultTextDelta(_)
        | EventKind::ToolResultEnd(_) => true,
        _ => false,
    }
}

/// The native fields that hold lists of blocks.
const LISTS: &[&str] = &["tool_calls", "confirm_results", "execution_results"];

/// What Java cannot say about the blocks that an event lists.
fn left_of_items(event: &Event<'_>) -> Vec<Object> {
    let blocks: Vec<ContentBlock> = match &event.kind {
        EventKind::RequireUserConfirm(event) => event.tool_calls.iter().cloned().map(Into::into).collect(),
        EventKind::RequireExternalExecution(event) => event.tool_calls.iter().cloned().map(Into::into).collect(),
        EventKind::UserConfirmResult(event) => {
            event.confirm_results.iter().map(|result| result.tool_call.clone().into()).collect()
        }
        EventKind::ExternalExecutionResult(event) => event.execution_results.iter().cloned().map(Into::into).collect(),
        _ => return Vec::new(),
    };
    let time = time::event_time_to_native(time::event_time_to_java(&event.created_at));
    let left =
        |(index, block)| block::write(block, Place { index, time: &time, ..Place::default() }, &mut String::new());
    blocks.iter().enumerate().map(left).collect()
}

/// What natively begins with this name, where Java has or had another.
fn native_name(kind: &str) -> &str {
    match kind {
        "AGENT_START" | "RUN_STARTED" => "REPLY_START",
        "AGENT_END" | "RUN_FINISHED" => "REPLY_END",
        "MODEL_CALL_STARTED" => "MODEL_CALL_START",
        "MODEL_CALL_ENDED" => "MODEL_CALL_END",
        "BINARY_BLOCK_START" => "DATA_BLOCK_START",
        "BINARY_BLOCK_DELTA" => "DATA_BLOCK_DELTA",
        "BINARY_BLOCK_END" => "DATA_BLOCK_END",
        "TOOL_RESULT_BINARY_DELTA" => "TOOL_RESULT_DATA_DELTA",
        "THREAD_EXPOSED" => "SUBAGENT_EXPOSED",
        other => other,
    }
}

/// Reads what both sides can say. `lefts` is what Java could not say about the blocks that the event lists.
fn read_plain<'a>(fields: &mut JavaFields<'a>, lefts: &[Json]) -> Result<Event<'a>, DecodeError> {
    read_checked(fields, lefts).map(|checked| checked.event)
}

/// An event, and what was noticed about it.
struct Checked<'a> {
    event: Event<'a>,
    /// Whether all the fields were there that could be, with a time that comes back.
    is_complete: bool,
    /// The name of a tool that the native event does not say.
    tool_name: Option<Cow<'a, str>>,
}

fn read_checked<'a>(fields: &mut JavaFields<'a>, lefts: &[Json]) -> Result<Checked<'a>, DecodeError> {
    let kind = fields.text("type")?.ok_or_else(|| DecodeError::missing("type"))?;
    let id = fields.text("id")?;
    let time = fields.text("createdAt")?;
    let is_complete = id.is_some() && time.is_some();
    let (id, time) = (id.unwrap_or_default(), time.unwrap_or_default());
    let created_at = time::event_time_to_native(time.clone());
    let is_complete = is_complete && (created_at != time || time::event_time_to_java(&created_at) == time);
    let mut reader = Reader { fields, lefts, time: &created_at, metadata: Object::new(), is_complete, tool_name: None };
    let kind = reader.kind(native_name(&kind))?;
    let Reader { fields, metadata: marks, is_complete, tool_name, .. } = reader;
    let mut metadata = fields.object("metadata")?.unwrap_or_default();
    for (name, value) in marks.iter() {
        let mut all = residue::marks(&metadata);
        all.insert(name, value.clone());
        residue::set_marks(&mut metadata, all);
    }
    let mut extra = Object::new();
    if !fields.is_exhausted() {
        extra = fields.rest()?;
        // What Java knows and the native event does not is kept apart.
        ORDER.iter().for_each(|name| drop(extra.remove(name)));
    }
    let mut event = Event { id, created_at, metadata, kind, extra };
    if !event.extra.is_empty() {
        // So is what has the name of a native field, which the native event says itself.
        event.extra = Event::from_json(&event.to_json())?.into_owned().extra;
    }
    Ok(Checked { event, is_complete, tool_name })
}

/// What is needed to read the fields of one event.
struct Reader<'f, 'a> {
    fields: &'f mut JavaFields<'a>,
    lefts: &'f [Json],
    time: &'f str,
    /// What is to be noted in the event's marks.
    metadata: Object,
    /// Whether nothing was missing.
    is_complete: bool,
    tool_name: Option<Cow<'a, str>>,
}

impl<'a> Reader<'_, 'a> {
    fn kind(&mut self, kind: &str) -> Result<EventKind<'a>, DecodeError> {
        Ok(match kind {
            "REPLY_START" => ReplyStartEvent {
                session_id: self.text("sessionId")?,
                reply_id: self.text("replyId")?,
                name: self.text("name")?,
                role: self.fields.text("role")?.unwrap_or(Cow::Borrowed("assistant")),
            }
            .into(),
            "REPLY_END" => ReplyEndEvent {
                session_id: Cow::Borrowed(""),
                reply_id: self.text("replyId")?,
                finished_reason: FinishedReason::Completed,
                error: None,
            }
            .into(),
            "MODEL_CALL_START" => {
                ModelCallStartEvent { reply_id: self.text("replyId")?, model_name: self.text("modelName")? }.into()
            }
            "MODEL_CALL_END" => self.model_call_end()?.into(),
            "TEXT_BLOCK_START" => {
                TextBlockStartEvent { reply_id: self.text("replyId")?, block_id: self.text("blockId")? }.into()
            }
            "TEXT_BLOCK_DELTA" => TextBlockDeltaEvent {
                reply_id: self.text("replyId")?,
                block_id: self.text("blockId")?,
                delta: self.text("delta")?,
            }
            .into(),
            "TEXT_BLOCK_END" => {
                TextBlockEndEvent { reply_id: self.text("replyId")?, block_id: self.text("blockId")?, text: None }
                    .into()
            }
            "THINKING_BLOCK_START" => {
                ThinkingBlockStartEvent { reply_id: self.text("replyId")?, block_id: self.text("blockId")? }.into()
            }
            "THINKING_BLOCK_DELTA" => ThinkingBlockDeltaEvent {
                reply_id: self.text("replyId")?,
                block_id: self.text("blockId")?,
                delta: self.text("delta")?,
            }
            .into(),
            "THINKING_BLOCK_END" => {
                ThinkingBlockEndEvent { reply_id: self.text("replyId")?, block_id: self.text("blockId")? }.into()
            }
            "DATA_BLOCK_START" => DataBlockStartEvent {
                reply_id: self.text("replyId")?,
                block_id: self.text("blockId")?,
                media_type: self.media_type()?,
                name: None,
            }
            .into(),
            "DATA_BLOCK_DELTA" => DataBlockDeltaEvent {
                reply_id: self.text("replyId")?,
                block_id: self.text("blockId")?,
                media_type: self.media_type()?,
                // `data` is what the documents say.
                data: Some(self.fields.text_of(&["delta", "data"])?.unwrap_or_default()),
                url: None,
            }
            .into(),
            "DATA_BLOCK_END" => {
                DataBlockEndEvent { reply_id: self.text("replyId")?, block_id: self.text("blockId")? }.into()
            }
            "HINT_BLOCK" => HintBlockEvent {
                reply_id: self.text("replyId")?,
                block_id: self.text("blockId")?,
                source: self.fields.text("hintSource")?,
                hint: Payload::Text(self.text("hint")?.into_owned()),
            }
            .into(),
            "TOOL_CALL_START" => ToolCallStartEvent {
                reply_id: self.text("replyId")?,
                tool_call_id: self.text("toolCallId")?,
                tool_call_name: self.text("toolCallName")?,
            }
            .into(),
            "TOOL_CALL_DELTA" => ToolCallDeltaEvent {
                reply_id: self.text("replyId")?,
                tool_call_id: self.named_call()?,
                delta: self.text("delta")?,
            }
            .into(),
            "TOOL_CALL_END" => {
                ToolCallEndEvent { reply_id: self.text("replyId")?, tool_call_id: self.named_call()? }.into()
            }
            "TOOL_RESULT_START" => ToolResultStartEvent {
                reply_id: self.text("replyId")?,
                tool_call_id: self.text("toolCallId")?,
                tool_call_name: self.text("toolCallName")?,
            }
            .into(),
            "TOOL_RESULT_TEXT_DELTA" => ToolResultTextDeltaEvent {
                reply_id: self.text("replyId")?,
                tool_call_id: self.named_call()?,
                delta: self.text("delta")?,
            }
            .into(),
            "TOOL_RESULT_DATA_DELTA" => self.tool_result_data()?,
            "TOOL_RESULT_END" => {
                let (reply_id, tool_call_id) = (self.text("replyId")?, self.named_call()?);
                let state = self.fields.word("state", ToolResultState::from_word)?;
                self.is_complete &= state.is_some();
                ToolResultEndEvent { reply_id, tool_call_id, state: state.unwrap_or(ToolResultState::Success) }.into()
            }
            "EXCEED_MAX_ITERS" => {
                ExceedMaxItersEvent { reply_id: self.text("replyId")?, name: Cow::Borrowed("") }.into()
            }
            "REQUIRE_USER_CONFIRM" => {
                RequireUserConfirmEvent { reply_id: self.text("replyId")?, tool_calls: self.tool_calls()? }.into()
            }
            "REQUIRE_EXTERNAL_EXECUTION" => {
                RequireExternalExecutionEvent { reply_id: self.text("replyId")?, tool_calls: self.tool_calls()? }.into()
            }
            "USER_CONFIRM_RESULT" => UserConfirmResultEvent {
                reply_id: self.text("replyId")?,
                confirm_results: self.items("confirmResults", read_confirm_result)?,
            }
            .into(),
            "EXTERNAL_EXECUTION_RESULT" => ExternalExecutionResultEvent {
                reply_id: self.text("replyId")?,
                execution_results: self.items("toolResults", read_tool_result)?,
            }
            .into(),
            "CUSTOM" => {
                let (name, value) = (self.text("name")?, self.fields.object("value")?.unwrap_or_default());
                CustomEvent { reply_id: None, name, value }.into()
            }
            only_java if ONLY_JAVA.contains(&only_java) => self.only_java(only_java)?.into(),
            other => {
                let what = format!("unknown event type {other:?}");
                return Err(DecodeError::new(DecodeErrorKind::UnknownValue, what).within("type"));
            }
        })
    }

    /// A string, or the empty one where there is none.
    fn text(&mut self, name: &str) -> Result<Cow<'a, str>, DecodeError> {
        let text = self.fields.text(name)?;
        self.is_complete &= text.is_some();
        Ok(text.unwrap_or_default())
    }

    /// The id of a call, and beside it the name of its tool.
    fn named_call(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let id = self.text("toolCallId")?;
        self.tool_name = self.fields.text("toolCallName")?;
        Ok(id)
    }

    /// Java's events do not say it; its documents do.
    fn media_type(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        Ok(self.fields.text_of(&["mediaType", "media_type"])?.unwrap_or(Cow::Borrowed(UNKNOWN_MEDIA)))
    }

    fn model_call_end(&mut self) -> Result<ModelCallEndEvent<'a>, DecodeError> {
        let reply_id = self.text("replyId")?;
        let counted = self.fields.take("usage").map(usage::read).transpose().map_err(|error| error.within("usage"))?;
        // The documents have the tokens on the event itself.
        let (input, output) = (self.fields.count("inputTokens")?, self.fields.count("outputTokens")?);
        let usage = counted.or_else(|| {
            let is_counted = input.is_some() || output.is_some();
            is_counted.then(|| Usage::new(input.unwrap_or_default(), output.unwrap_or_default()))
        });
        if usage.is_none() {
            self.metadata.insert("usage", "unknown");
        }
        let usage = usage.unwrap_or_else(|| Usage::new(0, 0));
        Ok(ModelCallEndEvent {
            reply_id,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_input_tokens: usage.cache_input_tokens,
            cache_creation_input_tokens: 0,
            finished_reason: ModelFinishedReason::Completed,
        })
    }

    /// Data of a tool's result: a whole block in Java, a string with its media type in the documents.
    fn tool_result_data(&mut self) -> Result<EventKind<'a>, DecodeError> {
        let (reply_id, tool_call_id) = (self.text("replyId")?, self.text("toolCallId")?);
        let text = |delta: String| ToolResultTextDeltaEvent {
            reply_id: reply_id.clone(),
            tool_call_id: tool_call_id.clone(),
            delta: Cow::Owned(delta),
        };
        let Some(raw) = self.fields.take("data") else {
            let (url, media_type) = (self.fields.text("url")?, self.media_type()?);
            let Some(url) = url else {
                self.metadata.insert(NAME, Object::from([("type", DATA)]));
                return Ok(text(String::new()).into());
            };
            let event = ToolResultDataDeltaEvent {
                reply_id,
                tool_call_id,
                block_id: None,
                media_type,
                data: None,
                url: Some(url),
            };
            return Ok(event.into());
        };
        if let Ok(data) = raw.to_text() {
            let media_type = self.media_type()?;
            let event = ToolResultDataDeltaEvent {
                reply_id,
                tool_call_id,
                block_id: None,
                media_type,
                data: Some(data),
                url: None,
            };
            return Ok(event.into());
        }
        let place = Place { owner: &tool_call_id, time: self.time, ..Place::default() };
        let mut item = block::read(raw, place, None).map_err(|error| error.within("data"))?;
        if let Some(extra) = block::extra_mut(&mut item) {
            residue::take(extra, NAME);
        }
        let has_id = JavaFields::of(raw)
            .is_ok_and(|mut fields| fields.text("id").ok().flatten().is_some_and(|id| !id.is_empty()));
        match item {
            ContentBlock::Data(DataBlock { id, source, name, .. }) => {
                if let Some(name) = name {
                    self.metadata.insert("name", name);
                }
                let media_type = Cow::Owned(source.media_type().to_owned());
                let (data, url) = match source {
                    Source::Base64(source) => (Some(source.data), None),
                    Source::Url(source) => (None, Some(source.url().to_owned())),
                    _ => (Some(String::new()), None),
                };
                Ok(ToolResultDataDeltaEvent {
                    reply_id,
                    tool_call_id,
                    block_id: has_id.then_some(Cow::Owned(id)),
                    media_type,
                    data: data.map(Cow::Owned),
                    url: url.map(Cow::Owned),
                }
                .into())
            }
            // Natively data is media. Whatever else there is says what it can as text.
            other => {
                self.metadata.insert(NAME, Object::from([("type", DATA)]));
                Ok(text(plain::in_words(&other)).into())
            }
        }
    }

    fn tool_calls(&mut self) -> Result<Vec<ToolCallBlock>, DecodeError> {
        self.items("toolCalls", read_tool_call)
    }

    /// The items of a list of blocks, each with what Java could not say about it.
    fn items<T>(
        &mut self,
        name: &str,
        read: fn(Raw<'_>, Place<'_>, Option<&Object>) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let (lefts, time) = (self.lefts, self.time);
        let items = self.fields.list(name, |index, raw| {
            let left = lefts.get(index).and_then(Json::to_object);
            read(raw, Place { index, time, ..Place::default() }, left.as_ref())
        })?;
        Ok(items.unwrap_or_default())
    }

    /// A signal that is named after the event, with its fields.
    fn only_java(&mut self, kind: &str) -> Result<CustomEvent<'a>, DecodeError> {
        let mut value = Object::new();
        for name in ORDER.iter().filter(|name| !matches!(**name, "type" | "id" | "createdAt" | "source" | "metadata")) {
            if let Some(raw) = self.fields.take(name) {
                value.insert(*name, raw.to_json().map_err(|error| error.within(name))?);
            }
        }
        self.metadata.insert(NAME, Object::from([("type", kind)]));
        Ok(CustomEvent { reply_id: None, name: Cow::Owned(kind.to_owned()), value })
    }
}

fn read_tool_call(raw: Raw<'_>, place: Place<'_>, left: Option<&Object>) -> Result<ToolCallBlock, DecodeError> {
    match block::read(raw, place, left)? {
        ContentBlock::ToolCall(call) => Ok(call),
        other => Err(not_a("tool_use", &other)),
    }
}

fn read_tool_result(raw: Raw<'_>, place: Place<'_>, left: Option<&Object>) -> Result<ToolResultBlock, DecodeError> {
    match block::read(raw, place, left)? {
        ContentBlock::ToolResult(result) => Ok(result),
        other => Err(not_a("tool_result", &other)),
    }
}

fn not_a(expected: &str, found: &ContentBlock) -> DecodeError {
    let what = format!("expected a {expected} block, found a {} block", found.type_name());
    DecodeError::new(DecodeErrorKind::WrongType, what)
}

fn read_confirm_result(raw: Raw<'_>, place: Place<'_>, left: Option<&Object>) -> Result<ConfirmResult, DecodeError> {
    let mut fields = JavaFields::of(raw)?;
    let confirmed = fields.boolean("confirmed")?.unwrap_or(false);
    let tool_call = match fields.take("toolCall") {
        Some(call) => read_tool_call(call, place, left),
        // Java takes an answer to no call at all; it is one that nobody will find.
        None => read_tool_call(Raw::document(r#"{"type":"tool_use","id":""}"#)?, place, left),
    };
    let tool_call = tool_call.map_err(|error| error.within("toolCall"))?;
    let rules = fields.list("rules", |_, raw| plain::read_rule(raw))?;
    Ok(ConfirmResult { confirmed, tool_call, rules, extra: fields.rest()? })
}

/// Writes what both sides can say.
fn write_plain(event: &Event<'_>, tool_name: Option<&str>, out: &mut String) {
    let mut object = ObjectWriter::begin(out);
    let java_type = residue::get(&event.metadata, NAME).get("type").and_then(Json::to_text);
    let kind = match (&event.kind, &java_type) {
        (EventKind::Custom(custom), Some(java_type)) if custom.name == *java_type => java_type,
        (EventKind::ToolResultTextDelta(_), Some(java_type)) if java_type == DATA => DATA,
        (EventKind::ReplyStart(_), _) => "AGENT_START",
        (EventKind::ReplyEnd(_), _) => "AGENT_END",
        // Java refuses events that it does not know.
        (EventKind::UserInterrupt(_) | EventKind::Unknown(_), _) => "CUSTOM",
        _ => event.type_name(),
    };
    object.text("type", kind);
    let present = |text: &Cow<'_, str>| !text.is_empty();
    if present(&event.id) {
        object.text("id", &event.id);
    }
    if present(&event.created_at) {
        object.text("createdAt", &time::event_time_to_java(&event.created_at));
    }
    write_fields(event, java_type.as_deref(), tool_name, &mut object);
    let metadata = java_metadata(event);
    if !metadata.is_empty() {
        object.object("metadata", &metadata);
    }
    for (name, value) in event.extra.iter().filter(|(name, _)| *name != residue::KEY && !ORDER.contains(name)) {
        object.json(name, value);
    }
    object.end();
}

/// The metadata without what is written otherwise.
fn java_metadata(event: &Event<'_>) -> Object {
    let mut metadata = event.metadata.clone();
    if metadata.is_empty() || matches!(event.kind, EventKind::ToolResultEnd(_)) {
        return metadata;
    }
    let mut marks = residue::marks(&metadata);
    marks.remove(NAME);
    match event.kind {
        EventKind::ModelCallEnd(_) => drop(marks.remove("usage")),
        EventKind::ToolResultDataDelta(_) => drop(marks.remove("name")),
        _ => {}
    }
    residue::set_marks(&mut metadata, marks);
    metadata
}

fn write_fields(event: &Event<'_>, java_type: Option<&str>, tool_name: Option<&str>, object: &mut ObjectWriter<'_>) {
    match &event.kind {
        EventKind::ReplyStart(event) => {
            object.text_if_any("sessionId", Some(&*event.session_id).filter(|id| !id.is_empty()));
            object.text("replyId", &event.reply_id);
            object.text("name", &event.name);
            object.text("role", &event.role);
        }
        EventKind::ReplyEnd(event) => object.text("replyId", &event.reply_id),
        EventKind::ModelCallStart(event) => object.text("replyId", &event.reply_id),
        EventKind::ModelCallEnd(call) => {
            object.text("replyId", &call.reply_id);
            if event.carried("usage").and_then(|usage| usage.to_text()).as_deref() != Some("unknown") {
                let mut counted = Usage::new(call.input_tokens, call.output_tokens);
                counted.cache_input_tokens = call.cache_input_tokens;
                usage::write(&counted, Version::Two, object.key("usage"));
            }
        }
        EventKind::TextBlockStart(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::TextBlockDelta(event) => {
            write_block_ids(&event.reply_id, &event.block_id, object);
            object.text("delta", &event.delta);
        }
        EventKind::TextBlockEnd(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::ThinkingBlockStart(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::ThinkingBlockDelta(event) => {
            write_block_ids(&event.reply_id, &event.block_id, object);
            object.text("delta", &event.delta);
        }
        EventKind::ThinkingBlockEnd(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::DataBlockStart(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::DataBlockDelta(event) => {
            write_block_ids(&event.reply_id, &event.block_id, object);
            object.text("delta", event.data.as_deref().unwrap_or_default());
        }
        EventKind::DataBlockEnd(event) => write_block_ids(&event.reply_id, &event.block_id, object),
        EventKind::HintBlock(event) => {
            write_block_ids(&event.reply_id, &event.block_id, object);
            object.text_if_any("hintSource", event.source.as_deref());
            object.text("hint", &event.hint.text().unwrap_or_default());
        }
        EventKind::ToolCallStart(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, Some(&event.tool_call_name), object);
        }
        EventKind::ToolCallDelta(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, tool_name, object);
            object.text("delta", &event.delta);
        }
        EventKind::ToolCallEnd(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, tool_name, object);
        }
        EventKind::ToolResultStart(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, Some(&event.tool_call_name), object);
        }
        EventKind::ToolResultTextDelta(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, tool_name, object);
            if java_type == Some(DATA) {
                let mut data = ObjectWriter::begin(object.key("data"));
                data.text("type", "text");
                data.text("text", &event.delta);
                data.end();
            } else {
                object.text("delta", &event.delta);
            }
        }
        EventKind::ToolResultDataDelta(delta) => {
            write_call_ids(&delta.reply_id, &delta.tool_call_id, tool_name, object);
            write_data(event, delta, object.key("data"));
        }
        EventKind::ToolResultEnd(event) => {
            write_call_ids(&event.reply_id, &event.tool_call_id, tool_name, object);
            object.text("state", event.state.as_str());
        }
        EventKind::ExceedMaxIters(event) => {
            object.text("replyId", &event.reply_id);
            object.raw("maxIters", "0");
            object.raw("currentIter", "0");
        }
        EventKind::RequireUserConfirm(event) => {
            object.text("replyId", &event.reply_id);
            object.list("toolCalls", &event.tool_calls, |_, call, out| write_block(call.clone(), out));
        }
        EventKind::RequireExternalExecution(event) => {
            object.text("replyId", &event.reply_id);
            object.list("toolCalls", &event.tool_calls, |_, call, out| write_block(call.clone(), out));
        }
        EventKind::UserConfirmResult(event) => {
            object.text("replyId", &event.reply_id);
            object.list("confirmResults", &event.confirm_results, |_, result, out| write_confirm_result(result, out));
        }
        EventKind::ExternalExecutionResult(event) => {
            object.text("replyId", &event.reply_id);
            object.list("toolResults", &event.execution_results, |_, result, out| write_block(result.clone(), out));
        }
        EventKind::Custom(custom) if java_type == Some(&*custom.name) => {
            for (name, value) in custom.value.iter() {
                object.json(name, value);
            }
        }
        EventKind::Custom(custom) => {
            object.text("name", &custom.name);
            object.object("value", &custom.value);
        }
        // Only the native side has these.
        _ => {
            let mut value = native_fields(event);
            for name in ["id", "created_at", "metadata", "type"] {
                value.remove(name);
            }
            object.text("name", event.type_name());
            object.object("value", &value);
        }
    }
}

fn write_block_ids(reply_id: &str, block_id: &str, object: &mut ObjectWriter<'_>) {
    object.text("replyId", reply_id);
    object.text("blockId", block_id);
}

fn write_call_ids(reply_id: &str, tool_call_id: &str, name: Option<&str>, object: &mut ObjectWriter<'_>) {
    object.text("replyId", reply_id);
    object.text("toolCallId", tool_call_id);
    object.text_if_any("toolCallName", name);
}

fn write_block(block: impl Into<ContentBlock>, out: &mut String) {
    block::write(&block.into(), Place::default(), out);
}

fn write_data(event: &Event<'_>, delta: &ToolResultDataDeltaEvent<'_>, out: &mut String) {
    let mut object = ObjectWriter::begin(out);
    object.text("type", "data");
    let mut source = ObjectWriter::begin(object.key("source"));
    match (&delta.data, &delta.url) {
        (_, Some(url)) => {
            source.text("type", "url");
            source.text("url", url);
            source.text("mime_type", &delta.media_type);
        }
        (data, None) => {
            source.text("type", "base64");
            source.text("media_type", &delta.media_type);
            source.text("data", data.as_deref().unwrap_or_default());
        }
    }
    source.end();
    object.text("id", delta.block_id.as_deref().unwrap_or_default());
    object.text_if_any("name", event.carried("name").and_then(|name| name.to_text()).as_deref());
    object.end();
}

fn write_confirm_result(result: &ConfirmResult, out: &mut String) {
    let mut object = ObjectWriter::begin(out);
    object.raw("confirmed", if result.confirmed { "true" } else { "false" });
    write_block(result.tool_call.clone(), object.key("toolCall"));
    match &result.rules {
        Some(rules) => object.list("rules", rules, |_, rule, out| plain::write_rule(rule, out)),
        None => object.raw("rules", "null"),
    }
    result.extra.iter().for_each(|(name, value)| object.json(name, value));
    object.end();
}
