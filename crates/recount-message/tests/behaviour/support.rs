//! Short notation for streams, and their messages as JSON.

use recount_message::{AgentEvent, Block, ContentBlock, Event, Fold, Msg, Object, Outcome};
use serde_json::Value;

/// The time of the event at an index of a stream. The start of the reply is at 0.
pub(crate) fn at(place: usize) -> String {
    format!("2026-01-01T00:00:{place:02}.000000+00:00")
}

/// An event of the reply `r` in short notation: the type, a space, and its other fields as JSON.
pub(crate) fn event(place: usize, line: &str) -> AgentEvent {
    let (kind, fields) = line.split_once(' ').unwrap_or((line, ""));
    let comma = if fields.is_empty() { "" } else { "," };
    let time = at(place);
    let text = format!(r#"{{"id":"e{place}","created_at":"{time}","type":"{kind}","reply_id":"r"{comma}{fields}}}"#);
    Event::from_json(&text).unwrap_or_else(|error| panic!("{text}: {error}")).into_owned()
}

/// The reply `r` of the agent Friday: its start, and events in short notation.
pub(crate) fn reply(lines: &[&str]) -> Vec<AgentEvent> {
    let start = r#"REPLY_START "session_id":"s","name":"Friday""#;
    std::iter::once(&start).chain(lines).enumerate().map(|(place, line)| event(place, line)).collect()
}

/// The message of a reply and the outcome of the last event. All earlier events must apply.
pub(crate) fn fold_to_last(lines: &[&str]) -> (Msg, Outcome) {
    let mut fold = Fold::new();
    let events = reply(lines);
    let (last, before) = events.split_last().unwrap();
    for event in before {
        assert_eq!(fold.apply(event), Outcome::Applied, "{}", event.to_json());
    }
    let outcome = fold.apply(last);
    (fold.into_messages().next().unwrap(), outcome)
}

/// The message of a reply in which every event applies.
#[track_caller]
pub(crate) fn fold(lines: &[&str]) -> Msg {
    let (message, outcome) = fold_to_last(lines);
    assert_eq!(outcome, Outcome::Applied);
    message
}

/// A message as JSON.
pub(crate) fn json(message: &Msg) -> Value {
    serde_json::to_value(message).unwrap()
}

/// The content of a message as JSON.
pub(crate) fn content(message: &Msg) -> Value {
    json(message)["content"].take()
}

/// The first block of a type. Panics if there is none.
#[track_caller]
pub(crate) fn first<B: Block>(message: &Msg) -> &B {
    message.first().unwrap_or_else(|| panic!("no {} block in {}", B::TYPE, message.to_json()))
}

/// Parses a block as the only block of an assistant message.
pub(crate) fn block(text: &str) -> ContentBlock {
    let message =
        format!(r#"{{"name":"Friday","role":"assistant","id":"m","created_at":"{}","content":[{text}]}}"#, at(0));
    Msg::from_json(&message).unwrap_or_else(|error| panic!("{text}: {error}")).content()[0].clone()
}

/// The encoding of a block in a message.
pub(crate) fn block_json(block: impl Into<ContentBlock>) -> String {
    let message = Object::parse(&Msg::assistant("Friday", block.into()).to_json()).unwrap();
    message.get("content").unwrap().to_array().unwrap()[0].as_raw().to_owned()
}
