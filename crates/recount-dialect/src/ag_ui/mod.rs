//! What AG-UI's clients read: runs, and in them messages that grow.
//!
//! A connection is a stream of its own to them. It begins with a run, and whatever goes on in it has to have begun in it.
//! So a reader gets, wherever it joins, a run, all messages, and the starts of what is open; and one who comes back with
//! all messages up to a place gets the run and the starts.
//!
//! A reply is a run. One that waits for somebody has ended for AG-UI, with an interrupt for each call that waits, and goes
//! on in another run. What is said between two runs comes in a run of its own.

mod event;
mod messages;
mod run;

use recount_message::{ContentBlock, Event, EventKind, Fold, Msg, ReplyFold};

use crate::frame::Frame;
use crate::line::{self, Turn, Waited};
use crate::view::{View, waits};
use run::Run;

/// What a reader gets for an event that comes after what is folded.
pub(crate) fn frames(session: &str, before: &Fold, event: &Event<'_>) -> Vec<String> {
    match Turn::of(before, event) {
        Turn::Nothing => Vec::new(),
        Turn::Begins => event.reply_id().map(|id| begin(session, id, event)).into_iter().collect(),
        Turn::Whole(message) => whole(session, &message),
        Turn::Signal => signal(session, before, event),
        Turn::Goes(reply) => goes(session, reply, event),
        Turn::Ends(reply) => {
            let mut frames = ends(session, reply, event);
            for waited in line::after(before, reply) {
                match waited {
                    Waited::Whole(message) => frames.extend(whole(session, message)),
                    Waited::Open(reply) => {
                        let run = Run::of(session, reply.message());
                        frames.push(run.started_with(&messages::of_open(reply.message())));
                        frames.extend(goes_on(&run, reply));
                    }
                }
            }
            frames
        }
    }
}

/// What a reader gets who joins: all messages, and what is open.
pub(crate) fn prelude(session: &str, at: &Fold) -> Vec<String> {
    let front = line::front(at);
    let Some(last) = front.map(ReplyFold::message).or_else(|| at.messages().last()) else { return Vec::new() };
    let run = Run::of(session, last);
    let shown: Vec<String> = line::told(at)
        .flat_map(|message| match at.open_reply(message.id()) {
            Some(_) => messages::of_open(message),
            None => messages::of_complete(message),
        })
        .collect();
    let mut frames = vec![run.started(None), Frame::of("MESSAGES_SNAPSHOT").list("messages", &shown).end()];
    match front {
        Some(reply) => frames.extend(goes_on(&run, reply)),
        None => frames.push(run.succeeded()),
    }
    frames
}

/// What a reader gets who comes back with everything up to here.
pub(crate) fn resume_frames(session: &str, at: &Fold) -> Vec<String> {
    let Some(reply) = line::front(at).filter(|reply| !waits(reply.message())) else { return Vec::new() };
    let run = Run::of(session, reply.message());
    let mut frames = vec![run.started(None)];
    frames.extend(goes_on(&run, reply));
    frames
}

/// The start of a reply.
fn begin(session: &str, id: &str, event: &Event<'_>) -> String {
    let parent = event.carried("parent").and_then(|parent| parent.to_text());
    Run { session, id }.started(parent.as_deref())
}

/// A message that is complete, in a run of its own.
fn whole(session: &str, message: &Msg) -> Vec<String> {
    let run = Run::of(session, message);
    vec![run.started_with(&messages::of_complete(message)), run.finished(message)]
}

/// What is open in a reply, or that it waits.
fn goes_on(run: &Run<'_>, reply: &ReplyFold) -> Vec<String> {
    if waits(reply.message()) {
        return vec![run.interrupted(reply.message())];
    }
    let view = View::of(reply);
    let open = view.content.iter().enumerate().filter(|(index, _)| view.is_open(*index));
    open.flat_map(|(index, block)| event::start(&view, index, block)).collect()
}

/// Something that belongs to no message.
fn signal(session: &str, before: &Fold, event: &Event<'_>) -> Vec<String> {
    let signal = match &event.kind {
        EventKind::Custom(custom) => event::custom(&custom.name, &custom.value.to_json()),
        _ => event::custom(event.type_name(), &event.to_json()),
    };
    match line::front(before) {
        Some(reply) if !waits(reply.message()) => vec![signal],
        waiting => {
            let run = Run { session, id: &event.id };
            let end = waiting.map_or_else(|| run.succeeded(), |reply| run.interrupted(reply.message()));
            vec![run.started(None), signal, end]
        }
    }
}

/// Something in a reply.
fn goes(session: &str, reply: &ReplyFold, event: &Event<'_>) -> Vec<String> {
    let run = Run::of(session, reply.message());
    let (said, after) = event::told(&View::of(reply), event);
    let Some(after) = after else { return said };
    let (start, pause) = (|| run.started(None), |message: &Msg| run.interrupted(message));
    line::between_waits(reply.message(), said, after.message(), start, pause)
}

/// The end of a reply, and of whatever is open in it.
fn ends(session: &str, reply: &ReplyFold, event: &Event<'_>) -> Vec<String> {
    let run = Run::of(session, reply.message());
    let view = View::of(reply);
    let mut ended = reply.clone();
    let _ = ended.apply(event);
    let mut frames = Vec::new();
    frames.extend(waits(reply.message()).then(|| run.started(None)));
    let after = ended.message().content();
    let open = after.iter().enumerate().filter(|(index, _)| view.is_open(*index));
    frames.extend(open.flat_map(|(index, block): (usize, &ContentBlock)| event::end(&view, index, block)));
    frames.extend(event::new_results(&view, after, true));
    frames.push(run.finished(ended.message()));
    frames
}
