//! What is known of a reply beside its message.

use recount_message::{GenerateReason, Json, Object};
use serde::{Deserialize, Serialize};

/// What is known of a reply beside its message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReplyState {
    /// Its id.
    pub id: String,
    /// How often a model was asked. A call that is made again because it broke does not count again.
    #[serde(default)]
    pub iteration: u32,
    /// Where the last model call stands.
    #[serde(default)]
    pub phase: Phase,
    /// The JSON Schema that the answer has to have.
    #[serde(default)]
    pub schema: Option<Json>,
    /// The answer in that form.
    #[serde(default)]
    pub structured_output: Option<Object>,
    /// Somebody asked the reply to end.
    #[serde(default)]
    pub stop: Option<Stop>,
    /// The user has refused a call of this round.
    #[serde(default)]
    pub rejected: bool,
    /// How often the reply has gone on after its process had died.
    #[serde(default)]
    pub restarts: u32,
}

impl ReplyState {
    /// A reply that begins.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            iteration: 0,
            phase: Phase::Idle,
            schema: None,
            structured_output: None,
            stop: None,
            rejected: false,
            restarts: 0,
        }
    }
}

/// Where the last model call of a reply stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// There is no answer to act on: none was asked for yet, or somebody wants another one.
    #[default]
    Idle,
    /// It is under way. If it still is when the state is read back, it broke.
    Asking,
    /// The model has answered.
    Answered,
}

/// A request to end the reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Why.
    pub reason: String,
    /// Where it was asked for.
    pub after: StopAfter,
}

/// Where a stop was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopAfter {
    /// While the model was asked: calls that it made are not run.
    Reasoning,
    /// While tools ran: the calls at hand are done first.
    Acting,
    /// By a middleware around the whole reply.
    Middleware,
    /// The user refused a call, and the agent is set to stop then.
    Rejection,
}

impl StopAfter {
    /// The reason in the words of the message.
    #[must_use]
    pub fn generate_reason(self) -> GenerateReason {
        match self {
            Self::Reasoning => GenerateReason::ReasoningStopRequested,
            Self::Acting => GenerateReason::ActingStopRequested,
            Self::Middleware => GenerateReason::MiddlewareStopRequested,
            Self::Rejection => GenerateReason::AllToolsDenied,
        }
    }
}
