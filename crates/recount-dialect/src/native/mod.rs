//! Recount's own JSON, which is that of AgentScope Python: 2.0.10 exactly, and 2.0.6, whose events lack a few optional
//! fields.

mod replay;
#[cfg(test)]
mod tests;

use recount_message::{AgentEvent, ContentBlock, CustomEvent, DecodeError, Event, Fold, Msg};

use replay::replay_reply;
pub(crate) use replay::{block_events, exact_block_events};

/// Parses a message.
pub(crate) fn read_message(text: &str) -> Result<Msg, DecodeError> {
    Msg::from_json(text)
}

/// Serializes a message.
pub(crate) fn write_message(message: &Msg, out: &mut String) {
    message.write_json(out);
}

/// Parses a block on its own. A missing id or time is derived from the block alone.
pub(crate) fn read_block(text: &str) -> Result<ContentBlock, DecodeError> {
    ContentBlock::from_json(text, "", "")
}

/// Serializes a block.
pub(crate) fn write_block(block: &ContentBlock, out: &mut String) {
    out.push_str(&block.to_json());
}

/// Parses an event.
pub(crate) fn read_event(text: &str) -> Result<Event<'_>, DecodeError> {
    Event::from_json(text)
}

/// Serializes an event.
pub(crate) fn write_event(event: &Event<'_>, out: &mut String) {
    event.write_json(out);
}

/// Returns the frame for an event: the event itself, even if the fold ignores it.
pub(crate) fn frames(_before: &Fold, event: &Event<'_>) -> Vec<String> {
    vec![event.to_json()]
}

/// Returns the first frames for a reader who joins.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    replay_events(at).iter().map(Event::to_json).collect()
}

/// Returns the events that rebuild a fold: one event for each complete message, and the events of each open reply, so
/// that it can be continued.
pub(crate) fn replay_events(at: &Fold) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut open = at.open_replies().peekable();
    for message in at.messages() {
        match open.next_if(|reply| reply.message().id() == message.id()) {
            Some(reply) => events.extend(replay_reply(reply)),
            // A message that was not streamed has the same id as its event.
            None => events.push(Event::stamped(
                message.id().to_owned(),
                message.created_at().to_owned(),
                CustomEvent::message(message),
            )),
        }
    }
    events
}

/// Returns the frames that rebuild a fold in another dialect. `frames` returns the frames for one event.
pub(crate) fn replay_as(at: &Fold, frames: fn(&Fold, &Event<'_>) -> Vec<String>) -> Vec<String> {
    let mut before = Fold::new();
    let mut all = Vec::new();
    for event in replay_events(at) {
        all.extend(frames(&before, &event));
        let _ = before.apply(&event);
    }
    all
}
