//! Replies that Recount has written itself: their events come one to one, and nothing is to be repaired.

use recount_message::{AgentEvent, CustomName, DecodeError, Event, EventKind, Json, Object};

use super::super::NATIVE;
use super::super::fields::JavaFields;
use super::super::frames::{EVENTS, SKIP};
use super::out;
use super::reply::word_of;
use crate::residue;

/// A reply whose events come one to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExactReply {
    pub(super) id: String,
    /// The ids of its calls, and the names of their tools.
    pub(super) calls: Vec<(String, String)>,
}

/// The reply that an event is of.
pub(super) fn reply_of(event: &AgentEvent) -> Option<String> {
    match &event.kind {
        EventKind::Custom(custom) if matches!(custom.own_name(), Some(CustomName::Block | CustomName::Call)) => {
            custom.value.get("reply_id").and_then(Json::to_text)
        }
        _ => event.reply_id().map(str::to_owned),
    }
}

impl ExactReply {
    pub(super) fn begin(id: &str) -> Self {
        Self { id: id.to_owned(), calls: Vec::new() }
    }

    /// Takes an event. Java names the tool in every event of a call, which says nothing new natively.
    pub(super) fn take(&mut self, event: AgentEvent) -> AgentEvent {
        match &event.kind {
            EventKind::ToolCallStart(start) => {
                self.calls.push((start.tool_call_id.to_string(), start.tool_call_name.to_string()));
            }
            EventKind::Custom(custom) if custom.own_name() == Some(CustomName::Block) => {
                if let Some(block) = custom.value.get("block").and_then(Json::to_object)
                    && word_of(&block, "type") == "tool_call"
                {
                    self.calls.push((word_of(&block, "id"), word_of(&block, "name")));
                }
            }
            _ => {}
        }
        let call = out::call_id(&event).and_then(|id| self.calls.iter().rfind(|(call, _)| call == id));
        match call {
            Some((_, name)) => out::without_tool_name(event, name),
            None => event,
        }
    }
}

/// What Recount has noted in an event that it wrote itself.
pub(super) fn native_marks(line: &str) -> Result<Object, DecodeError> {
    if !line.contains(NATIVE) {
        return Ok(Object::new());
    }
    let mut fields = JavaFields::document(line)?;
    let metadata = fields.object("metadata")?.unwrap_or_default();
    let marks = residue::get(&metadata, NATIVE);
    // Where the metadata is the tool's own they stand beside it.
    if marks.is_empty() { Ok(residue::get(&fields.rest()?, NATIVE)) } else { Ok(marks) }
}

/// The native events that an event of Recount's own writing stands for, where they are not what it says itself.
pub(super) fn stands_for(native: &Object) -> Result<Option<Vec<AgentEvent>>, DecodeError> {
    if native.contains_key(SKIP) {
        return Ok(Some(Vec::new()));
    }
    let Some(events) = native.get(EVENTS).and_then(Json::to_list) else { return Ok(None) };
    let read = |(index, given): (usize, &Json)| {
        Event::from_json(given.as_str()).map(Event::into_owned).map_err(|error| error.at_index(index).within(EVENTS))
    };
    events.iter().enumerate().map(read).collect::<Result<_, _>>().map(Some)
}
