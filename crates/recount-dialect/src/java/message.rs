//! Conversion of messages. See `block` for the handling of fields that only one side has.

use recount_message::wire::{Fnv1a, Kind, Raw};
use recount_message::{ContentBlock, DecodeError, DecodeErrorKind, FinishedReason, Json, Msg, MsgParts, Object, Role};

use super::codec::BlockContext;
use super::fields::{JavaFields, object, without_nulls};
use super::{NATIVE, Version, block, time, usage};
use crate::json::{self, ObjectWriter};
use crate::{patch, preserved};

/// The fields whose values are compared field by field.
const NESTED: &[&str] = &["metadata", "usage"];

pub(crate) const GENERATE_REASON: &str = "agentscope_generate_reason";
pub(crate) const STRUCTURED_OUTPUT: &str = "_structured_output";
pub(crate) const CHAT_USAGE: &str = "_chat_usage";

/// Parses a message of Java 2.
pub(super) fn read(raw: Raw<'_>) -> Result<Msg, DecodeError> {
    read_as(raw, Version::Two)
}

/// Parses a message.
pub(crate) fn read_as(raw: Raw<'_>, version: Version) -> Result<Msg, DecodeError> {
    let (mut given, mut native_only) = (object(raw)?, Object::new());
    if let Some(mut metadata) = given.get("metadata").and_then(Json::to_object) {
        native_only = preserved::take(&mut metadata, NATIVE);
        if !native_only.is_empty() {
            given.insert("metadata", metadata);
        }
    }
    let native_only_items = native_only.remove("blocks").and_then(|blocks| blocks.to_array()).unwrap_or_default();
    let mut parts = read_common(raw, &native_only_items, version)?;
    preserved::take(&mut parts.metadata, NATIVE);
    let content = std::mem::take(&mut parts.content);

    given.remove("content");
    // Java writes them as `null`.
    for name in ["id", "role"] {
        if !given.contains_key(name) {
            given.insert(name, Json::null());
        }
    }
    if !native_only.is_empty() {
        restore(&mut parts, &native_only, &given, version);
    }
    let java_only = patch::fields::changes(&given, &written_fields(&parts, version), NESTED);
    preserved::store(&mut parts.metadata, version.name(), java_only);
    parts.content = content;
    Ok(Msg::from_parts_lenient(parts))
}

/// Serializes a message.
pub(crate) fn write(message: &Msg, version: Version, out: &mut String) {
    let mut parts = message.clone().into_parts();
    let content = std::mem::take(&mut parts.content);
    let java_only = preserved::take(&mut parts.metadata, version.name());
    // Blocks inherit the time in its original spelling.
    let time = time::message_time_to_java(&parts.created_at);
    let spelled = java_only.get("timestamp").and_then(Json::as_str).map(str::to_owned);
    let time = spelled.filter(|spelled| time::message_time_to_java(spelled) == time).map_or(time, Into::into);
    let mut native_only_items = Vec::with_capacity(content.len());
    let mut blocks = String::new();
    json::write_list(&mut blocks, &content, |index, block, out| {
        let context = BlockContext { owner: &parts.id, index, time: &time, version };
        native_only_items.push(block::write(block, context, out));
    });
    let written = written_fields(&parts, version);
    let read_back = |fields: &Object| {
        let mut fields = fields.clone();
        fields.insert("content", Json::parse(&blocks)?);
        let text = fields.to_json();
        Raw::document(&text).and_then(|raw| read_common(raw, &[], version))
    };
    let is_equivalent =
        |fields: &Object| read_back(fields).is_ok_and(|parts| written_fields(&parts, version) == written);
    let mut fields = patch::fields::apply_if_valid(&written, &java_only, NESTED, is_equivalent);

    let mut native_only = Object::new();
    if let Ok(mut read) = read_back(&fields) {
        read.content.clear();
        native_only = patch::fields::difference(&native_fields(&parts), &native_fields(&read), NESTED);
    }
    if native_only_items.iter().any(|native_only| !native_only.is_empty()) {
        native_only.insert("blocks", native_only_items);
    }
    if !native_only.is_empty() {
        let mut metadata = fields.get("metadata").and_then(Json::to_object).unwrap_or_default();
        preserved::store(&mut metadata, NATIVE, native_only);
        fields.insert("metadata", metadata);
    }

    let mut object = ObjectWriter::jackson(out);
    for (name, value) in fields.iter() {
        if name == "content" {
            object.raw(name, &blocks);
        } else {
            object.json(name, value);
        }
    }
    object.end();
}

/// Serializes a message without round-trip data, for readers that do not send it back.
pub(crate) fn write_without_preserved(message: &Msg, version: Version, out: &mut String) {
    let mut parts = message.clone().into_parts();
    parts.metadata.remove(preserved::KEY);
    let mut object = ObjectWriter::jackson(out);
    let context = BlockContext { version, ..BlockContext::default() };
    for (name, value) in written_fields(&parts, version).iter() {
        if name == "content" {
            object.list(name, &parts.content, |_, block, out| drop(block::write(block, context, out)));
        } else {
            object.json(name, value);
        }
    }
    object.end();
}

/// Restores the native-only fields, as far as the message would still be written as `given`.
fn restore(parts: &mut MsgParts, native_only: &Object, given: &Object, version: Version) {
    let written = written_fields(parts, version);
    let native = |fields: &Object| Msg::from_json(&fields.to_json()).ok().map(Msg::into_parts);
    let is_equivalent = |fields: &Object| {
        native(fields)
            .is_some_and(|parts| patch::fields::is_as_close(&written_fields(&parts, version), &written, given))
    };
    let whole = patch::fields::apply_if_valid(&native_fields(parts), native_only, NESTED, is_equivalent);
    if let Some(whole) = native(&whole) {
        *parts = whole;
    }
}

/// Returns the native fields of a message without its blocks.
fn native_fields(parts: &MsgParts) -> Object {
    Object::parse(&Msg::from_parts_lenient(parts.clone()).to_json()).unwrap_or_default()
}

/// Returns the Java fields of a message without its blocks.
fn written_fields(parts: &MsgParts, version: Version) -> Object {
    let mut out = String::new();
    write_common(parts, version, &mut out);
    Object::parse(&out).unwrap_or_default()
}

/// Parses the fields that both sides have. `native_only_items` holds the native-only fields of each block.
fn read_common(raw: Raw<'_>, native_only_items: &[Json], version: Version) -> Result<MsgParts, DecodeError> {
    let mut fields = match version {
        Version::One => JavaFields::by_last(raw)?,
        Version::Two => JavaFields::of(raw)?,
    };
    let id = fields.text("id")?.map(String::from);
    let name = fields.text("name")?.map(String::from);
    // The default of Java's builder.
    let role = fields.take("role").map(read_role).transpose()?.unwrap_or(Role::User);
    let content = fields.take("content");
    let given = fields.object("metadata")?.unwrap_or_default();
    let created_at = fields.text("timestamp")?.map(String::from).unwrap_or_default();
    let mut usage = match (version, fields.take("usage")) {
        (Version::Two, given) => given.map(usage::read).transpose().map_err(|error| error.within("usage"))?,
        // Java 1 has no such field, so any value is allowed.
        (Version::One, given) => given.and_then(|given| usage::read(given).ok()),
    };
    let id = match id {
        Some(id) => id,
        None => derived_id(content, &created_at, version)?,
    };

    let mut metadata = without_nulls(&given);
    if usage.is_none()
        && let Some(counted) = metadata.get(CHAT_USAGE)
    {
        usage = Raw::document(counted.as_raw()).and_then(usage::read).ok();
    }
    if version == Version::One && usage.is_some() {
        metadata.remove(CHAT_USAGE);
    }
    let finished_reason = metadata
        .get(GENERATE_REASON)
        .and_then(Json::as_str)
        .map(str::to_owned)
        .and_then(|word| parse_finished_reason(&word));
    if let Some((_, true)) = finished_reason {
        metadata.remove(GENERATE_REASON);
    }
    let structured_output = metadata.get(STRUCTURED_OUTPUT).and_then(Json::to_object);
    if structured_output.is_some() {
        metadata.remove(STRUCTURED_OUTPUT);
    }
    if name.is_none() {
        preserved::mark_absent(&mut metadata, "name");
    }
    let is_finished = !created_at.is_empty() && (role != Role::Assistant || finished_reason.is_some());
    let finished_at = is_finished.then(|| created_at.clone());
    Ok(MsgParts {
        content: content
            .map(|raw| {
                read_content(raw, BlockContext { owner: &id, index: 0, time: &created_at, version }, native_only_items)
            })
            .transpose()?
            .unwrap_or_default(),
        name: name.unwrap_or_default(),
        role,
        id,
        metadata,
        created_at,
        usage,
        finished_at,
        finished_reason: finished_reason.map(|(reason, _)| reason),
        structured_output,
        error: None,
        extra: fields.rest()?,
    })
}

fn read_role(raw: Raw<'_>) -> Result<Role, DecodeError> {
    let role = match raw.kind {
        Kind::Number => ["USER", "ASSISTANT", "SYSTEM", "TOOL"].get(raw.text.parse().unwrap_or(usize::MAX)).copied(),
        _ => None,
    };
    let word = match role {
        Some(word) => word.into(),
        None => raw.to_str().map_err(|error| error.within("role"))?,
    };
    match word.trim() {
        "USER" => Ok(Role::User),
        "ASSISTANT" => Ok(Role::Assistant),
        "SYSTEM" => Ok(Role::System),
        "TOOL" => Ok(Role::Tool),
        other => {
            let what = format!("unknown role {other:?}, expected one of USER, ASSISTANT, SYSTEM, TOOL");
            Err(DecodeError::new(DecodeErrorKind::UnknownValue, what).within("role"))
        }
    }
}

fn read_content(
    raw: Raw<'_>,
    context: BlockContext<'_>,
    native_only_items: &[Json],
) -> Result<Vec<ContentBlock>, DecodeError> {
    let elements = raw.elements().map_err(|error| error.within("content"))?;
    let given: Vec<(usize, Raw<'_>)> = elements.enumerate().filter(|(_, raw)| raw.kind != Kind::Null).collect();
    // After an edit that adds or removes blocks, the stored fields cannot be assigned to blocks.
    let native_only_items = if native_only_items.len() == given.len() { native_only_items } else { &[] };
    let read = |(index, (at, raw)): (usize, (usize, Raw<'_>))| {
        let native_only = native_only_items.get(index).and_then(Json::to_object);
        let block = block::read(raw, BlockContext { index, ..context }, native_only.as_ref());
        block.map_err(|error| error.at_index(at).within("content"))
    };
    given.into_iter().enumerate().map(read).collect()
}

/// Parses Java's reason. Also returns whether the native reason expresses all of it.
fn parse_finished_reason(word: &str) -> Option<(FinishedReason, bool)> {
    match word {
        "MODEL_STOP" => Some((FinishedReason::Completed, true)),
        "INTERRUPTED" => Some((FinishedReason::Interrupted, true)),
        "MAX_ITERATIONS" => Some((FinishedReason::ExceedMaxIters, true)),
        "STRUCTURED_OUTPUT" => Some((FinishedReason::Completed, false)),
        _ => None,
    }
}

/// Returns the id for a message without one, derived from its content and time.
fn derived_id(content: Option<Raw<'_>>, time: &str, version: Version) -> Result<String, DecodeError> {
    let context = BlockContext { time, version, ..BlockContext::default() };
    let mut written = String::from(time);
    for (index, block) in
        content.map_or_else(|| Ok(Vec::new()), |raw| read_content(raw, context, &[]))?.iter().enumerate()
    {
        block::write(block, BlockContext { index, ..context }, &mut written);
    }
    Ok(format!("{:016x}", Fnv1a::of(&written).value()))
}

/// Writes the fields that both sides have, without blocks.
fn write_common(parts: &MsgParts, version: Version, out: &mut String) {
    let mut object = ObjectWriter::jackson(out);
    object.text("id", &parts.id);
    object.text_or_null("name", (!preserved::is_absent(&parts.metadata, "name")).then_some(&parts.name));
    let role = match parts.role {
        Role::Assistant => "ASSISTANT",
        Role::System => "SYSTEM",
        Role::Tool => "TOOL",
        _ => "USER",
    };
    object.text("role", role);
    object.raw("content", "[]");
    object.object("metadata", &java_metadata(parts, version));
    let time = time::message_time_to_java(&parts.created_at);
    object.text_or_null("timestamp", Some(&*time).filter(|time| !time.is_empty()));
    match (&parts.usage, version) {
        (_, Version::One) => {}
        (Some(usage), Version::Two) => usage::write(usage, version, object.key("usage")),
        (None, Version::Two) => object.raw("usage", "null"),
    }
    for (name, value) in parts.extra.iter() {
        object.json(name, value);
    }
    object.end();
}

fn java_metadata(parts: &MsgParts, version: Version) -> Object {
    let mut metadata = without_nulls(&parts.metadata);
    preserved::unmark_absent(&mut metadata, "name");
    let mut marks = preserved::marks(&metadata);
    if marks.remove("role").is_some() {
        preserved::set_marks(&mut metadata, marks);
    }
    let reason = match parts.finished_reason {
        Some(FinishedReason::Completed) => Some("MODEL_STOP"),
        Some(FinishedReason::Interrupted) => Some("INTERRUPTED"),
        Some(FinishedReason::ExceedMaxIters) => Some("MAX_ITERATIONS"),
        _ => None,
    };
    if let Some(reason) = reason {
        let stated = metadata.get(GENERATE_REASON).and_then(Json::as_str).map(str::to_owned);
        // A more specific reason from Java is kept unless the native reason has changed.
        if stated.and_then(|word| parse_finished_reason(&word)).map(|(stated, _)| Some(stated))
            != Some(parts.finished_reason)
        {
            metadata.insert(GENERATE_REASON, reason);
        }
    }
    if let Some(usage) = parts.usage.as_ref().filter(|_| version == Version::One) {
        let mut counted = String::new();
        usage::write(usage, version, &mut counted);
        metadata.insert(CHAT_USAGE, Object::parse(&counted).unwrap_or_default());
    }
    if let Some(output) = &parts.structured_output {
        metadata.insert(STRUCTURED_OUTPUT, output.clone());
    }
    metadata
}
