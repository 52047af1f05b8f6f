//! What is known of a reply beside its message.

use std::collections::BTreeMap;

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
    /// Until when the user may answer for a call, where that is limited.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub expiries: BTreeMap<String, String>,
    /// How often the reply has gone on after its process had died.
    #[serde(default)]
    pub restarts: u32,
    /// Somebody else has written its start, such as a host together with the question, and nothing was done for it yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_fresh: bool,
    /// Whoever worked on it has left it in good order, for another process to go on with: that is no restart.
    #[serde(rename = "is_left", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_handed_over: bool,
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
            expiries: BTreeMap::new(),
            restarts: 0,
            is_fresh: false,
            is_handed_over: false,
        }
    }

    /// A reply whose start somebody else has written. An agent that is [resumed](crate::AgentBuilder::resume) with it begins
    /// to work on it when it is asked nothing, and that does not count as a restart.
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
