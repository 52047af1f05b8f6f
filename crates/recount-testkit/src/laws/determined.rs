//! The result depends on the events alone.

use recount_message::{ContentBlock, Event, EventKind, Fold, Outcome};

use super::{Broken, Verdict, ensure, ensure_same, folded, texts};

/// Folding twice gives the same bytes and the same outcomes, and so does folding what the events' own JSON says.
///
/// # Errors
///
/// When it does not.
pub fn determined(events: &[Event<'_>]) -> Verdict {
    let (first, outcomes) = folded(events);
    let (second, again) = folded(events);
    ensure_same!(outcomes, again, "the outcomes of a second fold differ");
    ensure_same!(texts(first.messages()), texts(second.messages()), "a second fold differs");

    let mut read = Fold::new();
    for (index, (event, outcome)) in events.iter().zip(&outcomes).enumerate() {
        let text = event.to_json();
        let event =
            Event::from_json(&text).map_err(|error| Broken::new(format!("event {index} cannot be read: {error}")))?;
        ensure_same!(read.apply(&event), *outcome, "event {index} fares otherwise when read from JSON");
    }
    ensure_same!(texts(first.messages()), texts(read.messages()), "the fold of the events' JSON differs");
    Ok(())
}

/// Every event of a stream that keeps the rules does what it says, or is for the session.
///
/// # Errors
///
/// When the fold refuses one.
pub fn legal_events_apply(events: &[Event<'_>]) -> Verdict {
    let (_, outcomes) = folded(events);
    for (index, (outcome, event)) in outcomes.iter().zip(events).enumerate() {
        let expected = if crate::legal::is_for_session(event) { Outcome::NotForMessage } else { Outcome::Applied };
        ensure_same!(*outcome, expected, "event {index}, {}", event.to_json());
    }
    Ok(())
}

/// Once a reply of a stream that keeps the rules has ended, every tool call has its result, and nothing is open.
///
/// # Errors
///
/// When it is not so.
pub fn paired(events: &[Event<'_>]) -> Verdict {
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
