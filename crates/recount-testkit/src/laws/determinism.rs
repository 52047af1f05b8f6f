//! The result of folding depends only on the events.

use recount_message::{ContentBlock, Event, EventKind, Fold, Outcome};

use super::{Broken, Verdict, ensure, ensure_same, folded, texts};

/// Folding twice yields the same messages and outcomes, and so does folding the events decoded from their JSON.
///
/// # Errors
///
/// If the law is violated.
pub fn folding_is_deterministic(events: &[Event<'_>]) -> Verdict {
    let (first, outcomes) = folded(events);
    let (second, again) = folded(events);
    ensure_same!(outcomes, again, "the outcomes of a second fold differ");
    ensure_same!(texts(first.messages()), texts(second.messages()), "a second fold differs");

    let mut read = Fold::new();
    for (index, (event, outcome)) in events.iter().zip(&outcomes).enumerate() {
        let text = event.to_json();
        let event = Event::from_json(&text)
            .map_err(|error| Broken::new(format!("event {index} cannot be decoded: {error}")))?;
        ensure_same!(read.apply(&event), *outcome, "the outcome of event {index} differs when it is decoded from JSON");
    }
    ensure_same!(texts(first.messages()), texts(read.messages()), "the fold of the events' JSON differs");
    Ok(())
}

/// Every event of a legal stream applies, or belongs to the session.
///
/// # Errors
///
/// If the law is violated.
pub fn legal_events_apply(events: &[Event<'_>]) -> Verdict {
    let (_, outcomes) = folded(events);
    for (index, (outcome, event)) in outcomes.iter().zip(events).enumerate() {
        let expected = if crate::legal::is_for_session(event) { Outcome::NotForMessage } else { Outcome::Applied };
        ensure_same!(*outcome, expected, "event {index}, {}", event.to_json());
    }
    Ok(())
}

/// When a reply of a legal stream has ended, every tool call has a result and no block is open.
///
/// # Errors
///
/// If the law is violated.
pub fn ended_calls_have_results(events: &[Event<'_>]) -> Verdict {
    let (fold, _) = folded(events);
    for event in events {
        let EventKind::ReplyEnd(end) = &event.kind else { continue };
        let Some(message) = fold.message(&end.reply_id) else { continue };
        for (call, result) in message.tool_pairs() {
            ensure!(result.is_some(), "the call {:?} of {:?} has no result", call.id, message.id());
        }
        for block in message.content() {
            let is_over = block.finished_at().is_some() || matches!(block, ContentBlock::Unknown(_));
            ensure!(is_over, "the block {:?} of {:?} is open", block.id(), message.id());
        }
    }
    Ok(())
}
