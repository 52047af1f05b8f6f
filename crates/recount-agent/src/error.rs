//! The errors of a reply.

use std::fmt;

use recount_message::{ErrorInfo, Msg, StructuredError};

use crate::input::{InputRejection, InvalidMessage};
use crate::tool::ToolkitError;

/// The error type of [`Agent::reply`](crate::Agent::reply) and the other functions that start or resume a reply.
///
/// Its `Debug` output names the reply by its id and leaves its message out, which can be long.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The agent is working on another reply. An agent writes one reply at a time: see [`Agent`](crate::Agent).
    #[error("the agent is busy with the reply {reply_id:?}")]
    Busy {
        /// The id of the reply in progress.
        reply_id: String,
    },
    /// The agent does not accept the input in its current state. Nothing has changed.
    #[error(transparent)]
    Rejected(#[from] InputRejection),
    /// A message in the input is invalid. Nothing has changed.
    #[error(transparent)]
    InvalidMessage(#[from] InvalidMessage),
    /// The requested output schema is invalid. Nothing has changed.
    #[error(transparent)]
    OutputSchema(#[from] ToolkitError),
    /// The reply has failed and is closed. The agent accepts new input.
    #[error("{}", .error.message)]
    Failed {
        /// The error that the reply ended with.
        error: ErrorInfo,
        /// The incomplete reply.
        message: Box<Msg>,
    },
    /// The reply was interrupted. Only returned with
    /// [`raise_on_interrupt`](crate::AgentBuilder::raise_on_interrupt).
    #[error("the reply {:?} was interrupted", .message.id())]
    Interrupted {
        /// The incomplete reply.
        message: Box<Msg>,
    },
    /// The reply waits for a confirmation or an external result, so it has no structured output yet.
    #[error("the reply {:?} waits for an answer", .message.id())]
    Waiting {
        /// The reply so far.
        message: Box<Msg>,
    },
    /// The reply has ended without the requested structured output, or with one that cannot be deserialized.
    #[error("{error}")]
    StructuredOutput {
        /// The missing or invalid output.
        error: StructuredError,
        /// The complete reply.
        message: Box<Msg>,
    },
}

impl Error {
    /// Returns the reply that the error is about, as far as it was written. `None` if no reply was started or resumed.
    #[must_use]
    pub fn message(&self) -> Option<&Msg> {
        match self {
            Self::Busy { .. } | Self::Rejected(_) | Self::InvalidMessage(_) | Self::OutputSchema(_) => None,
            Self::Failed { message, .. }
            | Self::Interrupted { message }
            | Self::Waiting { message }
            | Self::StructuredOutput { message, .. } => Some(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { reply_id } => f.debug_struct("Busy").field("reply_id", reply_id).finish(),
            Self::Rejected(rejection) => f.debug_tuple("Rejected").field(rejection).finish(),
            Self::InvalidMessage(error) => f.debug_tuple("InvalidMessage").field(error).finish(),
            Self::OutputSchema(error) => f.debug_tuple("OutputSchema").field(error).finish(),
            Self::Failed { error, message } => f
                .debug_struct("Failed")
                .field("reply_id", &message.id())
                .field("kind", &error.kind.as_str())
                .field("error", &error.message)
                .finish(),
            Self::Interrupted { message } => f.debug_struct("Interrupted").field("reply_id", &message.id()).finish(),
            Self::Waiting { message } => f.debug_struct("Waiting").field("reply_id", &message.id()).finish(),
            Self::StructuredOutput { error, message } => {
                f.debug_struct("StructuredOutput").field("reply_id", &message.id()).field("error", error).finish()
            }
        }
    }
}
