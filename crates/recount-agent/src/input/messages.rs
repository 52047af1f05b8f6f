//! Messages that are said to an agent.

use recount_message::{ContentBlock, Msg, Role};

/// Why a message cannot be said to an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidMessage {
    /// It is a system message: what the agent shall be is for its system prompt.
    #[error("the message {id:?} is a system message, which only the agent's builder takes")]
    System {
        /// The message's id.
        id: String,
    },
    /// It holds what only the agent itself writes.
    #[error("the message {id:?} holds a block of the type {block}, which only an agent's reply has")]
    Block {
        /// The message's id.
        id: String,
        /// The type of the block.
        block: String,
    },
}

/// Looks at all messages before any is taken.
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
