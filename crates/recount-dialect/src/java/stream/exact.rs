//! Replies that were written by Recount. Their events need no repair.

use recount_message::{AgentEvent, CustomName, DecodeError, Event, EventKind, Json, Object};

use super::super::NATIVE;
use super::super::fields::JavaFields;
use super::super::frames::{EVENTS, SKIP};
use super::output;
use super::reply::text_field;
use crate::event_ids::unnamed_tool_call_id;
use crate::preserved;

/// A reply whose events correspond one to one to native events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExactReply {
    pub(super) id: String,
    /// The ids of the calls and the names of their tools.
    pub(super) calls: Vec<(String, String)>,
}

/// Returns the reply that an event belongs to.
pub(super) fn reply_id_of(event: &AgentEvent) -> Option<String> {
    match &event.kind {
        EventKind::Custom(custom) if matches!(custom.recount_name(), Some(CustomName::Block | CustomName::Call)) => {
            custom.value.get("reply_id").and_then(Json::as_str).map(str::to_owned)
        }
        _ => event.reply_id().map(str::to_owned),
    }
}

impl ExactReply {
    pub(super) fn begin(id: &str) -> Self {
        Self { id: id.to_owned(), calls: Vec::new() }
    }

    /// Converts an event. Drops the tool name that Java repeats in every event of a call.
    pub(super) fn process(&mut self, event: AgentEvent) -> AgentEvent {
        match &event.kind {
            EventKind::ToolCallStart(start) => {
                self.calls.push((start.tool_call_id.to_string(), start.tool_call_name.to_string()));
            }
            EventKind::Custom(custom) if custom.recount_name() == Some(CustomName::Block) => {
                if let Some(block) = custom.value.get("block").and_then(Json::to_object)
                    && text_field(&block, "type") == "tool_call"
                {
                    self.calls.push((text_field(&block, "id"), text_field(&block, "name")));
                }
            }
            _ => {}
        }
        let call = unnamed_tool_call_id(&event.kind).and_then(|id| self.calls.iter().rfind(|(call, _)| call == id));
        match call {
            Some((_, name)) => output::without_tool_name(event, name),
            None => event,
        }
    }
}

/// Returns the native data in an event that Recount has written.
pub(super) fn native_data(line: &str) -> Result<Object, DecodeError> {
    if !line.contains(NATIVE) {
        return Ok(Object::new());
    }
    let mut fields = JavaFields::document(line)?;
    let metadata = fields.object("metadata")?.unwrap_or_default();
    let marks = preserved::get(&metadata, NATIVE);
    // The data is outside the metadata if the metadata belongs to the tool.
    if marks.is_empty() { Ok(preserved::get(&fields.rest()?, NATIVE)) } else { Ok(marks) }
}

/// Returns the native events that a frame carries. `None` if the frame is an event itself.
pub(super) fn carried_events(native: &Object) -> Result<Option<Vec<AgentEvent>>, DecodeError> {
    if native.contains_key(SKIP) {
        return Ok(Some(Vec::new()));
    }
    let Some(events) = native.get(EVENTS).and_then(Json::to_array) else { return Ok(None) };
    let read = |(index, given): (usize, &Json)| {
        Event::from_json(given.as_raw()).map(Event::into_owned).map_err(|error| error.at_index(index).within(EVENTS))
    };
    events.iter().enumerate().map(read).collect::<Result<_, _>>().map(Some)
}
