//! Delivery of one reply at a time, for readers that cannot interleave replies.
//!
//! A front end shows messages in the order in which they arrive. Recount orders messages by their start, and several replies
//! can be open at once. The oldest open reply is therefore streamed, and every message that began after it is queued until
//! that reply has ended. The queue is derived from the fold, so no other state is needed.

use recount_message::{CustomName, Event, EventKind, Fold, Json, Msg, ReplyFold};

use crate::reply_view::{BlockKind, is_waiting};

/// The messages or changes to deliver for an event.
#[derive(Debug)]
pub(crate) enum Delivery<'f> {
    /// The start of a reply, which becomes the current one.
    StartReply,
    /// A complete message. No reply is open.
    Message(Box<Msg>),
    /// A change of the current reply.
    InReply(&'f ReplyFold),
    /// The end of the current reply.
    EndReply(&'f ReplyFold),
    /// An event outside of messages.
    Signal,
    /// Nothing now: the message is queued, or the fold ignores the event.
    Deferred,
}

/// Returns the current reply: the oldest open one.
pub(crate) fn current_reply(at: &Fold) -> Option<&ReplyFold> {
    at.open_replies().next()
}

impl<'f> Delivery<'f> {
    pub(crate) fn of(before: &'f Fold, event: &Event<'_>) -> Self {
        let current = current_reply(before);
        let in_reply = |id: Option<&str>| match current {
            Some(current) if id == Some(current.message().id()) => Self::InReply(current),
            _ => Self::Deferred,
        };
        match &event.kind {
            EventKind::Custom(custom) => match custom.recount_name() {
                Some(CustomName::Message) => match Msg::from_json(&custom.value.to_json()) {
                    Ok(message) if current.is_none() && before.reply(message.id()).is_none() => {
                        Self::Message(Box::new(message))
                    }
                    _ => Self::Deferred,
                },
                Some(CustomName::Block | CustomName::Call) => {
                    in_reply(custom.value.get("reply_id").and_then(Json::as_str))
                }
                _ => Self::Signal,
            },
            EventKind::Unknown(_) => Self::Signal,
            EventKind::ReplyStart(start) => match current {
                None if before.reply(&start.reply_id).is_none() => Self::StartReply,
                _ => Self::Deferred,
            },
            EventKind::ReplyEnd(end) => match in_reply(Some(&end.reply_id)) {
                Self::InReply(current) => Self::EndReply(current),
                other => other,
            },
            kind => in_reply(kind.reply_id()),
        }
    }
}

/// A message that was queued until the current reply ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Released<'f> {
    /// A complete message.
    Complete(&'f Msg),
    /// An open reply, which becomes the current one.
    Open(&'f ReplyFold),
}

/// Returns the messages to deliver after the reply `ended`: the complete ones, up to and including the next open one.
pub(crate) fn released_after<'f>(at: &'f Fold, ended: &ReplyFold) -> Vec<Released<'f>> {
    let mut released = Vec::new();
    let id = ended.message().id();
    for message in at.messages().skip_while(|message| message.id() != id).skip(1) {
        if let Some(open) = at.open_reply(message.id()) {
            released.push(Released::Open(open));
            break;
        }
        released.push(Released::Complete(message));
    }
    released
}

/// Returns the messages that have been delivered: all up to and including the current reply.
pub(crate) fn delivered_messages(at: &Fold) -> impl Iterator<Item = &Msg> {
    let mut is_queued = false;
    let current = current_reply(at).map(|current| current.message().id());
    at.messages().take_while(move |message| {
        let is_delivered = !is_queued;
        is_queued = is_queued || current == Some(message.id());
        is_delivered
    })
}

/// The change that an event makes to the current reply.
#[derive(Debug)]
pub(crate) enum ReplyChange<'e> {
    /// A delta of a block: its kind, its id and the text.
    Delta(BlockKind, &'e str, &'e str),
    /// Output of a tool: the call id and the text.
    ToolOutput(&'e str, &'e str),
    /// Nothing to deliver. A piece of data is delivered with the end of its block.
    Ignored,
    /// A start, an end or a change of a call.
    Structural,
}

impl<'e> ReplyChange<'e> {
    pub(crate) fn of(kind: &'e EventKind<'_>) -> Self {
        match kind {
            EventKind::TextBlockDelta(kind) => Self::Delta(BlockKind::Text, &kind.block_id, &kind.delta),
            EventKind::ThinkingBlockDelta(kind) => Self::Delta(BlockKind::Thinking, &kind.block_id, &kind.delta),
            EventKind::ToolCallDelta(kind) => Self::Delta(BlockKind::ToolCall, &kind.tool_call_id, &kind.delta),
            EventKind::ToolResultTextDelta(kind) => Self::ToolOutput(&kind.tool_call_id, &kind.delta),
            EventKind::DataBlockDelta(_)
            | EventKind::ToolResultDataDelta(_)
            | EventKind::ModelCallStart(_)
            | EventKind::ModelCallEnd(_)
            | EventKind::ExceedMaxIters(_)
            | EventKind::UserInterrupt(_) => Self::Ignored,
            _ => Self::Structural,
        }
    }
}

/// Adds a start before the frames of a reply that was waiting, and a pause after them if the reply waits now.
pub(crate) fn add_start_and_pause(
    before: &Msg,
    frames: Vec<String>,
    after: &Msg,
    start: impl FnOnce() -> String,
    pause: impl FnOnce(&Msg) -> String,
) -> Vec<String> {
    let (was_waiting, waits) = (is_waiting(before), is_waiting(after));
    let restarts = was_waiting && (!frames.is_empty() || !waits);
    let mut all = Vec::with_capacity(frames.len());
    all.extend(restarts.then(start));
    all.extend(frames);
    all.extend((waits && (restarts || !was_waiting)).then(|| pause(after)));
    all
}
