//! A stream that is cut anywhere goes on from a checkpoint as if nothing had happened.

use recount_message::{Checkpoint, Event, Fold, Msg};

use super::{Broken, Verdict, ensure_same, folded, texts};

/// Resuming at one place gives the bytes and the outcomes of the uncut stream.
///
/// # Errors
///
/// When it does not.
pub fn checkpointed_at(events: &[Event<'_>], cut: usize) -> Verdict {
    let (before, after) = events.split_at(cut.min(events.len()));
    let (prefix, _) = folded(before);
    resumed(&prefix, after, &folded(events), cut)
}

/// Resuming at every place does.
///
/// # Errors
///
/// When it does not at one of them.
pub fn checkpointed(events: &[Event<'_>]) -> Verdict {
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

/// Resuming after each and every event does.
///
/// # Errors
///
/// When it does not.
pub fn checkpointed_after_every_event(events: &[Event<'_>]) -> Verdict {
    let (whole, outcomes) = folded(events);
    let mut fold = Fold::new();
    for (index, (event, expected)) in events.iter().zip(&outcomes).enumerate() {
        fold = through_json(&fold)?;
        ensure_same!(*expected, fold.apply(event), "the outcome of event {index}");
    }
    ensure_same!(texts(whole.messages()), texts(fold.messages()), "resumed after every event");
    Ok(())
}

/// Taking what has ended, again and again, gives the messages that not taking gives, also across checkpoints.
///
/// # Errors
///
/// When it does not.
pub fn taken_in_between(events: &[Event<'_>], every: usize) -> Verdict {
    let (whole, outcomes) = folded(events);
    let mut fold = Fold::new();
    let mut taken: Vec<Msg> = Vec::new();
    for (index, (event, expected)) in events.iter().zip(&outcomes).enumerate() {
        if index % every.max(1) == 0 {
            taken.extend(fold.take_ended());
            fold = through_json(&fold)?;
        }
        let outcome = fold.apply(event);
        // Why a late event is late may be told less exactly, that it is may not.
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

/// A fold that was written down and read again.
fn through_json(fold: &Fold) -> Result<Fold, Broken> {
    let checkpoint = fold.checkpoint();
    let text = checkpoint.to_json();
    let read = Checkpoint::from_json(&text)
        .map_err(|error| Broken::new(format!("the checkpoint cannot be read: {error}\n  {text}")))?;
    ensure_same!(checkpoint, read, "the checkpoint is another one when read");
    ensure_same!(text, read.to_json(), "the checkpoint is written otherwise when read");
    Ok(Fold::resume(read))
}
