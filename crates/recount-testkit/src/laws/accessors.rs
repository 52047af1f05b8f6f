//! The accessors of events and messages never panic and are consistent.

use recount_message::{ContentBlock, Event, EventType, Msg, Role, TextBlock, ToolCallBlock};

use super::{Verdict, ensure, ensure_same};

/// The accessors of a message do not panic and are consistent.
///
/// # Errors
///
/// If the law is violated.
pub fn message_accessors(message: &Msg) -> Verdict {
    ensure_same!(message.tool_pairs().count(), message.blocks::<ToolCallBlock>().count(), "calls with their results");
    for (call, _) in message.tool_pairs() {
        ensure!(message.call(&call.id).is_some(), "no call {:?}", call.id);
        let _ = (message.result_of(&call.id), call.arguments::<serde_json::Value>());
    }
    ensure_same!(message.text().is_some(), message.has::<TextBlock>(), "text without a block");
    let structured = message.structured::<serde_json::Value>();
    ensure!(
        message.has_structured() || structured.is_err(),
        "structured output without structured data: {structured:?}"
    );
    let _ = (message.created(), message.finished(), message.generate_reason(), message.parent(), message.has_name());
    let is_allowed = message.content().iter().all(|block| message.role().allows(block));
    // A tool message of AgentScope Java may hold blocks of any type.
    ensure!(
        is_allowed || message.role() == Role::Tool,
        "a message of the role {} has a block that the role does not allow",
        message.role()
    );
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

/// Returns the JSON of the rebuilt message. The builder finishes messages of all roles but the assistant.
fn built_text(message: &Msg) -> String {
    match message.role() {
        Role::Assistant => message.to_json(),
        _ if message.finished_at().is_some() => message.to_json(),
        _ => message.clone().with_finished_at(message.created_at()).to_json(),
    }
}

/// The accessors of an event do not panic and are consistent.
///
/// # Errors
///
/// If the law is violated.
pub fn event_accessors(event: &Event<'_>) -> Verdict {
    ensure_same!(event.event_type(), EventType::from_name(event.type_name()), "the type {:?}", event.type_name());
    let _ = (event.created(), event.extension("extra"), event.kind.recount_name());
    Ok(())
}
