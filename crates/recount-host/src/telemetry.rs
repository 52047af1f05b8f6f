//! Spans and log lines of runs. They contain ids, names and counts, but no content of messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use recount_agent::machine::EndReason;
use recount_agent::middleware::{Middleware, ModelRequest, Next, ToolRun};
use recount_agent::tool::{ToolError, ToolOutput};
use recount_agent::{ActiveReply, BoxFuture, ReplyOutcome};
use recount_model::client::CallOutcome;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use crate::trace_context::TraceContext;

/// The target of all spans for OpenTelemetry, of the host and of the service. They are disabled unless a subscriber enables
/// this target.
pub const SPAN_TARGET: &str = "recount_spans";

/// The parents of the spans of a session's run. Clones share the state.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunTraces(Arc<Mutex<Parents>>);

#[derive(Debug, Default)]
struct Parents {
    /// The contexts of the callers that requested the open replies, by reply id.
    callers: HashMap<String, TraceContext>,
    /// The context of the current work on a reply, or else of the current request.
    current: Option<TraceContext>,
}

impl RunTraces {
    /// Makes a request the current context, unless an agent is at work.
    pub(crate) fn enter_request(&self, caller: &TraceContext) {
        self.lock().current.get_or_insert_with(|| caller.clone());
    }

    /// Records the caller that requested a reply.
    pub(crate) fn reply_requested(&self, reply_id: &str, caller: TraceContext) {
        self.lock().callers.insert(reply_id.to_owned(), caller);
    }

    /// Discards the contexts of a reply that has ended.
    pub(crate) fn reply_ended(&self, reply_id: &str) {
        let mut parents = self.lock();
        parents.callers.remove(reply_id);
        parents.current = None;
    }

    /// Creates the span of a commit.
    pub(crate) fn commit_span(&self, entries: usize) -> Span {
        let span = info_span!(target: SPAN_TARGET, parent: None, "log commit", otel.kind = "internal", recount.log.entries = entries);
        self.attach(&span);
        span
    }

    /// Makes a span a child of the current context.
    fn attach(&self, span: &Span) {
        if span.is_disabled() {
            return;
        }
        let current = self.lock().current.clone();
        if let Some(current) = current {
            current.adopt(span);
        }
    }

    /// Makes the span of a reply a child of its caller, and the current context.
    fn enter_reply(&self, reply_id: &str, span: &Span) {
        if span.is_disabled() {
            return;
        }
        let caller = self.lock().callers.get(reply_id).cloned();
        if let Some(caller) = caller {
            caller.adopt(span);
        }
        self.lock().current = Some(TraceContext::of(span));
    }

    fn lock(&self) -> MutexGuard<'_, Parents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates the span of an operation, named after OpenTelemetry's conventions for generative AI. Fields that are set later are
/// empty.
macro_rules! operation_span {
    ($operation:literal, $kind:literal, $of:expr, $($fields:tt)*) => {
        info_span!(
            target: SPAN_TARGET, parent: None, $operation,
            otel.name = format!("{} {}", $operation, $of),
            otel.kind = $kind,
            gen_ai.operation.name = $operation,
            "error.type" = Empty,
            otel.status_code = Empty,
            $($fields)*
        )
    };
}

/// A middleware that reports the work of an agent on a reply.
#[derive(Debug)]
pub(crate) struct RunTelemetry {
    pub(crate) session: String,
    pub(crate) reply_id: String,
    /// The name by which sessions select the agent.
    pub(crate) agent: String,
    pub(crate) traces: RunTraces,
}

impl Middleware for RunTelemetry {
    fn reply<'a>(&'a self, work: &'a mut ActiveReply, next: Next<'a>) -> BoxFuture<'a, ReplyOutcome> {
        let Self { session, reply_id, agent, traces } = self;
        let span = operation_span!(
            "invoke_agent",
            "internal",
            agent,
            gen_ai.agent.name = agent,
            gen_ai.conversation.id = session,
            recount.reply.id = reply_id,
            recount.outcome = Empty,
        );
        traces.enter_reply(reply_id, &span);
        tracing::info!(session, reply = reply_id, agent, "run started");
        let started = Instant::now();
        let recorded = span.clone();
        let run = async move {
            let ending = next.reply(work).await;
            let outcome = outcome_name(&ending);
            recorded.record("recount.outcome", outcome);
            let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            if let ReplyOutcome::Failed(failure) = &ending {
                let kind = failure.error.kind.as_str();
                record_error(&recorded, kind);
                tracing::warn!(session, reply = reply_id, agent, outcome, error = kind, took_ms, "run ended");
            } else {
                tracing::info!(session, reply = reply_id, agent, outcome, took_ms, "run ended");
            }
            ending
        };
        Box::pin(run.instrument(span))
    }

    fn model_call<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        request: ModelRequest,
        next: Next<'a>,
    ) -> BoxFuture<'a, CallOutcome> {
        let model = request.model.name().to_owned();
        let span = operation_span!(
            "chat",
            "client",
            model,
            gen_ai.request.model = model,
            gen_ai.provider.name = Empty,
            gen_ai.response.model = Empty,
            gen_ai.response.id = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            recount.requests = Empty,
        );
        self.traces.attach(&span);
        let recorded = span.clone();
        let call = async move {
            let outcome = next.model_call(work, request).await;
            if !recorded.is_disabled() {
                record_call(&recorded, &outcome);
            }
            outcome
        };
        Box::pin(call.instrument(span))
    }

    fn acting<'a>(&'a self, act: ToolRun, next: Next<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let name = act.tool.spec().name.clone();
        let span = operation_span!(
            "execute_tool",
            "internal",
            name,
            gen_ai.tool.name = name,
            gen_ai.tool.call.id = act.context.call_id(),
        );
        self.traces.attach(&span);
        let recorded = span.clone();
        let call = async move {
            let output = next.acting(act).await;
            if output.is_err() {
                record_error(&recorded, "tool_error");
            }
            output
        };
        Box::pin(call.instrument(span))
    }
}

fn record_call(span: &Span, outcome: &CallOutcome) {
    let CallOutcome { end, model, requests, .. } = outcome;
    if let Some((provider, _)) = model.split_once('/') {
        span.record("gen_ai.provider.name", provider);
    }
    if let Some(model) = &end.model {
        span.record("gen_ai.response.model", model.as_str());
    }
    if let Some(id) = &end.response_id {
        span.record("gen_ai.response.id", id.as_str());
    }
    span.record("gen_ai.response.finish_reasons", end.stop_reason.name());
    if let Some(usage) = &end.usage {
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
    }
    span.record("recount.requests", *requests);
    if let Some(error) = &end.error {
        record_error(span, error.class().as_str());
    }
}

/// Records the kind of an error. Its message is omitted, because it may contain content of the conversation.
fn record_error(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

fn outcome_name(ending: &ReplyOutcome) -> &'static str {
    match ending {
        ReplyOutcome::Ended(EndReason::Completed | EndReason::Structured) => "completed",
        ReplyOutcome::Ended(EndReason::Exceeded) => "exceeded",
        ReplyOutcome::Ended(EndReason::Stopped(_)) => "stopped",
        ReplyOutcome::Waiting(_) => "waiting",
        ReplyOutcome::Interrupted => "interrupted",
        ReplyOutcome::Failed(_) => "failed",
        _ => "other",
    }
}
