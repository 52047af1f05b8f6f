//! The AG-UI stream: runs that contain growing messages.
//!
//! To a client, each connection is a stream of its own. It begins with a run, and every open block must begin within it.
//! A reader who joins therefore receives the start of a run, all messages, and the starts of the open blocks. A reader
//! who reconnects with all messages receives the start of a run and the starts of the open blocks.
//!
//! A reply is a run. When a reply waits, the run ends with an interrupt for each waiting call, and the reply continues in
//! another run. An event between two runs is delivered in a run of its own.

mod event;
mod messages;
mod run;

use recount_message::{ContentBlock, Event, EventKind, Fold, Msg, ReplyFold};

use crate::frame::Frame;
use crate::reply_queue::{self, Delivery, Released};
use crate::reply_view::{ReplyView, is_waiting};
use run::Run;

/// Returns the frames for an event. `before` is the fold of all preceding events.
pub(crate) fn frames(session: &str, before: &Fold, event: &Event<'_>) -> Vec<String> {
    match Delivery::of(before, event) {
        Delivery::Deferred => Vec::new(),
        Delivery::StartReply => event.reply_id().map(|id| start_reply(session, id, event)).into_iter().collect(),
        Delivery::Message(message) => complete_message(session, &message),
        Delivery::Signal => signal(session, before, event),
        Delivery::InReply(reply) => in_reply(session, reply, event),
        Delivery::EndReply(reply) => {
            let mut frames = end_reply(session, reply, event);
            for released in reply_queue::released_after(before, reply) {
                match released {
                    Released::Complete(message) => frames.extend(complete_message(session, message)),
                    Released::Open(reply) => {
                        let run = Run::of(session, reply.message());
                        frames.push(run.started_with(&messages::of_open(reply.message())));
                        frames.extend(open_state(&run, reply));
                    }
                }
            }
            frames
        }
    }
}

/// Returns the first frames for a reader who joins: all messages and the open blocks.
pub(crate) fn prelude(session: &str, at: &Fold) -> Vec<String> {
    let current = reply_queue::current_reply(at);
    let Some(last) = current.map(ReplyFold::message).or_else(|| at.messages().last()) else { return Vec::new() };
    let run = Run::of(session, last);
    let messages_so_far: Vec<String> = reply_queue::delivered_messages(at)
        .flat_map(|message| match at.open_reply(message.id()) {
            Some(_) => messages::of_open(message),
            None => messages::of_complete(message),
        })
        .collect();
    let mut frames = vec![run.started(None), Frame::of("MESSAGES_SNAPSHOT").list("messages", &messages_so_far).end()];
    match current {
        Some(reply) => frames.extend(open_state(&run, reply)),
        None => frames.push(run.succeeded()),
    }
    frames
}

/// Returns the first frames for a reader who reconnects and has all messages.
pub(crate) fn resume_frames(session: &str, at: &Fold) -> Vec<String> {
    let Some(reply) = reply_queue::current_reply(at).filter(|reply| !is_waiting(reply.message())) else {
        return Vec::new();
    };
    let run = Run::of(session, reply.message());
    let mut frames = vec![run.started(None)];
    frames.extend(open_state(&run, reply));
    frames
}

/// Returns the frame for the start of a reply.
fn start_reply(session: &str, id: &str, event: &Event<'_>) -> String {
    let parent = event.extension("parent").and_then(|parent| parent.as_str().map(str::to_owned));
    Run { session, id }.started(parent.as_deref())
}

/// Returns a run that holds one complete message.
fn complete_message(session: &str, message: &Msg) -> Vec<String> {
    let run = Run::of(session, message);
    vec![run.started_with(&messages::of_complete(message)), run.finished(message)]
}

/// Returns the starts of the open blocks of a reply, or the interrupt if the reply waits.
fn open_state(run: &Run<'_>, reply: &ReplyFold) -> Vec<String> {
    if is_waiting(reply.message()) {
        return vec![run.interrupted(reply.message())];
    }
    let view = ReplyView::of(reply);
    let open = view.content.iter().enumerate().filter(|(index, _)| view.is_open(*index));
    open.flat_map(|(index, block)| event::start(&view, index, block)).collect()
}

/// Returns the frames for an event outside of messages.
fn signal(session: &str, before: &Fold, event: &Event<'_>) -> Vec<String> {
    let signal = match &event.kind {
        EventKind::Custom(custom) => event::custom(&custom.name, &custom.value.to_json()),
        _ => event::custom(event.type_name(), &event.to_json()),
    };
    match reply_queue::current_reply(before) {
        Some(reply) if !is_waiting(reply.message()) => vec![signal],
        waiting_reply => {
            let run = Run { session, id: &event.id };
            let end = waiting_reply.map_or_else(|| run.succeeded(), |reply| run.interrupted(reply.message()));
            vec![run.started(None), signal, end]
        }
    }
}

/// Returns the frames for an event of the current reply.
fn in_reply(session: &str, reply: &ReplyFold, event: &Event<'_>) -> Vec<String> {
    let run = Run::of(session, reply.message());
    let (frames, after) = event::frames_of(&ReplyView::of(reply), event);
    let Some(after) = after else { return frames };
    let (start, pause) = (|| run.started(None), |message: &Msg| run.interrupted(message));
    reply_queue::add_start_and_pause(reply.message(), frames, after.message(), start, pause)
}

/// Returns the frames for the end of a reply and of its open blocks.
fn end_reply(session: &str, reply: &ReplyFold, event: &Event<'_>) -> Vec<String> {
    let run = Run::of(session, reply.message());
    let view = ReplyView::of(reply);
    let mut ended = reply.clone();
    let _ = ended.apply(event);
    let mut frames = Vec::new();
    frames.extend(is_waiting(reply.message()).then(|| run.started(None)));
    let after = ended.message().content();
    let open = after.iter().enumerate().filter(|(index, _)| view.is_open(*index));
    frames.extend(open.flat_map(|(index, block): (usize, &ContentBlock)| event::end(&view, index, block)));
    frames.extend(event::new_results(&view, after, true));
    frames.push(run.finished(ended.message()));
    frames
}
