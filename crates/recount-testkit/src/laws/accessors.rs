//! Whatever can be asked about an event or a message has an answer.

use recount_message::{ContentBlock, Event, EventType, Msg, Role, TextBlock, ToolCallBlock};

use super::{Verdict, ensure, ensure_same};

/// Whatever can be asked about a message has an answer.
///
/// # Errors
///
/// When two answers do not fit together.
pub fn message_accessors(message: &Msg) -> Verdict {
    ensure_same!(message.tool_pairs().count(), message.blocks::<ToolCallBlock>().count(), "calls with their results");
    for (call, _) in message.tool_pairs() {
        ensure!(message.call(&call.id).is_some(), "no call {:?}", call.id);
        let _ = (message.result_of(&call.id), call.arguments::<serde_json::Value>());
    }
    ensure_same!(message.text().is_some(), message.has::<TextBlock>(), "text without a block");
    let structured = message.structured::<serde_json::Value>();
    ensure!(message.has_structured() || structured.is_err(), "structured data out of nowhere: {structured:?}");
    let _ = (message.created(), message.finished(), message.generate_reason(), message.parent(), message.has_name());
    let is_allowed = message.content().iter().all(|block| message.role().allows(block));
    // A tool message is read with whatever AgentScope Java has put into it.
    ensure!(is_allowed || message.role() == Role::Tool, "a message of a {} with what it may not hold", message.role());
    for block in message.content() {
        if let ContentBlock::Hint(hint) = block {
            let _ = hint.label();
        }
    }
    match message.to_builder().build() {
        Ok(built) => ensure_same!(built.to_json(), built_text(message), "a rebuilt message"),
        Err(error) => ensure!(!is_allowed, "a message that cannot be rebuilt: {error}"),
    }
    Ok(())
}

/// A message that is rebuilt is complete at once, unless it is an assistant's.
fn built_text(message: &Msg) -> String {
    match message.role() {
        Role::Assistant => message.to_json(),
        _ if message.finished_at().is_some() => message.to_json(),
        _ => message.clone().with_finished_at(message.created_at()).to_json(),
    }
}

/// Whatever can be asked about an event has an answer.
///
/// # Errors
///
/// When two answers do not fit together.
pub fn event_accessors(event: &Event<'_>) -> Verdict {
    ensure_same!(event.event_type(), EventType::from_name(event.type_name()), "the type {:?}", event.type_name());
    let _ = (event.created(), event.extension("extra"), event.kind.recount_name());
    Ok(())
}
