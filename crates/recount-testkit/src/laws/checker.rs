//! The checker and the fold enforce the same rules.

use recount_message::check::{Checker, Finding, Severity};
use recount_message::{CustomName, Event, Outcome, Reason};

use super::{Verdict, ensure, folded};

/// The checker reports no error for a legal stream.
///
/// # Errors
///
/// If the law is violated.
pub fn checker_accepts_legal_stream(events: &[Event<'_>]) -> Verdict {
    let mut checker = Checker::new();
    for (index, event) in events.iter().enumerate() {
        let errors = errors(checker.event(event));
        // A complete message may have any content.
        if event.kind.recount_name() != Some(CustomName::Message) {
            ensure!(errors.is_empty(), "event {index}: {errors:?}: {}", event.to_json());
        }
    }
    Ok(())
}

/// The checker reports an error for every event that the fold ignores, unless its type is unknown.
///
/// # Errors
///
/// If the law is violated.
pub fn checker_reports_ignored_events(events: &[Event<'_>]) -> Verdict {
    let (_, outcomes) = folded(events);
    let mut checker = Checker::new();
    for (index, (event, outcome)) in events.iter().zip(outcomes).enumerate() {
        let errors = errors(checker.event(event));
        let is_bad = match &outcome {
            Outcome::Ignored(reason) => !matches!(reason, Reason::UnknownType(_)),
            Outcome::Partial(_) => true,
            _ => false,
        };
        ensure!(!is_bad || !errors.is_empty(), "the checker accepts event {index}, {outcome:?}: {}", event.to_json());
    }
    let _ = checker.finish();
    Ok(())
}

fn errors(findings: Vec<Finding>) -> Vec<Finding> {
    findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}
