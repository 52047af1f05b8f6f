//! Several agents: in one conversation, one after another, at the same time, and one as the tool of another.
//!
//! - In a [`Hub`] each hears what the others say.
//! - [`in_turn`] passes an answer on from one to the next, [`at_once`] asks all of them the same.
//! - A [`SubAgent`] is a tool: an agent that works for another one, in a reply of its own.

mod hub;
mod pipeline;
mod subagent;

pub use hub::{Hub, HubError};
pub use pipeline::{at_once, in_turn};
pub use subagent::SubAgent;
pub(crate) use subagent::outcome;

use recount_message::{ContentBlock, Msg};

/// What others hear of a message: what was said and shown in it, under the name and the id of whoever said it. What an agent
/// thought and did is its own.
///
/// ```
/// use recount_agent::several::heard;
/// use recount_message::{ContentBlock, Msg, ThinkingBlock};
///
/// let message = Msg::assistant("AgentA", [ThinkingBlock::new("hm").into(), ContentBlock::from("I agree.")]);
/// let heard = heard(&message).unwrap();
/// assert_eq!((heard.name(), heard.content().len()), ("AgentA", 1));
/// ```
#[must_use]
pub fn heard(message: &Msg) -> Option<Msg> {
    let mut parts = message.clone().into_parts();
    parts.content.retain(|block| matches!(block, ContentBlock::Text(_) | ContentBlock::Data(_)));
    (!parts.content.is_empty()).then(|| Msg::as_received(parts))
}
