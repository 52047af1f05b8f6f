//! What stands around an agent's work.
//!
//! A middleware is a layer of an onion: each of its functions gets what is about to happen and the [rest](Next) of the
//! layers, does something before, calls on, does something after. It may call on with something else, more than once, or not
//! at all. The first one that an agent was built with is the outermost.
//!
//! Events are not passed through the layers: what was said is said, and the message is the fold of it. A middleware that does
//! not want a reply to end calls on again, which makes another round.

mod next;

pub use next::Next;

use std::sync::Arc;

use recount_message::{Msg, Object};
use recount_model::client::{CallOptions, CallOutcome};
use tokio_util::sync::CancellationToken;

use crate::BoxFuture;
use crate::compress::Summary;
use crate::driver::{ActiveReply, Failure, ReplyOutcome};
use crate::machine::CallPlan;
use crate::model::ChatModel;
use crate::permission::{Decision, Permissions};
use crate::tool::{CompiledTool, ToolContext, ToolError, ToolOutput};

/// Something around an agent's work. Every function may be left out.
///
/// ```
/// use recount_agent::middleware::{ToolRun, Middleware, Next};
/// use recount_agent::tool::{ToolError, ToolOutput};
/// use recount_agent::BoxFuture;
///
/// /// Does not let a tool see a secret.
/// struct Redact;
///
/// impl Middleware for Redact {
///     fn acting<'a>(&'a self, mut act: ToolRun, next: Next<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
///         act.arguments.remove("password");
///         next.acting(act)
///     }
/// }
/// ```
#[allow(unused_variables, reason = "the names of what is left out explain the function")]
pub trait Middleware: Send + Sync + 'static {
    /// Around the whole reply: what comes back is how it would end. Calling on again makes another round.
    fn reply<'a>(&'a self, work: &'a mut ActiveReply, next: Next<'a>) -> BoxFuture<'a, ReplyOutcome> {
        next.reply(work)
    }

    /// Around one round of thinking: hints, request, the model's answer, and the attempts that it takes.
    fn reasoning<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        plan: CallPlan,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        next.reasoning(work, plan)
    }

    /// Around one model call.
    fn model_call<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        request: ModelRequest,
        next: Next<'a>,
    ) -> BoxFuture<'a, CallOutcome> {
        next.model_call(work, request)
    }

    /// Around the decision whether a call may run.
    fn permission<'a>(&'a self, check: PermissionCheck, next: Next<'a>) -> BoxFuture<'a, Decision> {
        next.permission(check)
    }

    /// Around a tool that runs.
    fn acting<'a>(&'a self, act: ToolRun, next: Next<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        next.acting(act)
    }

    /// Around summarising what is too long for the model. What comes back stands in its place; one that does not call on
    /// has a memory of its own. Where it fails, the oldest messages are left out without a summary.
    fn compress<'a>(&'a self, compress: SummaryRequest, next: Next<'a>) -> BoxFuture<'a, Result<Summary, Failure>> {
        next.compress(compress)
    }

    /// The system prompt, each time before a model is asked. What one makes of it, the next one gets.
    fn system_prompt<'a>(&'a self, prompt: String) -> BoxFuture<'a, String> {
        Box::pin(async { prompt })
    }
}

/// What a model is about to be asked.
#[derive(Clone)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// What it is shown, the system prompt first.
    pub messages: Vec<Msg>,
    /// The tools that it may call, and the like.
    pub options: CallOptions,
}

/// A part of a conversation that is about to be summarised.
#[derive(Clone)]
#[non_exhaustive]
pub struct SummaryRequest {
    /// The name of the agent.
    pub agent: String,
    /// Who writes the summary.
    pub model: Arc<dyn ChatModel>,
    /// What will be left out of requests, the oldest first, as they had it.
    pub messages: Vec<Msg>,
    /// What was left out before came to this.
    pub earlier: Option<String>,
    /// What the summary has to heed.
    pub instructions: Option<String>,
    /// How long the request is that has to become shorter, in tokens.
    pub tokens: u64,
    /// How many the model can read.
    pub window: u64,
    /// Becomes cancelled when the reply is interrupted.
    pub cancel: CancellationToken,
}

/// A call that is about to be judged.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionCheck {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: CompiledTool,
    /// What it would run with.
    pub arguments: Object,
    /// The user has agreed to it, with these arguments.
    pub is_confirmed: bool,
    /// What the agent may do.
    pub permissions: Arc<Permissions>,
}

/// A tool that is about to run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolRun {
    /// The tool.
    pub tool: CompiledTool,
    /// What it runs with.
    pub arguments: Object,
    /// Where it runs.
    pub context: ToolContext,
}

impl std::fmt::Debug for ModelRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("model", &self.model.name())
            .field("messages", &self.messages)
            .field("options", &self.options)
            .finish()
    }
}

impl std::fmt::Debug for SummaryRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compress")
            .field("model", &self.model.name())
            .field("messages", &self.messages)
            .field("tokens", &self.tokens)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}
