//! Validation of messages as input.

use recount_message::{ContentBlock, Msg, Role};

/// The error type for a message that is invalid as input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMessage {
    /// The message is a system message. Use [`AgentBuilder::system_prompt`](crate::AgentBuilder::system_prompt)
    /// instead.
    #[error("invalid input: the message {id:?} is a system message")]
    System {
        /// The id of the message.
        id: String,
    },
    /// The message contains a block that only an agent can write: a tool call, a tool result or thinking.
    #[error("invalid input: the message {id:?} contains a block of type `{block}`, which only an agent can write")]
    Block {
        /// The id of the message.
        id: String,
        /// The type of the block.
        block: String,
    },
}

/// Validates all messages.
pub(crate) fn check_messages(messages: &[Msg]) -> Result<(), InvalidMessage> {
    for message in messages {
        let id = || message.id().to_owned();
        if message.role() == Role::System {
            return Err(InvalidMessage::System { id: id() });
        }
        for block in message.content() {
            match block {
                ContentBlock::ToolCall(_) | ContentBlock::ToolResult(_) | ContentBlock::Thinking(_) => {
                    return Err(InvalidMessage::Block { id: id(), block: block.type_name().to_owned() });
                }
                ContentBlock::Text(_)
                | ContentBlock::Data(_)
                | ContentBlock::Hint(_)
                | ContentBlock::Unknown(_)
                | _ => {}
            }
        }
    }
    Ok(())
}
