//! Several agents: in one conversation, one after another, at the same time, and one as the tool of another.
//!
//! - In a [`Hub`] each hears what the others say.
//! - [`sequential_pipeline`] passes an answer on from one to the next, [`fanout_pipeline`] asks all of them the same.
//! - A [`SubAgent`] is a tool: an agent that works for another one, in a reply of its own.

mod hub;
mod pipeline;
mod sub_agent;

pub use hub::{Hub, HubError};
pub use pipeline::{fanout_pipeline, sequential_pipeline};
pub use sub_agent::SubAgent;
pub(crate) use sub_agent::outcome;

use recount_message::{ContentBlock, Msg};

/// What others hear of a message: what was said and shown in it, under the name and the id of whoever said it. What an agent
/// thought and did is its own.
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
