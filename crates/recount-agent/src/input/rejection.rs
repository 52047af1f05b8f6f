//! The reasons for rejecting an answer.

use crate::permission::AcceptError;

/// The reason why input was rejected. No part of it was applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputRejection {
    /// The reply has ended.
    #[error("the reply {reply_id:?} has ended")]
    ReplyEnded {
        /// The id of the reply.
        reply_id: String,
    },
    /// The call was answered before, or occurs twice in the answer.
    #[error("the call {call_id:?} was already answered")]
    AlreadyAnswered {
        /// The id of the call.
        call_id: String,
    },
    /// The agent does not know the reply.
    #[error("unknown reply {reply_id:?}")]
    UnknownReply {
        /// The id of the reply.
        reply_id: String,
    },
    /// The reply does not have the call.
    #[error("unknown call {call_id:?} in the reply {reply_id:?}")]
    UnknownCall {
        /// The id of the reply.
        reply_id: String,
        /// The id of the call.
        call_id: String,
    },
    /// The call does not wait for this kind of answer.
    #[error("the call {call_id:?} does not wait for {what}")]
    NotWaiting {
        /// The id of the call.
        call_id: String,
        /// The kind of answer.
        what: &'static str,
    },
    /// No reply waits for an answer.
    #[error("no reply of this agent waits for an answer")]
    NothingWaiting,
    /// A reply waits for answers, so messages are rejected.
    #[error("the reply {reply_id:?} waits for answers to the calls {calls:?}")]
    Waiting {
        /// The id of the reply.
        reply_id: String,
        /// The ids of the waiting calls.
        calls: Vec<String>,
    },
    /// A reply was interrupted by a crash. An empty input resumes or closes it.
    #[error("the reply {reply_id:?} was interrupted; resume it before sending a new message")]
    Unfinished {
        /// The id of the reply.
        reply_id: String,
    },
    /// The answer names another tool than the call.
    #[error("tool mismatch for the call {call_id:?}: expected {called:?}, got {named:?}")]
    ToolMismatch {
        /// The id of the call.
        call_id: String,
        /// The tool of the call.
        called: String,
        /// The tool in the answer.
        named: String,
    },
    /// The answer contains rules that cannot be accepted for this call.
    #[error("invalid rules for the call {call_id:?}: {source}")]
    InvalidRules {
        /// The id of the call.
        call_id: String,
        /// The invalid rule.
        source: AcceptError,
    },
    /// The answer edits the arguments of a call, and contains an allow rule that does not cover the edited call.
    #[error("invalid rules for the call {call_id:?}: rule {index} (`{rule}`) does not cover the edited call")]
    RuleNotCovering {
        /// The id of the call.
        call_id: String,
        /// The index of the rule, from 0.
        index: usize,
        /// The rule, such as `shell(ls:*)`. The name of the tool alone if the rule has no content.
        rule: String,
    },
    /// The edited arguments are invalid for the tool. The call can still be confirmed.
    #[error("invalid arguments for the call {call_id:?}: {problem}")]
    InvalidArguments {
        /// The id of the call.
        call_id: String,
        /// The error, with its location in the arguments.
        problem: String,
    },
    /// The call can no longer be confirmed.
    #[error("the call {call_id:?} expired at {time}")]
    Expired {
        /// The id of the call.
        call_id: String,
        /// The time at which it expired.
        time: String,
    },
    /// The answer contains no confirmation and no result.
    #[error("empty answer to the reply {reply_id:?}")]
    Empty {
        /// The id of the reply.
        reply_id: String,
    },
    /// A result has the state `running`.
    #[error("the result of the call {call_id:?} is not final")]
    NotFinal {
        /// The id of the call.
        call_id: String,
    },
    /// The metadata of a result does not match the schema of the tool.
    #[error("invalid metadata for the call {call_id:?}: {problem}")]
    InvalidMetadata {
        /// The id of the call.
        call_id: String,
        /// The error, with its location in the metadata.
        problem: String,
    },
    /// The event is not a valid input.
    #[error("an event of type {type_name} is not a valid input")]
    UnsupportedEvent {
        /// The type of the event.
        type_name: String,
    },
}

impl InputRejection {
    /// Returns a short code for the rejection, for use in protocols.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::ReplyEnded { .. } | Self::Expired { .. } => "late",
            Self::AlreadyAnswered { .. } => "duplicate",
            Self::UnknownReply { .. } | Self::UnknownCall { .. } => "foreign",
            Self::NotWaiting { .. } | Self::NothingWaiting => "not_waiting",
            Self::Waiting { .. } => "waiting",
            Self::Unfinished { .. } => "unfinished",
            Self::ToolMismatch { .. }
            | Self::InvalidRules { .. }
            | Self::RuleNotCovering { .. }
            | Self::NotFinal { .. }
            | Self::InvalidMetadata { .. }
            | Self::InvalidArguments { .. }
            | Self::Empty { .. }
            | Self::UnsupportedEvent { .. } => "invalid",
        }
    }
}
