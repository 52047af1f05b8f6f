//! What a way through TypeScript cannot keep, and what a TypeScript reader cannot be told.

use recount_message::{DecodeErrorKind, Event, Msg};

use super::*;

/// No UTF-8 text can hold half a pair, so a stream whose deltas are cut inside one is refused.
#[test]
fn half_a_surrogate_pair() {
    let text =
        r#"{"id":"1","created_at":"t","type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"\ud83c"}"#;
    assert_eq!(read_event(text).unwrap_err().kind(), DecodeErrorKind::LoneSurrogate);
}

/// The package stores any word; natively there are four.
#[test]
fn an_unknown_reason() {
    let text =
        r#"{"id":"1","created_at":"t","type":"REPLY_END","session_id":"s","reply_id":"r","finished_reason":"tired"}"#;
    let error = read_event(text).unwrap_err();
    assert_eq!((error.kind(), error.path()), (DecodeErrorKind::UnknownValue, "finished_reason"));
}

/// 0.0.2 is read and never written.
#[test]
fn the_older_shape() {
    let older = r#"{"id":"1","createdAt":"t","type":"RUN_FINISHED","sessionId":"s","replyId":"r"}"#;
    let newer = r#"{"id":"1","created_at":"t","type":"REPLY_END","session_id":"s","reply_id":"r","finished_reason":"completed"}"#;
    assert_eq!(event_text(&read_event(older).unwrap()), newer);
}

/// A message without an id gets one that follows from its text, and comes back with it.
#[test]
fn that_a_message_had_no_id() {
    let text = r#"{"created_at":"1","name":"Alice","role":"user","content":[],"metadata":{}}"#;
    let message = read_message(text).unwrap();
    let back = value(&message_text(&message));
    assert_eq!(back["id"], message.id());
}

/// The names that Recount keeps its own under are Recount's.
#[test]
fn what_another_puts_under_recounts_own_names() {
    let text = r#"{"name":"Alice","role":"user","content":[],"id":"m","metadata":{"recount":{"native":{"a":1},"typescript":{"b":[]}}},"created_at":"1"}"#;
    let message = Msg::from_json(text).unwrap();
    let back = read_message(&message_text(&message)).unwrap();
    assert_ne!(back.metadata(), message.metadata());
    let text = r#"{"id":"1","created_at":"","metadata":{"recount":"x"},"type":"TEXT_BLOCK_END","reply_id":"r","block_id":"b","text":"all"}"#;
    let event = Event::from_json(text).unwrap();
    let written = event_text(&event);
    let back = read_event(&written).unwrap();
    assert_ne!(back.metadata, event.metadata);
}
