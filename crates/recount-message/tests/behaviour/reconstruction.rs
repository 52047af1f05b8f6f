//! From events to messages: what each event does.

use pretty_assertions::assert_eq;
use recount_message::{
    CustomEvent, Event, EventKind, EventType, FinishedReason, Fold, HintBlock, Msg, Outcome, Payload, Reason,
    ReplyFold, TextBlock, ThinkingBlock, ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState, Usage,
    UserInterruptEvent,
};
use serde_json::{Value, json};

use crate::support::{at, content, event, first, fold, fold_to_last, reply};

const TEXT: &str = r#"TEXT_BLOCK_START "block_id":"t""#;
const CALL: &str = r#"TOOL_CALL_START "tool_call_id":"c","tool_call_name":"shell""#;
const RESULT: &str = r#"TOOL_RESULT_START "tool_call_id":"c","tool_call_name":"shell""#;

/// A reply that says something, calls a tool and ends.
fn stream() -> Vec<Event<'static>> {
    reply(&[
        TEXT,
        r#"TEXT_BLOCK_DELTA "block_id":"t","delta":"Let me "#.to_owned().as_str().trim_end(),
    ].map(|line| if line.ends_with('"') { line } else { r#"TEXT_BLOCK_DELTA "block_id":"t","delta":"Let me ""# }))
}

/// Compares the content of a reply.
#[track_caller]
fn check_content(lines: &[&str], expected: Value) {
    assert_eq!(content(&fold(lines)), expected);
}
