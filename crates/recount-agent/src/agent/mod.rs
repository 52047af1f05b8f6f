//! The agent.

mod answer;
mod builder;
mod config;
mod saved;
mod shared;
mod sub_agent;

pub use builder::{AgentBuilder, BuildError};
pub use config::OnRestart;
pub use saved::{SavedAgent, SavedAgentError};
pub(crate) use shared::{Delivery, Inner, OpenReply, Running, Shared};
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

/// An agent: it is asked, thinks with a model, acts with tools, and its message is the fold of what it says on the way.
///
/// It is a handle. Clones are the same agent, so that one task can read its reply while another interrupts it. It gives one
/// reply at a time; who asks meanwhile is told that it is [busy](Error::Busy).
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::scripted::ScriptedModel;
/// use recount_agent::tool::FunctionTool;
/// use recount_message::Msg;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Place {
///     city: String,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let weather = FunctionTool::new("get_weather", "Says how the weather is.", |place: Place| async move {
///     Ok(format!("Sunny in {}", place.city))
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
    /// Begins to put an agent together.
    pub fn builder(name: impl Into<String>) -> AgentBuilder {
        AgentBuilder::new(name.into())
    }

    fn of(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.config.name
    }

    /// Asks, and gives the whole answer: the message as far as the reply has come. It is
    /// [not finished](Msg::finished_at) when the reply waits for somebody; the answer to that goes here too.
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
    /// When the agent is busy, does not take the input, or the reply fails.
    pub async fn reply(&self, input: impl Into<Input>) -> Result<Msg, Error> {
        self.reply_stream(input)?.into_msg().await
    }

    /// Asks, and gives the answer as it comes. The reply goes on as long as the stream is read; if it is dropped, the reply
    /// ends as interrupted.
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
    /// When the agent is busy or does not take the input. Nothing has changed then.
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
    /// [`Error::StructuredOutput`] if it ends without a valid output. Pass the answer to a waiting reply to this function
    /// again.
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
        let stream = driver::begin(&self.shared, input.into(), Some(driver::Form::of::<T>()))?;
        let message = stream.into_msg().await?;
        let Some(output) = message.structured_output() else {
            let message = Box::new(message);
            if message.finished_at().is_none() {
                return Err(Error::Waiting { message });
            }
            let error = StructuredError::Missing { id: message.id().to_owned() };
            return Err(Error::StructuredOutput { error, message });
        };
        match driver::Form::decode(output) {
            Ok(output) => Ok((output, message)),
            Err(error) => Err(Error::StructuredOutput { error, message: Box::new(message) }),
        }
    }

    /// Asks for an answer that has the form of a JSON Schema. The message has it as
    /// [structured output](Msg::structured_output).
    ///
    /// # Errors
    ///
    /// As [`reply_stream`](Self::reply_stream).
    pub fn reply_stream_with_schema(
        &self,
        input: impl Into<Input>,
        schema: impl Into<Json>,
    ) -> Result<ReplyStream, Error> {
        driver::begin(&self.shared, input.into(), Some(driver::Form::from_schema(schema.into())))
    }

    /// Tells the agent what somebody said, without asking it anything. It may be told at any time, while it waits too.
    ///
    /// # Errors
    ///
    /// When one of the messages cannot be said to an agent. None is taken then.
    pub fn observe(&self, messages: impl IntoIterator<Item = Msg>) -> Result<(), Error> {
        let messages: Vec<Msg> = messages.into_iter().collect();
        check_messages(&messages)?;
        driver::take_messages(&self.shared, messages, false);
        Ok(())
    }

    /// Tells the agent what somebody said where it stands in the agent's log already: it is taken note of and not written
    /// again.
    ///
    /// # Errors
    ///
    /// As [`observe`](Self::observe).
    pub fn observe_recorded(&self, messages: impl IntoIterator<Item = Msg>) -> Result<(), Error> {
        let messages: Vec<Msg> = messages.into_iter().collect();
        check_messages(&messages)?;
        driver::take_messages(&self.shared, messages, true);
        Ok(())
    }

    /// Says something to the model from outside: before it is asked the next time, in this reply or in the next one.
    pub fn hint(&self, hint: HintBlock) {
        self.shared.change(|state| state.take_hint(hint));
    }

    /// Has the conversation summarised before the model is asked the next time, in this reply or in the next one, however much
    /// room there is. `recount.compressed` tells of it. Where there is too little to summarise, nothing happens.
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
    /// // The model was asked for a summary first, and then shown it.
    /// let asked = model.requests();
    /// assert!(asked[2].messages[0].text_or_empty().contains("They spoke of rain."));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compress(&self) {
        self.shared.change(|state| state.compress = true);
    }

    /// Takes what shall be said to the model and was not said yet, waiting for tools that run in the background. Nothing when
    /// none does any more.
    ///
    /// A reply that is under way says it by itself. This is for a host whose agent has come to the end of its reply.
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
        let mut untold = self.shared.untold.subscribe();
        loop {
            // In this order: an outcome is among the hints before it counts as told.
            let is_last = *untold.borrow_and_update() == 0;
            let hint = self.shared.change(|state| (!state.hints.is_empty()).then(|| state.hints.remove(0)));
            if hint.is_some() || is_last {
                return hint;
            }
            // The sender lives as long as the agent does.
            let _ = untold.changed().await;
        }
    }

    /// Writes a signal for the session among the events.
    pub fn signal(&self, name: impl Into<String>, value: impl Into<Object>) {
        self.shared.signal(name, value);
    }

    /// Changes what the agent may do, from the next call on. Who reads the session is told.
    pub fn set_permissions(&self, permissions: Permissions) {
        let mode = permissions.mode;
        self.shared.change(|state| state.permissions = permissions);
        self.shared.signal(CustomName::Permissions.as_str(), [("mode", mode.name())]);
    }

    /// Interrupts the reply that is under way. Says whether there was one; a reply that waits is ended by
    /// [`Input::interrupt`].
    pub fn interrupt(&self) -> bool {
        let inner = self.shared.lock();
        inner.running.as_ref().map(|running| running.cancel.cancel()).is_some()
    }

    /// The conversation: all messages that are complete, and the reply that waits in its place.
    #[must_use]
    pub fn messages(&self) -> Vec<Msg> {
        let inner = self.shared.lock();
        let mut messages = inner.conversation.clone();
        if let Some(open) = &inner.open {
            messages.insert(open.place.min(messages.len()), open.fold.message().clone());
        }
        messages
    }

    /// What the agent knows beside the conversation.
    #[must_use]
    pub fn state(&self) -> AgentState {
        self.shared.lock().state.clone()
    }

    /// The reply that waits or broke off, as it stands.
    #[must_use]
    pub fn open_reply(&self) -> Option<Msg> {
        self.shared.lock().open.as_ref().map(|open| open.fold.message().clone())
    }

    /// Writes the agent down, so that [another one](AgentBuilder::resume) can go on from here.
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
    /// When a reply is under way: its message is being written. A [sink](crate::Sink) is for that.
    pub fn save(&self) -> Result<SavedAgent, Error> {
        let inner = self.shared.lock();
        if let Some(running) = &inner.running {
            return Err(Error::Busy { reply_id: running.reply_id.clone() });
        }
        Ok(SavedAgent::of(inner.state.clone(), inner.conversation.clone(), inner.open.clone(), &inner.sub_agents))
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("name", &self.name()).finish_non_exhaustive()
    }
}
