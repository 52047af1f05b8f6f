//! Parsing of events.

use std::borrow::Cow;

use recount_message::wire::Raw;
use recount_message::{
    ConfirmResult, ContentBlock, CustomEvent, DataBlock, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent,
    DecodeError, DecodeErrorKind, Event, EventKind, ExceedMaxItersEvent, ExternalExecutionResultEvent, HintBlockEvent,
    Json, ModelCallEndEvent, ModelCallStartEvent, Object, ReplyEndEvent, ReplyStartEvent,
    RequireExternalExecutionEvent, RequireUserConfirmEvent, Source, TextBlockDeltaEvent, TextBlockEndEvent,
    TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent, ThinkingBlockStartEvent, ToolCallBlock,
    ToolCallDeltaEvent, ToolCallEndEvent, ToolCallStartEvent, ToolResultBlock, ToolResultDataDeltaEvent,
    ToolResultEndEvent, ToolResultStartEvent, ToolResultState, ToolResultTextDeltaEvent, Usage, UserConfirmResultEvent,
};

use super::{DATA, ORDER};
use crate::java::codec::{self, BlockContext};
use crate::java::fields::JavaFields;
use crate::java::{NAME, block, time, usage};
use crate::preserved;

/// The event types that only Java has. Natively they are signals with the same name.
const JAVA_ONLY: &[&str] = &["AGENT_RESULT", "REQUEST_STOP", "SUBAGENT_EXPOSED", "ALL_TOOLS_DENIED"];

/// The media type of data whose type is unknown.
const UNKNOWN_MEDIA: &str = "application/octet-stream";

/// Returns the native name of an event type.
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

/// Parses the fields that both sides have. `native_only_items` holds the native-only fields of each listed block.
pub(super) fn read_common<'a>(
    fields: &mut JavaFields<'a>,
    native_only_items: &[Json],
) -> Result<Event<'a>, DecodeError> {
    parse(fields, native_only_items).map(|checked| checked.event)
}

/// A parsed event with details that decide whether it needs the slow path.
pub(super) struct ParsedEvent<'a> {
    pub(super) event: Event<'a>,
    /// Whether all fields were present, with a time that survives a round trip.
    pub(super) is_complete: bool,
    /// The name of a tool, which the native event does not have.
    pub(super) tool_name: Option<Cow<'a, str>>,
}

pub(super) fn parse<'a>(
    fields: &mut JavaFields<'a>,
    native_only_items: &[Json],
) -> Result<ParsedEvent<'a>, DecodeError> {
    let kind = fields.text("type")?.ok_or_else(|| DecodeError::missing("type"))?;
    let id = fields.text("id")?;
    let time = fields.text("createdAt")?;
    let is_complete = id.is_some() && time.is_some();
    let (id, time) = (id.unwrap_or_default(), time.unwrap_or_default());
    let created_at = time::event_time_to_native(time.clone());
    let is_complete = is_complete && (created_at != time || time::event_time_to_java(&created_at) == time);
    let mut reader = EventReader {
        fields,
        native_only_items,
        time: &created_at,
        metadata: Object::new(),
        is_complete,
        tool_name: None,
    };
    let kind = reader.kind(native_name(&kind))?;
    let EventReader { fields, metadata: marks, is_complete, tool_name, .. } = reader;
    let mut metadata = fields.object("metadata")?.unwrap_or_default();
    for (name, value) in marks.iter() {
        let mut all = preserved::marks(&metadata);
        all.insert(name, value.clone());
        preserved::set_marks(&mut metadata, all);
    }
    let mut extra = Object::new();
    if !fields.is_exhausted() {
        extra = fields.rest()?;
        // Fields that only Java has are stored separately.
        ORDER.iter().for_each(|name| drop(extra.remove(name)));
    }
    let mut event = Event::stamped(id, created_at, kind).with_metadata(metadata);
    event.extra = extra;
    if !event.extra.is_empty() {
        // Drops fields that have the name of a native field.
        event.extra = Event::from_json(&event.to_json())?.into_owned().extra;
    }
    Ok(ParsedEvent { event, is_complete, tool_name })
}

/// Parses the fields of one event.
struct EventReader<'f, 'a> {
    fields: &'f mut JavaFields<'a>,
    native_only_items: &'f [Json],
    time: &'f str,
    /// Data to add to the event's marks.
    metadata: Object,
    /// Whether no field was missing.
    is_complete: bool,
    tool_name: Option<Cow<'a, str>>,
}

impl<'a> EventReader<'_, 'a> {
    fn kind(&mut self, kind: &str) -> Result<EventKind<'a>, DecodeError> {
        Ok(match kind {
            "REPLY_START" => ReplyStartEvent::new(self.text("sessionId")?, self.text("replyId")?, self.text("name")?)
                .with_role(self.fields.text("role")?.unwrap_or(Cow::Borrowed("assistant")))
                .into(),
            "REPLY_END" => ReplyEndEvent::new("", self.text("replyId")?).into(),
            "MODEL_CALL_START" => ModelCallStartEvent::new(self.text("replyId")?, self.text("modelName")?).into(),
            "MODEL_CALL_END" => self.model_call_end()?.into(),
            "TEXT_BLOCK_START" => TextBlockStartEvent::new(self.text("replyId")?, self.text("blockId")?).into(),
            "TEXT_BLOCK_DELTA" => {
                TextBlockDeltaEvent::new(self.text("replyId")?, self.text("blockId")?, self.text("delta")?).into()
            }
            "TEXT_BLOCK_END" => TextBlockEndEvent::new(self.text("replyId")?, self.text("blockId")?).into(),
            "THINKING_BLOCK_START" => ThinkingBlockStartEvent::new(self.text("replyId")?, self.text("blockId")?).into(),
            "THINKING_BLOCK_DELTA" => {
                ThinkingBlockDeltaEvent::new(self.text("replyId")?, self.text("blockId")?, self.text("delta")?).into()
            }
            "THINKING_BLOCK_END" => ThinkingBlockEndEvent::new(self.text("replyId")?, self.text("blockId")?).into(),
            "DATA_BLOCK_START" => {
                DataBlockStartEvent::new(self.text("replyId")?, self.text("blockId")?, self.media_type()?).into()
            }
            "DATA_BLOCK_DELTA" => DataBlockDeltaEvent::from_base64(
                self.text("replyId")?,
                self.text("blockId")?,
                self.media_type()?,
                // The documentation uses `data`.
                self.fields.text_of(&["delta", "data"])?.unwrap_or_default(),
            )
            .into(),
            "DATA_BLOCK_END" => DataBlockEndEvent::new(self.text("replyId")?, self.text("blockId")?).into(),
            "HINT_BLOCK" => {
                let (reply_id, block_id) = (self.text("replyId")?, self.text("blockId")?);
                let source = self.fields.text("hintSource")?;
                let mut hint = HintBlockEvent::new(reply_id, block_id, self.text("hint")?.into_owned());
                hint.source = source;
                hint.into()
            }
            "TOOL_CALL_START" => {
                ToolCallStartEvent::new(self.text("replyId")?, self.text("toolCallId")?, self.text("toolCallName")?)
                    .into()
            }
            "TOOL_CALL_DELTA" => {
                ToolCallDeltaEvent::new(self.text("replyId")?, self.tool_call_id_and_name()?, self.text("delta")?)
                    .into()
            }
            "TOOL_CALL_END" => ToolCallEndEvent::new(self.text("replyId")?, self.tool_call_id_and_name()?).into(),
            "TOOL_RESULT_START" => {
                ToolResultStartEvent::new(self.text("replyId")?, self.text("toolCallId")?, self.text("toolCallName")?)
                    .into()
            }
            "TOOL_RESULT_TEXT_DELTA" => {
                ToolResultTextDeltaEvent::new(self.text("replyId")?, self.tool_call_id_and_name()?, self.text("delta")?)
                    .into()
            }
            "TOOL_RESULT_DATA_DELTA" => self.tool_result_data()?,
            "TOOL_RESULT_END" => {
                let (reply_id, tool_call_id) = (self.text("replyId")?, self.tool_call_id_and_name()?);
                let state = self.fields.word("state", ToolResultState::from_name)?;
                self.is_complete &= state.is_some();
                ToolResultEndEvent::new(reply_id, tool_call_id, state.unwrap_or(ToolResultState::Success)).into()
            }
            "EXCEED_MAX_ITERS" => ExceedMaxItersEvent::new(self.text("replyId")?, "").into(),
            "REQUIRE_USER_CONFIRM" => RequireUserConfirmEvent::new(self.text("replyId")?, self.tool_calls()?).into(),
            "REQUIRE_EXTERNAL_EXECUTION" => {
                RequireExternalExecutionEvent::new(self.text("replyId")?, self.tool_calls()?).into()
            }
            "USER_CONFIRM_RESULT" => {
                UserConfirmResultEvent::new(self.text("replyId")?, self.items("confirmResults", read_confirm_result)?)
                    .into()
            }
            "EXTERNAL_EXECUTION_RESULT" => {
                ExternalExecutionResultEvent::new(self.text("replyId")?, self.items("toolResults", read_tool_result)?)
                    .into()
            }
            "CUSTOM" => {
                let (name, value) = (self.text("name")?, self.fields.object("value")?.unwrap_or_default());
                CustomEvent::new(name).with_value(value).into()
            }
            java_only_event if JAVA_ONLY.contains(&java_only_event) => self.java_only_event(java_only_event)?.into(),
            other => {
                let what = format!("unknown event type {other:?}");
                return Err(DecodeError::new(DecodeErrorKind::UnknownValue, what).within("type"));
            }
        })
    }

    /// Returns a string, or an empty one if it is missing.
    fn text(&mut self, name: &str) -> Result<Cow<'a, str>, DecodeError> {
        let text = self.fields.text(name)?;
        self.is_complete &= text.is_some();
        Ok(text.unwrap_or_default())
    }

    /// Returns the id of a call, and records the name of its tool.
    fn tool_call_id_and_name(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        let id = self.text("toolCallId")?;
        self.tool_name = self.fields.text("toolCallName")?;
        Ok(id)
    }

    /// Returns the media type, which only the documentation has.
    fn media_type(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        Ok(self.fields.text_of(&["mediaType", "media_type"])?.unwrap_or(Cow::Borrowed(UNKNOWN_MEDIA)))
    }

    fn model_call_end(&mut self) -> Result<ModelCallEndEvent<'a>, DecodeError> {
        let reply_id = self.text("replyId")?;
        let counted = self.fields.take("usage").map(usage::read).transpose().map_err(|error| error.within("usage"))?;
        // The documentation shows the counts in the event itself.
        let (input, output) = (self.fields.count("inputTokens")?, self.fields.count("outputTokens")?);
        let usage = counted.or_else(|| {
            let is_counted = input.is_some() || output.is_some();
            is_counted.then(|| Usage::new(input.unwrap_or_default(), output.unwrap_or_default()))
        });
        if usage.is_none() {
            self.metadata.insert("usage", "unknown");
        }
        let usage = usage.unwrap_or_else(|| Usage::new(0, 0));
        Ok(ModelCallEndEvent::new(reply_id, usage.input_tokens, usage.output_tokens)
            .with_cache_input_tokens(usage.cache_input_tokens))
    }

    /// Parses the data of a tool result: a block in Java, or a string with its media type in the documentation.
    fn tool_result_data(&mut self) -> Result<EventKind<'a>, DecodeError> {
        let (reply_id, tool_call_id) = (self.text("replyId")?, self.text("toolCallId")?);
        let text = |delta: String| ToolResultTextDeltaEvent::new(reply_id.clone(), tool_call_id.clone(), delta);
        let Some(raw) = self.fields.take("data") else {
            let (url, media_type) = (self.fields.text("url")?, self.media_type()?);
            let Some(url) = url else {
                self.metadata.insert(NAME, Object::from([("type", DATA)]));
                return Ok(text(String::new()).into());
            };
            let event = ToolResultDataDeltaEvent::from_url(reply_id, tool_call_id, media_type, url);
            return Ok(event.into());
        };
        if let Ok(data) = raw.to_str() {
            let media_type = self.media_type()?;
            let event = ToolResultDataDeltaEvent::from_base64(reply_id, tool_call_id, media_type, data);
            return Ok(event.into());
        }
        let context = BlockContext { owner: &tool_call_id, time: self.time, ..BlockContext::default() };
        let mut item = block::read(raw, context, None).map_err(|error| error.within("data"))?;
        if let Some(extra) = preserved::block_holder_mut(&mut item) {
            preserved::take(extra, NAME);
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
                let mut delta = ToolResultDataDeltaEvent::new(reply_id, tool_call_id, media_type);
                delta.block_id = has_id.then_some(Cow::Owned(id));
                delta.data = data.map(Cow::Owned);
                delta.url = url.map(Cow::Owned);
                Ok(delta.into())
            }
            // Native data is media, so other blocks become text.
            other => {
                self.metadata.insert(NAME, Object::from([("type", DATA)]));
                Ok(text(codec::text_fallback(&other)).into())
            }
        }
    }

    fn tool_calls(&mut self) -> Result<Vec<ToolCallBlock>, DecodeError> {
        self.items("toolCalls", read_tool_call)
    }

    /// Parses a list of blocks with their native-only fields.
    fn items<T>(
        &mut self,
        name: &str,
        read: fn(Raw<'_>, BlockContext<'_>, Option<&Object>) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let (native_only_items, time) = (self.native_only_items, self.time);
        let items = self.fields.list(name, |index, raw| {
            let native_only = native_only_items.get(index).and_then(Json::to_object);
            read(raw, BlockContext { index, time, ..BlockContext::default() }, native_only.as_ref())
        })?;
        Ok(items.unwrap_or_default())
    }

    /// Returns a signal that has the name and the fields of the event.
    fn java_only_event(&mut self, kind: &str) -> Result<CustomEvent<'a>, DecodeError> {
        let mut value = Object::new();
        for name in ORDER.iter().filter(|name| !matches!(**name, "type" | "id" | "createdAt" | "source" | "metadata")) {
            if let Some(raw) = self.fields.take(name) {
                value.insert(*name, raw.to_value().map_err(|error| error.within(name))?);
            }
        }
        self.metadata.insert(NAME, Object::from([("type", kind)]));
        Ok(CustomEvent::new(kind.to_owned()).with_value(value))
    }
}

fn read_tool_call(
    raw: Raw<'_>,
    context: BlockContext<'_>,
    native_only: Option<&Object>,
) -> Result<ToolCallBlock, DecodeError> {
    match block::read(raw, context, native_only)? {
        ContentBlock::ToolCall(call) => Ok(call),
        other => Err(wrong_block_type("tool_use", &other)),
    }
}

fn read_tool_result(
    raw: Raw<'_>,
    context: BlockContext<'_>,
    native_only: Option<&Object>,
) -> Result<ToolResultBlock, DecodeError> {
    match block::read(raw, context, native_only)? {
        ContentBlock::ToolResult(result) => Ok(result),
        other => Err(wrong_block_type("tool_result", &other)),
    }
}

fn wrong_block_type(expected: &str, found: &ContentBlock) -> DecodeError {
    let what = format!("expected a {expected} block, found a {} block", found.type_name());
    DecodeError::new(DecodeErrorKind::WrongType, what)
}

fn read_confirm_result(
    raw: Raw<'_>,
    context: BlockContext<'_>,
    native_only: Option<&Object>,
) -> Result<ConfirmResult, DecodeError> {
    let mut fields = JavaFields::of(raw)?;
    let confirmed = fields.boolean("confirmed")?.unwrap_or(false);
    let tool_call = match fields.take("toolCall") {
        Some(call) => read_tool_call(call, context, native_only),
        // Java accepts a decision without a call. It matches no call.
        None => read_tool_call(Raw::document(r#"{"type":"tool_use","id":""}"#)?, context, native_only),
    };
    let tool_call = tool_call.map_err(|error| error.within("toolCall"))?;
    let rules = fields.list("rules", |_, raw| codec::read_rule(raw))?;
    let mut result = if confirmed { ConfirmResult::allow(tool_call) } else { ConfirmResult::deny(tool_call) };
    result.rules = rules;
    result.extra = fields.rest()?;
    Ok(result)
}
