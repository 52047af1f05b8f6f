//! Why a reply does not take an answer.

use crate::permission::AcceptError;

/// Why a reply does not take an answer. Nothing of it was applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputRejection {
    /// The reply has ended.
    #[error("the reply {reply_id:?} has ended")]
    ReplyEnded {
        /// The reply that the answer is for.
        reply_id: String,
    },
    /// The call was answered before, or twice in this answer.
    #[error("the call {call_id:?} is answered already")]
    AlreadyAnswered {
        /// The call.
        call_id: String,
    },
    /// The answer is for a reply that this agent does not know.
    #[error("the reply {reply_id:?} is not one of this agent's")]
    UnknownReply {
        /// The reply that the answer is for.
        reply_id: String,
    },
    /// The answer is for a call that the reply does not have.
    #[error("the reply {reply_id:?} has no call {call_id:?}")]
    UnknownCall {
        /// The reply.
        reply_id: String,
        /// The call.
        call_id: String,
    },
    /// The reply does not wait for this.
    #[error("the call {call_id:?} does not wait for {what}")]
    NotWaiting {
        /// The call.
        call_id: String,
        /// What came.
        what: &'static str,
    },
    /// Nothing waits at all.
    #[error("no reply of this agent waits for an answer")]
    NothingWaiting,
    /// A reply waits, so the agent takes answers and no messages.
    #[error("the reply {reply_id:?} waits for the calls {calls:?} to be answered")]
    Waiting {
        /// The reply.
        reply_id: String,
        /// The calls that it waits for.
        calls: Vec<String>,
    },
    /// A reply is there whose process died. Going on with it, or closing it, takes an input of nothing.
    #[error("the reply {reply_id:?} broke off and has to be gone on with first")]
    Unfinished {
        /// The reply.
        reply_id: String,
    },
    /// The answer names another tool than the call does.
    #[error("the call {call_id:?} is of {called:?}, and the answer is of {named:?}")]
    ToolMismatch {
        /// The call.
        call_id: String,
        /// The tool that was called.
        called: String,
        /// The tool that the answer names.
        named: String,
    },
    /// Rules came along that the user cannot have been asked for.
    #[error("the rules for the call {call_id:?}: {source}")]
    InvalidRules {
        /// The call.
        call_id: String,
        /// What is wrong with them.
        source: AcceptError,
    },
    /// The user has edited the arguments of a call, and an allow rule came along that does not cover the edited call.
    #[error("the rules for the call {call_id:?}: rule {index} (`{rule}`) does not cover the edited call")]
    RuleNotCovering {
        /// The call.
        call_id: String,
        /// The index of the rule, from 0.
        index: usize,
        /// The rule, such as `shell(ls:*)`. The name of the tool alone if the rule has no content.
        rule: String,
    },
    /// The user has given arguments to a call that its tool does not take. The call can still be confirmed.
    #[error("the edited input for the call {call_id:?}: {problem}")]
    InvalidArguments {
        /// The call.
        call_id: String,
        /// What is wrong with them, and where.
        problem: String,
    },
    /// The time in which the call could be confirmed is over.
    #[error("the call {call_id:?} could be confirmed until {time}")]
    Expired {
        /// The call.
        call_id: String,
        /// Until when.
        time: String,
    },
    /// The answer says nothing.
    #[error("the answer to the reply {reply_id:?} is for no call")]
    Empty {
        /// The reply.
        reply_id: String,
    },
    /// A result says that it is still running.
    #[error("the result of the call {call_id:?} is not final")]
    NotFinal {
        /// The call.
        call_id: String,
    },
    /// The metadata of a result has not the form that the tool promises.
    #[error("the metadata for the call {call_id:?}: {problem}")]
    InvalidMetadata {
        /// The call.
        call_id: String,
        /// What is wrong with it, and where.
        problem: String,
    },
    /// The event is none that a reply takes.
    #[error("an event of the type {type_name} is no input")]
    UnsupportedEvent {
        /// Its type.
        type_name: String,
    },
}

impl InputRejection {
    /// The refusal in one word, for those who pass it on.
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
