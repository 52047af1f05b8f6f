//! Access to the ids that events of different types carry.

use std::borrow::Cow;

use recount_message::{
    DataBlockDeltaEvent, DataBlockEndEvent, DataBlockStartEvent, EventKind, ExceedMaxItersEvent,
    ExternalExecutionResultEvent, HintBlockEvent, ModelCallEndEvent, ModelCallStartEvent, ReplyEndEvent,
    ReplyStartEvent, RequireExternalExecutionEvent, RequireUserConfirmEvent, TextBlockDeltaEvent, TextBlockEndEvent,
    TextBlockStartEvent, ThinkingBlockDeltaEvent, ThinkingBlockEndEvent, ThinkingBlockStartEvent, ToolCallDeltaEvent,
    ToolCallEndEvent, ToolCallStartEvent, ToolResultDataDeltaEvent, ToolResultEndEvent, ToolResultStartEvent,
    ToolResultTextDeltaEvent, UserConfirmResultEvent, UserInterruptEvent,
};

/// Returns the reply id of an event, or `None` for an event outside of replies.
pub(crate) fn reply_id_mut<'e, 'a>(kind: &'e mut EventKind<'a>) -> Option<&'e mut Cow<'a, str>> {
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

/// Returns the id of the text, thinking, data or hint block that an event belongs to.
pub(crate) fn block_id_mut<'e, 'a>(kind: &'e mut EventKind<'a>) -> Option<&'e mut Cow<'a, str>> {
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

/// Returns the id of the tool call that an event belongs to.
pub(crate) fn tool_call_id_mut<'e, 'a>(kind: &'e mut EventKind<'a>) -> Option<&'e mut Cow<'a, str>> {
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

/// Returns the id of the block or tool call that an event belongs to.
pub(crate) fn block_or_call_id_mut<'e, 'a>(kind: &'e mut EventKind<'a>) -> Option<&'e mut Cow<'a, str>> {
    match kind {
        EventKind::ToolCallStart(_)
        | EventKind::ToolCallDelta(_)
        | EventKind::ToolCallEnd(_)
        | EventKind::ToolResultStart(_)
        | EventKind::ToolResultTextDelta(_)
        | EventKind::ToolResultDataDelta(_)
        | EventKind::ToolResultEnd(_) => tool_call_id_mut(kind),
        kind => block_id_mut(kind),
    }
}

/// Returns the tool call id of an event that names the tool in Java but not natively.
pub(crate) fn unnamed_tool_call_id<'e>(kind: &'e EventKind<'_>) -> Option<&'e str> {
    Some(match kind {
        EventKind::ToolCallDelta(event) => &event.tool_call_id,
        EventKind::ToolCallEnd(event) => &event.tool_call_id,
        EventKind::ToolResultTextDelta(event) => &event.tool_call_id,
        EventKind::ToolResultDataDelta(event) => &event.tool_call_id,
        EventKind::ToolResultEnd(event) => &event.tool_call_id,
        _ => return None,
    })
}
