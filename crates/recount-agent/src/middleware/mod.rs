//! Middleware around the steps of an agent.
//!
//! Each function of a middleware receives the input of a step and the [remaining layers](Next). It can change the
//! input, call the remaining layers once, several times or not at all, and change the result. The first middleware of
//! the builder is the outermost.
//!
//! Events do not pass through middleware, because the message must remain the fold of the events. To prevent a reply
//! from ending, a middleware calls the remaining layers again, which starts another round.

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

/// A layer around the steps of an agent. By default, every function calls the remaining layers.
///
/// ```
/// use recount_agent::middleware::{ToolRun, Middleware, Next};
/// use recount_agent::tool::{ToolError, ToolOutput};
/// use recount_agent::BoxFuture;
///
/// /// Removes a secret from the arguments of tools.
/// struct Redact;
///
/// impl Middleware for Redact {
///     fn acting<'a>(&'a self, mut act: ToolRun, next: Next<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
///         act.arguments.remove("password");
///         next.acting(act)
///     }
/// }
/// ```
#[allow(unused_variables, reason = "the parameter names are documentation")]
pub trait Middleware: Send + Sync + 'static {
    /// Wraps a whole reply. Calling `next` again starts another round.
    fn reply<'a>(&'a self, work: &'a mut ActiveReply, next: Next<'a>) -> BoxFuture<'a, ReplyOutcome> {
        next.reply(work)
    }

    /// Wraps one reasoning round: hints, requests and model calls, including retries and fallbacks.
    fn reasoning<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        plan: CallPlan,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        next.reasoning(work, plan)
    }

    /// Wraps one model call.
    fn model_call<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        request: ModelRequest,
        next: Next<'a>,
    ) -> BoxFuture<'a, CallOutcome> {
        next.model_call(work, request)
    }

    /// Wraps the decision whether a call may run.
    fn permission<'a>(&'a self, check: PermissionCheck, next: Next<'a>) -> BoxFuture<'a, Decision> {
        next.permission(check)
    }

    /// Wraps the execution of a tool.
    fn acting<'a>(&'a self, act: ToolRun, next: Next<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        next.acting(act)
    }

    /// Wraps the summary of old messages. The returned summary replaces them in requests. On failure, the oldest
    /// messages are left out without a summary.
    fn compress<'a>(&'a self, compress: SummaryRequest, next: Next<'a>) -> BoxFuture<'a, Result<Summary, Failure>> {
        next.compress(compress)
    }

    /// Changes the system prompt, before every model call. The layers are applied from the outermost to the innermost.
    fn system_prompt<'a>(&'a self, prompt: String) -> BoxFuture<'a, String> {
        Box::pin(async { prompt })
    }
}

/// A request to a model.
#[derive(Clone)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// The messages, starting with the system prompt.
    pub messages: Vec<Msg>,
    /// The tools and other options of the call.
    pub options: CallOptions,
}

/// A request to summarise the oldest part of a conversation.
#[derive(Clone)]
#[non_exhaustive]
pub struct SummaryRequest {
    /// The name of the agent.
    pub agent: String,
    /// The model that writes the summary.
    pub model: Arc<dyn ChatModel>,
    /// The messages to summarise, oldest first, in the form in which requests contained them.
    pub messages: Vec<Msg>,
    /// The summary of earlier messages.
    pub earlier: Option<String>,
    /// Additional instructions for the summary.
    pub instructions: Option<String>,
    /// The size of the request that is too long, in tokens.
    pub tokens: u64,
    /// The context window of the model, in tokens.
    pub window: u64,
    /// Cancelled when the reply is interrupted.
    pub cancel: CancellationToken,
}

/// A call whose permission is checked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionCheck {
    /// The id of the call.
    pub call_id: String,
    /// The tool.
    pub tool: CompiledTool,
    /// The arguments of the call.
    pub arguments: Object,
    /// The user has confirmed the call with these arguments.
    pub is_confirmed: bool,
    /// The permissions of the agent.
    pub permissions: Arc<Permissions>,
}

/// A tool that is about to run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolRun {
    /// The tool.
    pub tool: CompiledTool,
    /// The arguments.
    pub arguments: Object,
    /// The context of the call.
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
