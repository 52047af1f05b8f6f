//! The outcomes of the fold are correct: an ignored event changes nothing, and its reason is true.

use recount_message::{
    ConfirmResult, Event, EventKind, Fold, Msg, Outcome, Reason, ReplyFold, Skipped, ToolCallBlock, ToolResultBlock,
};

use super::ignore_reasons::is_true;
use super::{Verdict, ensure, ensure_same};

/// The outcome of each event of a stream matches the change of the fold.
///
/// # Errors
///
/// If the law is violated.
pub fn outcomes_match_changes(events: &[Event<'_>]) -> Verdict {
    let mut fold = Fold::new();
    for (index, event) in events.iter().enumerate() {
        let before = fold.clone();
        let outcome = fold.apply(event);
        let (old, new) = (before.checkpoint(), fold.checkpoint());
        ensure_same!(new.cursor, old.cursor + 1, "the cursor after event {index}");
        check(event, &outcome, old.replies == new.replies, index)?;
        if let Some(reason) = outcome.reason() {
            ensure!(is_true(reason, event, &before), "event {index}: {reason:?} is not true: {}", event.to_json());
        }
        if let Some(single) = singles(event) {
            let (whole, done) = one_by_one(before, &single);
            ensure_same!(outcome, whole, "event {index} as a whole and item by item: {}", event.to_json());
            ensure_same!(new.replies, done.checkpoint().replies, "event {index}, item by item: {}", event.to_json());
        }
    }
    Ok(())
}

/// The outcome of each event that is applied to a message matches its change. The message need not result from a stream.
///
/// # Errors
///
/// If the law is violated.
pub fn message_outcomes_match_changes(message: &Msg, events: &[Event<'_>]) -> Verdict {
    let mut message = message.clone();
    let mut reply = ReplyFold::from_message(message.clone());
    for (index, event) in events.iter().enumerate() {
        let before = message.to_json();
        let outcome = message.append_event(event);
        ensure_same!(outcome, reply.apply(event), "the outcomes of Msg and ReplyFold for event {index}");
        let after = message.to_json();
        ensure_same!(after, reply.message().to_json(), "Msg and ReplyFold after event {index}");
        check(event, &outcome, before == after, index)?;
        super::message_round_trip(&message)?;
    }
    Ok(())
}

fn check(event: &Event<'_>, outcome: &Outcome, is_unchanged: bool, index: usize) -> Verdict {
    match outcome {
        Outcome::Ignored(_) | Outcome::NotForMessage | Outcome::Seen => {
            ensure!(is_unchanged, "event {index} is {outcome:?} but has changed something: {}", event.to_json());
        }
        Outcome::Applied => {
            let must_change = must_change(&event.kind);
            ensure!(
                !(is_unchanged && must_change),
                "event {index} is applied but changes nothing: {}",
                event.to_json()
            );
        }
        Outcome::Partial(skipped) => {
            ensure!(!skipped.is_empty(), "event {index} is partly applied, but no item is skipped");
        }
        other => ensure!(false, "event {index} has an unexpected outcome: {other:?}"),
    }
    Ok(())
}

/// Whether an applied event always changes the message.
fn must_change(kind: &EventKind<'_>) -> bool {
    match kind {
        EventKind::ReplyEnd(_)
        | EventKind::TextBlockStart(_)
        | EventKind::TextBlockEnd(_)
        | EventKind::ThinkingBlockStart(_)
        | EventKind::ThinkingBlockEnd(_)
        | EventKind::DataBlockStart(_)
        | EventKind::DataBlockEnd(_)
        | EventKind::HintBlock(_)
        | EventKind::ToolCallStart(_)
        | EventKind::ToolCallEnd(_)
        | EventKind::ToolResultStart(_)
        | EventKind::ToolResultEnd(_) => true,
        EventKind::TextBlockDelta(kind) => !kind.delta.is_empty(),
        EventKind::ThinkingBlockDelta(kind) => !kind.delta.is_empty(),
        EventKind::ToolCallDelta(kind) => !kind.delta.is_empty(),
        EventKind::ToolResultTextDelta(kind) => !kind.delta.is_empty(),
        EventKind::DataBlockDelta(kind) => kind.data.as_deref().is_some_and(|data| !data.is_empty()),
        EventKind::ToolResultDataDelta(kind) => kind.data.as_deref().is_some_and(|data| !data.is_empty()),
        _ => false,
    }
}

/// Splits an event with a list of items into events with one item each. `None` if it has no items.
fn singles<'a>(event: &Event<'a>) -> Option<Vec<Event<'a>>> {
    fn each<'a, T: Clone>(event: &Event<'a>, items: &[T], with: impl Fn(&mut EventKind<'a>, Vec<T>)) -> Vec<Event<'a>> {
        let single = |item: &T| {
            let mut event = event.clone();
            with(&mut event.kind, vec![item.clone()]);
            event
        };
        items.iter().map(single).collect()
    }
    let set_calls = |kind: &mut EventKind<'a>, calls: Vec<ToolCallBlock>| match kind {
        EventKind::RequireUserConfirm(kind) => kind.tool_calls = calls,
        EventKind::RequireExternalExecution(kind) => kind.tool_calls = calls,
        _ => {}
    };
    let set_answers = |kind: &mut EventKind<'a>, answers: Vec<ConfirmResult>| {
        if let EventKind::UserConfirmResult(kind) = kind {
            kind.confirm_results = answers;
        }
    };
    let set_results = |kind: &mut EventKind<'a>, results: Vec<ToolResultBlock>| {
        if let EventKind::ExternalExecutionResult(kind) = kind {
            kind.execution_results = results;
        }
    };
    match &event.kind {
        EventKind::RequireUserConfirm(kind) => Some(each(event, &kind.tool_calls, set_calls)),
        EventKind::RequireExternalExecution(kind) => Some(each(event, &kind.tool_calls, set_calls)),
        EventKind::UserConfirmResult(kind) => Some(each(event, &kind.confirm_results, set_answers)),
        EventKind::ExternalExecutionResult(kind) => Some(each(event, &kind.execution_results, set_results)),
        _ => None,
    }
    .filter(|singles| !singles.is_empty())
}

/// Applies single-item events, and returns the expected outcome of the combined event.
fn one_by_one(mut fold: Fold, singles: &[Event<'_>]) -> (Outcome, Fold) {
    let reasons: Vec<Option<Reason>> = singles.iter().map(|single| fold.apply(single).reason().cloned()).collect();
    let skipped: Vec<Skipped> = reasons
        .iter()
        .enumerate()
        .filter_map(|(index, reason)| reason.clone().map(|reason| Skipped { index, reason }))
        .collect();
    let outcome = match skipped.first() {
        None => Outcome::Applied,
        Some(first) if skipped.len() == singles.len() => Outcome::Ignored(first.reason.clone()),
        Some(_) => Outcome::Partial(skipped),
    };
    (outcome, fold)
}
