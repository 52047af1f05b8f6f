//! A model whose answer is a function of the conversation.

use recount_message::Msg;
use recount_model::client::{CallOptions, CallOutcome};

use super::{NAME, ScriptedModel};
use crate::BoxFuture;
use crate::model::{AgentReplyWriter, ChatModel};

/// A model whose answer is a function of the conversation, so it does not depend on the number of requests.
///
/// Use it for tests in which another process resumes a reply, where the position of a script would be lost. The function
/// receives the conversation and the id of the reply, and returns a script with one answer.
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::scripted::{FnModel, ScriptedModel};
/// use recount_message::{Msg, Role};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parrot = FnModel::new(|messages, _reply_id| {
///     let question = messages.iter().rfind(|message| message.role() == Role::User);
///     ScriptedModel::new().says(question.map(Msg::text_or_empty).unwrap_or_default())
/// });
/// let agent = Agent::builder("Polly").model(parrot).build()?;
/// assert_eq!(agent.reply(Msg::user("Alice", "Hello")).await?.text().as_deref(), Some("Hello"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct FnModel<F> {
    answer: F,
}

impl<F: Fn(&[Msg], &str) -> ScriptedModel + Send + Sync + 'static> FnModel<F> {
    /// Creates a model from a function.
    pub fn new(answer: F) -> Self {
        Self { answer }
    }
}

impl<F: Fn(&[Msg], &str) -> ScriptedModel + Send + Sync + 'static> ChatModel for FnModel<F> {
    fn name(&self) -> &str {
        NAME
    }

    fn call<'a>(
        &'a self,
        messages: &'a [Msg],
        options: &'a CallOptions,
        reply: &'a mut AgentReplyWriter,
    ) -> BoxFuture<'a, CallOutcome> {
        let script = (self.answer)(messages, reply.reply_id());
        Box::pin(async move { script.call(messages, options, reply).await })
    }
}

impl<F> std::fmt::Debug for FnModel<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FnModel").finish_non_exhaustive()
    }
}
