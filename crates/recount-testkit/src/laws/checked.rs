//! The checker and the fold have the same idea of the rules.

use recount_message::check::{Checker, Finding, Severity};
use recount_message::{CustomName, Event, Outcome, Reason};

use super::{Verdict, ensure, folded};

/// The checker has nothing against a stream that keeps the rules.
///
/// # Errors
///
/// When it has.
pub fn legal_streams_check(events: &[Event<'_>]) -> Verdict {
    let mut checker = Checker::new();
    for (index, event) in events.iter().enumerate() {
        let errors = errors(checker.event(event));
        // A whole message may be anything.
        if event.kind.recount_name() != Some(CustomName::Message) {
            ensure!(errors.is_empty(), "event {index}: {errors:?}: {}", event.to_json());
        }
    }
    Ok(())
}

/// Whatever the fold ignores is an error to the checker, unless it is of a type that a later version may know.
///
/// # Errors
///
/// When one is not.
pub fn checked(events: &[Event<'_>]) -> Verdict {
    let (_, outcomes) = folded(events);
    let mut checker = Checker::new();
    for (index, (event, outcome)) in events.iter().zip(outcomes).enumerate() {
        let errors = errors(checker.event(event));
        let is_bad = match &outcome {
            Outcome::Ignored(reason) => !matches!(reason, Reason::UnknownType(_)),
            Outcome::Partial(_) => true,
            _ => false,
        };
        ensure!(!is_bad || !errors.is_empty(), "the checker takes event {index}, {outcome:?}: {}", event.to_json());
    }
    let _ = checker.finish();
    Ok(())
}

fn errors(findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}
