//! The state of a reply beside its message.

use std::collections::BTreeMap;

use recount_message::{GenerateReason, Json, Object};
use serde::{Deserialize, Serialize};

/// The state of a reply beside its message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReplyState {
    /// The id of the reply.
    pub id: String,
    /// The number of model calls, without retries.
    #[serde(default)]
    pub iteration: u32,
    /// The phase of the last model call.
    #[serde(default)]
    pub phase: Phase,
    /// The JSON Schema of the requested structured output.
    #[serde(default)]
    pub schema: Option<Json>,
    /// The structured output.
    #[serde(default)]
    pub structured_output: Option<Object>,
    /// The end of the reply was requested.
    #[serde(default)]
    pub stop: Option<Stop>,
    /// The user has denied a call of this round.
    #[serde(default)]
    pub rejected: bool,
    /// When confirmations expire, by call id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expiries: BTreeMap<String, String>,
    /// How often the reply was resumed after a crash.
    #[serde(default)]
    pub restarts: u32,
    /// REPLY_START was written by the host, and the agent has not worked on the reply yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_fresh: bool,
    /// The process that worked on the reply stopped cleanly, so that resuming it does not count as a restart.
    #[serde(rename = "is_left", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_handed_over: bool,
}

impl ReplyState {
    /// Creates the state of a new reply.
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
            expiries: BTreeMap::new(),
            restarts: 0,
            is_fresh: false,
            is_handed_over: false,
        }
    }

    /// Creates the state of a reply whose REPLY_START was written by the host. An agent that is
    /// [resumed](crate::AgentBuilder::resume) with it starts the reply on an empty input, which does not count as a
    /// restart.
    ///
    /// ```
    /// use recount_agent::scripted::ScriptedModel;
    /// use recount_agent::{Agent, AgentState, ReplyState, SavedAgent};
    /// use recount_message::{Event, Fold};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let start = Event::from_json(r#"{"type":"REPLY_START","session_id":"s1","reply_id":"r1","name":"Friday"}"#)?;
    /// let fold: Fold = [start].iter().collect();
    /// let mut state = AgentState::new("s1");
    /// state.reply = Some(ReplyState::fresh("r1"));
    ///
    /// let model = ScriptedModel::new().says("Hello.");
    /// let agent = Agent::builder("Friday").model(model).resume(SavedAgent::new(state, fold.checkpoint())).build()?;
    /// let message = agent.reply(()).await?;
    /// assert_eq!((message.id(), message.text().as_deref()), ("r1", Some("Hello.")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fresh(id: impl Into<String>) -> Self {
        Self { is_fresh: true, ..Self::new(id) }
    }
}

/// The phase of the last model call of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// No model call was made, it has failed, or another one was requested.
    #[default]
    Idle,
    /// The model call is in progress. In a persisted state: it was interrupted by a crash.
    Asking,
    /// The model call is complete.
    Answered,
}

/// A request to end the reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The reason, for the user.
    pub reason: String,
    /// The step during which it was requested.
    pub after: StopAfter,
}

/// The step during which the end of the reply was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopAfter {
    /// During a model call. The calls that the model made are not run.
    Reasoning,
    /// While tools were running. They are finished first.
    Acting,
    /// Between rounds, by a middleware.
    Middleware,
    /// The user denied a call, and [`stop_on_reject`](crate::AgentBuilder::stop_on_reject) is set.
    Rejection,
}

impl StopAfter {
    /// Returns the corresponding reason in the message.
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
