//! What can go wrong with a reply.

use recount_message::{ErrorInfo, Msg, StructuredError};

use crate::input::{InputError, Refusal};
use crate::tool::ToolkitError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The agent is at another reply. One at a time: see [`Agent`](crate::Agent).
    #[error("the agent is at the reply {reply_id:?}, and gives one at a time")]
    Busy {
        /// The reply that it is at.
        reply_id: String,
    },
    /// The reply does not take this input. Nothing has changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A message cannot be said to an agent. Nothing has changed.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The form that an answer was asked for in is none. Nothing has changed.
    #[error(transparent)]
    Form(#[from] ToolkitError),
    /// Something broke. The reply has ended with the error, and the agent can be asked again.
    #[error("{}", .error.message)]
    Failed {
        /// What it was.
        error: ErrorInfo,
        /// The reply as far as it came.
        message: Box<Msg>,
    },
    /// Somebody interrupted the reply, and the agent is set to say so.
    #[error("the reply {:?} was interrupted", .message.id())]
    Interrupted {
        /// The reply as far as it came.
        message: Box<Msg>,
    },
    /// The reply waits for an answer, so its structured output is not there yet.
    #[error("the reply {:?} waits for an answer", .message.id())]
    Waiting {
        /// The reply as it stands.
        message: Box<Msg>,
    },
    /// The reply has ended without the structured output that was asked for, or with one that does not fit.
    #[error("{error}")]
    Structured {
        /// What is missing or does not fit.
        error: StructuredError,
        /// The reply.
        message: Box<Msg>,
    },
}

impl Error {
    /// The reply that the error is about, as far as it came.
    #[must_use]
    pub fn message(&self) -> Option<&Msg> {
        match self {
            Self::Busy { .. } | Self::Refused(_) | Self::Input(_) | Self::Form(_) => None,
            Self::Failed { message, .. }
            | Self::Interrupted { message }
            | Self::Waiting { message }
            | Self::Structured { message, .. } => Some(message),
        }
    }
}
