//! A model whose answer follows from what it is shown, so that it does not matter who asks it and how often.

use recount_agent::{BoxFuture, ChatModel, Reply};
use recount_message::Msg;
use recount_model::client::{CallOptions, CallOutcome};
use recount_model::decode::{CallEnd, Finish};

/// Makes calls, one round after another, until each has its result, and then says something.
#[derive(Debug, Clone)]
pub(crate) struct Looker {
    /// For each round the calls: id, tool, input.
    pub(crate) rounds: Vec<Vec<(&'static str, &'static str, &'static str)>>,
    pub(crate) says: &'static str,
}

impl ChatModel for Looker {
    fn name(&self) -> &'static str {
        "looker"
    }

    fn call<'a>(
        &'a self,
        messages: &'a [Msg],
        _options: &'a CallOptions,
        reply: &'a mut Reply,
    ) -> BoxFuture<'a, CallOutcome> {
        Box::pin(async move {
            reply.model_call("looker");
            tokio::task::yield_now().await;
            // An id that was used before has something added to it.
            let has_result = |id: &str| {
                messages
                    .iter()
                    .flat_map(Msg::tool_pairs)
                    .any(|(call, result)| result.is_some() && (call.id == id || call.id.starts_with(&format!("{id}_"))))
            };
            let left = self.rounds.iter().find(|round| round.iter().any(|(id, ..)| !has_result(id)));
            match left {
                Some(round) => {
                    reply.text("Let me look.");
                    for (id, tool, input) in round.iter().filter(|(id, ..)| !has_result(id)) {
                        let call = reply.tool_call(id, *tool);
                        reply.tool_input(&call, *input);
                    }
                }
                None => reply.text(self.says),
            }
            let end = CallEnd::answered(Finish::Stop, None, true);
            end.end_model_call(reply);
            CallOutcome::new(end, "mine/looker")
        })
    }
}
