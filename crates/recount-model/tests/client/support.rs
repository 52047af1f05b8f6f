//! Helpers that call a model and check the invariants of every call.

use std::time::Duration;

use recount_message::check::Checker;
use recount_message::{AgentEvent, EventKind, Fold, Msg, ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::client::{CallOptions, CallOutcome, Model, Retries};
use recount_model::decode::CallErrorKind;

use crate::server::Server;

/// A key that must not appear in any output.
pub(crate) const KEY: &str = "sk-do-not-show-this";

/// The result of a call.
#[derive(Debug)]
pub(crate) struct TestCall {
    pub(crate) message: Msg,
    pub(crate) outcome: CallOutcome,
    pub(crate) events: Vec<AgentEvent>,
}

impl TestCall {
    pub(crate) fn text(&self) -> String {
        self.message.text().unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn error(&self) -> (CallErrorKind, &'static str, String) {
        let error = self.outcome.end.error.as_ref().expect("an error");
        (error.kind(), error.class().as_str(), error.to_string())
    }

    /// Returns the types of the events, with name and value for signals.
    pub(crate) fn event_summary(&self) -> Vec<String> {
        self.events
            .iter()
            .map(|event| match &event.kind {
                EventKind::Custom(signal) => format!("{} {}", signal.name, signal.value.to_json()),
                EventKind::ModelCallStart(start) => format!("MODEL_CALL_START {}", start.model_name),
                _ => event.type_name().to_owned(),
            })
            .collect()
    }
}

/// Returns a model that calls the test server and retries without delay.
pub(crate) fn model(provider: Provider, server: &Server) -> Model {
    model_without_server(provider).base_url(&server.url()).unwrap()
}

/// Returns a model with a key, independent of the environment.
pub(crate) fn model_without_server(provider: Provider) -> Model {
    let without_waiting = Retries { initial_delay: Duration::ZERO, max_delay: Duration::ZERO, ..Retries::default() };
    Model::with_environment(provider, "model-x", |_| None).key(KEY).retries(without_waiting)
}

pub(crate) async fn call(model: &Model) -> TestCall {
    call_with(model, &[Msg::user("Alice", "Hello")], &CallOptions::new()).await
}

/// Calls a model and checks the invariants of every call.
pub(crate) async fn call_with(model: &Model, messages: &[Msg], options: &CallOptions) -> TestCall {
    let mut events = Vec::new();
    let reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    let (message, outcome) = model.reply(messages, options, reply).await;
    let result = TestCall { message, outcome, events };
    check(model, &result);
    result
}

#[track_caller]
fn check(model: &Model, result: &TestCall) {
    let mut checker = Checker::new();
    let mut findings: Vec<_> = result.events.iter().flat_map(|event| checker.event(event)).collect();
    findings.extend(checker.finish());
    assert_eq!(findings, [], "{:#?}", result.events);

    let mut fold = Fold::new();
    fold.extend(&result.events);
    assert_eq!(fold.messages().collect::<Vec<_>>(), [&result.message]);
    assert!(result.message.content().iter().all(|block| block.finished_at().is_some()));

    let lines: String = result.events.iter().map(AgentEvent::to_json).collect();
    for said in [lines, format!("{result:?}"), format!("{model:?}"), result.message.to_json()] {
        assert!(!said.contains(KEY), "{said}");
    }
}

/// Returns a short response in OpenAI's format.
pub(crate) fn hello_response() -> String {
    chat(&["Hel", "lo"])
}

pub(crate) fn chat(texts: &[&str]) -> String {
    let mut body: String = texts.iter().map(|text| chunk(text)).collect();
    body.push_str("data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
    body.push_str("data: [DONE]\n\n");
    body
}

pub(crate) fn chunk(text: &str) -> String {
    format!("data: {{\"id\":\"c1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}
