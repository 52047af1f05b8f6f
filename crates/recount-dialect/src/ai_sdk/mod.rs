//! The UI message stream of the AI SDK.
//!
//! A reply is one message whose parts are its blocks. The library rebuilds the message from chunks and forgets the open
//! parts when a connection ends. A reader who joins therefore receives the start of the message and all parts so far.
//! Chunks cannot remove text, reopen a part or insert one between others. For such a change, all parts are dropped and
//! sent again.

mod event;
mod parts;

use recount_message::{Event, EventKind, FinishedReason, Fold, Json, Msg, ReplyFold, Role};

use crate::frame::{Frame, usage_json};
use crate::reply_queue::{self, Delivery, Released};
use crate::reply_view::{ReplyView, is_waiting};

/// Returns the chunks for an event. `before` is the fold of all preceding events.
pub(crate) fn frames(before: &Fold, event: &Event<'_>) -> Vec<String> {
    match Delivery::of(before, event) {
        Delivery::Deferred => Vec::new(),
        Delivery::StartReply => ReplyFold::start(event).map(|reply| start(reply.message())).into_iter().collect(),
        Delivery::Message(message) => complete_message(&message),
        Delivery::Signal => vec![signal(event)],
        Delivery::InReply(reply) => in_reply(reply, event),
        Delivery::EndReply(reply) => {
            let mut frames = end_reply(reply, event);
            for released in reply_queue::released_after(before, reply) {
                frames.extend(match released {
                    Released::Complete(message) => complete_message(message),
                    Released::Open(reply) => partial_message(reply.message()),
                });
            }
            frames
        }
    }
}

/// Returns the first chunks for a reader who joins: all messages of the agent and the open blocks.
pub(crate) fn prelude(at: &Fold) -> Vec<String> {
    let messages = reply_queue::delivered_messages(at).map(|message| match at.open_reply(message.id()) {
        Some(reply) => partial_message(reply.message()),
        None => complete_message(message),
    });
    messages.flatten().collect()
}

/// Returns the first chunks for a reader who reconnects: the current message with all parts so far.
pub(crate) fn resume_frames(at: &Fold) -> Vec<String> {
    reply_queue::current_reply(at).map(|reply| partial_message(reply.message())).unwrap_or_default()
}

/// Returns the chunks for a complete message. None for a user or system message, which the client already has.
fn complete_message(message: &Msg) -> Vec<String> {
    if matches!(message.role(), Role::User | Role::System) {
        return Vec::new();
    }
    let mut frames = vec![start(message)];
    frames.extend(parts::of(message, true));
    frames.extend(finish(message));
    frames
}

/// Returns the chunks for an open reply. The library drops the parts that it has of this message.
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

/// Returns the chunk that drops all parts.
fn reset() -> String {
    Frame::of("reset-step").end()
}

/// Returns the chunk that ends the stream of a waiting reply.
fn pause() -> String {
    Frame::of("finish").text("finishReason", "tool-calls").end()
}

/// Returns the chunks for the end of a reply. An error comes last, because the library stops reading at an error.
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
        metadata = metadata.json("structuredOutput", parts::sanitized(&Json::from(output.clone())).as_raw());
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

/// Returns the chunk for an event outside of messages.
fn signal(event: &Event<'_>) -> String {
    let (name, value) = match &event.kind {
        EventKind::Custom(custom) => (&*custom.name, Json::from(custom.value.clone())),
        _ => (event.type_name(), Json::from(event.extra.clone())),
    };
    let value = parts::sanitized(&value);
    event::transient("signal", &Frame::new().text("name", name).json("value", value.as_raw()).end())
}

/// Returns the chunks for an event of the current reply.
fn in_reply(reply: &ReplyFold, event: &Event<'_>) -> Vec<String> {
    let (chunks, after) = event::chunks_of(&ReplyView::of(reply), event);
    let Some(after) = after else { return chunks };
    let before = reply.message();
    reply_queue::add_start_and_pause(before, chunks, after.message(), || start(before), |_| pause())
}

/// Returns the chunks for the end of a reply and of its open blocks.
fn end_reply(reply: &ReplyFold, event: &Event<'_>) -> Vec<String> {
    let mut ended = reply.clone();
    let _ = ended.apply(event);
    let mut frames = Vec::new();
    frames.extend(is_waiting(reply.message()).then(|| start(reply.message())));
    frames.extend(event::end_open_blocks(&ReplyView::of(reply), ended.message()));
    frames.extend(finish(ended.message()));
    frames
}
