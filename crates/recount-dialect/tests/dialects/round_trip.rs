//! Every value that Recount can hold survives a round trip through every dialect.

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use recount_dialect::{Dialect, StreamReader, TurnMerger, split_turn};
use recount_message::{Fold, Msg};
use recount_testkit::laws;
use recount_testkit::strategies::{any_messages, document_texts, legal_streams, streams};

use crate::support::sorted;

/// Regressions are added as tests instead of seeds, which become meaningless when a generator changes.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() }
}

#[track_caller]
fn assert_same(dialect: Dialect, found: &str, expected: &str, written: &str) {
    assert_eq!(sorted(found), sorted(expected), "{dialect}: {written}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn messages_round_trip(messages in any_messages()) {
        for (message, dialect) in messages.iter().flat_map(|message| Dialect::ALL.map(|dialect| (message, dialect))) {
            let written = dialect.write_message(message);
            let read = dialect.read_message(&written).unwrap_or_else(|error| panic!("{dialect}: {error}: {written}"));
            assert_same(dialect, &read.to_json(), &message.to_json(), &written);
        }
    }

    #[test]
    fn blocks_round_trip(messages in any_messages()) {
        let blocks = messages.iter().flat_map(Msg::content);
        for (block, dialect) in blocks.flat_map(|block| Dialect::ALL.map(|dialect| (block, dialect))) {
            let written = dialect.write_block(block);
            let read = dialect.read_block(&written).unwrap_or_else(|error| panic!("{dialect}: {error}: {written}"));
            assert_same(dialect, &read.to_json(), &block.to_json(), &written);
        }
    }

    #[test]
    fn events_round_trip(stream in streams()) {
        for (event, dialect) in stream.iter().flat_map(|event| Dialect::ALL.map(|dialect| (event, dialect))) {
            let written = dialect.write_event(event);
            let read = dialect.read_event(&written).unwrap_or_else(|error| panic!("{dialect}: {error}: {written}"));
            assert_same(dialect, &read.to_json(), &event.to_json(), &written);
        }
    }

    #[test]
    fn turns_round_trip(messages in any_messages()) {
        for (message, dialect) in messages.iter().flat_map(|message| Dialect::ALL.map(|dialect| (message, dialect))) {
            let mut merger = TurnMerger::new();
            let mut merged = Vec::new();
            for part in split_turn(message) {
                merged.extend(merger.push(dialect.read_message(&dialect.write_message(&part)).unwrap()));
            }
            merged.extend(merger.finish());
            let merged: Vec<String> = merged.iter().map(|message| sorted(&message.to_json())).collect();
            assert_eq!(merged, [sorted(&message.to_json())], "{}", dialect);
        }
    }

    /// A reader who joins at any point, in any dialect, ends with the same messages.
    #[test]
    fn joining_reader_has_the_same_messages(stream in legal_streams(), chance: prop::sample::Index) {
        let joins = chance.index(stream.len() + 1);
        let mut whole = Fold::new();
        let mut join_checkpoint = None;
        let mut frames: Vec<Vec<String>> = vec![Vec::new(); Dialect::ALL.len()];
        for (index, event) in stream.iter().enumerate() {
            if index == joins {
                join_checkpoint = Some(whole.checkpoint());
            }
            if index >= joins {
                for (dialect, frames) in Dialect::ALL.into_iter().zip(&mut frames) {
                    frames.extend(dialect.frames(&whole, event));
                }
            }
            let _ = whole.apply(event);
        }
        let join_checkpoint = Fold::resume(join_checkpoint.unwrap_or_else(|| whole.checkpoint()));
        let expected: Vec<String> = whole.messages().map(|message| sorted(&message.to_json())).collect();
        for (dialect, frames) in Dialect::ALL.into_iter().zip(frames) {
            let mut reader = StreamReader::new(dialect);
            let mut joined = Fold::new();
            for frame in dialect.prelude(&join_checkpoint).iter().chain(&frames) {
                let events = reader.push(frame).unwrap_or_else(|error| panic!("{dialect}: {error}: {frame}"));
                events.iter().for_each(|event| drop(joined.apply(event)));
            }
            let found: Vec<String> = joined.messages().map(|message| sorted(&message.to_json())).collect();
            assert_eq!(found, expected, "{}, joined at {} of {}", dialect, joins, stream.len());
        }
    }

    /// Every text that a dialect can parse survives a round trip.
    #[test]
    fn any_text_round_trips_or_is_rejected(text in document_texts()) {
        for dialect in Dialect::ALL {
            laws::dialect_round_trip(dialect, text.as_bytes())?;
        }
    }
}
