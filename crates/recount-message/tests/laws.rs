//! The laws of the fold and of the codec, held against generated streams.
//!
//! What each law says is written out in `recount_testkit::laws`. `PROPTEST_CASES` sets how many cases it is tried on.

use proptest::prelude::*;
use recount_message::Fold;
use recount_testkit::strategies::{
    any_messages, document_texts, json_texts, legal_streams, messages_and_events, streams,
};
use recount_testkit::{fuzzing, laws};

/// A failure is kept as a test of its own and not as a seed, which says nothing once a generator has changed.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Of a stream that keeps the rules every event applies, and the checker has nothing against it.
    #[test]
    fn legal_streams_apply(stream in legal_streams()) {
        laws::legal_events_apply(&stream)?;
        laws::paired(&stream)?;
        laws::legal_streams_check(&stream)?;
    }

    /// Whatever the fold ignores is an error to the checker.
    #[test]
    fn ignored_events_are_errors_to_the_checker(stream in streams()) {
        laws::checked(&stream)?;
    }

    /// Law 1: the result depends on the events alone.
    #[test]
    fn determined(stream in streams()) {
        laws::determined(&stream)?;
    }

    /// Law 3: for every split, folding all equals resuming from the prefix's checkpoint with the suffix.
    #[test]
    fn checkpointed_at_every_split(stream in streams()) {
        laws::checkpointed(&stream)?;
    }

    /// Law 3, with a checkpoint after each event.
    #[test]
    fn checkpointed_after_every_event(stream in streams()) {
        laws::checkpointed_after_every_event(&stream)?;
    }

    /// Law 3, with what has ended taken out in between.
    #[test]
    fn checkpointed_with_messages_taken(stream in streams(), every in 1_usize..20) {
        laws::taken_in_between(&stream, every)?;
    }

    /// Law 4: an event at or before the cursor changes nothing.
    #[test]
    fn idempotent(stream in streams(), seed: u64) {
        laws::idempotent(&stream, seed)?;
    }

    /// Law 5: merging neighbouring deltas of a block keeps the result.
    #[test]
    fn compactable(stream in streams(), seed: u64) {
        laws::compactable(&stream, seed)?;
    }

    /// Law 6: what cannot apply changes nothing and is reported, with the right reason.
    #[test]
    fn reported(stream in streams()) {
        laws::reported(&stream)?;
    }

    /// Law 6, from any message, also one that no stream could have made.
    #[test]
    fn reported_of_any_message((message, stream) in messages_and_events()) {
        laws::message_reported(&message, &stream)?;
    }

    /// Law 6: no text panics, and whatever can be read keeps the other laws.
    #[test]
    fn total_over_documents(text in document_texts()) {
        fuzzing::event_decode(text.as_bytes())?;
        fuzzing::message_decode(text.as_bytes())?;
        fuzzing::json_scanner(text.as_bytes())?;
    }

    /// Law 6: no bytes panic.
    #[test]
    fn total_over_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for (_, body) in fuzzing::TARGETS {
            body(&bytes)?;
        }
    }

    /// A stream, a reply and a bare message are folded in the same way.
    #[test]
    fn the_three_ways_to_fold_agree(stream in streams()) {
        laws::ways_agree(&stream)?;
    }

    /// Events survive their own JSON, with all that is unknown in them, however it is spelled.
    #[test]
    fn events_survive_their_json(stream in streams(), seed: u64) {
        for event in stream.iter() {
            laws::event_round_trip(event)?;
            laws::event_in_any_spelling(event, seed)?;
        }
    }

    /// Messages survive their own JSON however it is spelled, a CUSTOM event and a checkpoint.
    #[test]
    fn messages_survive_their_json(messages in any_messages(), seed: u64) {
        for message in &messages {
            laws::message_round_trip(message)?;
            laws::message_in_any_spelling(message, seed)?;
            laws::survives_as_custom_event(message)?;
            laws::message_accessors(message)?;
        }
    }

    /// What the fold makes can be written and read.
    #[test]
    fn folded_messages_survive_their_json(stream in streams()) {
        let mut fold = Fold::new();
        fold.extend(stream.iter());
        for message in fold.messages() {
            laws::message_round_trip(message)?;
        }
        laws::checkpoint_round_trip(&fold.checkpoint())?;
    }

    /// The scanner takes what `serde_json` takes.
    #[test]
    fn the_scanner_agrees_with_serde_json(text in json_texts()) {
        laws::scanner_agrees(&text)?;
    }
}
