//! Scripted models for tests.

mod answer;
mod fn_model;
mod gate;
mod play;

pub use answer::{Answer, Piece};
pub use fn_model::FnModel;
pub use gate::Gate;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use recount_message::{DataBlock, ErrorType, Msg, Object};
use recount_model::client::{CallOptions, CallOutcome};
use recount_model::decode::{CallEnd, CallError, CallErrorKind};
use recount_model::format::ToolChoice;

use crate::BoxFuture;
use crate::model::{AgentReplyWriter, ChatModel};

/// The default name of a scripted model.
const NAME: &str = "scripted";

/// A model that returns scripted answers and records its requests. Clones share the script.
///
/// Parts are added to the current answer until [`then`](Self::then) begins the next one.
///
/// ```
/// use recount_agent::scripted::ScriptedModel;
///
/// let model = ScriptedModel::new()
///     .says("Let me look.")
///     .calls("get_weather", r#"{"city": "Beijing"}"#)
///     .then()
///     .says("Sunny, 25°C.");
/// assert_eq!(model.remaining(), 2);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ScriptedModel {
    name: String,
    script: Arc<Mutex<Script>>,
}

#[derive(Debug, Default)]
struct Script {
    answers: VecDeque<Answer>,
    /// Whether the last answer is complete, so that the next part begins a new one.
    is_complete: bool,
    /// The number of scripted tool calls, for their ids.
    calls: u32,
    requests: Vec<RecordedRequest>,
}

/// A request to a scripted model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The conversation.
    pub messages: Vec<Msg>,
    /// The names of the offered tools.
    pub tools: Vec<String>,
    /// The tool choice of the request. `None` for the default of the provider.
    pub tool_choice: Option<ToolChoice>,
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedModel {
    /// Creates a model without answers. A request without an answer in the script fails.
    pub fn new() -> Self {
        Self { name: NAME.to_owned(), script: Arc::default() }
    }

    /// Sets the name of the model, `scripted` by default.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds text as one chunk.
    pub fn says(self, text: impl Into<String>) -> Self {
        self.chunk(Piece::Text(text.into()))
    }

    /// Adds text in several chunks.
    ///
    /// ```
    /// use recount_agent::scripted::ScriptedModel;
    ///
    /// let model = ScriptedModel::new().streams(["Once ", "upon ", "a time."]);
    /// ```
    pub fn streams(self, pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        pieces.into_iter().fold(self, Self::says)
    }

    /// Adds thinking.
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.chunk(Piece::Thinking { thinking: text.into(), extra: Object::new() })
    }

    /// Adds a tool call. The ids of the calls are `call_1`, `call_2` and so on.
    pub fn calls(self, tool: impl Into<String>, input: impl Into<String>) -> Self {
        let number = {
            let mut script = self.lock();
            script.calls += 1;
            script.calls
        };
        self.calls_as(format!("call_{number}"), tool, input)
    }

    /// Adds a tool call with an id.
    pub fn calls_as(self, id: impl Into<String>, tool: impl Into<String>, input: impl Into<String>) -> Self {
        self.chunk(Piece::Call { id: id.into(), name: tool.into(), input: input.into() })
    }

    /// Adds an image or audio.
    pub fn shows(self, data: DataBlock) -> Self {
        self.chunk(Piece::Data(data))
    }

    /// Sets the token usage of the answer.
    pub fn tokens(self, input: u64, output: u64) -> Self {
        self.change(|answer| answer.tokens(input, output))
    }

    /// Ends the answer with an error, at its start or after other parts.
    ///
    /// ```
    /// use recount_agent::scripted::ScriptedModel;
    ///
    /// let model = ScriptedModel::new().fails("overloaded").then().says("Hel").fails("the connection broke");
    /// ```
    pub fn fails(self, message: impl Into<String>) -> Self {
        self.change(|answer| answer.fail(message))
    }

    /// Waits until the gate is open.
    ///
    /// ```
    /// use recount_agent::scripted::{Gate, ScriptedModel};
    ///
    /// let gate = Gate::new();
    /// let model = ScriptedModel::new().says("Once upon").waits(&gate).says(" a time");
    /// ```
    pub fn waits(self, gate: &Gate) -> Self {
        self.change(|answer| answer.wait(gate))
    }

    /// Begins the answer to the next request.
    pub fn then(self) -> Self {
        {
            let mut script = self.lock();
            // Adds an empty answer.
            if std::mem::replace(&mut script.is_complete, true) || script.answers.is_empty() {
                script.answers.push_back(Answer::new());
            }
        }
        self
    }

    /// Adds a complete answer.
    pub fn answer(self, answer: Answer) -> Self {
        {
            let mut script = self.lock();
            script.answers.push_back(answer);
            script.is_complete = true;
        }
        self
    }

    /// The number of answers that were not used yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.lock().answers.len()
    }

    /// The requests so far, in their order.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.lock().requests.clone()
    }

    fn chunk(self, piece: Piece) -> Self {
        self.change(|answer| answer.chunk([piece]))
    }

    fn change(self, change: impl FnOnce(Answer) -> Answer) -> Self {
        {
            let mut script = self.lock();
            let last = if std::mem::take(&mut script.is_complete) { None } else { script.answers.pop_back() };
            script.answers.push_back(change(last.unwrap_or_default()));
        }
        self
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn call<'a>(
        &'a self,
        messages: &'a [Msg],
        options: &'a CallOptions,
        reply: &'a mut AgentReplyWriter,
    ) -> BoxFuture<'a, CallOutcome> {
        let request = RecordedRequest {
            messages: messages.to_vec(),
            tools: options.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            tool_choice: options.tool_choice.clone(),
        };
        let answer = {
            let mut script = self.lock();
            script.requests.push(request);
            script.answers.pop_front()
        };
        Box::pin(async move {
            reply.model_call(self.name.clone());
            let end = match answer {
                Some(answer) => play::play(answer, options, reply).await,
                None => {
                    let message = "the script has no more answers";
                    CallEnd::failed(CallError::new(CallErrorKind::Setup, ErrorType::Setup, message), false)
                }
            };
            end.end_model_call(reply);
            CallOutcome::new(end, format!("scripted/{}", self.name))
        })
    }
}
