//! The interface between an agent and a model.

use recount_message::{AgentEvent, Msg, ReplyWriter};
use recount_model::client::{CallOptions, CallOutcome, Model};

use crate::BoxFuture;

/// The writer of a reply, with the sink of the agent.
pub type AgentReplyWriter = ReplyWriter<Box<dyn FnMut(AgentEvent) + Send>>;

/// A model that an agent can call.
///
/// [`Model`] implements this for the providers, over HTTP and with retries and fallbacks. [`scripted`](crate::scripted)
/// has models for tests.
pub trait ChatModel: Send + Sync + 'static {
    /// Returns the name of the model, as written to the events.
    fn name(&self) -> &str;

    /// Returns the size of the context window in tokens. `None` if it is unknown.
    fn context_window(&self) -> Option<u64> {
        None
    }

    /// Makes one model call, and writes its start, its blocks and its end to the reply.
    ///
    /// Errors are part of the outcome. If [`CallOptions::cancel`] is cancelled, the call ends as interrupted.
    fn call<'a>(
        &'a self,
        messages: &'a [Msg],
        options: &'a CallOptions,
        reply: &'a mut AgentReplyWriter,
    ) -> BoxFuture<'a, CallOutcome>;
}

impl ChatModel for Model {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn context_window(&self) -> Option<u64> {
        Self::context_window(self)
    }

    fn call<'a>(
        &'a self,
        messages: &'a [Msg],
        options: &'a CallOptions,
        reply: &'a mut AgentReplyWriter,
    ) -> BoxFuture<'a, CallOutcome> {
        Box::pin(Self::call(self, messages, options, reply))
    }
}
