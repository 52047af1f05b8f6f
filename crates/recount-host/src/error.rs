//! What can go wrong.

use crate::SourceError;

/// Why the host did not do what it was asked. Nothing has changed then, but for what [`recount_log::Error`] says of itself.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The log did not take it.
    #[error(transparent)]
    Log(#[from] recount_log::Error),
    /// The host is about to stop and begins nothing new.
    #[error("the host is about to stop and begins nothing new")]
    Draining,
    /// Another host works on the session.
    #[error("the session is worked on by {holder:?}")]
    LeaseHeld {
        /// The other one, as it calls itself.
        holder: String,
    },
    /// There is no agent for the session.
    #[error(transparent)]
    Agent(#[from] SourceError),
}

impl Error {
    /// Whether somebody else has taken the session.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(self, Self::Log(recount_log::Error::LeaseLost { .. }))
    }
}

/// Why a message was not taken.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// A reply is under way or waits, and the message was not to be queued.
    #[error("the reply {reply_id:?} is under way")]
    Busy {
        /// That reply.
        reply_id: String,
    },
    /// Another message has its id.
    #[error("there is a message {id:?} already, and it says something else")]
    IdConflict {
        /// The id that both have.
        id: String,
    },
    /// Something else in the session has its id, or the one that its reply would have.
    #[error("the id {id:?} is that of something else in the session")]
    IdInUse {
        /// The id.
        id: String,
    },
    /// The message is none that can be said to an agent.
    #[error("the message {id:?} holds {problem}, which cannot be said to an agent")]
    InvalidMessage {
        /// The message's id.
        id: String,
        /// What it holds.
        problem: String,
    },
    /// Any other reason.
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
