//! One reply after the other, for readers who can follow only one.
//!
//! A front end shows messages in the order in which they come. Recount's are in the order in which they began, and several
//! may be open at once. So the oldest open reply is told as it is said, and whatever began after it is told when it has
//! ended. What follows from this needs no memory: it is all in the fold.

use recount_message::{CustomName, Event, EventKind, Fold, Json, Msg, ReplyFold};

use crate::view::{Kind, waits};

/// What an event is to a reader who is told one reply after the other.
#[derive(Debug)]
pub(crate) enum Turn<'f> {
    /// It begins the reply that is told from now on.
    Begins,
    /// It is a message that came whole and that nothing stands before.
    Whole(Box<Msg>),
    /// It is for the reply that is being told.
    Goes(&'f ReplyFold),
    /// It ends the reply that is being told.
    Ends(&'f ReplyFold),
    /// It belongs to no message.
    Signal,
    /// It is told later, or never.
    Nothing,
}

/// The reply that is being told.
pub(crate) fn front(at: &Fold) -> Option<&ReplyFold> {
    at.open_replies().next()
}

impl<'f> Turn<'f> {
    pub(crate) fn of(before: &'f Fold, event: &Event<'_>) -> Self {
        let front = front(before);
        let of_front = |id: Option<&str>| match front {
            Some(front) if id == Some(front.message().id()) => Self::Goes(front),
            _ => Self::Nothing,
        };
        match &event.kind {
            EventKind::Custom(custom) => match custom.own_name() {
                Some(CustomName::Message) => match Msg::from_json(&custom.value.to_json()) {
                    Ok(message) if front.is_none() && before.reply(message.id()).is_none() => {
                        Self::Whole(Box::new(message))
                    }
                    _ => Self::Nothing,
                },
                Some(CustomName::Block | CustomName::Call) => {
                    of_front(custom.value.get("reply_id").and_then(Json::to_text).as_deref())
                }
                _ => Self::Signal,
            },
            EventKind::Unknown(_) => Self::Signal,
            EventKind::ReplyStart(start) => match front {
                None if before.reply(&start.reply_id).is_none() => Self::Begins,
                _ => Self::Nothing,
            },
            EventKind::ReplyEnd(end) => match of_front(Some(&end.reply_id)) {
                Self::Goes(front) => Self::Ends(front),
                other => other,
            },
            kind => of_front(kind.reply_id()),
        }
    }
}

/// A message that had to wait for another one to end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Waited<'f> {
    /// It is complete.
    Whole(&'f Msg),
    /// It is being told from now on.
    Open(&'f ReplyFold),
}

/// What is told when the reply that was being told has ended: the complete messages after it, and the next open one.
pub(crate) fn after<'f>(at: &'f Fold, ended: &ReplyFold) -> Vec<Waited<'f>> {
    let mut waited = Vec::new();
    let id = ended.message().id();
    for message in at.messages().skip_while(|message| message.id() != id).skip(1) {
        if let Some(open) = at.open_reply(message.id()) {
            waited.push(Waited::Open(open));
            break;
        }
        waited.push(Waited::Whole(message));
    }
    waited
}

/// The messages that have been told: all up to the reply that is being told.
pub(crate) fn told(at: &Fold) -> impl Iterator<Item = &Msg> {
    let mut is_behind = false;
    let front = front(at).map(|front| front.message().id());
    at.messages().take_while(move |message| {
        let is_told = !is_behind;
        is_behind = is_behind || front == Some(message.id());
        is_told
    })
}

/// What an event does in the reply that is being told.
#[derive(Debug)]
pub(crate) enum Said<'e> {
    /// A block goes on.
    More(Kind, &'e str, &'e str),
    /// A tool has said something.
    Output(&'e str, &'e str),
    /// Nothing that is told: a piece of data, of which all is told at its end, or what other events have done or will do.
    Nothing,
    /// Something begins or ends, or a call changes.
    Step,
}

impl<'e> Said<'e> {
    pub(crate) fn by(kind: &'e EventKind<'_>) -> Self {
        match kind {
            EventKind::TextBlockDelta(kind) => Self::More(Kind::Text, &kind.block_id, &kind.delta),
            EventKind::ThinkingBlockDelta(kind) => Self::More(Kind::Thinking, &kind.block_id, &kind.delta),
            EventKind::ToolCallDelta(kind) => Self::More(Kind::ToolCall, &kind.tool_call_id, &kind.delta),
            EventKind::ToolResultTextDelta(kind) => Self::Output(&kind.tool_call_id, &kind.delta),
            EventKind::DataBlockDelta(_)
            | EventKind::ToolResultDataDelta(_)
            | EventKind::ModelCallStart(_)
            | EventKind::ModelCallEnd(_)
            | EventKind::ExceedMaxIters(_)
            | EventKind::UserInterrupt(_) => Self::Nothing,
            _ => Self::Step,
        }
    }
}

/// Puts a start before what is said in a reply that waited, and a pause after it where the reply waits.
pub(crate) fn between_waits(
    before: &Msg,
    said: Vec<String>,
    after: &Msg,
    start: impl FnOnce() -> String,
    pause: impl FnOnce(&Msg) -> String,
) -> Vec<String> {
    let (has_waited, is_waiting) = (waits(before), waits(after));
    let begins = has_waited && (!said.is_empty() || !is_waiting);
    let mut frames = Vec::with_capacity(said.len());
    frames.extend(begins.then(start));
    frames.extend(said);
    frames.extend((is_waiting && (begins || !has_waited)).then(|| pause(after)));
    frames
}
