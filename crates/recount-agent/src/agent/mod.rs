//! The [`Agent`] handle.

mod answer;
mod builder;
mod config;
mod saved;
mod shared;
mod sub_agent;

pub use builder::{AgentBuilder, BuildError};
pub use config::OnRestart;
pub use saved::{SavedAgent, SavedAgentError};
pub(crate) use shared::{Inner, OpenReply, QueuedAnswer, RunningReply, Shared};
pub(crate) use sub_agent::SubAgentContext;

use std::sync::Arc;

use recount_message::{CustomName, HintBlock, Json, Msg, Object, StructuredError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::driver;
use crate::error::Error;
use crate::input::{Input, check_messages};
use crate::permission::Permissions;
use crate::state::AgentState;
use crate::stream::ReplyStream;
use crate::tool::StructuredOutput;

/// An agent: a model and tools that together write replies, event by event.
///
/// `Agent` is a handle. Clones refer to the same agent, so that one task can read a reply while another interrupts it.
/// An agent writes one reply at a time: starting another one fails with [`Error::Busy`].
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::scripted::ScriptedModel;
/// use recount_agent::tool::FunctionTool;
/// use recount_message::Msg;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct ToolEnvironment {
///     city: String,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let weather = FunctionTool::new("get_weather", "Says how the weather is.", |position: ToolEnvironment| async move {
///     Ok(format!("Sunny in {}", position.city))
/// });
/// // In a program: `"anthropic/claude-opus-4-5".parse::<Model>()?`.
/// let model = ScriptedModel::new().calls("get_weather", r#"{"city": "Beijing"}"#).then().says("It is sunny.");
/// let agent = Agent::builder("Friday").model(model).system_prompt("You are Friday.").tool(weather.read_only()).build()?;
///
/// let message = agent.reply(Msg::user("Alice", "How is the weather in Beijing?")).await?;
/// assert_eq!(message.text().as_deref(), Some("It is sunny."));
/// assert_eq!(agent.messages().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Agent {
    shared: Arc<Shared>,
}

impl Agent {
    /// Creates a builder for an agent with this name.
    pub fn builder(name: impl Into<String>) -> AgentBuilder {
        AgentBuilder::new(name.into())
    }

    fn of(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Returns the agent's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.config.name
    }

    /// Sends input and returns the reply's message once the reply has ended or waits for an answer. A waiting reply is
    /// [not finished](Msg::finished_at); pass the answer to this function to continue it.
    ///
    /// ```
    /// use recount_agent::Agent;
    /// use recount_agent::scripted::ScriptedModel;
    /// use recount_agent::tool::{FunctionTool, NoArguments};
    /// use recount_message::{ConfirmResult, GenerateReason, UserConfirmResultEvent};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let deploy = FunctionTool::new("deploy", "Deploys.", |_: NoArguments| async { Ok("deployed") });
    /// let model = ScriptedModel::new().calls_as("c1", "deploy", "{}").then().says("It is live.");
    /// let agent = Agent::builder("Friday").model(model).tool(deploy).build()?;
    ///
    /// let waiting = agent.reply("Deploy it.").await?;
    /// assert_eq!(waiting.generate_reason(), GenerateReason::PermissionAsking);
    ///
    /// let asked = waiting.call("c1").unwrap().clone();
    /// let yes = UserConfirmResultEvent::new(waiting.id().to_owned(), [ConfirmResult::allow(asked)]);
    /// let message = agent.reply(yes).await?;
    /// assert_eq!((message.id(), message.text().as_deref()), (waiting.id(), Some("It is live.")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the agent is busy, rejects the input, or the reply fails.
    pub async fn reply(&self, input: impl Into<Input>) -> Result<Msg, Error> {
        self.reply_stream(input)?.into_msg().await
    }

    /// Sends input and returns the reply as a stream of events. The reply only progresses while the stream is read.
    /// Dropping the stream interrupts the reply.
    ///
    /// ```
    /// use recount_agent::Agent;
    /// use recount_agent::scripted::ScriptedModel;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let agent = Agent::builder("Friday").model(ScriptedModel::new().streams(["Hel", "lo"])).build()?;
    /// let mut text = agent.reply_stream("Hi")?.text();
    /// let mut shown = String::new();
    /// while let Some(piece) = text.next().await {
    ///     shown.push_str(&piece);
    /// }
    /// assert_eq!(text.into_msg().await?.text(), Some(shown));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if the agent is busy or rejects the input. The agent is unchanged in this case.
    pub fn reply_stream(&self, input: impl Into<Input>) -> Result<ReplyStream, Error> {
        driver::begin(&self.shared, input.into(), None)
    }

    /// Sends input and returns the reply's structured output as a Rust type. The model must produce JSON that matches the
    /// type's schema and deserializes into the type.
    ///
    /// Use [`reply_as_with_message`](Self::reply_as_with_message) to get the message too.
    ///
    /// ```
    /// use recount_agent::Agent;
    /// use recount_agent::scripted::ScriptedModel;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct TaskPlan {
    ///     steps: Vec<String>,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let model = ScriptedModel::new().calls("GenerateStructuredOutput", r#"{"steps": ["boil", "pour"]}"#);
    /// let agent = Agent::builder("Planner").model(model).build()?;
    /// let plan: TaskPlan = agent.reply_as("How do I make tea?").await?;
    /// assert_eq!(plan.steps, ["boil", "pour"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`reply`](Self::reply), [`Error::Waiting`] if the reply waits for an answer, and
    /// [`Error::StructuredOutput`] if it ends without a valid output. To continue a waiting reply, pass the answer to
    /// this function.
    pub async fn reply_as<T>(&self, input: impl Into<Input>) -> Result<T, Error>
    where
        T: DeserializeOwned + JsonSchema + 'static,
    {
        self.reply_as_with_message(input).await.map(|(output, _)| output)
    }

    /// Same as [`reply_as`](Self::reply_as), but also returns the message, for example to read its usage or its tool calls.
    ///
    /// ```
    /// use recount_agent::Agent;
    /// use recount_agent::scripted::ScriptedModel;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Sum {
    ///     value: i64,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let model = ScriptedModel::new().calls("GenerateStructuredOutput", r#"{"value": 5}"#);
    /// let agent = Agent::builder("Calculator").model(model).build()?;
    /// let (sum, message) = agent.reply_as_with_message::<Sum>("2 + 3").await?;
    /// assert_eq!(sum.value, 5);
    /// assert_eq!(message.name(), "Calculator");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`reply_as`](Self::reply_as).
    pub async fn reply_as_with_message<T>(&self, input: impl Into<Input>) -> Result<(T, Msg), Error>
    where
        T: DeserializeOwned + JsonSchema + 'static,
    {
        let stream = driver::begin(&self.shared, input.into(), Some(StructuredOutput::of::<T>()))?;
        let message = stream.into_msg().await?;
        let Some(output) = message.structured_output() else {
            let message = Box::new(message);
            if message.finished_at().is_none() {
                return Err(Error::Waiting { message });
            }
            let error = StructuredError::Missing { id: message.id().to_owned() };
            return Err(Error::StructuredOutput { error, message });
        };
        match StructuredOutput::decode(output) {
            Ok(output) => Ok((output, message)),
            Err(error) => Err(Error::StructuredOutput { error, message: Box::new(message) }),
        }
    }

    /// Same as [`reply_stream`](Self::reply_stream), but requires output that matches a JSON Schema. The message has it
    /// as its [structured output](Msg::structured_output).
    ///
    /// # Errors
    ///
    /// Same as [`reply_stream`](Self::reply_stream), and fails if the schema is invalid.
    pub fn reply_stream_with_schema(
        &self,
        input: impl Into<Input>,
        schema: impl Into<Json>,
    ) -> Result<ReplyStream, Error> {
        driver::begin(&self.shared, input.into(), Some(StructuredOutput::from_schema(schema.into())))
    }

    /// Adds messages to the conversation without starting a reply. Allowed at any time, also while a reply is in
    /// progress or waits.
    ///
    /// # Errors
    ///
    /// Fails if a message is invalid as input. No message is added in this case.
    pub fn observe(&self, messages: impl IntoIterator<Item = Msg>) -> Result<(), Error> {
        let messages: Vec<Msg> = messages.into_iter().collect();
        check_messages(&messages)?;
        driver::add_messages(&self.shared, messages, false);
        Ok(())
    }

    /// Same as [`observe`](Self::observe), for messages that the agent's log already contains. They are not written
    /// again.
    ///
    /// # Errors
    ///
    /// Same as [`observe`](Self::observe).
    pub fn observe_recorded(&self, messages: impl IntoIterator<Item = Msg>) -> Result<(), Error> {
        let messages: Vec<Msg> = messages.into_iter().collect();
        check_messages(&messages)?;
        driver::add_messages(&self.shared, messages, true);
        Ok(())
    }

    /// Queues a hint for the model. It is written before the next model call, in this reply or the next one.
    pub fn hint(&self, hint: HintBlock) {
        self.shared.change(|state| state.queue_hint(hint));
    }

    /// Requests a summary of the conversation, however short it is. It is made before the next model call, in this
    /// reply or the next one, and reported by the signal `recount.compressed`. Does nothing if there is too little to
    /// summarise.
    ///
    /// ```
    /// use recount_agent::Agent;
    /// use recount_agent::scripted::ScriptedModel;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let model = ScriptedModel::new()
    ///     .says("It rains.")
    ///     .then()
    ///     .says("They spoke of rain.")
    ///     .then()
    ///     .says("Still.");
    /// let agent = Agent::builder("Friday").model(model.clone()).runtime_state(None).build()?;
    /// agent.reply("How is the weather where you are, and how was it yesterday?").await?;
    /// agent.compress();
    /// agent.reply("And now?").await?;
    /// // The first request is for the summary, the next one contains it.
    /// let asked = model.requests();
    /// assert!(asked[2].messages[0].text_or_empty().contains("They spoke of rain."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compress(&self) {
        self.shared.change(|state| state.compress = true);
    }

    /// Removes and returns the next queued hint. If none is queued, waits for the results of background tools. Returns
    /// `None` if none is queued and no background tool is running.
    ///
    /// A reply in progress writes its hints on its own. This function is for a host whose agent has no reply in
    /// progress.
    ///
    /// ```
    /// use recount_agent::Agent;
    /// use recount_agent::scripted::ScriptedModel;
    /// use recount_agent::tool::{FunctionTool, NoArguments};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let build = FunctionTool::new("build", "Builds.", |_: NoArguments| async {
    ///     tokio::task::yield_now().await;
    ///     Ok("green")
    /// });
    /// let model = ScriptedModel::new().calls("build", "{}").then().says("I have started it.");
    /// let agent = Agent::builder("Friday").model(model).tool(build.background().read_only()).build()?;
    /// agent.reply("Build it.").await?;
    /// let hint = agent.next_hint().await.unwrap();
    /// assert!(hint.hint.text().unwrap().ends_with("green"));
    /// assert!(agent.next_hint().await.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn next_hint(&self) -> Option<HintBlock> {
        let mut pending_background = self.shared.pending_background.subscribe();
        loop {
            // In this order, because a result is queued as a hint before it is subtracted from the count.
            let is_last = *pending_background.borrow_and_update() == 0;
            let hint = self.shared.change(|state| (!state.hints.is_empty()).then(|| state.hints.remove(0)));
            if hint.is_some() || is_last {
                return hint;
            }
            // `changed` cannot fail: the agent owns the sender.
            let _ = pending_background.changed().await;
        }
    }

    /// Writes a signal of the session to the event stream.
    pub fn signal(&self, name: impl Into<String>, value: impl Into<Object>) {
        self.shared.signal(name, value);
    }

    /// Replaces the agent's permissions, starting with the next call. Reported by the signal `recount.permissions`.
    pub fn set_permissions(&self, permissions: Permissions) {
        let mode = permissions.mode;
        self.shared.change(|state| state.permissions = permissions);
        self.shared.signal(CustomName::Permissions.as_str(), [("mode", mode.name())]);
    }

    /// Interrupts the reply in progress. Returns `false` if there is none. To end a waiting reply, use
    /// [`Input::interrupt`].
    pub fn interrupt(&self) -> bool {
        let inner = self.shared.lock();
        inner.running.as_ref().map(|running| running.cancel.cancel()).is_some()
    }

    /// Returns the conversation: all complete messages, and a waiting or incomplete reply at its position.
    #[must_use]
    pub fn messages(&self) -> Vec<Msg> {
        let inner = self.shared.lock();
        let mut messages = inner.conversation.clone();
        if let Some(open) = &inner.open {
            messages.insert(open.position.min(messages.len()), open.fold.message().clone());
        }
        messages
    }

    /// Returns the state that the agent keeps beside the conversation.
    #[must_use]
    pub fn state(&self) -> AgentState {
        self.shared.lock().state.clone()
    }

    /// Returns the message of the reply that waits or was cut off by a crash. `None` if there is none.
    #[must_use]
    pub fn open_reply(&self) -> Option<Msg> {
        self.shared.lock().open.as_ref().map(|open| open.fold.message().clone())
    }

    /// Saves the agent, so that [another one](AgentBuilder::resume) can continue from here.
    ///
    /// ```
    /// use recount_agent::scripted::ScriptedModel;
    /// use recount_agent::{Agent, SavedAgent};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let model = ScriptedModel::new().says("Hello.").then().says("As I said.");
    /// let here = Agent::builder("Friday").model(model.clone()).build()?;
    /// here.reply("Hi").await?;
    /// let text = here.save()?.to_json();
    ///
    /// let elsewhere = Agent::builder("Friday").model(model).resume(SavedAgent::from_json(&text)?).build()?;
    /// elsewhere.reply("Pardon?").await?;
    /// assert_eq!(elsewhere.messages().len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`Error::Busy`] if a reply is in progress, because its message is incomplete. Use a [sink](crate::Sink)
    /// to persist a reply while it is written.
    pub fn save(&self) -> Result<SavedAgent, Error> {
        let inner = self.shared.lock();
        if let Some(running) = &inner.running {
            return Err(Error::Busy { reply_id: running.reply_id.clone() });
        }
        Ok(SavedAgent::capture(inner.state.clone(), inner.conversation.clone(), inner.open.clone(), &inner.sub_agents))
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("name", &self.name()).finish_non_exhaustive()
    }
}
