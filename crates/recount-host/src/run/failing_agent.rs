//! A stand-in for an agent that cannot be built, so that its open reply ends with an error.

use recount_agent::{Agent, AgentBuilder, AgentReplyWriter, BoxFuture, ChatModel};
use recount_message::{ErrorType, Msg};
use recount_model::client::{CallOptions, CallOutcome};
use recount_model::decode::{CallEnd, CallError, CallErrorKind};

/// Returns an agent whose model calls fail with a message. It stands in for an agent that cannot be built.
pub fn failing_agent(name: &str, problem: String) -> AgentBuilder {
    Agent::builder(name).model(FailingModel(problem)).runtime_state(None)
}

struct FailingModel(String);

impl ChatModel for FailingModel {
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
