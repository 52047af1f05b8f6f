//! The events that come out: those that Java said, under native ids, and those that are put in.
//!
//! Java did not say the latter, so they are marked: `"synthetic": true` in `metadata.recount.java` (of TOOL_RESULT_END, whose
//! metadata is the tool's own, in `recount.java` beside its fields). Java's ids of model calls and blocks, which are the
//! same in every stream or mean nothing outside of it, are not kept; an event's own id is.

use std::borrow::Cow;

use recount_message::{AgentEvent, Event, EventKind, Json, Object};

use super::super::NAME;
use super::super::frames::SYNTHETIC;
use crate::event_ids::{block_id_mut, reply_id_mut, tool_call_id_mut};
use crate::preserved::{self, event_holder_mut};

/// What comes out for one event of Java's.
#[derive(Debug)]
pub(super) struct Output {
    /// The id that the ids of what is put in are made from.
    cause: String,
    /// The time of what is put in.
    time: String,
    inserted: usize,
    pub(super) events: Vec<AgentEvent>,
}

impl Output {
    /// What comes out because of an event.
    pub(super) fn for_event(event: &AgentEvent) -> Self {
        Self::at(event.id.to_string(), event.created_at.to_string())
    }

    /// What comes out when a reply is closed from outside.
    pub(super) fn for_closed_reply(reply_id: &str, time: &str) -> Self {
        Self::at(format!("{reply_id}.closed"), time.to_owned())
    }

    fn at(cause: String, time: String) -> Self {
        Self { cause, time, inserted: 0, events: Vec::new() }
    }

    /// Passes on what Java said.
    pub(super) fn forward(&mut self, event: AgentEvent) {
        self.events.push(event);
    }

    /// Puts in what Java did not say.
    pub(super) fn insert(&mut self, kind: impl Into<EventKind<'static>>) -> &mut AgentEvent {
        let event = self.synthetic(kind);
        self.events.push(event);
        let last = self.events.len() - 1;
        &mut self.events[last]
    }

    /// An event that Java did not say, for later.
    pub(super) fn synthetic(&mut self, kind: impl Into<EventKind<'static>>) -> AgentEvent {
        self.inserted += 1;
        // An event without an id gives none to others: whoever keeps them will.
        let id = if self.cause.is_empty() { String::new() } else { format!("{}.{}", self.cause, self.inserted) };
        let mut event = Event::stamped(id, self.time.clone(), kind);
        preserved::store(event_holder_mut(&mut event), NAME, Object::from([(SYNTHETIC, true)]));
        event
    }
}

/// What Java said and the native event cannot.
pub(super) fn marks(event: &AgentEvent) -> Object {
    preserved::get(preserved::event_holder(event), NAME)
}

/// Gives an event to a reply.
pub(super) fn for_reply(mut event: AgentEvent, reply_id: &str) -> AgentEvent {
    replace(reply_id_mut(&mut event.kind), reply_id);
    event
}

/// Gives an event to a block of a reply.
pub(super) fn for_block(event: AgentEvent, reply_id: &str, block_id: &str) -> AgentEvent {
    let mut event = for_reply(event, reply_id);
    replace(block_id_mut(&mut event.kind), block_id);
    event
}

/// Gives an event to a tool call of a reply.
pub(super) fn for_call(event: AgentEvent, reply_id: &str, call_id: &str, name: &str) -> AgentEvent {
    let mut event = for_reply(without_tool_name(event, name), reply_id);
    replace(tool_call_id_mut(&mut event.kind), call_id);
    event
}

fn replace(id: Option<&mut Cow<'static, str>>, new: &str) {
    if let Some(id) = id.filter(|id| **id != new) {
        *id = Cow::Owned(new.to_owned());
    }
}

/// The event without a note of the tool's name, where it is the name that the call has.
pub(super) fn without_tool_name(mut event: AgentEvent, name: &str) -> AgentEvent {
    let mut marks = marks(&event);
    if marks.get("toolCallName").and_then(Json::to_text).as_deref() == Some(name) {
        marks.remove("toolCallName");
        let holder = event_holder_mut(&mut event);
        preserved::take(holder, NAME);
        preserved::store(holder, NAME, marks);
    }
    event
}
