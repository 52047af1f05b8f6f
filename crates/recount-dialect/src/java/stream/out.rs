//! The events that come out: those that Java said, under native ids, and those that are put in.
//!
//! Java did not say the latter, so they are marked: `"synthetic": true` in `metadata.recount.java` (of TOOL_RESULT_END, whose
//! metadata is the tool's own, in `recount.java` beside its fields). Java's ids of model calls and blocks, which are the
//! same in every stream or mean nothing outside of it, are not kept; an event's own id is.

use std::borrow::Cow;

use recount_message::{
    AgentEvent, DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent, Event, EventKind, ExceedMaxItersEvent,
    ExternalExecutionResultEvent, HintBlockEvent, Json, ModelCallEndEvent, ModelCallStartEvent, Object, ReplyEndEvent,
    ReplyStartEvent, RequireExternalExecutionEvent, RequireUserConfirmEvent, TextBlockDeltaEvent, TextBlockEndEvent,
    TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent, ThinkingBlockStartEvent, ToolCallDeltaEvent,
    ToolCallEndEvent, ToolCallStartEvent, ToolResultDataDeltaEvent, ToolResultEndEvent, ToolResultStartEvent,
    ToolResultTextDeltaEvent, UserConfirmResultEvent, UserInterruptEvent,
};

use super::super::NAME;
use super::super::frames::SYNTHETIC;
use crate::residue;

/// What comes out for one event of Java's.
#[derive(Debug)]
pub(super) struct Out {
    /// The id that the ids of what is put in are made from.
    cause: String,
    /// The time of what is put in.
    time: String,
    put_in: usize,
    pub(super) events: Vec<AgentEvent>,
}

impl Out {
    /// What comes out because of an event.
    pub(super) fn because_of(event: &AgentEvent) -> Self {
        Self::at(event.id.to_string(), event.created_at.to_string())
    }

    /// What comes out when a reply is closed from outside.
    pub(super) fn closing(reply_id: &str, time: &str) -> Self {
        Self::at(format!("{reply_id}.closed"), time.to_owned())
    }

    fn at(cause: String, time: String) -> Self {
        Self { cause, time, put_in: 0, events: Vec::new() }
    }

    /// Passes on what Java said.
    pub(super) fn pass(&mut self, event: AgentEvent) {
        self.events.push(event);
    }

    /// Puts in what Java did not say.
    pub(super) fn put_in(&mut self, kind: impl Into<EventKind<'static>>) -> &mut AgentEvent {
        let event = self.made(kind);
        self.events.push(event);
        let last = self.events.len() - 1;
        &mut self.events[last]
    }

    /// An event that Java did not say, for later.
    pub(super) fn made(&mut self, kind: impl Into<EventKind<'static>>) -> AgentEvent {
        self.put_in += 1;
        // An event without an id gives none to others: whoever keeps them will.
        let id = if self.cause.is_empty() { String::new() } else { format!("{}.{}", self.cause, self.put_in) };
        let mut event = Event::stamped(id, self.time.clone(), kind);
        residue::keep(marked(&mut event), NAME, Object::from([(SYNTHETIC, true)]));
        event
    }
}

/// What Java said and the native event cannot.
pub(super) fn marks(event: &AgentEvent) -> Object {
    let marked = if let EventKind::ToolResultEnd(_) = event.kind { &event.extra } else { &event.metadata };
    residue::get(marked, NAME)
}

fn marked(event: &mut AgentEvent) -> &mut Object {
    if let EventKind::ToolResultEnd(_) = event.kind { &mut event.extra } else { &mut event.metadata }
}

/// Gives an event to a reply.
pub(super) fn for_reply(mut event: AgentEvent, reply_id: &str) -> AgentEvent {
    replace(reply_id_of(&mut event.kind), reply_id);
    event
}

/// Gives an event to a block of a reply.
pub(super) fn for_block(event: AgentEvent, reply_id: &str, block_id: &str) -> AgentEvent {
    let mut event = for_reply(event, reply_id);
    replace(block_id_of(&mut event.kind), block_id);
    event
}

/// Gives an event to a tool call of a reply.
pub(super) fn for_call(event: AgentEvent, reply_id: &str, call_id: &str, name: &str) -> AgentEvent {
    let mut event = for_reply(without_tool_name(event, name), reply_id);
    replace(call_id_of(&mut event.kind), call_id);
    event
}

fn replace(id: Option<&mut Cow<'static, str>>, new: &str) {
    if let Some(id) = id.filter(|id| **id != new) {
        *id = Cow::Owned(new.to_owned());
    }
}

/// The tool call that an event is about.
pub(super) fn call_id(event: &AgentEvent) -> Option<&str> {
    Some(match &event.kind {
        EventKind::ToolCallDelta(event) => &event.tool_call_id,
        EventKind::ToolCallEnd(event) => &event.tool_call_id,
        EventKind::ToolResultTextDelta(event) => &event.tool_call_id,
        EventKind::ToolResultDataDelta(event) => &event.tool_call_id,
        EventKind::ToolResultEnd(event) => &event.tool_call_id,
        _ => return None,
    })
}

/// The event without a note of the tool's name, where it is the name that the call has.
pub(super) fn without_tool_name(mut event: AgentEvent, name: &str) -> AgentEvent {
    let mut marks = marks(&event);
    if marks.get("toolCallName").and_then(Json::to_text).as_deref() == Some(name) {
        marks.remove("toolCallName");
        let marked = marked(&mut event);
        residue::take(marked, NAME);
        residue::keep(marked, NAME, marks);
    }
    event
}

fn reply_id_of<'e>(kind: &'e mut EventKind<'static>) -> Option<&'e mut Cow<'static, str>> {
    Some(match kind {
        EventKind::ReplyStart(ReplyStartEvent { reply_id, .. })
        | EventKind::ReplyEnd(ReplyEndEvent { reply_id, .. })
        | EventKind::ModelCallStart(ModelCallStartEvent { reply_id, .. })
        | EventKind::ModelCallEnd(ModelCallEndEvent { reply_id, .. })
        | EventKind::TextBlockStart(TextBlockStartEvent { reply_id, .. })
        | EventKind::TextBlockDelta(TextBlockDeltaEvent { reply_id, .. })
        | EventKind::TextBlockEnd(TextBlockEndEvent { reply_id, .. })
        | EventKind::ThinkingBlockStart(ThinkingBlockStartEvent { reply_id, .. })
        | EventKind::ThinkingBlockDelta(ThinkingBlockDeltaEvent { reply_id, .. })
        | EventKind::ThinkingBlockEnd(ThinkingBlockEndEvent { reply_id, .. })
        | EventKind::DataBlockStart(DataBlockStartEvent { reply_id, .. })
        | EventKind::DataBlockDelta(DataBlockDeltaEvent { reply_id, .. })
        | EventKind::DataBlockEnd(DataBlockEndEvent { reply_id, .. })
        | EventKind::HintBlock(HintBlockEvent { reply_id, .. })
        | EventKind::ToolCallStart(ToolCallStartEvent { reply_id, .. })
        | EventKind::ToolCallDelta(ToolCallDeltaEvent { reply_id, .. })
        | EventKind::ToolCallEnd(ToolCallEndEvent { reply_id, .. })
        | EventKind::ToolResultStart(ToolResultStartEvent { reply_id, .. })
        | EventKind::ToolResultTextDelta(ToolResultTextDeltaEvent { reply_id, .. })
        | EventKind::ToolResultDataDelta(ToolResultDataDeltaEvent { reply_id, .. })
        | EventKind::ToolResultEnd(ToolResultEndEvent { reply_id, .. })
        | EventKind::ExceedMaxIters(ExceedMaxItersEvent { reply_id, .. })
        | EventKind::RequireUserConfirm(RequireUserConfirmEvent { reply_id, .. })
        | EventKind::RequireExternalExecution(RequireExternalExecutionEvent { reply_id, .. })
        | EventKind::UserConfirmResult(UserConfirmResultEvent { reply_id, .. })
        | EventKind::UserInterrupt(UserInterruptEvent { reply_id, .. })
        | EventKind::ExternalExecutionResult(ExternalExecutionResultEvent { reply_id, .. }) => reply_id,
        _ => return None,
    })
}

fn block_id_of<'e>(kind: &'e mut EventKind<'static>) -> Option<&'e mut Cow<'static, str>> {
    Some(match kind {
        EventKind::TextBlockStart(TextBlockStartEvent { block_id, .. })
        | EventKind::TextBlockDelta(TextBlockDeltaEvent { block_id, .. })
        | EventKind::TextBlockEnd(TextBlockEndEvent { block_id, .. })
        | EventKind::ThinkingBlockStart(ThinkingBlockStartEvent { block_id, .. })
        | EventKind::ThinkingBlockDelta(ThinkingBlockDeltaEvent { block_id, .. })
        | EventKind::ThinkingBlockEnd(ThinkingBlockEndEvent { block_id, .. })
        | EventKind::DataBlockStart(DataBlockStartEvent { block_id, .. })
        | EventKind::DataBlockDelta(DataBlockDeltaEvent { block_id, .. })
        | EventKind::DataBlockEnd(DataBlockEndEvent { block_id, .. })
        | EventKind::HintBlock(HintBlockEvent { block_id, .. }) => block_id,
        _ => return None,
    })
}

fn call_id_of<'e>(kind: &'e mut EventKind<'static>) -> Option<&'e mut Cow<'static, str>> {
    Some(match kind {
        EventKind::ToolCallStart(ToolCallStartEvent { tool_call_id, .. })
        | EventKind::ToolCallDelta(ToolCallDeltaEvent { tool_call_id, .. })
        | EventKind::ToolCallEnd(ToolCallEndEvent { tool_call_id, .. })
        | EventKind::ToolResultStart(ToolResultStartEvent { tool_call_id, .. })
        | EventKind::ToolResultTextDelta(ToolResultTextDeltaEvent { tool_call_id, .. })
        | EventKind::ToolResultDataDelta(ToolResultDataDeltaEvent { tool_call_id, .. })
        | EventKind::ToolResultEnd(ToolResultEndEvent { tool_call_id, .. }) => tool_call_id,
        _ => return None,
    })
}
