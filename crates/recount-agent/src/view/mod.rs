//! What a model is shown of the conversation.
//!
//! A message is what was said; a view is what a request has of it. What was [summarised](crate::Compression) is left out,
//! results that are too long are shortened, what a broken model call had shown is left out, and what the model has to know
//! about the course of the reply is added. The messages themselves are never touched.

mod control;
mod memory;
mod offloaded;
mod shorten;

pub(crate) use offloaded::{Aside, TooMuch, too_much};
pub(crate) use shorten::ResultLimit;

use recount_message::{ContentBlock, HintBlock, Msg, Object};
use recount_model::estimate_block_tokens;

use crate::machine::ControlHint;
use crate::state::{Compressed, CutPoint};

/// What stands around the conversation in a request.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    /// The name of the agent.
    pub(crate) agent: &'a str,
    pub(crate) system_prompt: &'a str,
    /// What the model is told about the course of the reply.
    pub(crate) control: Option<ControlHint>,
    /// What it is told beside that and no message has.
    pub(crate) unsaid: Option<HintBlock>,
}

/// How messages are shown.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) limit: ResultLimit,
    pub(crate) compressed: Option<Compressed>,
    pub(crate) aside: Aside,
    /// The reply that is being worked on.
    pub(crate) reply_id: String,
}

impl View {
    /// The messages of a request. The conversation begins [where](from_mark) requests have it.
    pub(crate) fn request(&self, around: &Around<'_>, conversation: Vec<Msg>) -> Vec<Msg> {
        let mut messages = Vec::with_capacity(conversation.len() + 4);
        if !around.system_prompt.is_empty() {
            messages.push(Msg::system("system", around.system_prompt));
        }
        messages.extend(self.compressed.as_ref().map(memory::message));
        messages.extend(self.messages(conversation));
        let hints = around.unsaid.iter().cloned().chain(around.control.map(control::hint));
        messages.extend(hints.map(|hint| Msg::assistant(around.agent, hint)));
        messages
    }

    /// Messages as requests have them.
    pub(crate) fn messages(&self, conversation: Vec<Msg>) -> impl Iterator<Item = Msg> {
        conversation.into_iter().map(|message| self.message(message)).filter(|message| !message.content().is_empty())
    }

    fn message(&self, message: Msg) -> Msg {
        let is_changed = message.content().iter().any(|block| self.leaves_out(&message, block))
            || message.content().iter().any(|block| self.limit.exceeds(block).is_some())
            || offloaded::has_images_aside(&message, &self.aside);
        if !is_changed {
            return message;
        }
        let cut_calls: Vec<String> = message
            .content()
            .iter()
            .filter(|block| matches!(block, ContentBlock::ToolCall(_)) && is_cut(block))
            .map(|block| block.id().to_owned())
            .collect();
        let thinks = self.shows_thinking(&message);
        let mut parts = message.into_parts();
        parts.content.retain(|block| match block {
            ContentBlock::ToolResult(result) => !cut_calls.contains(&result.id),
            ContentBlock::Thinking(_) if !thinks => false,
            other => !is_cut(other),
        });
        for block in &mut parts.content {
            let kept = self.aside.get(&offloaded::key(&parts.id, &block.id(), None));
            self.limit.shorten(block, kept.and_then(|kept| kept.path.as_deref()));
            offloaded::replace_images(&parts.id, block, &self.aside);
        }
        Msg::from_parts_lenient(parts)
    }

    /// What a block takes in a request, roughly.
    pub(crate) fn tokens(&self, message: &Msg, block: &ContentBlock) -> u64 {
        if self.leaves_out(message, block) {
            return 0;
        }
        let tokens = estimate_block_tokens(block);
        if self.limit.exceeds(block).is_some() { tokens.min(self.limit.tokens as u64) } else { tokens }
    }

    fn leaves_out(&self, message: &Msg, block: &ContentBlock) -> bool {
        is_cut(block) || matches!(block, ContentBlock::Thinking(_)) && !self.shows_thinking(message)
    }

    /// What was thought long ago is the first thing that a conversation that is too long can do without. What was thought in
    /// the reply at hand stays: some providers insist on it.
    fn shows_thinking(&self, message: &Msg) -> bool {
        self.compressed.is_none() || message.id() == self.reply_id
    }
}

/// The conversation with the reply at its place, from where requests have it.
pub(crate) fn from_mark(conversation: &[Msg], place: usize, reply: Msg, mark: Option<&CutPoint>) -> Vec<Msg> {
    let place = place.min(conversation.len());
    let found = mark.and_then(|mark| {
        if mark.message_id == reply.id() {
            return Some(place);
        }
        let index = conversation.iter().position(|message| message.id() == mark.message_id)?;
        Some(if index < place { index } else { index + 1 })
    });
    let start = found.unwrap_or(0);
    let mut messages: Vec<Msg> = conversation.iter().take(place).skip(start).cloned().collect();
    if start <= place {
        messages.push(reply);
    }
    messages.extend(conversation.iter().skip(place.max(start.saturating_sub(1))).cloned());
    if let (Some(mark), Some(first), true) = (mark, messages.first_mut(), found.is_some()) {
        let mut parts = std::mem::replace(first, Msg::assistant("", [])).into_parts();
        parts.content.drain(..mark.blocks.min(parts.content.len()));
        *first = Msg::from_parts_lenient(parts);
    }
    messages
}

/// Whether a block is what a model had said when its call broke off.
fn is_cut(block: &ContentBlock) -> bool {
    let says = |extra: &Object| extra.get("cut").is_some_and(|cut| cut.as_bool() == Some(true));
    match block {
        ContentBlock::Text(block) => says(&block.extra),
        ContentBlock::Thinking(block) => says(&block.extra),
        ContentBlock::Data(block) => says(&block.extra),
        ContentBlock::ToolCall(block) => says(&block.extra),
        ContentBlock::ToolResult(_) | ContentBlock::Hint(_) | ContentBlock::Unknown(_) | _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(conversation: &[Msg], place: usize, mark: Option<(&str, usize)>) -> Vec<(String, usize)> {
        let reply = Msg::assistant("Friday", ["x".into(), "y".into()]).with_id("reply");
        let mark = mark.map(|(id, blocks)| CutPoint { message_id: id.to_owned(), blocks });
        let shown = from_mark(conversation, place, reply, mark.as_ref());
        shown.into_iter().map(|message| (message.id().to_owned(), message.content().len())).collect()
    }

    #[test]
    fn what_lies_before_the_mark_is_left_out() {
        let talk = ["a", "b", "c"].map(|id| Msg::user("Alice", id).with_id(id));
        let of = |found: &[(&str, usize)]| -> Vec<(String, usize)> {
            found.iter().map(|(id, blocks)| ((*id).to_owned(), *blocks)).collect()
        };
        // The reply stands before what was heard while it came about.
        assert_eq!(ids(&talk, 2, None), of(&[("a", 1), ("b", 1), ("reply", 2), ("c", 1)]));
        assert_eq!(ids(&talk, 2, Some(("b", 1))), of(&[("b", 0), ("reply", 2), ("c", 1)]));
        assert_eq!(ids(&talk, 2, Some(("reply", 1))), of(&[("reply", 1), ("c", 1)]));
        assert_eq!(ids(&talk, 3, Some(("c", 1))), of(&[("c", 0), ("reply", 2)]));
        assert_eq!(ids(&talk, 3, Some(("reply", 9))), of(&[("reply", 0)]));
        // A mark in a message that is not there says nothing.
        assert_eq!(ids(&talk, 0, Some(("gone", 1))), of(&[("reply", 2), ("a", 1), ("b", 1), ("c", 1)]));
    }
}
