//! What a model is shown of the conversation.
//!
//! A message is what was said; a view is what a request has of it. Results that are too long are shortened, what a broken
//! model call had shown is left out, and what the model has to know about the course of the reply is added. The messages
//! themselves are never touched.

mod control;
mod shorten;

pub(crate) use shorten::ResultLimit;

use recount_message::{ContentBlock, HintBlock, Msg, Object};

use crate::machine::Control;

/// What stands around the conversation in a request.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    /// The name of the agent.
    pub(crate) agent: &'a str,
    pub(crate) system_prompt: &'a str,
    pub(crate) limit: ResultLimit,
    /// What the model is told about the course of the reply.
    pub(crate) control: Option<Control>,
    /// What it is told beside that and no message has.
    pub(crate) unsaid: Option<HintBlock>,
}

/// The messages of a request.
pub(crate) fn request(around: &Around<'_>, conversation: Vec<Msg>) -> Vec<Msg> {
    let mut messages = Vec::with_capacity(conversation.len() + 3);
    if !around.system_prompt.is_empty() {
        messages.push(Msg::system("system", around.system_prompt));
    }
    let shown = conversation.into_iter().map(|message| shown(message, around.limit));
    messages.extend(shown.filter(|message| !message.content().is_empty()));
    let hints = around.unsaid.iter().cloned().chain(around.control.map(control::hint));
    messages.extend(hints.map(|hint| Msg::assistant(around.agent, hint)));
    messages
}

/// A message as a request has it.
fn shown(message: Msg, limit: ResultLimit) -> Msg {
    let is_changed = message.content().iter().any(|block| is_cut(block) || limit.exceeds(block).is_some());
    if !is_changed {
        return message;
    }
    let cut_calls: Vec<String> = message
        .content()
        .iter()
        .filter(|block| matches!(block, ContentBlock::ToolCall(_)) && is_cut(block))
        .map(|block| block.id().into_owned())
        .collect();
    let mut parts = message.into_parts();
    parts.content.retain(|block| match block {
        ContentBlock::ToolResult(result) => !cut_calls.contains(&result.id),
        other => !is_cut(other),
    });
    parts.content.iter_mut().for_each(|block| limit.shorten(block));
    Msg::as_received(parts)
}

/// Whether a block is what a model had said when its call broke off.
fn is_cut(block: &ContentBlock) -> bool {
    let says = |extra: &Object| extra.get("cut").is_some_and(|cut| cut.as_str() == "true");
    match block {
        ContentBlock::Text(block) => says(&block.extra),
        ContentBlock::Thinking(block) => says(&block.extra),
        ContentBlock::Data(block) => says(&block.extra),
        ContentBlock::ToolCall(block) => says(&block.extra),
        ContentBlock::ToolResult(_) | ContentBlock::Hint(_) | ContentBlock::Unknown(_) | _ => false,
    }
}
