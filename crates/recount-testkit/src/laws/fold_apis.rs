//! The three APIs for folding a stream, a reply and a message agree.

use std::collections::HashMap;

use recount_message::{CustomName, Event, EventKind, Fold, Msg, Outcome, ReplyFold};

use super::{Broken, Verdict, ensure_same};

/// `Fold`, `ReplyFold` and `Msg::append_event` produce the same messages and outcomes.
///
/// # Errors
///
/// If the law is violated.
pub fn fold_apis_agree(events: &[Event<'_>]) -> Verdict {
    let mut fold = Fold::new();
    let mut replies: HashMap<String, (ReplyFold, Msg)> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        let is_new = event.reply_id().is_some_and(|id| fold.message(id).is_none());
        let outcome = fold.apply(event);
        let Some(id) = reply_of(event) else { continue };
        if let Some((reply, message)) = replies.get_mut(&id) {
            ensure_same!(outcome, reply.apply(event), "the outcomes of Fold and ReplyFold for event {index}");
            ensure_same!(outcome, message.append_event(event), "the outcomes of Fold and Msg for event {index}");
        } else if is_new && outcome == Outcome::Applied {
            let reply = ReplyFold::start(event)
                .ok_or_else(|| Broken::new(format!("event {index} started a reply, but is not a REPLY_START")))?;
            let message = reply.message().clone();
            replies.insert(id, (reply, message));
        }
    }
    for (id, (reply, message)) in replies {
        let expected = fold.message(&id).map(Msg::to_json);
        ensure_same!(expected, Some(reply.message().to_json()), "Fold and ReplyFold");
        ensure_same!(expected, Some(message.to_json()), "Fold and Msg::append_event");
    }
    Ok(())
}

/// Returns the id of an event's reply. Recount's own CUSTOM events name it in their value.
fn reply_of(event: &Event<'_>) -> Option<String> {
    let EventKind::Custom(custom) = &event.kind else { return event.reply_id().map(str::to_owned) };
    match custom.recount_name() {
        Some(CustomName::Block | CustomName::Call) => custom.value.get("reply_id")?.as_str().map(str::to_owned),
        _ => None,
    }
}
