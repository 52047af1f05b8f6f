//! Agents that call a local server.

use std::path::Path;
use std::time::Duration;

use recount_agent::permission::{Mode, Permissions};
use recount_agent::tool::{FunctionTool, ToolSpec};
use recount_agent::{Agent, AgentBuilder, ReplyStream};
use recount_message::check::Checker;
use recount_message::{AgentEvent, EventKind, Fold, Msg, Stamps};
use recount_model::Provider;
use recount_model::client::{Model, Retries};
use serde_json::Value;

use crate::rules;
use crate::server::{ReceivedRequest, ScriptedResponse, Server};

pub(crate) fn model(provider: Provider, server: &Server) -> Model {
    let without_waiting = Retries { initial_delay: Duration::ZERO, max_delay: Duration::ZERO, ..Retries::default() };
    let model = Model::with_environment(provider, "gemini-3-pro", |_| None).key("sk-1").retries(without_waiting);
    model.base_url(&server.url()).unwrap()
}

/// An agent with the tools that the recorded responses call.
pub(crate) fn agent(model: Model) -> AgentBuilder {
    let tool = |name: &str| {
        let spec = ToolSpec::new(name, "Looks something up.");
        FunctionTool::dynamic(spec, |_, _| async { Ok("3 hits") })
    };
    Agent::builder("Friday")
        .system_prompt("Be brief.")
        .model(model)
        .tool(tool("search"))
        .tool(tool("f"))
        .permissions(Permissions::new(Mode::Bypass))
        .runtime_state(None)
        .stamps(Stamps::repeatable())
}

/// Returns a recorded response.
pub(crate) fn recorded(provider: Provider, case: &str) -> String {
    // Providers without recordings of their own use OpenAI's format.
    let name = if provider == Provider::Xai { Provider::OpenAi } else { provider };
    let path = format!("../../conformance/vectors/python/model/stream-{name}.jsonl");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = records.into_iter().find(|record| record["case"] == case);
    found.unwrap_or_else(|| panic!("{provider} has no {case}"))["body"].as_str().unwrap().to_owned()
}

/// Splits a response into small pieces, as providers send it.
pub(crate) fn streamed(provider: Provider, case: &str) -> ScriptedResponse {
    ScriptedResponse::pieces(recorded(provider, case).as_bytes(), 61)
}

/// Returns the body of a request, validated against the rules of its provider.
#[track_caller]
pub(crate) fn body(provider: Provider, asked: &ReceivedRequest) -> Value {
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    if let Err(broken) = rules::check(provider, &body) {
        panic!("{provider}: {broken}\n{body:#}");
    }
    body
}

/// Reads a reply to its end, and checks the general invariants.
pub(crate) async fn read(mut stream: ReplyStream, mut seen: impl FnMut(&AgentEvent)) -> (Vec<AgentEvent>, Msg) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        seen(&event);
        events.push(event);
    }
    let message = stream.into_msg().await.unwrap_or_else(|error| error.message().unwrap().clone());
    let mut checker = Checker::new();
    let mut findings: Vec<_> = events.iter().flat_map(|event| checker.event(event)).collect();
    findings.extend(checker.finish());
    assert!(findings.is_empty(), "{findings:?}");
    let mut fold = Fold::new();
    fold.extend(&events);
    assert_eq!(fold.messages().collect::<Vec<_>>(), [&message]);
    (events, message)
}

/// Returns the types of events, with consecutive deltas merged and signals by name.
pub(crate) fn story(events: &[AgentEvent]) -> Vec<String> {
    let mut story: Vec<String> = Vec::new();
    for event in events {
        let reported = match &event.kind {
            EventKind::Custom(signal) => signal.name.to_string(),
            EventKind::ReplyEnd(end) => format!("REPLY_END {}", end.finished_reason),
            EventKind::ModelCallEnd(end) => format!("MODEL_CALL_END {}", end.finished_reason),
            _ => event.type_name().to_owned(),
        };
        if story.last() != Some(&reported) {
            story.push(reported);
        }
    }
    story
}
