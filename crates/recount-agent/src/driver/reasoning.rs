//! One round of thinking: what the model is told, the call, and the attempts that it takes.

use std::sync::Arc;
use std::time::Duration;

use recount_message::{CustomName, ErrorType, HintBlock, Msg, Object, Usage};
use recount_model::client::{CallOptions, CallOutcome};
use recount_model::decode::{CallEnd, CallError, CallErrorKind};
use recount_model::estimate_tokens;
use recount_model::format::ToolChoice;
use tokio_util::sync::CancellationToken;

use super::active_reply::{ActiveReply, Failure};
use super::context_budget::CompressionReason;
use crate::machine::{CallPlan, ToolPolicy};
use crate::middleware::{ModelRequest, Next};
use crate::model::{AgentReplyWriter, ChatModel};
use crate::tool::STRUCTURED_OUTPUT;
use crate::view;

impl ActiveReply {
    /// Asks the model. Where that fails it is asked again, and then the next one.
    pub(crate) async fn reason(&mut self, mut plan: CallPlan) -> Result<(), Failure> {
        self.tell_hints();
        let unsaid = self.tell_runtime_state();
        self.put_aside().await;
        let (mut is_counted, mut was_too_long) = (false, false);
        let layers = Arc::clone(&self.shared.config.middleware);
        let models = self.shared.config.models.clone();
        let mut attempt = 1_u32;
        let mut failed: Option<(&str, CallError)> = None;
        for model in &models {
            if let Some((from, _)) = &failed {
                self.signal(CustomName::Fallback.as_str(), [("from", *from), ("to", model.name())]);
            }
            let mut retries = 0..self.shared.config.max_retries;
            let mut is_first = true;
            loop {
                if let Some((name, error)) = failed.as_ref().filter(|_| !is_first) {
                    attempt += 1;
                    let mut told = Object::from([("attempt", attempt)]);
                    told.insert("model", *name);
                    told.insert("class", error.class().as_str());
                    self.signal(CustomName::Retry.as_str(), told);
                }
                if !self.may_force && plan.tool_policy == ToolPolicy::StructuredOutput {
                    plan.tool_policy = ToolPolicy::Any;
                }
                let mut request = self.request(plan, Arc::clone(model), unsaid.clone()).await;
                if std::mem::take(&mut is_first) && self.fit_context(&request).await? {
                    request = self.request(plan, Arc::clone(model), unsaid.clone()).await;
                }
                if self.cancel.is_cancelled() {
                    return Ok(());
                }
                // A round counts once it is about to be asked: until then nothing of it is lost with the process.
                if !std::mem::replace(&mut is_counted, true) {
                    self.change(|reply| {
                        reply.iteration += 1;
                        reply.rejected = false;
                    });
                }
                let outcome = Next::of(&layers).model_call(self, request).await;
                let Some(error) = outcome.end.error else { return Ok(()) };
                if self.cancel.is_cancelled() {
                    return Ok(());
                }
                let is_again = if error.is_context_overflow() {
                    let request = self.request(plan, Arc::clone(model), unsaid.clone()).await;
                    !std::mem::replace(&mut was_too_long, true)
                        && self.compress(&request, CompressionReason::Refused).await?
                } else if plan.tool_policy == ToolPolicy::StructuredOutput && error.class() == ErrorType::InvalidRequest
                {
                    // Some models cannot be made to call a tool, while they think say. They are asked to.
                    std::mem::take(&mut self.may_force)
                } else {
                    may_pass(&error) && retries.next().is_some()
                };
                failed = Some((model.name(), error));
                if !is_again {
                    break;
                }
            }
        }
        Err(failed.map_or_else(|| Failure::internal("there is no model"), |(_, error)| Failure::of_call(&error)))
    }

    /// Makes one model call. Whatever the model did, its call has an end afterwards, and what a call that broke has shown is
    /// marked.
    pub(crate) async fn ask(&mut self, request: ModelRequest) -> CallOutcome {
        let ModelRequest { model, messages, options } = request;
        let cancel = self.cancel.clone();
        let outcome = call_until(&*model, &messages, &options, &mut self.reply, &cancel).await;
        if let Some(usage) = outcome.end.usage.as_ref().filter(|_| outcome.end.error.is_none()) {
            self.note_count(read(usage), estimate_tokens(&messages, &options.tools));
        }
        self.shown = messages.into_iter().find(|message| message.id() == self.reply.reply_id());
        outcome.end.end_model_call(&mut self.reply);
        if !cancel.is_cancelled() {
            if outcome.end.error.is_some() && outcome.end.has_output {
                self.reply.cut_model_call(None);
            }
            self.close_cut_calls();
        }
        outcome
    }

    /// Says what others wanted to be said to the model.
    fn tell_hints(&mut self) {
        // One by one: each is gone from the state in the moment in which it stands in the message.
        while let Some(hint) = self.next_hint() {
            self.reply.hint(hint);
        }
    }

    fn next_hint(&self) -> Option<HintBlock> {
        let mut inner = self.shared.lock();
        let hints = &mut inner.state.hints;
        let next = (!hints.is_empty()).then(|| hints.remove(0));
        drop(inner);
        next.inspect(|_| self.change(|_| {}))
    }

    async fn request(&mut self, plan: CallPlan, model: Arc<dyn ChatModel>, unsaid: Option<HintBlock>) -> ModelRequest {
        let shown = match self.shown.take() {
            Some(mut shown) => {
                shown.update_from(self.message());
                shown
            }
            None => self.message().clone(),
        };
        let view = self.view();
        let config = &self.shared.config;
        let mut prompt = config.system_prompt.clone();
        for layer in config.middleware.iter() {
            prompt = layer.system_prompt(prompt).await;
        }
        let (conversation, tools) = {
            let inner = self.shared.lock();
            let mark = view.compressed.as_ref().map(|compressed| &compressed.until);
            let conversation = view::from_mark(&inner.conversation, self.place, shown, mark);
            (conversation, config.toolkit.definitions(&inner.state.groups))
        };
        let around = view::Around { agent: &config.name, system_prompt: &prompt, control: plan.control_hint, unsaid };
        let messages = view.request(&around, conversation);
        let tools = tools.into_iter().chain(self.form.as_ref().map(|form| form.tool.definition()));
        let options = CallOptions::new().tools(tools).cancelled_by(self.cancel.clone());
        let options = match plan.tool_policy {
            ToolPolicy::Any => options,
            ToolPolicy::None => options.tool_choice(ToolChoice::none()),
            ToolPolicy::StructuredOutput => options.tool_choice(ToolChoice::named(STRUCTURED_OUTPUT)),
        };
        ModelRequest { model, messages, options }
    }
}

/// Makes a model call, and leaves it alone if it does not care that it was cancelled.
pub(crate) async fn call_until(
    model: &dyn ChatModel,
    messages: &[Msg],
    options: &CallOptions,
    reply: &mut AgentReplyWriter,
    cancel: &CancellationToken,
) -> CallOutcome {
    tokio::select! {
        biased;
        outcome = model.call(messages, options, reply) => outcome,
        () = ignored(cancel) => CallOutcome::new(abandoned(), model.name()),
    }
}

/// All that was read. Some providers count what came from their cache apart from the rest, which shows where there is more
/// of it, or where anything was written to it.
fn read(usage: &Usage) -> u64 {
    let cached = usage.cache_input_tokens.saturating_add(usage.cache_creation_input_tokens);
    let is_apart = usage.cache_creation_input_tokens > 0 || usage.cache_input_tokens > usage.input_tokens;
    if is_apart { usage.input_tokens.saturating_add(cached) } else { usage.input_tokens }
}

/// Whether asking the same model again may help.
fn may_pass(error: &CallError) -> bool {
    match error.kind() {
        CallErrorKind::Setup | CallErrorKind::Cancelled | CallErrorKind::TooLarge => false,
        _ => !matches!(
            error.class(),
            ErrorType::Authentication | ErrorType::Permission | ErrorType::InvalidRequest | ErrorType::Setup
        ),
    }
}

/// So long a model may take to hear that nobody wants its answer any more.
const GRACE: Duration = Duration::from_secs(2);

/// Comes to its end when a model does not care that its call was cancelled.
async fn ignored(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(GRACE).await;
}

/// The end of a call that was left alone.
fn abandoned() -> CallEnd {
    let error = CallError::new(CallErrorKind::Cancelled, ErrorType::Unknown, "the call was cancelled");
    CallEnd::failed(error, false)
}
