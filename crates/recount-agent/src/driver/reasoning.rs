//! One reasoning round: building the request, and calling the model with retries and fallbacks.

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
    /// Calls the model. On failure it is retried, then the fallback models are called in order.
    pub(crate) async fn reason(&mut self, mut plan: CallPlan) -> Result<(), Failure> {
        self.write_hints();
        let request_hint = self.write_runtime_state();
        self.offload_excess().await;
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
                    let mut fields = Object::from([("attempt", attempt)]);
                    fields.insert("model", *name);
                    fields.insert("class", error.class().as_str());
                    self.signal(CustomName::Retry.as_str(), fields);
                }
                if !self.can_force_tool && plan.tool_policy == ToolPolicy::StructuredOutput {
                    plan.tool_policy = ToolPolicy::Any;
                }
                let mut request = self.request(plan, Arc::clone(model), request_hint.clone()).await;
                if std::mem::take(&mut is_first) && self.fit_context(&request).await? {
                    request = self.request(plan, Arc::clone(model), request_hint.clone()).await;
                }
                if self.cancel.is_cancelled() {
                    return Ok(());
                }
                // The round is counted right before the call, so that a crash before it does not use up a round.
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
                    let request = self.request(plan, Arc::clone(model), request_hint.clone()).await;
                    !std::mem::replace(&mut was_too_long, true)
                        && self.compress(&request, CompressionReason::RejectedByProvider).await?
                } else if plan.tool_policy == ToolPolicy::StructuredOutput && error.class() == ErrorType::InvalidRequest
                {
                    // Some models reject a forced tool call, for example while thinking is enabled. Retry without it.
                    std::mem::take(&mut self.can_force_tool)
                } else {
                    is_transient(&error) && retries.next().is_some()
                };
                failed = Some((model.name(), error));
                if !is_again {
                    break;
                }
            }
        }
        Err(failed.map_or_else(|| Failure::internal("there is no model"), |(_, error)| Failure::of_call(&error)))
    }

    /// Makes one model call. Always writes the end of the call, and marks the blocks of a failed call.
    pub(crate) async fn call_model(&mut self, request: ModelRequest) -> CallOutcome {
        let ModelRequest { model, messages, options } = request;
        let cancel = self.cancel.clone();
        let outcome = call_with_cancel(&*model, &messages, &options, &mut self.reply, &cancel).await;
        if let Some(usage) = outcome.end.usage.as_ref().filter(|_| outcome.end.error.is_none()) {
            self.record_token_count(input_tokens(usage), estimate_tokens(&messages, &options.tools));
        }
        self.last_view = messages.into_iter().find(|message| message.id() == self.reply.reply_id());
        outcome.end.end_model_call(&mut self.reply);
        if !cancel.is_cancelled() {
            if outcome.end.error.is_some() && outcome.end.has_output {
                self.reply.cut_model_call(None);
            }
            self.close_cut_calls();
        }
        outcome
    }

    /// Writes the queued hints.
    fn write_hints(&mut self) {
        // One at a time: a hint is removed from the state together with the event that writes it.
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

    async fn request(
        &mut self,
        plan: CallPlan,
        model: Arc<dyn ChatModel>,
        request_hint: Option<HintBlock>,
    ) -> ModelRequest {
        let shown = match self.last_view.take() {
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
            let conversation = view::from_cut_point(&inner.conversation, self.position, shown, mark);
            (conversation, config.toolkit.definitions(&inner.state.groups))
        };
        let context = view::RequestContext {
            agent: &config.name,
            system_prompt: &prompt,
            control: plan.control_hint,
            request_hint,
        };
        let messages = view.request(&context, conversation);
        let tools = tools.into_iter().chain(self.output_tool.as_ref().map(|output_tool| output_tool.tool.definition()));
        let options = CallOptions::new().tools(tools).cancelled_by(self.cancel.clone());
        let options = match plan.tool_policy {
            ToolPolicy::Any => options,
            ToolPolicy::None => options.tool_choice(ToolChoice::none()),
            ToolPolicy::StructuredOutput => options.tool_choice(ToolChoice::named(STRUCTURED_OUTPUT)),
        };
        ModelRequest { model, messages, options }
    }
}

/// Calls a model. If it does not return within a grace period after cancellation, its future is dropped.
pub(crate) async fn call_with_cancel(
    model: &dyn ChatModel,
    messages: &[Msg],
    options: &CallOptions,
    reply: &mut AgentReplyWriter,
    cancel: &CancellationToken,
) -> CallOutcome {
    tokio::select! {
        biased;
        outcome = model.call(messages, options, reply) => outcome,
        () = cancel_grace_period(cancel) => CallOutcome::new(abandoned_call_end(), model.name()),
    }
}

/// Returns all input tokens. Some providers count cached tokens separately. They are recognised by cached input that
/// exceeds the input tokens, or by tokens that were written to the cache.
fn input_tokens(usage: &Usage) -> u64 {
    let cached = usage.cache_input_tokens.saturating_add(usage.cache_creation_input_tokens);
    let is_apart = usage.cache_creation_input_tokens > 0 || usage.cache_input_tokens > usage.input_tokens;
    if is_apart { usage.input_tokens.saturating_add(cached) } else { usage.input_tokens }
}

/// Returns whether a retry of the same model may succeed.
fn is_transient(error: &CallError) -> bool {
    match error.kind() {
        CallErrorKind::Setup | CallErrorKind::Cancelled | CallErrorKind::TooLarge => false,
        _ => !matches!(
            error.class(),
            ErrorType::Authentication | ErrorType::Permission | ErrorType::InvalidRequest | ErrorType::Setup
        ),
    }
}

/// How long a model may take to return after its call was cancelled.
const GRACE: Duration = Duration::from_secs(2);

/// Completes after the grace period that follows a cancellation.
async fn cancel_grace_period(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(GRACE).await;
}

/// Returns the end of a call that was dropped.
fn abandoned_call_end() -> CallEnd {
    let error = CallError::new(CallErrorKind::Cancelled, ErrorType::Unknown, "the call was cancelled");
    CallEnd::failed(error, false)
}
