//! What stands in for an agent that there is not any more, so that its reply comes to an end.

use recount_agent::{Agent, AgentBuilder, AgentReplyWriter, BoxFuture, ChatModel};
use recount_message::{ErrorType, Msg};
use recount_model::client::{CallOptions, CallOutcome};
use recount_model::decode::{CallEnd, CallError, CallErrorKind};

/// An agent that can only say why it cannot work.
pub fn failing_agent(name: &str, problem: String) -> AgentBuilder {
    Agent::builder(name).model(NoModel(problem)).runtime_state(None)
}

struct NoModel(String);

impl ChatModel for NoModel {
    fn name(&self) -> &str {
        "none"
    }

    fn call<'a>(
        &'a self,
        _messages: &'a [Msg],
        _options: &'a CallOptions,
        _reply: &'a mut AgentReplyWriter,
    ) -> BoxFuture<'a, CallOutcome> {
        let error = CallError::new(CallErrorKind::Setup, ErrorType::Setup, self.0.clone());
        Box::pin(async { CallOutcome::new(CallEnd::failed(error, false), "none") })
    }
}
