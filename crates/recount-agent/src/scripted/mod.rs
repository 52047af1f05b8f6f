//! Models that answer as a script says, for tests.

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

/// What a model is called that was given no name.
const NAME: &str = "scripted";

/// A model that answers as a script says, and remembers what it was asked. Clones are the same model.
///
/// What is said goes into one answer until [`then`](Self::then) begins the next one.
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
    /// Whether the last answer is complete, so that what comes next is another one.
    is_complete: bool,
    /// How many calls were written, for their ids.
    calls: u32,
    asked: Vec<RecordedRequest>,
}

/// What a scripted model was asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The conversation.
    pub messages: Vec<Msg>,
    /// The names of the tools.
    pub tools: Vec<String>,
    /// Which of them it may or must call.
    pub tool_choice: Option<ToolChoice>,
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl ScriptedModel {
    /// A model that has nothing to say. One that is asked more often than its script has answers fails.
    pub fn new() -> Self {
        Self { name: NAME.to_owned(), script: Arc::default() }
    }

    /// The name under which its calls are announced; `scripted` if none is given.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Says a text, in one piece.
    pub fn says(self, text: impl Into<String>) -> Self {
        self.chunk(Piece::Text(text.into()))
    }

    /// Says a text in pieces.
    ///
    /// ```
    /// use recount_agent::scripted::ScriptedModel;
    ///
    /// let model = ScriptedModel::new().streams(["Once ", "upon ", "a time."]);
    /// ```
    pub fn streams(self, pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        pieces.into_iter().fold(self, Self::says)
    }

    /// Thinks.
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.chunk(Piece::Thinking { thinking: text.into(), extra: Object::new() })
    }

    /// Calls a tool. The ids of the calls are `call_1`, `call_2` and so on.
    pub fn calls(self, tool: impl Into<String>, input: impl Into<String>) -> Self {
        let number = {
            let mut script = self.lock();
            script.calls += 1;
            script.calls
        };
        self.calls_as(format!("call_{number}"), tool, input)
    }

    /// Calls a tool under an id of one's own.
    pub fn calls_as(self, id: impl Into<String>, tool: impl Into<String>, input: impl Into<String>) -> Self {
        self.chunk(Piece::Call { id: id.into(), name: tool.into(), input: input.into() })
    }

    /// Shows a picture, or plays a sound.
    pub fn shows(self, data: DataBlock) -> Self {
        self.chunk(Piece::Data(data))
    }

    /// Says how many tokens the answer took.
    pub fn tokens(self, input: u64, output: u64) -> Self {
        self.change(|answer| answer.tokens(input, output))
    }

    /// Fails: at once, or in the middle of what it says. The answer is over.
    ///
    /// ```
    /// use recount_agent::scripted::ScriptedModel;
    ///
    /// let model = ScriptedModel::new().fails("overloaded").then().says("Hel").fails("the connection broke");
    /// ```
    pub fn fails(self, message: impl Into<String>) -> Self {
        self.change(|answer| answer.fail(message))
    }

    /// Stands still until the gate is open.
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

    /// What is said next answers the next call.
    pub fn then(self) -> Self {
        {
            let mut script = self.lock();
            // An answer that says nothing is one too.
            if std::mem::replace(&mut script.is_complete, true) || script.answers.is_empty() {
                script.answers.push_back(Answer::new());
            }
        }
        self
    }

    /// A whole answer, after those that were given before.
    pub fn answer(self, answer: Answer) -> Self {
        {
            let mut script = self.lock();
            script.answers.push_back(answer);
            script.is_complete = true;
        }
        self
    }

    /// How many answers it has left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.lock().answers.len()
    }

    /// What it was asked, call by call.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.lock().asked.clone()
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
        let asked = RecordedRequest {
            messages: messages.to_vec(),
            tools: options.tools.iter().map(|tool| tool.name().to_owned()).collect(),
            tool_choice: options.tool_choice.clone(),
        };
        let answer = {
            let mut script = self.lock();
            script.asked.push(asked);
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
