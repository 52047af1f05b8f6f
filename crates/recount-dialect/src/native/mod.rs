//! Recount's own JSON, which is AgentScope Python's: 2.0.10 as it stands, and 2.0.6, whose events lack a few fields that
//! may be missing anyway.

mod replay;
#[cfg(test)]
mod tests;

use recount_message::{AgentEvent, ContentBlock, CustomEvent, DecodeError, Event, Fold, Msg};

use replay::replay_reply;
pub(crate) use replay::{block_events, exact_block_events};

/// Reads a message.
pub(crate) fn read_message(text: &str) -> Result<Msg, DecodeError> {
    Msg::from_json(text)
}

/// Writes a message.
pub(crate) fn write_message(message: &Msg, out: &mut String) {
    message.write_json(out);
}

/// Reads a block that stands alone. An id or a time that it lacks is derived from nothing but that.
pub(crate) fn read_block(text: &str) -> Result<ContentBlock, DecodeError> {
    ContentBlock::from_json(text, "", "")
}

/// Writes a block.
pub(crate) fn write_block(block: &ContentBlock, out: &mut String) {
    out.push_str(&block.to_json());
}

/// Reads an event.
pub(crate) fn read_event(text: &str) -> Result<Event<'_>, DecodeError> {
    Event::from_json(text)
}

/// Writes an event.
pub(crate) fn write_event(event: &Event<'_>, out: &mut String) {
    event.write_json(out);
}

/// What a reader gets for an event: the event, whatever its fold makes of it.
pub(crate) fn frames(_before: &Fold, event: &Event<'_>) -> Vec<String> {
    vec![event.to_json()]
}

/// What a reader gets who joins: everything that has been said so far.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    replay_events(at).iter().map(Event::to_json).collect()
}

/// The events that rebuild a fold: a message that is complete as a whole, a reply that is still open so that it can go on.
pub(crate) fn replay_events(at: &Fold) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut open = at.open_replies().peekable();
    for message in at.messages() {
        match open.next_if(|reply| reply.message().id() == message.id()) {
            Some(reply) => events.extend(replay_reply(reply)),
            // The message that nobody streams has the id of the event that it comes with.
            None => events.push(Event::stamped(
                message.id().to_owned(),
                message.created_at().to_owned(),
                CustomEvent::message(message),
            )),
        }
    }
    events
}

/// Returns the frames of a dialect that rebuild a fold, given the dialect's frames for one event.
pub(crate) fn replay_as(at: &Fold, frames: fn(&Fold, &Event<'_>) -> Vec<String>) -> Vec<String> {
    let mut before = Fold::new();
    let mut all = Vec::new();
    for event in replay_events(at) {
        all.extend(frames(&before, &event));
        let _ = before.apply(&event);
    }
    all
}
