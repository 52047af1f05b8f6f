//! A message as a person wants to see it: one bubble, whatever the number of rounds in it.

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

/// How much is shown of what may be very long.
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
const CAREFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// The calls that an open reply waits for: those that need a confirmation, and those whose result comes from outside.
pub(crate) fn awaited(message: &Msg) -> impl Iterator<Item = &ToolCallBlock> {
    let is_open = is_open(message);
    let pairs = message.tool_pairs().filter(move |(call, result)| {
        is_open
            && matches!(call.state, ToolCallState::Asking | ToolCallState::Submitted)
            && result.is_none_or(|result| result.finished_at.is_none())
    });
    pairs.map(|(call, _)| call)
}

/// Only a reply can be open: all other messages come whole.
fn is_open(message: &Msg) -> bool {
    message.role() == Role::Assistant && message.finished_reason().is_none() && message.finished_at().is_none()
}

/// Writes a message, with styles in it. All meaning is in the words, so that the styles may be taken out again.
pub(crate) fn render(out: &mut String, message: &Msg, length: Length) {
    let mut bubble = header::begin(out, message);
    let pairs: Vec<_> = message.tool_pairs().collect();
    let paired: HashSet<*const ToolResultBlock> =
        pairs.iter().filter_map(|(_, result)| result.map(std::ptr::from_ref)).collect();
    // The pairs are in the order of the calls, and so are the calls.
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
            ContentBlock::ToolResult(result) => block::lone_result(&mut bubble, result, length),
            other => block::simple(&mut bubble, other),
        }
    }
    end(bubble, message);
}

/// Writes what is said about the message as a whole.
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
