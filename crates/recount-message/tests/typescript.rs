//! Checks that the types and tables of the TypeScript package match the code.
//!
//! `UPDATE_DOCS=1 cargo test -p recount-message --test typescript` regenerates them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::path::PathBuf;

use pretty_assertions::assert_eq;
use recount_message::schema::{self, first_sentence};
use recount_message::{Event, Field, Msg, Record, Shape};
use serde_json::{Map, Value, json};

/// Compares a file of the package with its expected content, or writes it if `UPDATE_DOCS` is set.
fn check_generated(name: &str, expected: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../clients/typescript/src").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(found, expected, "{} is out of date: run with UPDATE_DOCS=1", path.display());
}

#[test]
fn typescript_types_match_declarations() {
    check_generated("generated.ts", &Page::default().types());
}

#[test]
fn typescript_parsers_match_declarations() {
    check_generated("parse/generated.ts", &Page::default().readers());
}

/// The time of the message that contains a record, to detect derived times.
const TIME: &str = "the time of what holds it";

/// The generated file.
#[derive(Default)]
struct Page {
    text: String,
}

macro_rules! line {
    ($page:expr, $($format:tt)*) => { writeln!($page.text, $($format)*).unwrap() };
}

impl Page {
    /// Types, and the default values of blocks.
    fn types(mut self) -> String {
        let records = records();
        self.head();
        for record in &records {
            self.record_type(record);
        }
        self.event_types(&schema::events());
        self.unions();
        self.missing(&records);
        self.blanks(&records);
        self.text
    }

    /// Parsers of all records and events.
    fn readers(mut self) -> String {
        let records = records();
        self.head();
        line!(self, "");
        line!(self, "import {{");
        line!(self, "  block, boolean, count, empty, leftOut, list, maybe, messageOrObject, none, nullable, object,");
        line!(self, "  oneOf, or, orTime, ownId, ownTime, record, text, textOr, words,");
        line!(self, "}} from \"./shapes.js\";");
        line!(self, "");
        self.tables(&records);
        self.text
    }

    fn head(&mut self) {
        line!(self, "// Generated from the Rust declarations. To regenerate:");
        line!(self, "// UPDATE_DOCS=1 cargo test -p recount-message --test typescript");
    }

    fn comment(&mut self, indent: &str, doc: &str) {
        line!(self, "{indent}/** {} */", first_sentence(doc));
    }

    fn fields(&mut self, fields: &[Field], optional: bool) {
        for Field { name, shape, required, doc } in fields {
            self.comment("  ", doc);
            let mark = if optional && !required { "?" } else { "" };
            line!(self, "  {name}{mark}: {};", type_of(shape));
        }
    }

    /// A block or a part of one. The fold and the parsers fill in defaults, so that every field is set.
    fn record_type(&mut self, record: &Record) {
        line!(self, "");
        self.comment("", record.doc);
        line!(self, "export interface {} {{", type_name(record.name));
        if let Some(tag) = record.tag {
            line!(self, "  type: {tag:?};");
        }
        self.fields(&record.fields, false);
        line!(self, "}}");
    }

    /// The events as received: fields with defaults are optional.
    fn event_types(&mut self, events: &[Record]) {
        line!(self, "");
        line!(self, "/** What every event begins with. */");
        line!(self, "export interface EventHead {{");
        self.fields(&schema::common_event_fields(), true);
        line!(self, "}}");
        for event in events {
            line!(self, "");
            self.comment("", event.doc);
            line!(self, "export interface {} extends EventHead {{", event.name);
            line!(self, "  type: {:?};", event.tag.unwrap());
            self.fields(&event.fields, true);
            line!(self, "}}");
        }
        line!(self, "");
        line!(self, "/** One step of a reply: a block begins, grows or ends, a tool answers, the user is asked. */");
        line!(self, "export type AgentEvent =");
        let names: Vec<String> = events.iter().map(|event| format!("  | {}", event.name)).collect();
        line!(self, "{};", names.join("\n"));
    }

    fn unions(&mut self) {
        let blocks: Vec<&str> = content_blocks().iter().map(|block| block.name).collect();
        line!(self, "");
        line!(self, "/** One piece of a message. One of a type that is not declared here may stand there too. */");
        line!(self, "export type ContentBlock = {};", blocks.join(" | "));
        let names: Vec<String> = schema::custom_names().iter().map(|name| format!("{:?}", name.as_str())).collect();
        line!(self, "");
        line!(self, "/** The names of Recount's own `CUSTOM` events. */");
        line!(self, "export type CustomName =\n  | {};", names.join("\n  | "));
    }

    /// The optional fields of new blocks.
    fn missing(&mut self, records: &[Record]) {
        line!(self, "");
        line!(self, "/** The fields that may be missing where a block is read. */");
        line!(self, "export interface MayBeMissing {{");
        for record in records {
            let names: Vec<String> =
                record.fields.iter().filter(|field| !field.required).map(|field| format!("{:?}", field.name)).collect();
            if let Some(tag) = record.tag {
                let names = if names.is_empty() { "never".to_owned() } else { names.join(" | ") };
                line!(self, "  {tag}: {names};");
            }
        }
        line!(self, "}}");
    }

    /// All blocks and a message with their default values.
    fn blanks(&mut self, records: &[Record]) {
        line!(self, "");
        line!(self, "/** The blocks with nothing in them, by their type. */");
        line!(self, "export const blankBlocks = {{");
        for block in content_blocks() {
            let tag = block.tag.unwrap();
            line!(self, "  {tag}: (id: string, created_at: string): {} => ({{", block.name);
            line!(self, "    type: {tag:?},");
            self.blank_fields(&block, "    ");
            line!(self, "  }}),");
        }
        line!(self, "}};");
        line!(self, "");
        line!(self, "/** An agent's message with nothing in it. */");
        line!(self, "export const blankMsg = (id: string, created_at: string): MsgFields => ({{");
        self.blank_fields(records.iter().find(|record| record.name == "Msg").unwrap(), "  ");
        line!(self, "}});");
    }

    fn blank_fields(&mut self, record: &Record, indent: &str) {
        let defaults = record_defaults(record);
        for Field { name, shape, required, .. } in &record.fields {
            let value = match (*name, shape) {
                ("id" | "created_at", _) => {
                    line!(self, "{indent}{name},");
                    continue;
                }
                ("role", _) => "\"assistant\"".to_owned(),
                (_, shape) if *required => blank(shape),
                _ => match &defaults[*name] {
                    Value::String(text) if text == TIME => "created_at".to_owned(),
                    default => default.to_string(),
                },
            };
            line!(self, "{indent}{name}: {value},");
        }
    }

    /// Parsers of records.
    fn tables(&mut self, records: &[Record]) {
        for name in reading_order(records) {
            let record = records.iter().find(|record| record.name == name).unwrap();
            let defaults = record_defaults(record);
            if name == "Msg" {
                let blocks: Vec<String> = content_blocks().iter().map(|block| constant(block.name)).collect();
                line!(self, "export const contentBlock = block({});", blocks.join(", "));
            }
            line!(self, "export const {} = record({{", constant(name));
            self.field_readers(record, &defaults, "  ");
            match record.tag {
                Some(tag) => line!(self, "}}, {tag:?});"),
                None => line!(self, "}});"),
            }
        }
        line!(self, "");
        line!(self, "/** The fields of every event after its head, in the order in which they are written. */");
        line!(self, "export const events = {{");
        for event in schema::events() {
            let defaults = event_defaults(&event);
            line!(self, "  {}: {{", event.tag.unwrap());
            self.field_readers(&event, &defaults, "    ");
            line!(self, "  }},");
        }
        line!(self, "}};");
    }

    fn field_readers(&mut self, record: &Record, defaults: &Map<String, Value>, indent: &str) {
        for field in &record.fields {
            line!(self, "{indent}{}: {},", field.name, reader(record, field, defaults));
        }
    }
}

fn records() -> Vec<Record> {
    schema::blocks().into_iter().chain(schema::messages()).collect()
}

fn content_blocks() -> Vec<Record> {
    let Shape::Array(blocks) = schema::messages()[0].fields[1].shape.clone() else {
        panic!("`content` must be an array")
    };
    let Shape::OneOf(blocks) = *blocks else { panic!("`content` must contain blocks") };
    let all = schema::blocks();
    blocks.iter().map(|block| all.iter().find(|record| *block == Shape::Record(record.name)).unwrap().clone()).collect()
}

/// Sorts records after those that they contain.
fn reading_order(records: &[Record]) -> Vec<&'static str> {
    fn visit(shape: &Shape, records: &[Record], done: &mut Vec<&'static str>) {
        match shape {
            Shape::Record(name) if !done.contains(name) => {
                let record = records.iter().find(|record| record.name == *name).unwrap();
                record.fields.iter().for_each(|field| visit(&field.shape, records, done));
                done.push(name);
            }
            Shape::OneOf(shapes) => shapes.iter().for_each(|shape| visit(shape, records, done)),
            Shape::Array(inner) | Shape::Nullable(inner) => visit(inner, records, done),
            _ => {}
        }
    }
    let mut done = Vec::new();
    records.iter().for_each(|record| visit(&Shape::Record(record.name), records, &mut done));
    done
}

/// The TypeScript name of a record: the fields of the message are the data of the class `Msg`.
fn type_name(name: &str) -> &str {
    if name == "Msg" { "MsgFields" } else { name }
}

fn constant(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().unwrap().to_ascii_lowercase();
    format!("{first}{}", characters.as_str())
}

fn type_of(shape: &Shape) -> String {
    match shape {
        Shape::String => "string".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer => "number".to_owned(),
        Shape::Object => "Record<string, unknown>".to_owned(),
        Shape::Enum(words) => quoted(words, " | "),
        Shape::Record(name) => type_name(name).to_owned(),
        Shape::OneOf(shapes) => shapes.iter().map(type_of).collect::<Vec<_>>().join(" | "),
        Shape::Array(item) if matches!(**item, Shape::OneOf(_)) => format!("({})[]", type_of(item)),
        Shape::Array(item) => format!("{}[]", type_of(item)),
        Shape::Nullable(inner) => format!("{} | null", type_of(inner)),
        other => panic!("{other:?} has no type"),
    }
}

fn quoted(words: &[&str], separator: &str) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(separator)
}

/// The expression that parses a field. Its default is the one of the Rust parser.
fn reader(record: &Record, field: &Field, defaults: &Map<String, Value>) -> String {
    let shape = if record.name == "CustomEvent" && field.name == "value" {
        "messageOrObject".to_owned()
    } else {
        shape_reader(&field.shape)
    };
    if field.required {
        return shape;
    }
    let is_event = record.name.ends_with("Event");
    match (field.name, defaults.get(field.name)) {
        ("id", _) if !is_event => "ownId".to_owned(),
        ("created_at", _) if !is_event => "ownTime".to_owned(),
        (_, None) => "leftOut".to_owned(),
        (_, Some(Value::Null)) => match &field.shape {
            Shape::Nullable(inner) if **inner == Shape::String => "maybe".to_owned(),
            Shape::Nullable(inner) => format!("or({}, null)", shape_reader(inner)),
            other => panic!("{other:?} is null where `{}` is missing", field.name),
        },
        (_, Some(Value::String(text))) if text == TIME => format!("orTime({shape})"),
        (_, Some(Value::Object(object))) if object.is_empty() => format!("or({shape}, empty)"),
        (_, Some(Value::Array(list))) if list.is_empty() => format!("or({shape}, none)"),
        (_, Some(plain)) => format!("or({shape}, {plain})"),
    }
}

fn shape_reader(shape: &Shape) -> String {
    match shape {
        Shape::String => "text".to_owned(),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer => "count".to_owned(),
        Shape::Object => "object".to_owned(),
        Shape::Enum(list) => format!("words({})", quoted(list, ", ")),
        Shape::Record(name) => constant(name),
        Shape::OneOf(shapes) => match shapes.as_slice() {
            [Shape::String, other] => format!("textOr({})", shape_reader(other)),
            records => {
                let all = content_blocks();
                if records.len() == all.len() {
                    return "contentBlock".to_owned();
                }
                let are_blocks =
                    records.iter().all(|shape| all.iter().any(|block| *shape == Shape::Record(block.name)));
                let names: Vec<String> = records.iter().map(shape_reader).collect();
                format!("{}({})", if are_blocks { "block" } else { "oneOf" }, names.join(", "))
            }
        },
        Shape::Array(item) => format!("list({})", shape_reader(item)),
        Shape::Nullable(inner) => format!("nullable({})", shape_reader(inner)),
        other => panic!("{other:?} has no reader"),
    }
}

/// The expression for an empty required field.
fn blank(shape: &Shape) -> String {
    match shape {
        Shape::Record(name) => {
            let record = records().into_iter().find(|record| record.name == *name).unwrap();
            let fields = record.fields.iter().map(|field| format!("{}: {}", field.name, blank(&field.shape)));
            format!("{{ type: {:?}, {} }}", record.tag.unwrap(), fields.collect::<Vec<_>>().join(", "))
        }
        // Text or a list of blocks: a result without text is an empty list to which blocks are appended.
        Shape::OneOf(shapes) if shapes[0] == Shape::String => "[]".to_owned(),
        Shape::OneOf(shapes) => blank(&shapes[0]),
        shape => minimal(shape).to_string(),
    }
}

/// The JSON of a value with only its required fields.
fn minimal(shape: &Shape) -> Value {
    match shape {
        Shape::String => json!(""),
        Shape::Boolean => json!(true),
        Shape::Integer => json!(0),
        Shape::Object => json!({}),
        Shape::Enum(words) => json!(words[0]),
        Shape::Record(name) => {
            let record = records().into_iter().find(|record| record.name == *name).unwrap();
            Value::Object(minimal_record(&record))
        }
        Shape::OneOf(shapes) => minimal(&shapes[0]),
        Shape::Array(_) => json!([]),
        Shape::Nullable(_) => Value::Null,
        other => panic!("{other:?} has no value"),
    }
}

fn minimal_record(record: &Record) -> Map<String, Value> {
    let fields = record.fields.iter().filter(|field| field.required);
    let mut object: Map<String, Value> = fields.map(|field| (field.name.to_owned(), minimal(&field.shape))).collect();
    if let Some(tag) = record.tag {
        object.insert("type".to_owned(), json!(tag));
    }
    object
}

/// The Rust encoding of an event that was parsed with only its required fields.
fn event_defaults(event: &Record) -> Map<String, Value> {
    let mut given = minimal_record(event);
    if event.fields.iter().any(|field| field.name == "url") {
        given.insert("data".to_owned(), json!(""));
    }
    let mut written = written_event(&Value::Object(given.clone()));
    if given.contains_key("data") {
        written.insert("data".to_owned(), Value::Null);
    }
    written
}

fn written_event(event: &Value) -> Map<String, Value> {
    let text = Event::from_json(&event.to_string()).unwrap().to_json();
    serde_json::from_str(&text).unwrap()
}

/// The Rust encoding of a record that was parsed with only its required fields, inside its usual container.
fn record_defaults(record: &Record) -> Map<String, Value> {
    let value = Value::Object(minimal_record(record));
    let message = |key: &str, value: &Value| {
        let mut message = json!({"name": "", "content": [], "role": "assistant", "id": "m", "created_at": TIME});
        message[key] = value.clone();
        let written = Msg::from_json(&message.to_string()).unwrap().to_json();
        serde_json::from_str::<Value>(&written).unwrap()[key].clone()
    };
    let written = match record.name {
        "Msg" => serde_json::from_str(&Msg::from_json(&value.to_string()).unwrap().to_json()).unwrap(),
        "Usage" => message("usage", &value),
        "ErrorInfo" => message("error", &value),
        "ConfirmResult" => {
            let event = json!({"type": "USER_CONFIRM_RESULT", "reply_id": "", "confirm_results": [value]});
            written_event(&event)["confirm_results"][0].clone()
        }
        name if content_blocks().iter().any(|block| block.name == name) => {
            message("content", &Value::Array(vec![value]))[0].clone()
        }
        // All fields are required.
        _ => value,
    };
    let Value::Object(written) = written else { panic!("{} is no object", record.name) };
    written
}
