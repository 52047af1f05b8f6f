//! Renders a message for the terminal: one bubble, regardless of the number of model calls in it.

mod block;
mod bubble;
mod header;

use std::collections::HashSet;

use anstyle::{AnsiColor, Style};
use indicatif::HumanCount;
use recount_message::{ContentBlock, Msg, Role, ToolCallBlock, ToolCallState, ToolResultBlock, Usage};

pub(crate) use self::block::broken_off;
use self::bubble::Bubble;
use crate::pretty;

/// How much to show of long tool arguments and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// The first lines.
    Cut,
    /// All of it.
    Whole,
}

const PLAIN: Style = Style::new();
const DIMMED: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const WARNING: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Returns the tool calls that an open reply waits for: calls that need a confirmation or an external result.
pub(crate) fn awaited(message: &Msg) -> impl Iterator<Item = &ToolCallBlock> {
    let is_open = is_open(message);
    let pairs = message.tool_pairs().filter(move |(call, result)| {
        is_open
            && matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted)
            && result.is_none_or(|result| result.finished_at.is_none())
    });
    pairs.map(|(call, _)| call)
}

/// Whether a message is an open reply. Other messages are always complete.
fn is_open(message: &Msg) -> bool {
    message.role() == Role::Assistant && message.finished_reason().is_none() && message.finished_at().is_none()
}

/// Writes a message with styles. The text is complete without them, so they can be removed.
pub(crate) fn render(out: &mut String, message: &Msg, length: Length) {
    let mut bubble = header::start(out, message);
    let pairs: Vec<_> = message.tool_pairs().collect();
    let paired: HashSet<*const ToolResultBlock> =
        pairs.iter().filter_map(|(_, result)| result.map(std::ptr::from_ref)).collect();
    // `tool_pairs` returns the pairs in the order of the calls.
    let mut pairs = pairs.into_iter();
    for block in message.content() {
        match block {
            ContentBlock::ToolCall(call) => {
                block::tool_call(&mut bubble, call, length);
                if let Some((_, Some(result))) = pairs.next() {
                    block::tool_result(&mut bubble, result, length);
                }
            }
            ContentBlock::ToolResult(result) if paired.contains(&std::ptr::from_ref(result)) => {}
            ContentBlock::ToolResult(result) => block::orphan_result(&mut bubble, result, length),
            other => block::simple(&mut bubble, other),
        }
    }
    end(bubble, message);
}

/// Writes the parts that concern the whole message: structured output, error and token usage.
fn end(mut bubble: Bubble<'_>, message: &Msg) {
    if let Some(output) = message.structured_output() {
        bubble.label("structured output", PLAIN);
        bubble.text(&pretty::indented(&output.to_json()), PLAIN);
    }
    if let Some(error) = message.error() {
        bubble.label(&format!("error · {}", error.kind), BAD);
        bubble.text(&error.message, PLAIN);
    }
    if let Some(usage) = message.usage() {
        bubble.label(&format!("tokens · {}", tokens(usage)), DIMMED);
    }
    bubble.end();
}

fn tokens(usage: &Usage) -> String {
    let mut text = format!("{} in, {} out", HumanCount(usage.input_tokens), HumanCount(usage.output_tokens));
    if usage.cache_input_tokens > 0 {
        text.push_str(&format!(", {} read from the cache", HumanCount(usage.cache_input_tokens)));
    }
    if usage.cache_creation_input_tokens > 0 {
        text.push_str(&format!(", {} written to the cache", HumanCount(usage.cache_creation_input_tokens)));
    }
    text
}
