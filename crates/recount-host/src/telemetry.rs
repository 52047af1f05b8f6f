//! What is told of runs to who watches them: spans for OpenTelemetry, and lines in the logs.
//!
//! Neither has anything of what was said in it.

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

/// The target of all spans for OpenTelemetry, of the host and of the service. Where nobody collects it, they cost nothing.
pub const SPAN_TARGET: &str = "recount_spans";

/// Where the spans of a session's run belong. Clones are the same.
///
/// A span is never the parent of another one in `tracing`, which would keep it open for as long: a request has been answered
/// long before the reply that it began is over. Only OpenTelemetry knows what belongs to what.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunTraces(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// Who has asked for replies that have not ended.
    asked: HashMap<String, TraceContext>,
    /// What is under way: the work at a reply, or else what somebody has asked for.
    work: Option<TraceContext>,
}

impl RunTraces {
    /// Somebody asks for something. If nothing else is under way, what is done now is done for them.
    pub(crate) fn asking(&self, by: &TraceContext) {
        self.lock().work.get_or_insert_with(|| by.clone());
    }

    /// Somebody has asked for a reply.
    pub(crate) fn asked(&self, reply_id: &str, by: TraceContext) {
        self.lock().asked.insert(reply_id.to_owned(), by);
    }

    /// A reply is no longer worked on.
    pub(crate) fn ended(&self, reply_id: &str) {
        let mut inner = self.lock();
        inner.asked.remove(reply_id);
        inner.work = None;
    }

    /// The span of a commit that is a part of the work.
    pub(crate) fn commit(&self, entries: usize) -> Span {
        let span = info_span!(target: SPAN_TARGET, parent: None, "log commit", otel.kind = "internal", recount.log.entries = entries);
        self.in_work(&span);
        span
    }

    fn in_work(&self, span: &Span) {
        if span.is_disabled() {
            return;
        }
        let work = self.lock().work.clone();
        if let Some(work) = work {
            work.adopt(span);
        }
    }

    fn begin(&self, reply_id: &str, span: &Span) {
        if span.is_disabled() {
            return;
        }
        let asked = self.lock().asked.get(reply_id).cloned();
        if let Some(asked) = asked {
            asked.adopt(span);
        }
        let work = TraceContext::of(span);
        self.lock().work = Some(work);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The span of an operation, as OpenTelemetry's conventions for agents name them. What is only known later is empty.
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

/// Watches an agent's work.
#[derive(Debug)]
pub(crate) struct RunTelemetry {
    pub(crate) session: String,
    pub(crate) reply_id: String,
    /// The agent, by the name that sessions name.
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
        traces.begin(reply_id, &span);
        tracing::info!(session, reply = reply_id, agent, "a run begins");
        let began = Instant::now();
        let told = span.clone();
        let run = async move {
            let ending = next.reply(work).await;
            let outcome = word_for(&ending);
            told.record("recount.outcome", outcome);
            let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            if let ReplyOutcome::Failed(failure) = &ending {
                failed(&told, failure.error.kind.as_str());
                let kind = failure.error.kind.as_str();
                tracing::warn!(session, reply = reply_id, agent, outcome, error = kind, took_ms, "a run ends");
            } else {
                tracing::info!(session, reply = reply_id, agent, outcome, took_ms, "a run ends");
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
        self.traces.in_work(&span);
        let told = span.clone();
        let call = async move {
            let outcome = next.model_call(work, request).await;
            if !told.is_disabled() {
                tell_call(&told, &outcome);
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
        self.traces.in_work(&span);
        let told = span.clone();
        let call = async move {
            let output = next.acting(act).await;
            if output.is_err() {
                failed(&told, "tool_error");
            }
            output
        };
        Box::pin(call.instrument(span))
    }
}

fn tell_call(span: &Span, outcome: &CallOutcome) {
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
        failed(span, error.class().as_str());
    }
}

/// The kind of an error says enough: its words may have what was said in them.
fn failed(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

fn word_for(ending: &ReplyOutcome) -> &'static str {
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
