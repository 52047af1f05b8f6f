//! What an agent needs of a model.

use recount_message::{AgentEvent, Msg, ReplyWriter};
use recount_model::client::{CallOptions, CallOutcome, Model};

use crate::BoxFuture;

/// The reply that an agent writes, with the sink of its driver.
pub type AgentReplyWriter = ReplyWriter<Box<dyn FnMut(AgentEvent) + Send>>;

/// A model that an agent can ask.
///
/// [`Model`] is one: a provider's, over HTTP, with its retries and fallbacks. A script of answers is another.
pub trait ChatModel: Send + Sync + 'static {
    /// The name under which its calls are announced.
    fn name(&self) -> &str;

    /// How many tokens it can read at once, where that is known.
    fn context_window(&self) -> Option<u64> {
        None
    }

    /// Makes one model call and writes it to the reply: its start, its blocks and its end.
    ///
    /// What has gone wrong is in the outcome. When [`CallOptions::cancel`] is cancelled, the call ends as interrupted.
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
