//! An agent as the tool of another one.

use std::fmt;
use std::sync::Arc;

use recount_message::{FinishedReason, Msg, Object};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::BoxFuture;
use crate::agent::{Agent, AgentBuilder, SubAgentContext};
use crate::error::Error;
use crate::input::Input;
use crate::permission::{PermissionContext, ToolPermission};
use crate::state::{SubAgentMemory, SubAgentOutcome};
use crate::tool::derive::schema_of;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// An agent as the tool of another one. For each call a new agent is built, which works on the task and answers.
///
/// It has a reply of its own, whose events go into the stream of the one that called it; its REPLY_START names that reply as
/// its parent. Where it has to ask somebody, both wait, and the answer to it is given to the agent that was asked first. After
/// a crash it goes on where it was.
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::scripted::ScriptedModel;
/// use recount_agent::multi_agent::SubAgent;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let researcher = SubAgent::new("research", "Finds something out.", || {
///     Agent::builder("Researcher").model(ScriptedModel::new().says("It is 42."))
/// });
/// let model = ScriptedModel::new().calls("research", r#"{"task": "What is the answer?"}"#).then().says("42.");
/// let agent = Agent::builder("Friday").model(model).tool(researcher).build()?;
/// let message = agent.reply("Find out.").await?;
/// assert_eq!(message.result_of("call_1").unwrap().output.text().as_deref(), Some("It is 42."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SubAgent {
    spec: ToolSpec,
    build: Arc<dyn Fn() -> AgentBuilder + Send + Sync>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// What has to be done, with all that one has to know for it: nothing else of this conversation is seen.
    task: String,
}

impl SubAgent {
    /// A tool of a name, with what the model is told of it, and how the agent behind it is put together. Its session, its
    /// ids and where its events go are those of the agent that calls it.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        build: impl Fn() -> AgentBuilder + Send + Sync + 'static,
    ) -> Self {
        let spec = ToolSpec::new(name, description).parameters(schema_of::<Arguments>());
        // It goes on where it was, so it may run again.
        Self { spec: spec.idempotent().concurrency_safe(), build: Arc::new(build) }
    }

    async fn work(&self, arguments: Object, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { task } = recount_message::Json::from(arguments).deserialize_as()?;
        let task = Msg::user(context.agent(), task).with_id(format!("{}.task", context.call_id()));
        let Some(sub_agent) = SubAgentContext::of(context) else { return self.work_alone(task).await };
        if let Some(done) = sub_agent.outcome() {
            return Ok(done);
        }
        let builder = (self.build)().session_id(context.session_id()).stamps(sub_agent.stamps()).sink(sub_agent.sink());
        let tool = self.spec.name.as_str();
        let at_first = SubAgentMemory::of(&builder.initial_state(""));
        let builder = match sub_agent.memory(tool) {
            Some(memory) => builder.remembering(memory),
            None => builder,
        };
        let (builder, input) = match sub_agent.left(task.clone()) {
            Some(saved) => (builder.resume(saved), sub_agent.take_answer().unwrap_or_else(|| ().into())),
            None => (builder, Input::from(task).recorded().part_of(context.reply_id(), context.call_id())),
        };
        let agent = builder.build()?;
        let _running = sub_agent.runs(&agent);
        let recorded = input.recorded_event();
        let reply = match agent.reply_stream(input) {
            Ok(reply) => reply,
            // It waits on, for an answer that it takes.
            Err(Error::Rejected(_)) => return Ok(ToolOutput::parked()),
            Err(error) => return Ok(output(Err(error))),
        };
        sub_agent.note(recorded.as_ref());
        let answered = reply.into_msg().await;
        sub_agent.remember(tool, &at_first, SubAgentMemory::of(&agent.state()));
        match answered {
            Ok(message) if message.finished_at().is_none() => Ok(ToolOutput::parked()),
            answered => Ok(output(answered)),
        }
    }

    /// Works where nobody reads what it does on the way, such as in the background.
    async fn work_alone(&self, task: Msg) -> Result<ToolOutput, ToolError> {
        let agent: Agent = (self.build)().build()?;
        match agent.reply(task).await {
            Ok(message) if message.finished_at().is_none() => {
                Err(ToolError::new("the agent has to ask somebody, and nobody can be asked here: do it another way"))
            }
            answered => Ok(output(answered)),
        }
    }
}

/// What an agent's answer is for the one that called it.
fn output(answered: Result<Msg, Error>) -> ToolOutput {
    let message = match &answered {
        Ok(message) => Some(message),
        Err(error) => error.message(),
    };
    let Some(message) = message else {
        let why = answered.err().map(|error| error.to_string()).unwrap_or_default();
        return ToolOutput::failed(format!("the agent cannot be asked: {why}"));
    };
    let SubAgentOutcome { text, failed, .. } = outcome(message);
    let output = if failed { ToolOutput::failed(text) } else { ToolOutput::new(text) };
    output.with_metadata([("reply_id", message.id())])
}

/// What a message says to the one that asked for it.
pub(crate) fn outcome(message: &Msg) -> SubAgentOutcome {
    let text = message.text_or_empty();
    let failed = |text: String| SubAgentOutcome::new(text.trim_end().to_owned(), true);
    match message.finished_reason() {
        Some(FinishedReason::Completed | FinishedReason::ExceedMaxIters) if !text.is_empty() => {
            SubAgentOutcome::new(text, false)
        }
        Some(FinishedReason::Completed | FinishedReason::ExceedMaxIters) | None => {
            failed("the agent said nothing: give it another task, or do it yourself".to_owned())
        }
        Some(FinishedReason::Interrupted) => failed(format!("the agent was interrupted\n{text}")),
        Some(FinishedReason::Error | _) => {
            let error = message.error().map(|error| error.message.clone()).unwrap_or_default();
            failed(format!("the agent failed: {error}\n{text}"))
        }
    }
}

impl Tool for SubAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.work(arguments, context))
    }

    /// It does nothing itself: what its agent does is asked for there.
    fn check_permission<'a>(&'a self, _: &'a Object, _: &'a PermissionContext) -> BoxFuture<'a, ToolPermission> {
        Box::pin(async { ToolPermission::Allow })
    }
}

impl fmt::Debug for SubAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubAgent").field("name", &self.spec.name).finish_non_exhaustive()
    }
}
