//! The laws of the fold and of the codec, as functions that say what is broken.
//!
//! The property tests hold generated streams to them, the fuzz targets whatever the fuzzer comes up with.

mod accessors;
#[cfg(feature = "agent")]
mod arguments;
mod checked;
mod checkpointed;
mod codec;
mod compactable;
mod decoded;
mod determined;
mod idempotent;
mod json;
mod pieces;
mod reasons;
mod repaired;
mod reported;
#[cfg(feature = "agent")]
mod shell;
mod spelling;
mod translated;
mod ways;

pub use accessors::{event_accessors, message_accessors};
#[cfg(feature = "agent")]
pub use arguments::arguments;
pub use checked::{checked, legal_streams_check};
pub use checkpointed::{checkpointed, checkpointed_after_every_event, checkpointed_at, taken_in_between};
pub use codec::{checkpoint_round_trip, event_round_trip, message_round_trip, resumes, survives_as_custom_event};
pub use compactable::compactable;
pub use decoded::decoded;
pub use determined::{determined, legal_events_apply, paired};
pub use idempotent::idempotent;
pub use json::{scanner_agrees, value_survives};
pub use repaired::{completed, repaired};
pub use reported::{message_reported, reported};
#[cfg(feature = "agent")]
pub use shell::shell;
pub use spelling::{event_in_any_spelling, message_in_any_spelling};
pub use translated::translated;
pub use ways::ways_agree;

use recount_message::{Event, Fold, Msg, Outcome};

/// What a law says about a case.
pub type Verdict = Result<(), Broken>;

/// A law that does not hold, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(String);

impl Broken {
    /// A law that does not hold.
    pub fn new(how: impl Into<String>) -> Self {
        Self(how.into())
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

/// Says that the law is broken unless something is true.
macro_rules! ensure {
    ($holds:expr, $($how:tt)+) => {
        if !$holds {
            return Err($crate::laws::Broken::new(format!($($how)+)));
        }
    };
}

/// Says that the law is broken unless two things are the same.
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

/// The canonical text of every message.
fn texts<'m>(messages: impl Iterator<Item = &'m Msg>) -> Vec<String> {
    messages.map(Msg::to_json).collect()
}

/// The fold of a stream, and what it said about each event.
fn folded(events: &[Event<'_>]) -> (Fold, Vec<Outcome>) {
    let mut fold = Fold::new();
    let outcomes = events.iter().map(|event| fold.apply(event)).collect();
    (fold, outcomes)
}
