//! Building the messages of a request from the conversation.
//!
//! A request leaves out [summarised](crate::Compression) messages and the output of failed model calls, shortens long
//! results, and adds instructions about the state of the reply. The messages of the conversation are unchanged.

mod control_hint;
mod offloaded;
mod shorten;
mod summary;

pub(crate) use offloaded::{Excess, OffloadedParts, find_excess};
pub(crate) use shorten::ResultLimit;

use recount_message::{ContentBlock, HintBlock, Msg, Object};
use recount_model::estimate_block_tokens;

use crate::machine::ControlHint;
use crate::state::{Compressed, CutPoint};

/// The parts of a request beside the conversation.
#[derive(Debug)]
pub(crate) struct RequestContext<'a> {
    /// The name of the agent.
    pub(crate) agent: &'a str,
    pub(crate) system_prompt: &'a str,
    /// An instruction about the state of the reply.
    pub(crate) control: Option<ControlHint>,
    /// A hint that is only part of the request.
    pub(crate) request_hint: Option<HintBlock>,
}

/// The rules for converting messages for a request.
#[derive(Debug, Clone)]
pub(crate) struct RequestView {
    pub(crate) limit: ResultLimit,
    pub(crate) compressed: Option<Compressed>,
    pub(crate) offloaded: OffloadedParts,
    /// The id of the reply in progress.
    pub(crate) reply_id: String,
}

impl RequestView {
    /// Returns the messages of a request. The conversation must start at [the cut point](from_cut_point).
    pub(crate) fn request(&self, context: &RequestContext<'_>, conversation: Vec<Msg>) -> Vec<Msg> {
        let mut messages = Vec::with_capacity(conversation.len() + 4);
        if !context.system_prompt.is_empty() {
            messages.push(Msg::system("system", context.system_prompt));
        }
        messages.extend(self.compressed.as_ref().map(summary::message));
        messages.extend(self.messages(conversation));
        let hints = context.request_hint.iter().cloned().chain(context.control.map(control_hint::hint));
        messages.extend(hints.map(|hint| Msg::assistant(context.agent, hint)));
        messages
    }

    /// Converts messages for a request. Empty ones are removed.
    pub(crate) fn messages(&self, conversation: Vec<Msg>) -> impl Iterator<Item = Msg> {
        conversation.into_iter().map(|message| self.message(message)).filter(|message| !message.content().is_empty())
    }

    fn message(&self, message: Msg) -> Msg {
        let is_changed = message.content().iter().any(|block| self.leaves_out(&message, block))
            || message.content().iter().any(|block| self.limit.exceeds(block).is_some())
            || offloaded::has_offloaded_images(&message, &self.offloaded);
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
            let kept = self.offloaded.get(&offloaded::key(&parts.id, block.id(), None));
            self.limit.shorten(block, kept.and_then(|kept| kept.path.as_deref()));
            offloaded::replace_images(&parts.id, block, &self.offloaded);
        }
        Msg::from_parts_lenient(parts)
    }

    /// Estimates the tokens of a block in a request.
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

    /// Returns whether the thinking of a message is included. After the first summary, only the thinking of the current
    /// reply is, because some providers require it.
    fn shows_thinking(&self, message: &Msg) -> bool {
        self.compressed.is_none() || message.id() == self.reply_id
    }
}

/// Returns the conversation, with the reply at its position, starting at a cut point.
pub(crate) fn from_cut_point(
    conversation: &[Msg],
    position: usize,
    reply: Msg,
    cut_point: Option<&CutPoint>,
) -> Vec<Msg> {
    let position = position.min(conversation.len());
    let found = cut_point.and_then(|cut_point| {
        if cut_point.message_id == reply.id() {
            return Some(position);
        }
        let index = conversation.iter().position(|message| message.id() == cut_point.message_id)?;
        Some(if index < position { index } else { index + 1 })
    });
    let start = found.unwrap_or(0);
    let mut messages: Vec<Msg> = conversation.iter().take(position).skip(start).cloned().collect();
    if start <= position {
        messages.push(reply);
    }
    messages.extend(conversation.iter().skip(position.max(start.saturating_sub(1))).cloned());
    if let (Some(cut_point), Some(first), true) = (cut_point, messages.first_mut(), found.is_some()) {
        let mut parts = std::mem::replace(first, Msg::assistant("", [])).into_parts();
        parts.content.drain(..cut_point.blocks.min(parts.content.len()));
        *first = Msg::from_parts_lenient(parts);
    }
    messages
}

/// Returns whether a block was written by a failed model call.
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

    fn ids(conversation: &[Msg], position: usize, cut_point: Option<(&str, usize)>) -> Vec<(String, usize)> {
        let reply = Msg::assistant("Friday", ["x".into(), "y".into()]).with_id("reply");
        let cut_point = cut_point.map(|(id, blocks)| CutPoint { message_id: id.to_owned(), blocks });
        let shown = from_cut_point(conversation, position, reply, cut_point.as_ref());
        shown.into_iter().map(|message| (message.id().to_owned(), message.content().len())).collect()
    }

    #[test]
    fn messages_before_the_cut_point_are_left_out() {
        let talk = ["a", "b", "c"].map(|id| Msg::user("Alice", id).with_id(id));
        let of = |found: &[(&str, usize)]| -> Vec<(String, usize)> {
            found.iter().map(|(id, blocks)| ((*id).to_owned(), *blocks)).collect()
        };
        // The reply precedes messages that were observed while it was written.
        assert_eq!(ids(&talk, 2, None), of(&[("a", 1), ("b", 1), ("reply", 2), ("c", 1)]));
        assert_eq!(ids(&talk, 2, Some(("b", 1))), of(&[("b", 0), ("reply", 2), ("c", 1)]));
        assert_eq!(ids(&talk, 2, Some(("reply", 1))), of(&[("reply", 1), ("c", 1)]));
        assert_eq!(ids(&talk, 3, Some(("c", 1))), of(&[("c", 0), ("reply", 2)]));
        assert_eq!(ids(&talk, 3, Some(("reply", 9))), of(&[("reply", 0)]));
        // A cut point in an unknown message is ignored.
        assert_eq!(ids(&talk, 0, Some(("gone", 1))), of(&[("reply", 2), ("a", 1), ("b", 1), ("c", 1)]));
    }
}
