//! Shared test support.

use std::sync::{Arc, Mutex};

use recount_agent::permission::{Mode, Permissions};
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_agent::{Agent, AgentBuilder, AgentState, BoxFuture, Input, ReplyStream, Sink, SinkError};
use recount_message::check::{Checker, Finding};
use recount_message::{AgentEvent, CountingIds, EventKind, Fold, Msg, Stamps, SteppingClock};

/// An agent with repeatable ids and without runtime state hints.
pub(crate) fn agent(model: &ScriptedModel) -> AgentBuilder {
    Agent::builder("Friday")
        .model(model.clone())
        .system_prompt("You are Friday.")
        .permissions(Permissions::new(Mode::Bypass))
        .runtime_state(None)
        .session_id("s1")
        .stamps(Stamps::repeatable())
}

/// An agent that asks before every call.
pub(crate) fn careful(model: &ScriptedModel) -> AgentBuilder {
    agent(model).permissions(Permissions::new(Mode::Default))
}

/// The ids and times of another process.
pub(crate) fn elsewhere() -> Stamps {
    Stamps::new(CountingIds::new("elsewhere-"), SteppingClock::default())
}

/// A tool that returns its name.
pub(crate) fn echo(name: &'static str) -> FunctionTool<NoArguments> {
    FunctionTool::new(name, "Says its name.", move |_: NoArguments| async move { Ok(format!("{name} ran")) })
}

/// Returns all events of a stream.
pub(crate) async fn drain(mut stream: ReplyStream) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    events
}

/// Returns all events of a reply.
pub(crate) async fn say(agent: &Agent, input: impl Into<Input>) -> Vec<AgentEvent> {
    drain(agent.reply_stream(input).unwrap()).await
}

/// Returns the types of events, with consecutive deltas merged and signals by name.
pub(crate) fn order(events: &[AgentEvent]) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    for event in events {
        let name = match &event.kind {
            EventKind::Custom(custom) => custom.name.to_string(),
            EventKind::ToolResultEnd(end) => format!("TOOL_RESULT_END {}", end.state),
            EventKind::ReplyEnd(end) => format!("REPLY_END {}", end.finished_reason),
            EventKind::ModelCallEnd(end) => format!("MODEL_CALL_END {}", end.finished_reason),
            _ => event.type_name().to_owned(),
        };
        if !(name.ends_with("_DELTA") && order.last() == Some(&name)) {
            order.push(name);
        }
    }
    order
}

/// Folds the events of a legal stream into a message.
pub(crate) fn folded(events: &[AgentEvent]) -> Msg {
    let mut checker = Checker::new();
    let mut findings: Vec<Finding> = events.iter().flat_map(|event| checker.event(event)).collect();
    findings.extend(checker.finish());
    assert!(findings.is_empty(), "{findings:#?}");
    let mut fold = Fold::new();
    for event in events {
        let outcome = fold.apply(event);
        assert_eq!(outcome.reason(), None, "{}", event.to_json());
    }
    let mut messages: Vec<Msg> = fold.into_messages().collect();
    assert_eq!(messages.len(), 1);
    messages.remove(0)
}

/// A sink that records everything.
#[derive(Clone, Default)]
pub(crate) struct Kept(pub(crate) Arc<Mutex<Vec<Entry>>>);

/// An event, and the state if it changed.
pub(crate) type Entry = (AgentEvent, Option<AgentState>);

impl Sink for Kept {
    fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError> {
        self.0.lock().unwrap().push((event.clone(), state.cloned()));
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        Box::pin(async { Ok(()) })
    }
}

impl Kept {
    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        self.0.lock().unwrap().iter().map(|(event, _)| event.clone()).collect()
    }

    pub(crate) fn state(&self) -> AgentState {
        self.0.lock().unwrap().iter().rev().find_map(|(_, state)| state.clone()).unwrap()
    }
}
