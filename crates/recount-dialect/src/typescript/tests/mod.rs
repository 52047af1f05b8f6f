#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

mod any_text;
mod append_event;
mod legacy;
mod limits;
mod messages_and_events;
mod streams;

use recount_message::{ContentBlock, Event, Json, Msg};
use serde_json::Value;

use super::*;

/// Parses a text. A number outside the range of `f64` becomes a string.
fn value(text: &str) -> Value {
    fn of(json: &Json) -> Value {
        if let Some(object) = json.to_object() {
            return object
                .iter()
                .map(|(key, value)| (key.to_owned(), of(value)))
                .collect::<serde_json::Map<_, _>>()
                .into();
        }
        match json.to_array() {
            Some(items) => items.iter().map(of).collect(),
            None => json.deserialize_as().unwrap_or_else(|_| json.as_raw().into()),
        }
    }
    of(&Json::parse(text).unwrap())
}

fn message_text(message: &Msg) -> String {
    let mut out = String::new();
    write_message(message, &mut out);
    out
}

fn event_text(event: &Event<'_>) -> String {
    let mut out = String::new();
    write_event(event, &mut out);
    out
}

fn block_text(block: &ContentBlock) -> String {
    let mut out = String::new();
    write_block(block, &mut out);
    out
}
