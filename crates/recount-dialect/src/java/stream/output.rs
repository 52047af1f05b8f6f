//! The native events for a Java event: the forwarded event under native ids, and inserted events.
//!
//! Inserted events are marked with `"synthetic": true` in `metadata.recount.java`, or in `recount.java` of a
//! TOOL_RESULT_END, whose metadata belongs to the tool. The id of an event is kept. Java's ids of model calls and blocks
//! are dropped, because they repeat in every stream or have no meaning outside of it.

use std::borrow::Cow;

use recount_message::{AgentEvent, Event, EventKind, Json, Object};

use super::super::NAME;
use super::super::frames::SYNTHETIC;
use crate::event_ids::{block_id_mut, reply_id_mut, tool_call_id_mut};
use crate::preserved::{self, event_holder_mut};

/// Collects the native events for one Java event.
#[derive(Debug)]
pub(super) struct Output {
    /// The prefix of the ids of inserted events.
    cause: String,
    /// The time of inserted events.
    time: String,
    inserted: usize,
    pub(super) events: Vec<AgentEvent>,
}

impl Output {
    /// Creates the output for an event.
    pub(super) fn for_event(event: &AgentEvent) -> Self {
        Self::at(event.id.to_string(), event.created_at.to_string())
    }

    /// Creates the output for a reply that is closed without an event.
    pub(super) fn for_closed_reply(reply_id: &str, time: &str) -> Self {
        Self::at(format!("{reply_id}.closed"), time.to_owned())
    }

    fn at(cause: String, time: String) -> Self {
        Self { cause, time, inserted: 0, events: Vec::new() }
    }

    /// Adds an event that Java sent.
    pub(super) fn forward(&mut self, event: AgentEvent) {
        self.events.push(event);
    }

    /// Adds an event that Java did not send.
    pub(super) fn insert(&mut self, kind: impl Into<EventKind<'static>>) -> &mut AgentEvent {
        let event = self.synthetic(kind);
        self.events.push(event);
        let last = self.events.len() - 1;
        &mut self.events[last]
    }

    /// Creates an event that Java did not send, without adding it.
    pub(super) fn synthetic(&mut self, kind: impl Into<EventKind<'static>>) -> AgentEvent {
        self.inserted += 1;
        // Without an id of the Java event, inserted events get their ids from the log.
        let id = if self.cause.is_empty() { String::new() } else { format!("{}.{}", self.cause, self.inserted) };
        let mut event = Event::stamped(id, self.time.clone(), kind);
        preserved::store(event_holder_mut(&mut event), NAME, Object::from([(SYNTHETIC, true)]));
        event
    }
}

/// Returns the Java data stored in an event.
pub(super) fn marks(event: &AgentEvent) -> Object {
    preserved::get(preserved::event_holder(event), NAME)
}

/// Sets the reply id of an event.
pub(super) fn for_reply(mut event: AgentEvent, reply_id: &str) -> AgentEvent {
    replace(reply_id_mut(&mut event.kind), reply_id);
    event
}

/// Sets the reply id and block id of an event.
pub(super) fn for_block(event: AgentEvent, reply_id: &str, block_id: &str) -> AgentEvent {
    let mut event = for_reply(event, reply_id);
    replace(block_id_mut(&mut event.kind), block_id);
    event
}

/// Sets the reply id and tool call id of an event. Drops the recorded tool name if it is `name`.
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

/// Removes the recorded tool name if it is the name of the call.
pub(super) fn without_tool_name(mut event: AgentEvent, name: &str) -> AgentEvent {
    let mut marks = marks(&event);
    if marks.get("toolCallName").and_then(Json::as_str) == Some(name) {
        marks.remove("toolCallName");
        let holder = event_holder_mut(&mut event);
        preserved::take(holder, NAME);
        preserved::store(holder, NAME, marks);
    }
    event
}
