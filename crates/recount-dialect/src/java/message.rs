//! Messages, there and back. How what only one side says is kept is told in `block`.

use recount_message::wire::{Fnv1a, Kind, Raw};
use recount_message::{ContentBlock, DecodeError, DecodeErrorKind, FinishedReason, Json, Msg, MsgParts, Object, Role};

use super::fields::{JavaFields, object};
use super::plain::Place;
use super::text::ObjectWriter;
use super::{NATIVE, Version, block, time, usage};
use crate::residue;

/// The fields that are compared field by field.
const NESTED: &[&str] = &["metadata", "usage"];

pub(crate) const GENERATE_REASON: &str = "agentscope_generate_reason";
pub(crate) const STRUCTURED_OUTPUT: &str = "_structured_output";
pub(crate) const CHAT_USAGE: &str = "_chat_usage";

/// Reads a message of Java 2.
pub(super) fn read(raw: Raw<'_>) -> Result<Msg, DecodeError> {
    read_as(raw, Version::Two)
}

/// Reads a message.
pub(crate) fn read_as(raw: Raw<'_>, version: Version) -> Result<Msg, DecodeError> {
    let (mut given, mut left) = (object(raw)?, Object::new());
    if let Some(mut metadata) = given.get("metadata").and_then(Json::to_object) {
        left = residue::take(&mut metadata, NATIVE);
        if !left.is_empty() {
            given.insert("metadata", metadata);
        }
    }
    let lefts = left.remove("blocks").and_then(|blocks| blocks.to_list()).unwrap_or_default();
    let mut parts = read_plain(raw, &lefts, version)?;
    residue::take(&mut parts.metadata, NATIVE);
    let content = std::mem::take(&mut parts.content);

    given.remove("content");
    // Java writes them as `null`.
    for name in ["id", "role"] {
        if !given.contains_key(name) {
            given.insert(name, Json::null());
        }
    }
    if !left.is_empty() {
        restore(&mut parts, &left, &given, version);
    }
    let kept = residue::changes(&given, &said_fields(&parts, version), NESTED);
    residue::keep(&mut parts.metadata, version.name(), kept);
    parts.content = content;
    Ok(Msg::as_received(parts))
}

/// Writes a message.
pub(crate) fn write(message: &Msg, version: Version, out: &mut String) {
    let mut parts = message.clone().into_parts();
    let content = std::mem::take(&mut parts.content);
    let kept = residue::take(&mut parts.metadata, version.name());
    let mut blocks = String::from("[");
    // Java may have its own spelling of the time, which blocks are read with.
    let time = time::message_time_to_java(&parts.created_at);
    let spelled = kept.get("timestamp").and_then(Json::to_text);
    let time = spelled.filter(|spelled| time::message_time_to_java(spelled) == time).map_or(time, Into::into);
    let mut lefts = Vec::with_capacity(content.len());
    for (index, block) in content.iter().enumerate() {
        if index > 0 {
            blocks.push(',');
        }
        lefts.push(block::write(block, Place { owner: &parts.id, index, time: &time, version }, &mut blocks));
    }
    blocks.push(']');
    let said = said_fields(&parts, version);
    let read_again = |fields: &Object| {
        let mut fields = fields.clone();
        fields.insert("content", Json::parse(&blocks)?);
        let text = fields.to_json();
        Raw::document(&text).and_then(|raw| read_plain(raw, &[], version))
    };
    let means_the_same = |fields: &Object| read_again(fields).is_ok_and(|parts| said_fields(&parts, version) == said);
    let mut fields = residue::apply_what_holds(&said, &kept, NESTED, means_the_same);

    let mut left = Object::new();
    if let Ok(mut read) = read_again(&fields) {
        read.content.clear();
        left = residue::difference(&native_fields(&parts), &native_fields(&read), NESTED);
    }
    if lefts.iter().any(|left| !left.is_empty()) {
        left.insert("blocks", lefts);
    }
    if !left.is_empty() {
        let mut metadata = fields.get("metadata").and_then(Json::to_object).unwrap_or_default();
        residue::keep(&mut metadata, NATIVE, left);
        fields.insert("metadata", metadata);
    }

    let mut object = ObjectWriter::begin(out);
    for (name, value) in fields.iter() {
        if name == "content" {
            object.raw(name, &blocks);
        } else {
            object.json(name, value);
        }
    }
    object.end();
}

/// Writes a message for who only reads it: what Java cannot say is left out.
pub(crate) fn write_for_reading(message: &Msg, version: Version, out: &mut String) {
    let mut parts = message.clone().into_parts();
    parts.metadata.remove(residue::KEY);
    let mut object = ObjectWriter::begin(out);
    let place = Place { version, ..Place::default() };
    for (name, value) in said_fields(&parts, version).iter() {
        if name == "content" {
            object.list(name, &parts.content, |_, block, out| drop(block::write(block, place, out)));
        } else {
            object.json(name, value);
        }
    }
    object.end();
}

/// Puts back what Java could not say, as far as Java says what it would say about it.
fn restore(parts: &mut MsgParts, left: &Object, given: &Object, version: Version) {
    let said = said_fields(parts, version);
    let native = |fields: &Object| Msg::from_json(&fields.to_json()).ok().map(Msg::into_parts);
    let means_the_same = |fields: &Object| {
        native(fields).is_some_and(|parts| residue::is_as_near(&said_fields(&parts, version), &said, given))
    };
    let whole = residue::apply_what_holds(&native_fields(parts), left, NESTED, means_the_same);
    if let Some(whole) = native(&whole) {
        *parts = whole;
    }
}

/// The native fields of a message without its blocks.
fn native_fields(parts: &MsgParts) -> Object {
    Object::parse(&Msg::as_received(parts.clone()).to_json()).unwrap_or_default()
}

/// What a message says in Java, but for its blocks.
fn said_fields(parts: &MsgParts, version: Version) -> Object {
    let mut out = String::new();
    write_plain(parts, version, &mut out);
    Object::parse(&out).unwrap_or_default()
}

/// Reads what both sides can say. `lefts` is what Java could not say about the blocks.
fn read_plain(raw: Raw<'_>, lefts: &[Json], version: Version) -> Result<MsgParts, DecodeError> {
    let mut fields = match version {
        Version::One => JavaFields::by_last(raw)?,
        Version::Two => JavaFields::of(raw)?,
    };
    let id = fields.text("id")?.map(String::from);
    let name = fields.text("name")?.map(String::from);
    // Without a role it is what Java's builder makes of it.
    let role = fields.take("role").map(read_role).transpose()?.unwrap_or(Role::User);
    let content = fields.take("content");
    let given = fields.object("metadata")?.unwrap_or_default();
    let created_at = fields.text("timestamp")?.map(String::from).unwrap_or_default();
    let mut usage = match (version, fields.take("usage")) {
        (Version::Two, given) => given.map(usage::read).transpose().map_err(|error| error.within("usage"))?,
        // Java 1 has none, so there it may be anything.
        (Version::One, given) => given.and_then(|given| usage::read(given).ok()),
    };
    let id = match id {
        Some(id) => id,
        None => derived_id(content, &created_at, version)?,
    };

    let mut metadata = residue::without_nulls(&given);
    if usage.is_none()
        && let Some(counted) = metadata.get(CHAT_USAGE)
    {
        usage = Raw::document(counted.as_str()).and_then(usage::read).ok();
    }
    if version == Version::One && usage.is_some() {
        metadata.remove(CHAT_USAGE);
    }
    let finished_reason = metadata.get(GENERATE_REASON).and_then(Json::to_text).and_then(|word| finished(&word));
    if let Some((_, true)) = finished_reason {
        metadata.remove(GENERATE_REASON);
    }
    let structured_output = metadata.get(STRUCTURED_OUTPUT).and_then(Json::to_object);
    if structured_output.is_some() {
        metadata.remove(STRUCTURED_OUTPUT);
    }
    if name.is_none() {
        residue::mark_absent(&mut metadata, "name");
    }
    let is_finished = !created_at.is_empty() && (role != Role::Assistant || finished_reason.is_some());
    let finished_at = is_finished.then(|| created_at.clone());
    Ok(MsgParts {
        content: content
            .map(|raw| read_content(raw, Place { owner: &id, index: 0, time: &created_at, version }, lefts))
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
        None => raw.to_text().map_err(|error| error.within("role"))?,
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

fn read_content(raw: Raw<'_>, place: Place<'_>, lefts: &[Json]) -> Result<Vec<ContentBlock>, DecodeError> {
    let elements = raw.elements().map_err(|error| error.within("content"))?;
    let given: Vec<(usize, Raw<'_>)> = elements.enumerate().filter(|(_, raw)| raw.kind != Kind::Null).collect();
    // Where blocks were added or removed nobody knows what belongs to which.
    let lefts = if lefts.len() == given.len() { lefts } else { &[] };
    let read = |(index, (at, raw)): (usize, (usize, Raw<'_>))| {
        let left = lefts.get(index).and_then(Json::to_object);
        let block = block::read(raw, Place { index, ..place }, left.as_ref());
        block.map_err(|error| error.at_index(at).within("content"))
    };
    given.into_iter().enumerate().map(read).collect()
}

/// Why a message was complete, and whether that says all that Java says.
fn finished(word: &str) -> Option<(FinishedReason, bool)> {
    match word {
        "MODEL_STOP" => Some((FinishedReason::Completed, true)),
        "INTERRUPTED" => Some((FinishedReason::Interrupted, true)),
        "MAX_ITERATIONS" => Some((FinishedReason::ExceedMaxIters, true)),
        "STRUCTURED_OUTPUT" => Some((FinishedReason::Completed, false)),
        _ => None,
    }
}

/// The id of a message that came without one: it follows from what the message says and when.
fn derived_id(content: Option<Raw<'_>>, time: &str, version: Version) -> Result<String, DecodeError> {
    let place = Place { time, version, ..Place::default() };
    let mut said = String::from(time);
    for (index, block) in
        content.map_or_else(|| Ok(Vec::new()), |raw| read_content(raw, place, &[]))?.iter().enumerate()
    {
        block::write(block, Place { index, ..place }, &mut said);
    }
    Ok(format!("{:016x}", Fnv1a::of(&said).value()))
}

/// Writes what both sides can say, with no blocks.
fn write_plain(parts: &MsgParts, version: Version, out: &mut String) {
    let mut object = ObjectWriter::begin(out);
    object.text("id", &parts.id);
    object.text_or_null("name", (!residue::is_absent(&parts.metadata, "name")).then_some(&parts.name));
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
    let mut metadata = residue::without_nulls(&parts.metadata);
    residue::unmark_absent(&mut metadata, "name");
    let mut marks = residue::marks(&metadata);
    if marks.remove("role").is_some() {
        residue::set_marks(&mut metadata, marks);
    }
    let reason = match parts.finished_reason {
        Some(FinishedReason::Completed) => Some("MODEL_STOP"),
        Some(FinishedReason::Interrupted) => Some("INTERRUPTED"),
        Some(FinishedReason::ExceedMaxIters) => Some("MAX_ITERATIONS"),
        _ => None,
    };
    if let Some(reason) = reason {
        let stated = metadata.get(GENERATE_REASON).and_then(Json::to_text);
        // What Java says in more detail stays, unless the reply has ended otherwise since.
        if stated.and_then(|word| finished(&word)).map(|(stated, _)| Some(stated)) != Some(parts.finished_reason) {
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
