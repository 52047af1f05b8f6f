//! A fold that is resumed from a checkpoint continues as if it had not been interrupted.

use recount_message::{Checkpoint, Event, Fold, Msg};

use super::{Broken, Verdict, ensure_same, folded, texts};

/// Resuming after `cut` events yields the same messages and outcomes as the uninterrupted stream.
///
/// # Errors
///
/// If the law is violated.
pub fn resumes_from_checkpoint_at(events: &[Event<'_>], cut: usize) -> Verdict {
    let (before, after) = events.split_at(cut.min(events.len()));
    let (prefix, _) = folded(before);
    resumed(&prefix, after, &folded(events), cut)
}

/// Resuming after any number of events yields the same messages and outcomes as the uninterrupted stream.
///
/// # Errors
///
/// If the law is violated.
pub fn resumes_from_every_checkpoint(events: &[Event<'_>]) -> Verdict {
    let whole = folded(events);
    let mut prefix = Fold::new();
    for cut in 0..=events.len() {
        let (_, after) = events.split_at(cut);
        resumed(&prefix, after, &whole, cut)?;
        if let Some(event) = after.first() {
            let _ = prefix.apply(event);
        }
    }
    Ok(())
}

fn resumed(prefix: &Fold, after: &[Event<'_>], whole: &(Fold, Vec<recount_message::Outcome>), cut: usize) -> Verdict {
    let mut fold = through_json(prefix)?;
    let outcomes: Vec<_> = after.iter().map(|event| fold.apply(event)).collect();
    let expected = whole.1.get(cut..).unwrap_or_default();
    ensure_same!(expected, outcomes.as_slice(), "resumed after {cut} events, the outcomes of the others differ");
    ensure_same!(texts(whole.0.messages()), texts(fold.messages()), "resumed after {cut} events");
    ensure_same!(whole.0.checkpoint(), fold.checkpoint(), "the checkpoint, resumed after {cut} events");
    Ok(())
}

/// Resuming again after every single event yields the same messages and outcomes as the uninterrupted stream.
///
/// # Errors
///
/// If the law is violated.
pub fn resumes_after_every_event(events: &[Event<'_>]) -> Verdict {
    let (whole, outcomes) = folded(events);
    let mut fold = Fold::new();
    for (index, (event, expected)) in events.iter().zip(&outcomes).enumerate() {
        fold = through_json(&fold)?;
        ensure_same!(*expected, fold.apply(event), "the outcome of event {index}");
    }
    ensure_same!(texts(whole.messages()), texts(fold.messages()), "resumed after every event");
    Ok(())
}

/// Repeatedly taking the ended messages yields the same messages as not taking any, also across checkpoints.
///
/// # Errors
///
/// If the law is violated.
pub fn taking_ended_preserves_messages(events: &[Event<'_>], every: usize) -> Verdict {
    let (whole, outcomes) = folded(events);
    let mut fold = Fold::new();
    let mut taken: Vec<Msg> = Vec::new();
    for (index, (event, expected)) in events.iter().zip(&outcomes).enumerate() {
        if index % every.max(1) == 0 {
            taken.extend(fold.take_ended());
            fold = through_json(&fold)?;
        }
        let outcome = fold.apply(event);
        // The reason for ignoring a late event may be less specific, but it must still be ignored.
        ensure_same!(
            expected.reason().is_some(),
            outcome.reason().is_some(),
            "event {index}: {expected:?}, {outcome:?}"
        );
    }
    ensure_same!(whole.cursor(), fold.cursor(), "the cursor");
    taken.extend(fold.into_messages());
    ensure_same!(texts(whole.messages()), texts(taken.iter()), "taken and left together");
    Ok(())
}

/// Writes a fold as a checkpoint, and resumes it from the text.
fn through_json(fold: &Fold) -> Result<Fold, Broken> {
    let checkpoint = fold.checkpoint();
    let text = checkpoint.to_json();
    let read = Checkpoint::from_json(&text)
        .map_err(|error| Broken::new(format!("the checkpoint cannot be read: {error}\n  {text}")))?;
    ensure_same!(checkpoint, read, "the checkpoint differs after decoding");
    ensure_same!(text, read.to_json(), "the checkpoint is encoded differently after decoding");
    Ok(Fold::resume(read))
}
