//! Several agents: in one conversation, in pipelines, and as tools of each other.
//!
//! - In a [`Hub`], every agent receives the messages of the others.
//! - [`sequential_pipeline`] passes the output of one agent to the next, [`fanout_pipeline`] sends the same input to
//!   all.
//! - A [`SubAgent`] is a tool that runs another agent, in a reply of its own.

mod hub;
mod pipeline;
mod sub_agent;

pub use hub::{Hub, HubError};
pub use pipeline::{fanout_pipeline, sequential_pipeline};
pub use sub_agent::SubAgent;
pub(crate) use sub_agent::outcome;

use recount_message::{ContentBlock, Msg};

/// Returns the part of a message that other agents receive: its text and data, with the same name and id. Thinking,
/// tool calls and tool results are removed. Returns `None` if nothing is left.
///
/// ```
/// use recount_agent::multi_agent::visible_message;
/// use recount_message::{ContentBlock, Msg, ThinkingBlock};
///
/// let message = Msg::assistant("AgentA", [ThinkingBlock::new("hm").into(), ContentBlock::from("I agree.")]);
/// let visible_message = visible_message(&message).unwrap();
/// assert_eq!((visible_message.name(), visible_message.content().len()), ("AgentA", 1));
/// ```
#[must_use]
pub fn visible_message(message: &Msg) -> Option<Msg> {
    let mut parts = message.clone().into_parts();
    parts.content.retain(|block| matches!(block, ContentBlock::Text(_) | ContentBlock::Data(_)));
    (!parts.content.is_empty()).then(|| Msg::from_parts_lenient(parts))
}
