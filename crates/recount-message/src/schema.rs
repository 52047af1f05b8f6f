//! Descriptions of the declared types, for the JSON Schema, the protocol page and the types in other languages.

use serde_json::{Map, Value, json};

use crate::block;
use crate::event::{self, ConfirmResult, CustomName};
use crate::json::{Field, Record, Shape};
use crate::msg::{ErrorInfo, Msg, Usage};

/// Returns the fields that every event starts with: id, time and metadata. `type` follows them.
///
/// ```
/// let names: Vec<&str> = recount_message::schema::common_event_fields().iter().map(|field| field.name).collect();
/// assert_eq!(names, ["id", "created_at", "metadata"]);
/// ```
pub fn common_event_fields() -> Vec<Field> {
    let field = |name, shape, doc| Field { name, shape, required: false, doc };
    vec![
        field("id", Shape::String, "Id of the event."),
        field("created_at", Shape::String, "The time of the event."),
        field("metadata", Shape::Object, "Metadata."),
    ]
}

/// Returns all events, in the order of their declaration.
///
/// ```
/// let events = recount_message::schema::events();
/// let start = events.iter().find(|event| event.tag == Some("REPLY_START")).unwrap();
/// assert_eq!(start.name, "ReplyStartEvent");
/// ```
pub fn events() -> Vec<Record> {
    event::kinds::records()
}

/// Returns the blocks and their parts.
///
/// ```
/// let blocks = recount_message::schema::blocks();
/// let text = blocks.iter().find(|block| block.name == "TextBlock").unwrap();
/// assert_eq!((text.tag, text.fields[0].name), (Some("text"), "text"));
/// ```
pub fn blocks() -> Vec<Record> {
    block::records()
}

/// Returns the message and the other records in messages and events.
///
/// ```
/// let names: Vec<&str> = recount_message::schema::messages().iter().map(|record| record.name).collect();
/// assert_eq!(names, ["Msg", "Usage", "ErrorInfo", "ConfirmResult"]);
/// ```
pub fn messages() -> Vec<Record> {
    vec![Msg::record(), Usage::record(), ErrorInfo::record(), ConfirmResult::record()]
}

/// Returns the names of Recount's own CUSTOM events.
///
/// ```
/// let names = recount_message::schema::custom_names();
/// assert!(names.iter().all(|name| name.as_str().starts_with("recount.")));
/// ```
pub fn custom_names() -> &'static [CustomName] {
    CustomName::ALL
}

/// Returns the JSON Schema (draft 2020-12) of events and messages, under `$defs`. The entry points are `Event` and `Msg`.
///
/// It describes the output of Recount. The parser is more lenient: fields in any order, optional fields missing, unknown fields
/// and types.
///
/// ```
/// let schema = recount_message::schema::json_schema();
/// assert!(schema.contains("TEXT_BLOCK_DELTA"));
/// ```
pub fn json_schema() -> String {
    let mut definitions = Map::new();
    for record in blocks().into_iter().chain(messages()) {
        definitions.insert(record.name.to_owned(), object_schema(&record, &[]));
    }
    let mut choices = Vec::new();
    for record in events() {
        choices.push(json!({"$ref": format!("#/$defs/{}", record.name)}));
        definitions.insert(record.name.to_owned(), object_schema(&record, &common_event_fields()));
    }
    definitions.insert("Event".to_owned(), json!({"oneOf": choices}));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Recount's events and messages",
        "$defs": definitions,
    });
    format!("{schema:#}\n")
}

fn object_schema(record: &Record, head: &[Field]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    if let Some(tag) = record.tag {
        properties.insert("type".to_owned(), json!({"const": tag}));
        required.push("type");
    }
    for field in head.iter().chain(&record.fields) {
        let mut schema = shape_schema(&field.shape);
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), json!(field.doc));
        }
        properties.insert(field.name.to_owned(), schema);
        if field.required {
            required.push(field.name);
        }
    }
    json!({
        "type": "object",
        "description": first_sentence(record.doc),
        "properties": properties,
        "required": required,
    })
}

fn shape_schema(shape: &Shape) -> Value {
    match shape {
        Shape::String => json!({"type": "string"}),
        Shape::Boolean => json!({"type": "boolean"}),
        Shape::Integer => json!({"type": "integer", "minimum": 0}),
        Shape::Object => json!({"type": "object"}),
        Shape::Enum(words) => json!({"enum": words}),
        Shape::Record(name) => json!({"$ref": format!("#/$defs/{name}")}),
        Shape::OneOf(shapes) => json!({"anyOf": shapes.iter().map(shape_schema).collect::<Vec<_>>()}),
        Shape::Array(item) => json!({"type": "array", "items": shape_schema(item)}),
        Shape::Nullable(inner) => json!({"anyOf": [shape_schema(inner), {"type": "null"}]}),
    }
}

/// Returns the first sentence of the documentation of a record.
///
/// ```
/// use recount_message::schema::first_sentence;
///
/// assert_eq!(first_sentence("The result of a tool call. It has the id of the call."), "The result of a tool call.");
/// ```
pub fn first_sentence(doc: &str) -> &str {
    match doc.find(". ") {
        Some(end) => doc.get(..=end).unwrap_or(doc),
        None => doc,
    }
}
