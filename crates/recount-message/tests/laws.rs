//! Property tests of the laws of the fold and of the codec.
//!
//! `recount_testkit::laws` documents each law. `PROPTEST_CASES` sets the number of cases.

use proptest::prelude::*;
use recount_message::Fold;
use recount_testkit::strategies::{
    any_messages, document_texts, json_texts, legal_streams, messages_and_events, streams,
};
use recount_testkit::{fuzzing, laws};

/// Seeds of failures are not stored, because they become useless when a generator changes. A failure becomes a separate test.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    /// Every event of a valid stream applies, and the checker reports no problem.
    #[test]
    fn legal_streams_apply(stream in legal_streams()) {
        laws::legal_events_apply(&stream)?;
        laws::ended_calls_have_results(&stream)?;
        laws::checker_accepts_legal_stream(&stream)?;
    }

    /// The checker reports an error for every event that the fold ignores.
    #[test]
    fn ignored_events_are_errors_to_the_checker(stream in streams()) {
        laws::checker_reports_ignored_events(&stream)?;
    }

    /// Law 1: the result depends only on the events.
    #[test]
    fn determined(stream in streams()) {
        laws::folding_is_deterministic(&stream)?;
    }

    /// Law 3: for every split, folding all equals resuming from the prefix's checkpoint with the suffix.
    #[test]
    fn checkpointed_at_every_split(stream in streams()) {
        laws::resumes_from_every_checkpoint(&stream)?;
    }

    /// Law 3, with a checkpoint after every event.
    #[test]
    fn checkpointed_after_every_event(stream in streams()) {
        laws::resumes_after_every_event(&stream)?;
    }

    /// Law 3, with ended messages taken in between.
    #[test]
    fn checkpointed_with_messages_taken(stream in streams(), every in 1_usize..20) {
        laws::taking_ended_preserves_messages(&stream, every)?;
    }

    /// Law 4: an event at or before the cursor has no effect.
    #[test]
    fn idempotent(stream in streams(), seed: u64) {
        laws::applying_again_changes_nothing(&stream, seed)?;
    }

    /// Law 5: merging adjacent deltas of a block does not change the result.
    #[test]
    fn compactable(stream in streams(), seed: u64) {
        laws::merging_deltas_preserves_messages(&stream, seed)?;
    }

    /// Law 6: an event that cannot be applied has no effect and is reported with the correct reason.
    #[test]
    fn reported(stream in streams()) {
        laws::outcomes_match_changes(&stream)?;
    }

    /// Law 6, starting with any message, including messages that no stream can create.
    #[test]
    fn reported_of_any_message((message, stream) in messages_and_events()) {
        laws::message_outcomes_match_changes(&message, &stream)?;
    }

    /// Law 6: no text panics, and every parsed document satisfies the other laws.
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

    /// `Fold`, `ReplyFold` and `Msg::append_event` have the same result.
    #[test]
    fn fold_reply_fold_and_append_event_agree(stream in streams()) {
        laws::fold_apis_agree(&stream)?;
    }

    /// Events with unknown fields round-trip through JSON, regardless of its spelling.
    #[test]
    fn events_round_trip_through_json(stream in streams(), seed: u64) {
        for event in stream.iter() {
            laws::event_round_trip(event)?;
            laws::event_decodes_in_any_formatting(event, seed)?;
        }
    }

    /// Messages round-trip through JSON regardless of its spelling, through a CUSTOM event and through a checkpoint.
    #[test]
    fn messages_round_trip_through_json(messages in any_messages(), seed: u64) {
        for message in &messages {
            laws::message_round_trip(message)?;
            laws::message_decodes_in_any_formatting(message, seed)?;
            laws::message_round_trip_as_custom_event(message)?;
            laws::message_accessors(message)?;
        }
    }

    /// Folded messages round-trip through JSON.
    #[test]
    fn folded_messages_round_trip_through_json(stream in streams()) {
        let mut fold = Fold::new();
        fold.extend(stream.iter());
        for message in fold.messages() {
            laws::message_round_trip(message)?;
        }
        laws::checkpoint_round_trip(&fold.checkpoint())?;
    }

    /// The scanner accepts the same texts as `serde_json`.
    #[test]
    fn scanner_agrees_with_serde_json(text in json_texts()) {
        laws::scanner_agrees_with_serde_json(&text)?;
    }
}
