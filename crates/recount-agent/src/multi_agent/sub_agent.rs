//! An agent as a tool of another agent.

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

/// A tool that runs another agent. Every call builds a new agent, which works on the task and returns its answer.
///
/// The sub-agent writes a reply of its own into the event stream of its parent; the `parent` of its REPLY_START is the
/// parent's reply. If the sub-agent needs a confirmation, both replies wait, and the answer is sent to the parent.
/// After a crash the sub-agent is resumed.
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
    /// The task, with all the information that it needs: the rest of this conversation is not visible to the agent.
    task: String,
}

impl SubAgent {
    /// Creates a tool with this name and description. `build` configures the agent; its session, ids and sink are
    /// replaced by those of the parent.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        build: impl Fn() -> AgentBuilder + Send + Sync + 'static,
    ) -> Self {
        let spec = ToolSpec::new(name, description).parameters(schema_of::<Arguments>());
        // Idempotent, because a rerun resumes the sub-agent.
        Self { spec: spec.idempotent().concurrency_safe(), build: Arc::new(build) }
    }

    async fn run_task(&self, arguments: Object, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { task } = recount_message::Json::from(arguments).deserialize_as()?;
        let task = Msg::user(context.agent(), task).with_id(format!("{}.task", context.call_id()));
        let Some(sub_agent) = SubAgentContext::of(context) else { return self.run_detached(task).await };
        if let Some(done) = sub_agent.saved_outcome() {
            return Ok(done);
        }
        let builder = (self.build)().session_id(context.session_id()).stamps(sub_agent.stamps()).sink(sub_agent.sink());
        let tool = self.spec.name.as_str();
        let at_first = SubAgentMemory::of(&builder.initial_state(""));
        let builder = match sub_agent.memory(tool) {
            Some(memory) => builder.with_memory(memory),
            None => builder,
        };
        let (builder, input) = match sub_agent.saved_agent(task.clone()) {
            Some(saved) => (builder.resume(saved), sub_agent.take_answer().unwrap_or_else(|| ().into())),
            None => (builder, Input::from(task).recorded().parent_call(context.reply_id(), context.call_id())),
        };
        let agent = builder.build()?;
        let _running = sub_agent.register(&agent);
        let recorded = input.recorded_event();
        let reply = match agent.reply_stream(input) {
            Ok(reply) => reply,
            // The answer was rejected, so the sub-agent continues to wait.
            Err(Error::Rejected(_)) => return Ok(ToolOutput::parked()),
            Err(error) => return Ok(output(Err(error))),
        };
        sub_agent.record_answer(recorded.as_ref());
        let reply_result = reply.into_msg().await;
        sub_agent.store_memory(tool, &at_first, SubAgentMemory::of(&agent.state()));
        match reply_result {
            Ok(message) if message.finished_at().is_none() => Ok(ToolOutput::parked()),
            reply_result => Ok(output(reply_result)),
        }
    }

    /// Runs without a parent reply, for example in the background.
    async fn run_detached(&self, task: Msg) -> Result<ToolOutput, ToolError> {
        let agent: Agent = (self.build)().build()?;
        match agent.reply(task).await {
            Ok(message) if message.finished_at().is_none() => {
                Err(ToolError::new("the agent needs a confirmation, which is not possible here: do it another way"))
            }
            reply_result => Ok(output(reply_result)),
        }
    }
}

/// Converts the result of a sub-agent to the output of its tool.
fn output(reply_result: Result<Msg, Error>) -> ToolOutput {
    let message = match &reply_result {
        Ok(message) => Some(message),
        Err(error) => error.message(),
    };
    let Some(message) = message else {
        let why = reply_result.err().map(|error| error.to_string()).unwrap_or_default();
        return ToolOutput::failed(format!("the agent cannot be started: {why}"));
    };
    let SubAgentOutcome { text, failed, .. } = outcome(message);
    let output = if failed { ToolOutput::failed(text) } else { ToolOutput::new(text) };
    output.with_metadata([("reply_id", message.id())])
}

/// Returns the outcome of a sub-agent's reply.
pub(crate) fn outcome(message: &Msg) -> SubAgentOutcome {
    let text = message.text_or_empty();
    let failed = |text: String| SubAgentOutcome::new(text.trim_end().to_owned(), true);
    match message.finished_reason() {
        Some(FinishedReason::Completed | FinishedReason::ExceedMaxIters) if !text.is_empty() => {
            SubAgentOutcome::new(text, false)
        }
        Some(FinishedReason::Completed | FinishedReason::ExceedMaxIters) | None => {
            failed("the agent returned no text: give it another task, or do it yourself".to_owned())
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
        Box::pin(self.run_task(arguments, context))
    }

    /// Always allowed, because the sub-agent checks the permissions of its own tools.
    fn check_permission<'a>(&'a self, _: &'a Object, _: &'a PermissionContext) -> BoxFuture<'a, ToolPermission> {
        Box::pin(async { ToolPermission::Allow })
    }
}

impl fmt::Debug for SubAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubAgent").field("name", &self.spec.name).finish_non_exhaustive()
    }
}
