//! An event at or before the cursor changes nothing.

use recount_message::{Event, Fold, Outcome};

use super::{Verdict, ensure_same, folded, texts};
use crate::random::Random;

/// Repeated events have the outcome `Seen` and change nothing.
///
/// # Errors
///
/// If the law is violated.
pub fn applying_again_changes_nothing(events: &[Event<'_>], seed: u64) -> Verdict {
    let (whole, outcomes) = folded(events);
    let mut random = Random::new(seed);
    let mut fold = Fold::new();
    for (index, event) in events.iter().enumerate() {
        ensure_same!(fold.apply_at(cursor(index), event), outcomes[index], "event {index} at its cursor");
        // Some of the last events are repeated, as after a reconnect.
        let again = random.below(4).min(index + 1);
        let before = fold.checkpoint();
        for (index, event) in events.iter().enumerate().take(index + 1).skip(index + 1 - again) {
            ensure_same!(fold.apply_at(cursor(index), event), Outcome::Seen, "event {index} for the second time");
        }
        ensure_same!(before, fold.checkpoint(), "the fold after repeated events");
    }
    ensure_same!(texts(whole.messages()), texts(fold.messages()), "the messages with repeated events");
    ensure_same!(whole.cursor(), fold.cursor(), "the cursor");
    Ok(())
}

fn cursor(index: usize) -> u64 {
    index as u64 + 1
}
