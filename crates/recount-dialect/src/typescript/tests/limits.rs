//! Values that do not survive a round trip through TypeScript, or cannot be sent to a TypeScript reader.

use recount_message::{DecodeErrorKind, Event, Msg};

use super::*;

/// UTF-8 cannot encode half of a surrogate pair, so a stream with deltas split inside one is rejected.
#[test]
fn rejects_lone_surrogate() {
    let text =
        r#"{"id":"1","created_at":"t","type":"TEXT_BLOCK_DELTA","reply_id":"r","block_id":"b","delta":"\ud83c"}"#;
    assert_eq!(read_event(text).unwrap_err().kind(), DecodeErrorKind::LoneSurrogate);
}

/// The package stores any word. Natively there are four.
#[test]
fn rejects_unknown_finished_reason() {
    let text =
        r#"{"id":"1","created_at":"t","type":"REPLY_END","session_id":"s","reply_id":"r","finished_reason":"tired"}"#;
    let error = read_event(text).unwrap_err();
    assert_eq!((error.kind(), error.path()), (DecodeErrorKind::UnknownValue, "finished_reason"));
}

/// The format of 0.0.2 is parsed but never written.
#[test]
fn writes_newer_format_only() {
    let older = r#"{"id":"1","createdAt":"t","type":"RUN_FINISHED","sessionId":"s","replyId":"r"}"#;
    let newer = r#"{"id":"1","created_at":"t","type":"REPLY_END","session_id":"s","reply_id":"r","finished_reason":"completed"}"#;
    assert_eq!(event_text(&read_event(older).unwrap()), newer);
}

/// A missing id is derived from the text and is written with the message.
#[test]
fn missing_message_id_is_not_restored() {
    let text = r#"{"created_at":"1","name":"Alice","role":"user","content":[],"metadata":{}}"#;
    let message = read_message(text).unwrap();
    let back = value(&message_text(&message));
    assert_eq!(back["id"], message.id());
}

/// Keys below `recount` are reserved.
#[test]
fn foreign_data_under_recount_key_is_lost() {
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
