//! The laws of the fold, the codec and the decoders: functions that return an error if a property is violated.
//!
//! Property tests check them with generated input, and fuzz targets with arbitrary input.

mod accessors;
mod base64_merge;
mod checker;
mod checkpoints;
mod codec;
mod decoder;
mod determinism;
mod dialects;
mod fold_apis;
mod formatting;
mod idempotence;
mod ignore_reasons;
mod json_repair;
mod json_scanner;
mod merged_deltas;
mod outcomes;
#[cfg(feature = "agent")]
mod shell_rules;
#[cfg(feature = "agent")]
mod tool_arguments;

pub use accessors::{event_accessors, message_accessors};
pub use checker::{checker_accepts_legal_stream, checker_reports_ignored_events};
pub use checkpoints::{
    resumes_after_every_event, resumes_from_checkpoint_at, resumes_from_every_checkpoint,
    taking_ended_preserves_messages,
};
pub use codec::{
    checkpoint_resumes, checkpoint_round_trip, event_round_trip, message_round_trip, message_round_trip_as_custom_event,
};
pub use decoder::decoding_ignores_chunk_boundaries;
pub use determinism::{ended_calls_have_results, folding_is_deterministic, legal_events_apply};
pub use dialects::dialect_round_trip;
pub use fold_apis::fold_apis_agree;
pub use formatting::{event_decodes_in_any_formatting, message_decodes_in_any_formatting};
pub use idempotence::applying_again_changes_nothing;
pub use json_repair::{repair_completes_truncated_json, repair_keeps_valid_json};
pub use json_scanner::{scanner_agrees_with_serde_json, value_round_trip};
pub use merged_deltas::merging_deltas_preserves_messages;
pub use outcomes::{message_outcomes_match_changes, outcomes_match_changes};
#[cfg(feature = "agent")]
pub use shell_rules::shell_rules_cover_commands;
#[cfg(feature = "agent")]
pub use tool_arguments::repaired_arguments_are_valid;

use recount_message::{Event, Fold, Msg, Outcome};

/// The result of checking a law.
pub type Verdict = Result<(), Broken>;

/// The violation of a law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(String);

impl Broken {
    /// Creates a violation with a description.
    pub fn new(description: impl Into<String>) -> Self {
        Self(description.into())
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

/// Returns a violation unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($how:tt)+) => {
        if !$holds {
            return Err($crate::laws::Broken::new(format!($($how)+)));
        }
    };
}

/// Returns a violation unless two values are equal.
macro_rules! ensure_same {
    ($one:expr, $other:expr, $($what:tt)+) => {
        match (&$one, &$other) {
            (one, other) => $crate::laws::ensure!(
                one == other, "{}:\n  one:   {one:?}\n  other: {other:?}", format_args!($($what)+)
            ),
        }
    };
}

use {ensure, ensure_same};

/// Returns the canonical JSON of every message.
fn texts<'m>(messages: impl Iterator<Item = &'m Msg>) -> Vec<String> {
    messages.map(Msg::to_json).collect()
}

/// Folds a stream. Returns the fold and the outcome of each event.
fn folded(events: &[Event<'_>]) -> (Fold, Vec<Outcome>) {
    let mut fold = Fold::new();
    let outcomes = events.iter().map(|event| fold.apply(event)).collect();
    (fold, outcomes)
}
