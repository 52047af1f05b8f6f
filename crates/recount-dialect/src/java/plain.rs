//! What blocks say on both sides.

use recount_message::wire::{Kind, Raw};
use recount_message::{
    Base64Source, ContentBlock, DataBlock, DecodeError, DecodeErrorKind, HintBlock, LegacyMedia, MediaBlock, Object,
    Payload, PermissionRule, Source, TextBlock, ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock,
    ToolResultState, UnknownBlock, UrlSource,
};

use super::fields::{self, JavaFields};
use super::text::{self, ObjectWriter};
use super::{Version, block};
use crate::residue;

/// Where a block stands, from which the ids and times that Java does not have are derived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place<'p> {
    /// The id of what holds the block.
    pub(crate) owner: &'p str,
    /// Which of the owner's blocks it is.
    pub(crate) index: usize,
    /// The owner's time.
    pub(crate) time: &'p str,
    /// Whose block it is.
    pub(crate) version: Version,
}

impl Place<'_> {
    fn id(&self) -> String {
        format!("{}.{}", self.owner, self.index)
    }
}

/// The place of an item of a tool's answer.
pub(super) fn item_place<'p>(id: &'p str, index: usize, time: &'p str, version: Version) -> Place<'p> {
    Place { owner: id, index, time, version }
}

/// The fields that thinking and tool calls declare natively. Whatever else they have is Java's metadata, and no such
/// metadata can replace one of these.
const DECLARED: &[&str] =
    &["type", "thinking", "id", "name", "input", "state", "suggested_rules", "created_at", "finished_at", residue::KEY];

/// The metadata of a result that somebody else has to bring.
pub(crate) const SUSPENDED: &str = "agentscope_suspended";

/// The mark of a block that nobody knows here, but that came from Java.
const FROM_JAVA: &str = "from";

/// Whether a block that nobody knows came from Java, so that it may go back there.
pub(super) fn is_from_java(block: &UnknownBlock, version: Version) -> bool {
    residue::get(&block.fields, version.name()).contains_key(FROM_JAVA)
}

/// Whether a block says that it is text, what the text is, and no more.
pub(super) fn is_plain_text(raw: Raw<'_>) -> bool {
    raw.text.starts_with(r#"{"type":"text","text":""#)
        && JavaFields::of(raw).is_ok_and(|mut fields| {
            let _ = (fields.take("type"), fields.take("text"));
            fields.rest().is_ok_and(|rest| rest.is_empty())
        })
}

/// Reads a block.
pub(super) fn read_block(raw: Raw<'_>, place: Place<'_>) -> Result<ContentBlock, DecodeError> {
    let (kind, mut fields) = JavaFields::of_class(raw)?;
    Ok(match &*kind {
        "text" => {
            let (text, stamps) = (fields.text("text")?.unwrap_or_default(), Stamps::read(&mut fields, place)?);
            let Stamps { id, created_at, finished_at } = stamps;
            TextBlock { text: text.into_owned(), id, created_at, finished_at, extra: fields.rest()? }.into()
        }
        "thinking" => {
            let thinking = fields.text("thinking")?.unwrap_or_default().into_owned();
            let metadata = fields.object("metadata")?.unwrap_or_default();
            let Stamps { id, created_at, finished_at } = Stamps::read(&mut fields, place)?;
            let extra = undeclared(&metadata, &fields)?;
            ThinkingBlock { thinking, id, created_at, finished_at, extra }.into()
        }
        "data" => read_data(fields, place)?.into(),
        "image" | "audio" | "video" => {
            let legacy = LegacyMedia::from_word(&kind);
            let block = read_data(fields, place)?;
            match legacy {
                Some(legacy) => block.into_legacy(legacy).into(),
                None => block.into(),
            }
        }
        "hint" => {
            let hint = Payload::Text(fields.text("hint")?.unwrap_or_default().into_owned());
            let source = fields.text("source")?.map(String::from);
            let Stamps { id, created_at, finished_at } = Stamps::read(&mut fields, place)?;
            let finished_at = finished_at.or_else(|| Some(created_at.clone()));
            HintBlock { hint, id, source, created_at, finished_at, extra: fields.rest()? }.into()
        }
        "tool_use" => read_tool_call(fields, place)?.into(),
        "tool_result" => read_tool_result(fields, place)?.into(),
        _ => {
            let mut fields = fields::object(raw)?;
            residue::keep(&mut fields, place.version.name(), Object::from([(FROM_JAVA, true)]));
            ContentBlock::Unknown(UnknownBlock { fields })
        }
    })
}

/// What every native block has and most Java blocks have not.
struct Stamps {
    id: String,
    created_at: String,
    finished_at: Option<String>,
}

impl Stamps {
    fn read(fields: &mut JavaFields<'_>, place: Place<'_>) -> Result<Self, DecodeError> {
        let id = fields.text("id")?.filter(|id| !id.is_empty());
        let created_at = fields.text("created_at")?;
        Ok(Self {
            id: id.map_or_else(|| place.id(), String::from),
            created_at: created_at.map_or_else(|| place.time.to_owned(), String::from),
            finished_at: fields.text("finished_at")?.map(String::from),
        })
    }
}

/// A block's metadata as native fields beside the declared ones, after the fields that nobody knows.
fn undeclared(metadata: &Object, fields: &JavaFields<'_>) -> Result<Object, DecodeError> {
    let mut extra = fields.rest()?;
    for (name, value) in metadata.iter().filter(|(name, _)| !DECLARED.contains(name)) {
        extra.insert(name, value.clone());
    }
    Ok(extra)
}

fn read_data(mut fields: JavaFields<'_>, place: Place<'_>) -> Result<DataBlock, DecodeError> {
    let source = match fields.take("source") {
        Some(raw) => read_source(raw, place.version).map_err(|error| error.within("source"))?,
        // A video may come without.
        None => no_source(),
    };
    let name = fields.text("name")?.map(String::from);
    let Stamps { id, created_at, finished_at } = Stamps::read(&mut fields, place)?;
    Ok(DataBlock { id, source, name, created_at, finished_at, extra: Object::new() })
}

fn no_source() -> Source {
    Base64Source::from_base64("", "application/octet-stream").into()
}

fn read_source(raw: Raw<'_>, version: Version) -> Result<Source, DecodeError> {
    let (kind, mut fields) = JavaFields::of_class(raw)?;
    match &*kind {
        "url" => {
            let url = fields.text("url")?.ok_or_else(|| DecodeError::missing("url"))?.into_owned();
            // `mime_type` is what Java writes for a URL; the others are what it writes elsewhere and what documents show.
            let media_type = match (version, fields.text_of(&["mime_type", "media_type", "mimeType", "mediaType"])) {
                // Java 1 has none, so there it may be anything.
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
        // The base class, which Java makes too. It says nothing.
        "Source" => Ok(no_source()),
        other => {
            let what = format!("unknown source {other:?}, expected one of url, base64");
            Err(DecodeError::new(DecodeErrorKind::UnknownValue, what).within("type"))
        }
    }
}

pub(super) fn read_tool_call(mut fields: JavaFields<'_>, place: Place<'_>) -> Result<ToolCallBlock, DecodeError> {
    let id = fields.text("id")?;
    let name = fields.text("name")?;
    // `arguments` is what the documents of Java 1 say.
    let input = match fields.take_any(&["input", "arguments"]) {
        Some((name, raw)) => fields::object(raw).map_err(|error| error.within(name))?,
        None => Object::new(),
    };
    let content = fields.text("content")?;
    let metadata = fields.object("metadata")?.unwrap_or_default();
    let state = read_state(&mut fields, place.version, ToolCallState::from_word)?.unwrap_or(ToolCallState::Pending);
    let created_at = fields.text("created_at")?.map_or_else(|| place.time.to_owned(), String::from);
    let finished_at = fields.text("finished_at")?.map(String::from);
    // Java does not know them, so they may be anything.
    let suggested_rules = fields.list("suggested_rules", |_, raw| read_rule(raw)).ok().flatten().unwrap_or_default();
    let block = ToolCallBlock {
        id: id.map_or_else(|| place.id(), String::from),
        name: name.as_deref().unwrap_or_default().to_owned(),
        input: arguments(content.as_deref(), &input),
        state,
        suggested_rules,
        created_at,
        finished_at,
        extra: undeclared(&metadata, &fields)?,
    };
    Ok(if name.is_none() { block.without_name() } else { block })
}

/// The arguments of a call: the text that the model wrote, where it is an object that says something.
fn arguments(content: Option<&str>, input: &Object) -> String {
    match content {
        Some(content) if Object::parse(content).is_ok_and(|parsed| !parsed.is_empty() || input.is_empty()) => {
            content.to_owned()
        }
        _ => input.to_json(),
    }
}

pub(super) fn read_tool_result(mut fields: JavaFields<'_>, place: Place<'_>) -> Result<ToolResultBlock, DecodeError> {
    // `toolUseId` and `result` are what the documents of Java 1 say.
    let id = fields.text_of(&["id", "toolUseId"])?.map_or_else(|| place.id(), String::from);
    let name = fields.text("name")?;
    let time = fields.text("created_at")?.map_or_else(|| place.time.to_owned(), String::from);
    let single = fields.has("result");
    let output = match fields.take_any(&["output", "result"]) {
        Some((name, raw)) => {
            read_output(raw, single, Place { owner: &id, time: &time, ..place }).map_err(|error| error.within(name))?
        }
        None => Vec::new(),
    };
    let metadata = fields.object("metadata")?.unwrap_or_default();
    let state = read_state(&mut fields, place.version, ToolResultState::from_word)?;
    let finished_at = fields.text("finished_at")?.map(String::from);
    let block = ToolResultBlock {
        id,
        name: name.as_deref().unwrap_or_default().to_owned(),
        state: state.unwrap_or_else(|| unstated(&output, &metadata, place.version)),
        output: Payload::Blocks(output),
        metadata,
        created_at: time,
        finished_at,
        extra: fields.rest()?,
    };
    Ok(if name.is_none() { block.without_name() } else { block })
}

/// A tool's answer: a list of blocks, or one block where the documents show one.
fn read_output(raw: Raw<'_>, single: bool, place: Place<'_>) -> Result<Vec<MediaBlock>, DecodeError> {
    if single && raw.kind == Kind::Object {
        return Ok(vec![read_item(raw, Place { index: 0, ..place })?]);
    }
    let items = raw.elements()?.enumerate();
    items.map(|(index, raw)| read_item(raw, Place { index, ..place }).map_err(|error| error.at_index(index))).collect()
}

/// A state, where there is one. Java 1 has none, so there it may be anything.
fn read_state<T>(
    fields: &mut JavaFields<'_>,
    version: Version,
    from_word: fn(&str) -> Option<T>,
) -> Result<Option<T>, DecodeError> {
    match version {
        Version::One => Ok(fields.word("state", from_word).ok().flatten()),
        Version::Two => fields.word("state", from_word),
    }
}

/// What a result without a state is: running in Java 2; in Java 1 a success, unless it waits or its text says otherwise.
fn unstated(output: &[MediaBlock], metadata: &Object, version: Version) -> ToolResultState {
    let is_error = |item: &MediaBlock| matches!(item, MediaBlock::Text(item) if item.text.starts_with("[ERROR]"));
    match version {
        Version::Two => ToolResultState::Running,
        Version::One if metadata.get(SUSPENDED).is_some_and(|mark| mark.as_str() == "true") => ToolResultState::Running,
        Version::One if output.iter().any(is_error) => ToolResultState::Error,
        Version::One => ToolResultState::Success,
    }
}

fn read_item(raw: Raw<'_>, place: Place<'_>) -> Result<MediaBlock, DecodeError> {
    let item = block::read(raw, place, None)?;
    if let Some(media) = as_media(item.clone()) {
        return Ok(media);
    }
    // Natively an answer is text and data. Whatever else there is says what it can as text, and is kept whole beside it.
    let mut text = text_block(in_words(&item), place);
    let mut said = String::new();
    write_block(&text.clone().into(), place.version, &mut said);
    let kept = residue::difference(&fields::object(raw)?, &Object::parse(&said)?, &[]);
    residue::keep(&mut text.extra, place.version.name(), kept);
    Ok(text.into())
}

/// The block as one that may stand in a tool's answer.
pub(super) fn as_media(block: ContentBlock) -> Option<MediaBlock> {
    match block {
        ContentBlock::Text(block) => Some(block.into()),
        ContentBlock::Data(block) => Some(block.into()),
        ContentBlock::Unknown(block) => Some(MediaBlock::Unknown(block)),
        _ => None,
    }
}

fn text_block(text: String, place: Place<'_>) -> TextBlock {
    TextBlock { text, id: place.id(), created_at: place.time.to_owned(), finished_at: None, extra: Object::new() }
}

pub(super) fn in_words(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(block) => block.text.clone(),
        ContentBlock::Thinking(block) => block.thinking.clone(),
        ContentBlock::Hint(block) => block.hint.text().unwrap_or_default(),
        ContentBlock::ToolCall(block) => format!("{}({})", block.name, block.input),
        ContentBlock::ToolResult(block) => block.output.text().unwrap_or_default(),
        other => other.to_json(),
    }
}

pub(super) fn read_rule(raw: Raw<'_>) -> Result<PermissionRule, DecodeError> {
    let mut fields = JavaFields::of(raw)?;
    let mut require = |name| fields.text(name)?.map(String::from).ok_or_else(|| DecodeError::missing(name));
    let (tool_name, source) = (require("tool_name")?, require("source")?);
    let rule_content = fields.text("rule_content")?.map(String::from);
    let behavior = fields.word("behavior", recount_message::PermissionBehavior::from_word)?;
    let behavior = behavior.ok_or_else(|| DecodeError::missing("behavior"))?;
    Ok(PermissionRule { tool_name, rule_content, behavior, source, extra: fields.rest()? })
}

pub(super) fn write_rule(rule: &PermissionRule, out: &mut String) {
    let mut object = ObjectWriter::begin(out);
    object.text("tool_name", &rule.tool_name);
    object.text_or_null("rule_content", rule.rule_content.as_deref());
    object.text("behavior", rule.behavior.as_str());
    object.text("source", &rule.source);
    rule.extra.iter().for_each(|(name, value)| object.json(name, value));
    object.end();
}

/// Writes a block.
pub(super) fn write_block(block: &ContentBlock, version: Version, out: &mut String) {
    if let ContentBlock::Unknown(block) = block
        && is_from_java(block, version)
    {
        let mut fields = block.fields.clone();
        residue::take(&mut fields, version.name());
        return text::object(out, &fields);
    }
    let mut object = ObjectWriter::begin(out);
    match block {
        ContentBlock::Data(block) if said_as_text(block, version) => {
            object.text("type", "text");
            object.text("text", &as_url(&block.source));
        }
        ContentBlock::Hint(block) if version == Version::One => {
            object.text("type", "text");
            object.text("text", &block.hint.text().unwrap_or_default());
        }
        ContentBlock::Text(block) => {
            object.text("type", "text");
            object.text("text", &block.text);
        }
        ContentBlock::Thinking(block) => {
            object.text("type", "thinking");
            object.text("thinking", &block.thinking);
            match metadata_of(&block.extra) {
                metadata if metadata.is_empty() => object.raw("metadata", "null"),
                metadata => object.object("metadata", &metadata),
            }
        }
        ContentBlock::Data(block) => {
            let legacy = legacy_of(block, version);
            object.text("type", legacy.map_or("data", |legacy| legacy.as_str()));
            write_source(&block.source, version, object.key("source"));
            if legacy.is_none() {
                object.text("id", &block.id);
                object.text_if_any("name", block.name.as_deref());
            }
        }
        ContentBlock::Hint(block) => {
            object.text("type", "hint");
            object.text("id", &block.id);
            object.text("hint", &block.hint.text().unwrap_or_default());
            object.text_or_null("source", block.source.as_deref());
        }
        ContentBlock::ToolCall(block) => {
            object.text("type", "tool_use");
            object.text("id", &block.id);
            object.text_or_null("name", block.has_name().then_some(&block.name));
            object.object("input", &Object::parse(&block.input).unwrap_or_default());
            object.text("content", &block.input);
            object.object("metadata", &metadata_of(&block.extra));
            if version == Version::Two {
                object.text("state", block.state.as_str());
            }
        }
        ContentBlock::ToolResult(block) => {
            object.text("type", "tool_result");
            object.text("id", &block.id);
            object.text_or_null("name", block.has_name().then_some(&block.name));
            write_output(block, version, object.key("output"));
            // Java refuses a `null` there.
            object.object("metadata", &residue::without_nulls(&block.metadata));
            if version == Version::Two {
                object.text("state", block.state.as_str());
            }
        }
        // Java reads no block that it does not know.
        other => {
            object.text("type", "text");
            object.text("text", &other.to_json());
        }
    }
    object.end();
}

fn write_output(result: &ToolResultBlock, version: Version, out: &mut String) {
    let text;
    let items = match &result.output {
        Payload::Blocks(items) => items,
        other => {
            text = [MediaBlock::from(text_block(other.text().unwrap_or_default(), Place::default()))];
            text.as_slice()
        }
    };
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        block::write(&item.clone().into(), item_place(&result.id, index, &result.created_at, version), out);
    }
    out.push(']');
}

fn write_source(source: &Source, version: Version, out: &mut String) {
    let mut object = ObjectWriter::begin(out);
    match source {
        Source::Url(source) => {
            object.text("type", "url");
            object.text("url", source.url());
            if version == Version::Two {
                object.text("mime_type", &source.media_type);
            }
        }
        Source::Base64(source) => {
            object.text("type", "base64");
            object.text("media_type", &source.media_type);
            object.text("data", &source.data);
        }
        _ => {}
    }
    object.end();
}

/// Which legacy media block data is written as. Java 1 has no other.
fn legacy_of(block: &DataBlock, version: Version) -> Option<LegacyMedia> {
    let by_media_type = || match block.media_type().split('/').next()? {
        "image" => Some(LegacyMedia::Image),
        "audio" => Some(LegacyMedia::Audio),
        "video" => Some(LegacyMedia::Video),
        _ => None,
    };
    block.legacy().or_else(|| if version == Version::One { by_media_type() } else { None })
}

fn said_as_text(block: &DataBlock, version: Version) -> bool {
    version == Version::One && legacy_of(block, version).is_none()
}

/// What a text stands for, where Java 1 has no other way to say it.
pub(super) fn stands_for(block: &ContentBlock, version: Version) -> Option<&'static str> {
    match block {
        ContentBlock::Data(block) if said_as_text(block, version) => Some("data"),
        ContentBlock::Hint(_) if version == Version::One => Some("hint"),
        _ => None,
    }
}

/// The block that a text stands for.
pub(super) fn meant(text: TextBlock, what: &str) -> ContentBlock {
    let TextBlock { text, id, created_at, finished_at, extra } = text;
    match what {
        "data" => DataBlock { id, source: from_url(&text), name: None, created_at, finished_at, extra }.into(),
        "hint" => HintBlock { hint: Payload::Text(text), id, source: None, created_at, finished_at, extra }.into(),
        _ => TextBlock { text, id, created_at, finished_at, extra }.into(),
    }
}

const DATA_URL: (&str, &str) = ("data:", ";base64,");

/// Data as one text: where it is, or all of it.
fn as_url(source: &Source) -> String {
    match source {
        Source::Url(source) => source.url().to_owned(),
        Source::Base64(source) => format!("{}{}{}{}", DATA_URL.0, source.media_type, DATA_URL.1, source.data),
        _ => String::new(),
    }
}

fn from_url(text: &str) -> Source {
    let data = text.strip_prefix(DATA_URL.0).and_then(|text| text.split_once(DATA_URL.1));
    match data {
        Some((media_type, data)) => Base64Source::from_base64(data, media_type).into(),
        None => UrlSource::unchecked(text, UrlSource::guessed_media_type(text)).into(),
    }
}

/// What a block has beside its declared fields is Java's metadata.
fn metadata_of(extra: &Object) -> Object {
    extra.iter().filter(|(name, _)| *name != residue::KEY).map(|(name, value)| (name, value.clone())).collect()
}
