//! Properties of arbitrary text.

use proptest::prelude::*;
use recount_message::Fold;
use recount_testkit::strategies::{document_texts, json_texts};

use super::*;

/// Checks that nothing panics and that every value that can be parsed survives a round trip. Also used by the fuzz
/// target.
fn check(text: &str) {
    if let Ok(message) = read_message(text) {
        let back = read_message(&message_text(&message)).unwrap();
        assert!(tree::is_same(&back.to_json(), &message.to_json()), "{text}");
    }
    if let Ok(block) = read_block(text) {
        let back = read_block(&block_text(&block)).unwrap();
        assert!(tree::is_same(&back.to_json(), &block.to_json()), "{text}");
    }
    if let Ok(event) = read_event(text) {
        let written = event_text(&event);
        let back = read_event(&written).unwrap();
        assert!(tree::is_same(&back.to_json(), &event.to_json()), "{text}");
        let mut fold = Fold::new();
        for _ in 0..2 {
            for frame in frames(&fold, &event) {
                read_event(&frame).unwrap();
            }
            let _ = fold.apply(&event);
        }
        prelude(&fold).iter().for_each(|frame| drop(read_event(frame).unwrap()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_round_trips_or_is_rejected(text in document_texts(), other in json_texts()) {
        check(&text);
        check(&other);
    }

    #[test]
    fn camel_case_text_round_trips_or_is_rejected(text in document_texts()) {
        let camel = text.replace("reply_id", "replyId").replace("created_at", "timestamp").replace("media_type", "mediaType");
        check(&camel);
    }
}
