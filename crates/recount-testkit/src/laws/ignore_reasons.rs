//! Checks that the reason for ignoring an event is true.

use recount_message::{
    ContentBlock, CustomName, Event, EventKind, Fold, Msg, Reason, Source, ToolCallBlock, ToolCallState,
};

/// Whether a reason is true for an event and the fold before it.
pub(super) fn is_true(reason: &Reason, event: &Event<'_>, before: &Fold) -> bool {
    let message = |id: &str| before.message(id);
    let reply = reply_id(event).and_then(|id| before.message(&id));
    let newest = |id: &str| reply.and_then(|reply| newest_block(reply, event, id));
    match reason {
        Reason::UnknownReply(id) => message(id).is_none(),
        Reason::ReplyEnded(id) => is_reply(before, id) && message(id).is_some_and(|it| it.finished_at().is_some()),
        Reason::MessageExists(id) => message(id).is_some(),
        Reason::NotAReply(id) => message(id).is_some() && !is_reply(before, id),
        Reason::UnknownBlock(id) => newest(id).is_none(),
        Reason::BlockOpen(id) => newest(id).is_some_and(|block| block.finished_at().is_none()),
        Reason::BlockEnded(id) => newest(id).is_some_and(|block| block.finished_at().is_some()),
        Reason::UnknownCall(id) => reply.is_some_and(|reply| reply.call(id).is_none()),
        Reason::NotAsking(id) => {
            let is_asking = |call: &ToolCallBlock| call.state == ToolCallState::Asking;
            reply.and_then(|reply| reply.call(id)).is_some_and(|call| !is_asking(call)) || lists_twice(event, id)
        }
        Reason::ResultExists(id) => reply.is_some_and(|reply| reply.result_of(id).is_some()) || lists_twice(event, id),
        Reason::DataAtUrl(id) => newest(id).is_some_and(is_at_url),
        Reason::BadData { .. } => {
            matches!(event.kind, EventKind::DataBlockDelta(_) | EventKind::ToolResultDataDelta(_))
        }
        Reason::UnknownType(name) => event.event_type().is_none() && event.type_name() == name,
        Reason::BadValue(_) => event.kind.recount_name().is_some(),
        // Reasons that a stream cannot cause, or that are not covered here.
        _ => false,
    }
}

/// Whether the message with an id is a reply that was folded from events, rather than a complete message.
fn is_reply(fold: &Fold, id: &str) -> bool {
    fold.checkpoint().replies.iter().any(|reply| reply.message.id() == id && reply.call_floor.is_some())
}

fn is_at_url(block: &ContentBlock) -> bool {
    matches!(block, ContentBlock::Data(data) if matches!(data.source, Source::Url(_)))
}

fn reply_id(event: &Event<'_>) -> Option<String> {
    match (&event.kind, event.kind.recount_name()) {
        (EventKind::Custom(custom), Some(CustomName::Block | CustomName::Call)) => {
            custom.value.get("reply_id")?.as_str().map(str::to_owned)
        }
        _ => event.reply_id().map(str::to_owned),
    }
}

/// Returns the newest block with an id, of the type that the event refers to.
fn newest_block<'m>(message: &'m Msg, event: &Event<'_>, id: &str) -> Option<&'m ContentBlock> {
    let kind = match &event.kind {
        EventKind::TextBlockStart(_) | EventKind::TextBlockDelta(_) | EventKind::TextBlockEnd(_) => "text",
        EventKind::ThinkingBlockStart(_) | EventKind::ThinkingBlockDelta(_) | EventKind::ThinkingBlockEnd(_) => {
            "thinking"
        }
        EventKind::DataBlockStart(_) | EventKind::DataBlockDelta(_) | EventKind::DataBlockEnd(_) => "data",
        EventKind::ToolCallStart(_) | EventKind::ToolCallDelta(_) | EventKind::ToolCallEnd(_) => "tool_call",
        _ => "tool_result",
    };
    message.content().iter().rev().find(|block| block.type_name() == kind && block.id() == id)
}

/// Whether an event lists a call several times. An earlier item may have changed the state for the next one.
fn lists_twice(event: &Event<'_>, id: &str) -> bool {
    let count = match &event.kind {
        EventKind::UserConfirmResult(kind) => {
            kind.confirm_results.iter().filter(|answer| answer.tool_call.id == id).count()
        }
        EventKind::ExternalExecutionResult(kind) => {
            kind.execution_results.iter().filter(|result| result.id == id).count()
        }
        _ => 0,
    };
    count > 1
}
