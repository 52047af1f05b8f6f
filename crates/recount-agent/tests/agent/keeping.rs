//! Persisting events, and failures of the sink.

use std::sync::{Arc, Mutex};

use pretty_assertions::assert_eq;
use recount_agent::permission::{Mode, Permissions};
use recount_agent::scripted::ScriptedModel;
use recount_agent::{AgentState, BoxFuture, Error, Phase, Sink, SinkError};
use recount_message::{AgentEvent, FinishedReason};

use crate::support::{Kept, agent, careful, echo, order, say};

/// The calls of a sink, in order.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Vec<String>>>);

impl Sink for Ledger {
    fn append(&mut self, event: &AgentEvent, _state: Option<&AgentState>) -> Result<(), SinkError> {
        self.0.lock().unwrap().push(event.type_name().to_owned());
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        self.0.lock().unwrap().push("commit".to_owned());
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn events_are_committed_before_tools_run() {
    let ledger = Ledger::default();
    let inside = ledger.clone();
    let tool =
        recount_agent::tool::FunctionTool::new("search", "Searches.", move |_: recount_agent::tool::NoArguments| {
            inside.0.lock().unwrap().push("the tool runs".to_owned());
            async { Ok("found") }
        });
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let agent = agent(&model).tool(tool).sink(ledger.clone()).build().unwrap();
    agent.reply("Hi").await.unwrap();
    let ledger = ledger.0.lock().unwrap();
    let at = |what: &str| ledger.iter().position(|entry| entry == what).unwrap();
    let run = at("the tool runs");
    assert_eq!((ledger[run - 2].as_str(), ledger[run - 1].as_str()), ("TOOL_RESULT_START", "commit"));
    assert_eq!(ledger[ledger.len() - 2..], ["REPLY_END", "commit"]);
    // The input is persisted too, although the stream does not return it.
    assert_eq!(ledger[0], "CUSTOM");
}

#[tokio::test]
async fn waiting_state_is_committed_before_the_stream_ends() {
    let ledger = Ledger::default();
    let model = ScriptedModel::new().calls_as("c1", "search", "{}");
    let agent = careful(&model).tool(echo("search")).sink(ledger.clone()).build().unwrap();
    agent.reply("Hi").await.unwrap();
    let ledger = ledger.0.lock().unwrap();
    assert_eq!(ledger[ledger.len() - 3..], ["REQUIRE_USER_CONFIRM", "CUSTOM", "commit"]);
}

#[tokio::test]
async fn state_is_appended_with_the_event_that_changes_it() {
    let kept = Kept::default();
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let agent = agent(&model).tool(echo("search")).sink(kept.clone()).build().unwrap();
    agent.reply("Hi").await.unwrap();
    let kept = kept.0.lock().unwrap();
    let with: Vec<(&str, Option<(u32, Phase)>)> = kept
        .iter()
        .filter_map(|(event, state)| Some((event.type_name(), state.as_ref()?)))
        .map(|(name, state)| (name, state.reply.as_ref().map(|reply| (reply.iteration, reply.phase))))
        .collect();
    assert_eq!(
        with,
        [
            ("CUSTOM", None),
            ("REPLY_START", Some((0, Phase::Idle))),
            ("MODEL_CALL_START", Some((1, Phase::Asking))),
            ("MODEL_CALL_END", Some((1, Phase::Answered))),
            ("MODEL_CALL_START", Some((2, Phase::Asking))),
            ("MODEL_CALL_END", Some((2, Phase::Answered))),
            ("REPLY_END", None),
        ]
    );
}

/// A sink that fails at an event of this type.
struct Fails(&'static str);

impl Sink for Fails {
    fn append(&mut self, event: &AgentEvent, _state: Option<&AgentState>) -> Result<(), SinkError> {
        if event.type_name() == self.0 {
            self.0 = "";
            return Err(SinkError::new("the disk is full"));
        }
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn agent_stops_when_the_sink_fails() {
    for at in ["REPLY_START", "TEXT_BLOCK_DELTA", "TOOL_CALL_END", "TOOL_RESULT_START", "TOOL_RESULT_END"] {
        let model =
            ScriptedModel::new().says("Hm.").calls_as("c1", "search", "{}").then().says("Done.").then().says("Next.");
        let agent = agent(&model).tool(echo("search")).sink(Fails(at)).build().unwrap();
        let events = say(&agent, "Hi").await;
        let order = order(&events);
        assert_eq!(order.iter().filter(|name| name.starts_with("REPLY_END")).count(), 1, "{at}");
        let message = agent.messages()[1].clone();
        assert_eq!(message.finished_reason(), Some(FinishedReason::Error), "{at}");
        assert!(message.error().unwrap().message.contains("the disk is full"), "{at}");
        assert!(message.tool_pairs().all(|(_, result)| result.is_some_and(|result| result.finished_at.is_some())));
        assert!(agent.reply("Again").await.is_ok(), "{at}");
    }
}

#[tokio::test]
async fn permissions_can_change_between_calls() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let kept = Kept::default();
    let agent = agent(&model).tool(echo("search")).sink(kept.clone()).build().unwrap();
    agent.set_permissions(Permissions::new(Mode::DontAsk));
    let message = agent.reply("Hi").await.unwrap();
    assert_eq!(message.result_of("c1").unwrap().state, recount_message::ToolResultState::Denied);
    assert_eq!(kept.state().permissions.mode, Mode::DontAsk);
    assert!(agent.save().is_ok());
    let stream = agent.reply_stream("Hi").unwrap();
    assert!(matches!(agent.save(), Err(Error::Busy { .. })));
    drop(stream);
}
