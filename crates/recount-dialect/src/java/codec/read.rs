//! Parsing of blocks.

use recount_message::wire::{Kind, Raw};
use recount_message::{
    Base64Source, ContentBlock, DataBlock, DecodeError, DecodeErrorKind, HintBlock, LegacyMedia, MediaBlock, Object,
    Payload, PermissionRule, Source, TextBlock, ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock,
    ToolResultState, UnknownBlock, UrlSource,
};

use super::{BlockContext, DECLARED, FROM_JAVA, SUSPENDED, as_media, text_block, text_fallback, write_block};
use crate::java::fields::{self, JavaFields};
use crate::java::{Version, block};
use crate::{patch, preserved};

/// Returns whether a block is a text block without other fields.
pub(in crate::java) fn is_plain_text(raw: Raw<'_>) -> bool {
    raw.text.starts_with(r#"{"type":"text","text":""#)
        && JavaFields::of(raw).is_ok_and(|mut fields| {
            let _ = (fields.take("type"), fields.take("text"));
            fields.rest().is_ok_and(|rest| rest.is_empty())
        })
}

/// Parses a block.
pub(in crate::java) fn read_block(raw: Raw<'_>, context: BlockContext<'_>) -> Result<ContentBlock, DecodeError> {
    let (kind, mut fields) = JavaFields::of_class(raw)?;
    Ok(match &*kind {
        "text" => {
            let (text, id_and_times) =
                (fields.text("text")?.unwrap_or_default(), IdAndTimes::read(&mut fields, context)?);
            let IdAndTimes { id, created_at, finished_at } = id_and_times;
            let mut block = TextBlock::stamped(id, created_at, text);
            block.finished_at = finished_at;
            block.extra = fields.rest()?;
            block.into()
        }
        "thinking" => {
            let thinking = fields.text("thinking")?.unwrap_or_default().into_owned();
            let metadata = fields.object("metadata")?.unwrap_or_default();
            let IdAndTimes { id, created_at, finished_at } = IdAndTimes::read(&mut fields, context)?;
            let extra = extra_with_metadata(&metadata, &fields)?;
            let mut block = ThinkingBlock::stamped(id, created_at, thinking);
            (block.finished_at, block.extra) = (finished_at, extra);
            block.into()
        }
        "data" => read_data(fields, context)?.into(),
        "image" | "audio" | "video" => {
            let legacy = LegacyMedia::from_name(&kind);
            let block = read_data(fields, context)?;
            match legacy {
                Some(legacy) => block.into_legacy(legacy).into(),
                None => block.into(),
            }
        }
        "hint" => {
            let hint = Payload::Text(fields.text("hint")?.unwrap_or_default().into_owned());
            let source = fields.text("source")?.map(String::from);
            let IdAndTimes { id, created_at, finished_at } = IdAndTimes::read(&mut fields, context)?;
            let finished_at = finished_at.or_else(|| Some(created_at.clone()));
            let mut block = HintBlock::stamped(id, created_at, hint);
            (block.source, block.finished_at) = (source, finished_at);
            block.extra = fields.rest()?;
            block.into()
        }
        "tool_use" => read_tool_call(fields, context)?.into(),
        "tool_result" => read_tool_result(fields, context)?.into(),
        _ => {
            let mut fields = fields::object(raw)?;
            preserved::store(&mut fields, context.version.name(), Object::from([(FROM_JAVA, true)]));
            ContentBlock::Unknown(UnknownBlock::new(fields))
        }
    })
}

/// Fields that every native block has and most Java blocks lack.
struct IdAndTimes {
    id: String,
    created_at: String,
    finished_at: Option<String>,
}

impl IdAndTimes {
    fn read(fields: &mut JavaFields<'_>, context: BlockContext<'_>) -> Result<Self, DecodeError> {
        let id = fields.text("id")?.filter(|id| !id.is_empty());
        let created_at = fields.text("created_at")?;
        Ok(Self {
            id: id.map_or_else(|| context.id(), String::from),
            created_at: created_at.map_or_else(|| context.time.to_owned(), String::from),
            finished_at: fields.text("finished_at")?.map(String::from),
        })
    }
}

/// Returns the undeclared fields of a block, followed by its metadata.
fn extra_with_metadata(metadata: &Object, fields: &JavaFields<'_>) -> Result<Object, DecodeError> {
    let mut extra = fields.rest()?;
    for (name, value) in metadata.iter().filter(|(name, _)| !DECLARED.contains(name)) {
        extra.insert(name, value.clone());
    }
    Ok(extra)
}

fn read_data(mut fields: JavaFields<'_>, context: BlockContext<'_>) -> Result<DataBlock, DecodeError> {
    let source = match fields.take("source") {
        Some(raw) => read_source(raw, context.version).map_err(|error| error.within("source"))?,
        // A video can have no source.
        None => no_source(),
    };
    let name = fields.text("name")?.map(String::from);
    let IdAndTimes { id, created_at, finished_at } = IdAndTimes::read(&mut fields, context)?;
    let mut block = DataBlock::stamped(id, created_at, source);
    (block.name, block.finished_at) = (name, finished_at);
    Ok(block)
}

fn no_source() -> Source {
    Base64Source::from_base64("", "application/octet-stream").into()
}

fn read_source(raw: Raw<'_>, version: Version) -> Result<Source, DecodeError> {
    let (kind, mut fields) = JavaFields::of_class(raw)?;
    match &*kind {
        "url" => {
            let url = fields.text("url")?.ok_or_else(|| DecodeError::missing("url"))?.into_owned();
            // Java writes `mime_type` for a URL. The other names occur elsewhere in Java and in its documentation.
            let media_type = match (version, fields.text_of(&["mime_type", "media_type", "mimeType", "mediaType"])) {
                // Java 1 has no such field, so any value is allowed.
                (Version::One, given) => given.ok().flatten(),
                (Version::Two, given) => given?,
            };
            let media_type = media_type.map_or_else(|| UrlSource::guessed_media_type(&url), String::from);
            Ok(UrlSource::unchecked(url, media_type).into())
        }
        "base64" => {
            let media_type = fields.text_of(&["media_type", "mime_type", "mediaType", "mimeType"])?;
            let media_type = media_type.ok_or_else(|| DecodeError::missing("media_type"))?;
            let data = fields.text("data")?.ok_or_else(|| DecodeError::missing("data"))?;
            Ok(Base64Source::from_base64(data, media_type).into())
        }
        // Java can also create the base class, which has no content.
        "Source" => Ok(no_source()),
        other => {
            let what = format!("unknown source {other:?}, expected one of url, base64");
            Err(DecodeError::new(DecodeErrorKind::UnknownValue, what).within("type"))
        }
    }
}

pub(in crate::java) fn read_tool_call(
    mut fields: JavaFields<'_>,
    context: BlockContext<'_>,
) -> Result<ToolCallBlock, DecodeError> {
    let id = fields.text("id")?;
    let name = fields.text("name")?;
    // The documentation of Java 1 uses `arguments`.
    let input = match fields.take_any(&["input", "arguments"]) {
        Some((name, raw)) => fields::object(raw).map_err(|error| error.within(name))?,
        None => Object::new(),
    };
    let content = fields.text("content")?;
    let metadata = fields.object("metadata")?.unwrap_or_default();
    let state = read_state(&mut fields, context.version, ToolCallState::from_name)?.unwrap_or(ToolCallState::Pending);
    let created_at = fields.text("created_at")?.map_or_else(|| context.time.to_owned(), String::from);
    let finished_at = fields.text("finished_at")?.map(String::from);
    // Java has no such field, so any value is allowed.
    let suggested_rules = fields.list("suggested_rules", |_, raw| read_rule(raw)).ok().flatten().unwrap_or_default();
    let id = id.map_or_else(|| context.id(), String::from);
    let input = arguments(content.as_deref(), &input);
    let mut block = ToolCallBlock::stamped(id, created_at, name.as_deref().unwrap_or_default(), input);
    (block.state, block.suggested_rules, block.finished_at) = (state, suggested_rules, finished_at);
    block.extra = extra_with_metadata(&metadata, &fields)?;
    Ok(if name.is_none() { block.without_name() } else { block })
}

/// Returns the arguments of a call: the text that the model wrote if it is an object, otherwise the parsed input.
fn arguments(content: Option<&str>, input: &Object) -> String {
    match content {
        Some(content) if Object::parse(content).is_ok_and(|parsed| !parsed.is_empty() || input.is_empty()) => {
            content.to_owned()
        }
        _ => input.to_json(),
    }
}

pub(in crate::java) fn read_tool_result(
    mut fields: JavaFields<'_>,
    context: BlockContext<'_>,
) -> Result<ToolResultBlock, DecodeError> {
    // The documentation of Java 1 uses `toolUseId` and `result`.
    let id = fields.text_of(&["id", "toolUseId"])?.map_or_else(|| context.id(), String::from);
    let name = fields.text("name")?;
    let time = fields.text("created_at")?.map_or_else(|| context.time.to_owned(), String::from);
    let single = fields.has("result");
    let output = match fields.take_any(&["output", "result"]) {
        Some((name, raw)) => read_output(raw, single, BlockContext { owner: &id, time: &time, ..context })
            .map_err(|error| error.within(name))?,
        None => Vec::new(),
    };
    let metadata = fields.object("metadata")?.unwrap_or_default();
    let state = read_state(&mut fields, context.version, ToolResultState::from_name)?;
    let finished_at = fields.text("finished_at")?.map(String::from);
    let state = state.unwrap_or_else(|| default_result_state(&output, &metadata, context.version));
    let mut block = ToolResultBlock::stamped(id, time, name.as_deref().unwrap_or_default(), output, state);
    (block.metadata, block.finished_at) = (metadata, finished_at);
    block.extra = fields.rest()?;
    Ok(if name.is_none() { block.without_name() } else { block })
}

/// Parses the output of a tool: a list of blocks, or a single block as shown in the documentation.
fn read_output(raw: Raw<'_>, single: bool, context: BlockContext<'_>) -> Result<Vec<MediaBlock>, DecodeError> {
    if single && raw.kind == Kind::Object {
        return Ok(vec![read_item(raw, BlockContext { index: 0, ..context })?]);
    }
    let items = raw.elements()?.enumerate();
    items
        .map(|(index, raw)| read_item(raw, BlockContext { index, ..context }).map_err(|error| error.at_index(index)))
        .collect()
}

/// Parses a state. Java 1 has no such field, so any value is allowed.
fn read_state<T>(
    fields: &mut JavaFields<'_>,
    version: Version,
    from_name: fn(&str) -> Option<T>,
) -> Result<Option<T>, DecodeError> {
    match version {
        Version::One => Ok(fields.word("state", from_name).ok().flatten()),
        Version::Two => fields.word("state", from_name),
    }
}

/// Returns the state of a result without one. In Java 2 it is running. In Java 1 it is a success unless it is suspended
/// or its text is an error.
fn default_result_state(output: &[MediaBlock], metadata: &Object, version: Version) -> ToolResultState {
    let is_error = |item: &MediaBlock| matches!(item, MediaBlock::Text(item) if item.text.starts_with("[ERROR]"));
    match version {
        Version::Two => ToolResultState::Running,
        Version::One if metadata.get(SUSPENDED).is_some_and(|mark| mark.as_bool() == Some(true)) => {
            ToolResultState::Running
        }
        Version::One if output.iter().any(is_error) => ToolResultState::Error,
        Version::One => ToolResultState::Success,
    }
}

fn read_item(raw: Raw<'_>, context: BlockContext<'_>) -> Result<MediaBlock, DecodeError> {
    let item = block::read(raw, context, None)?;
    if let Some(media) = as_media(item.clone()) {
        return Ok(media);
    }
    // Native output consists of text and data. Other blocks become text, and their original fields are stored in it.
    let mut text = text_block(text_fallback(&item), context);
    let mut written = String::new();
    write_block(&text.clone().into(), context.version, &mut written);
    let java_only = patch::fields::difference(&fields::object(raw)?, &Object::parse(&written)?, &[]);
    preserved::store(&mut text.extra, context.version.name(), java_only);
    Ok(text.into())
}

pub(in crate::java) fn read_rule(raw: Raw<'_>) -> Result<PermissionRule, DecodeError> {
    let mut fields = JavaFields::of(raw)?;
    let mut require = |name| fields.text(name)?.map(String::from).ok_or_else(|| DecodeError::missing(name));
    let (tool_name, source) = (require("tool_name")?, require("source")?);
    let rule_content = fields.text("rule_content")?.map(String::from);
    let behavior = fields.word("behavior", recount_message::PermissionBehavior::from_name)?;
    let behavior = behavior.ok_or_else(|| DecodeError::missing("behavior"))?;
    let mut rule = PermissionRule::new(tool_name, rule_content.as_deref(), behavior).with_source(source);
    rule.extra = fields.rest()?;
    Ok(rule)
}
