//! Encoding followed by decoding returns the same value.

use recount_message::{Checkpoint, CheckpointReply, CustomEvent, Event, Fold, Msg, Outcome};

use super::{Broken, Verdict, ensure, ensure_same};

fn unreadable(what: &str, text: &str, error: &dyn std::error::Error) -> Broken {
    Broken::new(format!("{what} cannot be decoded after encoding: {error}\n  {text}"))
}

/// An event round-trips through its JSON, which is canonical and on one line.
///
/// # Errors
///
/// If the law is violated.
pub fn event_round_trip(event: &Event<'_>) -> Verdict {
    let text = event.to_json();
    ensure!(!text.contains('\n'), "an event on several lines: {text}");
    let read = Event::from_json(&text).map_err(|error| unreadable("an event", &text, &error))?;
    ensure_same!(*event, read, "an event that was read");
    ensure_same!(text, read.to_json(), "an event that was written again");
    let owned = read.into_owned();
    ensure_same!(text, owned.to_json(), "an event that owns its text");
    let by_serde: Event<'static> =
        serde_json::from_str(&text).map_err(|error| unreadable("an event", &text, &error))?;
    ensure_same!(owned, by_serde, "an event that serde_json read");
    ensure_same!(Some(text), serde_json::to_string(&owned).ok(), "an event that serde_json wrote");
    Ok(())
}

/// A message round-trips through its JSON, which is canonical and on one line.
///
/// # Errors
///
/// If the law is violated.
pub fn message_round_trip(message: &Msg) -> Verdict {
    let text = message.to_json();
    ensure!(!text.contains('\n'), "a message on several lines: {text}");
    let read = Msg::from_json(&text).map_err(|error| unreadable("a message", &text, &error))?;
    ensure_same!(*message, read, "a message that was read");
    ensure_same!(text, read.to_json(), "a message that was written again");
    let by_serde: Msg = serde_json::from_str(&text).map_err(|error| unreadable("a message", &text, &error))?;
    ensure_same!(read, by_serde, "a message that serde_json read");
    ensure_same!(Some(text), serde_json::to_string(&read).ok(), "a message that serde_json wrote");
    Ok(())
}

/// A checkpoint round-trips through its JSON.
///
/// # Errors
///
/// If the law is violated.
pub fn checkpoint_round_trip(checkpoint: &Checkpoint) -> Verdict {
    let text = checkpoint.to_json();
    ensure!(!text.contains('\n'), "a checkpoint on several lines: {text}");
    let read = Checkpoint::from_json(&text).map_err(|error| unreadable("a checkpoint", &text, &error))?;
    ensure_same!(*checkpoint, read, "a checkpoint that was read");
    ensure_same!(text, read.to_json(), "a checkpoint that was written again");
    Ok(())
}

/// Folding a complete message from a CUSTOM event yields that message, and its checkpoint round-trips.
///
/// # Errors
///
/// If the law is violated.
pub fn message_round_trip_as_custom_event(message: &Msg) -> Verdict {
    let event = Event::stamped("e1", "", CustomEvent::message(message));
    event_round_trip(&event)?;
    let mut fold = Fold::new();
    ensure_same!(fold.apply(&event), Outcome::Applied, "the event of a whole message");
    ensure_same!(Some(message.to_json()), fold.messages().next().map(Msg::to_json), "the message that was folded");
    let replies = vec![CheckpointReply { message: message.clone(), call_floor: None }];
    checkpoint_round_trip(&Checkpoint { cursor: 1, replies, taken: Vec::new() })
}

/// A fold that is resumed from a checkpoint has its cursor and messages, and can be resumed again.
///
/// # Errors
///
/// If the law is violated.
pub fn checkpoint_resumes(checkpoint: Checkpoint) -> Verdict {
    let (cursor, messages) = (checkpoint.cursor, checkpoint.replies.len());
    let fold = Fold::resume(checkpoint);
    ensure_same!(fold.cursor(), cursor, "the cursor of a resumed fold");
    ensure_same!(fold.messages().count(), messages, "the messages of a resumed fold");
    let again = fold.checkpoint();
    checkpoint_round_trip(&again)?;
    ensure_same!(Fold::resume(again.clone()).checkpoint(), again, "a fold that was resumed twice");
    Ok(())
}
