//! The errors of the host.

use crate::SourceError;

/// An error of the host. Nothing was changed, except as described by [`recount_log::Error`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log rejected the operation or failed.
    #[error(transparent)]
    Log(#[from] recount_log::Error),
    /// The host is shutting down and starts nothing new.
    #[error("the host is shutting down")]
    Draining,
    /// Another host holds the lease of the session.
    #[error("the session is leased by another host, {holder:?}")]
    LeaseHeld {
        /// The name of the other host.
        holder: String,
    },
    /// The session's agent could not be built.
    #[error(transparent)]
    Agent(#[from] SourceError),
}

impl Error {
    /// Whether another host has acquired the lease of the session.
    pub(crate) fn is_lease_lost(&self) -> bool {
        matches!(self, Self::Log(recount_log::Error::LeaseLost { .. }))
    }
}

/// The reason why a message was rejected.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// A reply is running or waiting, and [`OnBusy::Reject`](crate::OnBusy::Reject) was given.
    #[error("the reply {reply_id:?} is in progress")]
    Busy {
        /// The id of that reply.
        reply_id: String,
    },
    /// A message with the same id and different content exists.
    #[error("the message {id:?} exists with different content")]
    IdConflict {
        /// The id of both messages.
        id: String,
    },
    /// The message's id, or the id of its reply, belongs to something else in the session.
    #[error("the id {id:?} is already used in the session")]
    IdInUse {
        /// The id.
        id: String,
    },
    /// The message has a role or content that cannot be sent to an agent.
    #[error("the message {id:?} cannot be sent to an agent: it contains {problem}")]
    InvalidMessage {
        /// The id of the message.
        id: String,
        /// The role or content that is not allowed.
        problem: String,
    },
    /// Any other error.
    #[error(transparent)]
    Host(#[from] Error),
}

impl From<recount_log::Error> for PostError {
    fn from(error: recount_log::Error) -> Self {
        Self::Host(error.into())
    }
}

impl From<SourceError> for PostError {
    fn from(error: SourceError) -> Self {
        Self::Host(error.into())
    }
}
