//! Asking a model, and what must hold whatever comes of it.

use std::time::Duration;

use recount_message::check::Checker;
use recount_message::{AgentEvent, EventKind, Fold, Msg, ReplyWriter, Stamps};
use recount_model::Provider;
use recount_model::client::{CallOptions, CallOutcome, Model, Retries};
use recount_model::decode::CallErrorKind;

use crate::server::Server;

/// A key that must never be seen.
pub(crate) const KEY: &str = "sk-do-not-show-this";

/// What came of a question.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) message: Msg,
    pub(crate) outcome: CallOutcome,
    pub(crate) events: Vec<AgentEvent>,
}

impl Answered {
    pub(crate) fn text(&self) -> String {
        self.message.text().unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn error(&self) -> (CallErrorKind, &'static str, String) {
        let error = self.outcome.end.error.as_ref().expect("an error");
        (error.kind(), error.class().as_str(), error.to_string())
    }

    /// The types of the events, and of signals their names and values.
    pub(crate) fn story(&self) -> Vec<String> {
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

/// A model of a provider whose server is ours, which does not wait before it tries again.
pub(crate) fn model(provider: Provider, server: &Server) -> Model {
    bare(provider).base_url(&server.url()).unwrap()
}

/// A model with a key that knows nothing of the environment.
pub(crate) fn bare(provider: Provider) -> Model {
    let without_waiting = Retries { initial_delay: Duration::ZERO, max_delay: Duration::ZERO, ..Retries::default() };
    Model::with_environment(provider, "model-x", |_| None).key(KEY).retries(without_waiting)
}

pub(crate) async fn ask(model: &Model) -> Answered {
    ask_with(model, &[Msg::user("Alice", "Hello")], &CallOptions::new()).await
}

/// Asks, and holds the answer to what must always hold.
pub(crate) async fn ask_with(model: &Model, messages: &[Msg], options: &CallOptions) -> Answered {
    let mut events = Vec::new();
    let reply = ReplyWriter::start(|event| events.push(event), Stamps::repeatable(), "s1", "Friday");
    let (message, outcome) = model.reply(messages, options, reply).await;
    let answered = Answered { message, outcome, events };
    check(model, &answered);
    answered
}

#[track_caller]
fn check(model: &Model, answered: &Answered) {
    let mut checker = Checker::new();
    let mut findings: Vec<_> = answered.events.iter().flat_map(|event| checker.event(event)).collect();
    findings.extend(checker.finish());
    assert_eq!(findings, [], "{:#?}", answered.events);

    let mut fold = Fold::new();
    fold.extend(&answered.events);
    assert_eq!(fold.messages().collect::<Vec<_>>(), [&answered.message]);
    assert!(answered.message.content().iter().all(|block| block.finished_at().is_some()));

    let lines: String = answered.events.iter().map(AgentEvent::to_json).collect();
    for said in [lines, format!("{answered:?}"), format!("{model:?}"), answered.message.to_json()] {
        assert!(!said.contains(KEY), "{said}");
    }
}

/// A short answer of OpenAI's.
pub(crate) fn hello() -> String {
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
