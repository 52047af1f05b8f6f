//! What the AI SDK reads: a UI message stream, chunk by chunk.
//!
//! A reply is one message, and its blocks are parts of it. The library rebuilds the message from the chunks, and forgets what
//! was streaming when a connection ends. So a reader gets, wherever it joins, the start of the message and all of its parts so
//! far. What chunks cannot do to a part that is there (take back text, open a part again, put one between others) is told by
//! dropping all parts and telling them again.

mod event;
mod parts;

use recount_message::{Event, EventKind, FinishedReason, Fold, Json, Msg, ReplyFold, Role};

use crate::frame::{Frame, usage_json};
use crate::reply_queue::{self, Delivery, Released};
use crate::reply_view::{ReplyView, is_waiting};

/// What a reader gets for an event that comes after what is folded.
pub(crate) fn frames(before: &Fold, event: &Event<'_>) -> Vec<String> {
    match Delivery::of(before, event) {
        Delivery::Deferred => Vec::new(),
        Delivery::StartReply => ReplyFold::start(event).map(|reply| start(reply.message())).into_iter().collect(),
        Delivery::Message(message) => complete_message(&message),
        Delivery::Signal => vec![signal(event)],
        Delivery::InReply(reply) => in_reply(reply, event),
        Delivery::EndReply(reply) => {
            let mut frames = end_reply(reply, event);
            for waited in reply_queue::released_after(before, reply) {
                frames.extend(match waited {
                    Released::Complete(message) => complete_message(message),
                    Released::Open(reply) => partial_message(reply.message()),
                });
            }
            frames
        }
    }
}

/// What a reader gets who joins: all messages of the agent, and what is open.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    let messages = reply_queue::delivered_messages(at).map(|message| match at.open_reply(message.id()) {
        Some(reply) => partial_message(reply.message()),
        None => complete_message(message),
    });
    messages.flatten().collect()
}

/// What a reader gets who comes back: the message that is going on, all of it.
pub(crate) fn resume_frames(at: &Fold) -> Vec<String> {
    reply_queue::current_reply(at).map(|reply| partial_message(reply.message())).unwrap_or_default()
}

/// A message that is complete. Users are not told what they said.
fn complete_message(message: &Msg) -> Vec<String> {
    if matches!(message.role(), Role::User | Role::System) {
        return Vec::new();
    }
    let mut frames = vec![start(message)];
    frames.extend(parts::of(message, true));
    frames.extend(finish(message));
    frames
}

/// An open reply as far as it has come. A library that goes on with a message of its own drops what it has of it.
fn partial_message(message: &Msg) -> Vec<String> {
    let mut frames = vec![start(message)];
    let parts = parts::of(message, false);
    if !parts.is_empty() {
        frames.push(reset());
        frames.extend(parts);
    }
    frames.extend(is_waiting(message).then(pause));
    frames
}

fn start(message: &Msg) -> String {
    let frame = Frame::of("start").text("messageId", message.id());
    let metadata = Frame::new().text("name", message.name()).text("createdAt", message.created_at()).end();
    frame.json("messageMetadata", &metadata).end()
}

/// Drops all parts.
fn reset() -> String {
    Frame::of("reset-step").end()
}

/// The end of a stream whose reply is_waiting for somebody.
fn pause() -> String {
    Frame::of("finish").text("finishReason", "tool-calls").end()
}

/// The end of a reply. An error comes last, because a library reads no further.
fn finish(message: &Msg) -> Vec<String> {
    let mut metadata = Frame::new();
    if let Some(reason) = message.finished_reason() {
        metadata = metadata.text("finishedReason", reason.as_str());
    }
    metadata = metadata.optional("finishedAt", message.finished_at());
    if let Some(usage) = message.usage() {
        metadata = metadata.json("usage", &usage_json(usage));
    }
    if let Some(output) = message.structured_output() {
        metadata = metadata.json("structuredOutput", parts::sanitized(&Json::from(output.clone())).as_str());
    }
    let reason = match message.finished_reason() {
        Some(FinishedReason::Error) => "error",
        Some(FinishedReason::Interrupted) => "interrupted",
        Some(FinishedReason::ExceedMaxIters) => "other",
        _ => "stop",
    };
    let mut frames =
        vec![Frame::of("finish").text("finishReason", reason).json("messageMetadata", &metadata.end()).end()];
    if message.finished_reason() == Some(FinishedReason::Error) {
        let text = message.error().map_or("the reply ended with an error", |error| error.message.as_str());
        frames.push(Frame::of("error").text("errorText", text).end());
    }
    frames
}

/// Something that belongs to no message.
fn signal(event: &Event<'_>) -> String {
    let (name, value) = match &event.kind {
        EventKind::Custom(custom) => (&*custom.name, Json::from(custom.value.clone())),
        _ => (event.type_name(), Json::from(event.extra.clone())),
    };
    let value = parts::sanitized(&value);
    event::transient("signal", &Frame::new().text("name", name).json("value", value.as_str()).end())
}

/// Something in a reply.
fn in_reply(reply: &ReplyFold, event: &Event<'_>) -> Vec<String> {
    let (said, after) = event::chunks_of(&ReplyView::of(reply), event);
    let Some(after) = after else { return said };
    let before = reply.message();
    reply_queue::add_start_and_pause(before, said, after.message(), || start(before), |_| pause())
}

/// The end of a reply, and of whatever is open in it.
fn end_reply(reply: &ReplyFold, event: &Event<'_>) -> Vec<String> {
    let mut ended = reply.clone();
    let _ = ended.apply(event);
    let mut frames = Vec::new();
    frames.extend(is_waiting(reply.message()).then(|| start(reply.message())));
    frames.extend(event::end_open_blocks(&ReplyView::of(reply), ended.message()));
    frames.extend(finish(ended.message()));
    frames
}
