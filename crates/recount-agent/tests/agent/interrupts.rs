//! Interrupts at every stage of a reply.

use pretty_assertions::assert_eq;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_agent::tool::{FunctionTool, NoArguments, ToolContext};
use recount_agent::{Agent, Error, Input, InputRejection};
use recount_message::{ConfirmResult, EventKind, FinishedReason, UserConfirmResultEvent, UserInterruptEvent};

use crate::support::{agent, careful, drain, echo, folded, order, say};

/// Interrupts the agent when the gate is reached, while the reply runs in another task.
async fn interrupted_at(agent: &Agent, gate: &Gate) -> Vec<String> {
    let stream = agent.reply_stream("Hi").unwrap();
    let events = tokio::spawn(drain(stream));
    gate.reached().await;
    assert!(agent.interrupt());
    let events = events.await.unwrap();
    assert_eq!(folded(&events), agent.messages()[1]);
    order(&events)
}

#[tokio::test]
async fn interrupt_before_the_first_token() {
    let gate = Gate::new();
    let model = ScriptedModel::new().waits(&gate).says("Never.").then().says("Next.");
    let agent = agent(&model).build().unwrap();
    assert_eq!(
        interrupted_at(&agent, &gate).await,
        ["REPLY_START", "MODEL_CALL_START", "MODEL_CALL_END interrupted", "REPLY_END interrupted"]
    );
    assert_eq!(agent.reply("Again").await.unwrap().text().as_deref(), Some("Next."));
}

#[tokio::test]
async fn interrupt_within_a_text_block() {
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once upon").waits(&gate).says(" a time");
    let agent = agent(&model).build().unwrap();
    assert_eq!(
        interrupted_at(&agent, &gate).await[2..],
        [
            "TEXT_BLOCK_START",
            "TEXT_BLOCK_DELTA",
            "TEXT_BLOCK_END",
            "MODEL_CALL_END interrupted",
            "REPLY_END interrupted"
        ]
    );
}

#[tokio::test]
async fn interrupt_of_a_tool_that_ignores_cancellation() {
    let gate = Gate::new();
    let inside = gate.clone();
    let stubborn = FunctionTool::with_context("stubborn", "Waits.", move |_: NoArguments, context: ToolContext| {
        let gate = inside.clone();
        async move {
            context.write_text("working").await;
            gate.pass().await;
            Ok("never said")
        }
    });
    let model = ScriptedModel::new().calls_as("c1", "stubborn", "{}").calls_as("c2", "stubborn", "{}");
    let agent = agent(&model).tool(stubborn).build().unwrap();
    let order = interrupted_at(&agent, &gate).await;
    let results: Vec<&str> = order.iter().map(String::as_str).filter(|name| name.starts_with("TOOL_RESULT_")).collect();
    assert_eq!(
        results,
        [
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_END interrupted",
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_END interrupted"
        ]
    );
}

#[tokio::test]
async fn interrupt_of_a_waiting_reply() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Next.");
    let agent = careful(&model).tool(echo("search")).build().unwrap();
    let mut events = say(&agent, "Hi").await;
    let waiting = agent.open_reply().unwrap();
    let more = say(&agent, Input::interrupt()).await;
    assert_eq!(
        order(&more),
        [
            "USER_INTERRUPT",
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_END interrupted",
            "REPLY_END interrupted"
        ]
    );
    events.extend(more);
    assert_eq!(folded(&events), agent.messages()[1]);
    let late = UserConfirmResultEvent::new(
        waiting.id().to_owned(),
        [ConfirmResult::allow(waiting.call("c1").unwrap().clone())],
    );
    assert!(matches!(agent.reply(late).await, Err(Error::Rejected(InputRejection::ReplyEnded { .. }))));
    assert_eq!(agent.reply("Again").await.unwrap().text().as_deref(), Some("Next."));
}

#[tokio::test]
async fn interrupt_by_a_recorded_event() {
    let gate = Gate::new();
    let model = ScriptedModel::new().waits(&gate).says("Never.");
    let agent = agent(&model).build().unwrap();
    let stream = agent.reply_stream("Hi").unwrap();
    let reply_id = agent.state().reply.unwrap().id;
    let events = tokio::spawn(drain(stream));
    gate.reached().await;
    agent.answer(Input::from(UserInterruptEvent::new(reply_id)).recorded()).await.unwrap();
    let events = events.await.unwrap();
    assert!(events.iter().all(|event| !matches!(event.kind, EventKind::UserInterrupt(_))));
    assert_eq!(folded(&events).finished_reason(), Some(FinishedReason::Interrupted));
}

#[tokio::test]
async fn interrupt_returns_an_error_with_raise_on_interrupt() {
    let gate = Gate::new();
    let model = ScriptedModel::new().waits(&gate).says("Never.");
    let agent = agent(&model).raise_on_interrupt(true).build().unwrap();
    let reply = tokio::spawn({
        let agent = agent.clone();
        async move { agent.reply("Hi").await }
    });
    gate.reached().await;
    agent.interrupt();
    let Err(Error::Interrupted { message }) = reply.await.unwrap() else { panic!() };
    assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
}

#[tokio::test]
async fn confirmation_is_accepted_while_another_tool_runs() {
    let gate = Gate::new();
    let inside = gate.clone();
    let slow = FunctionTool::new("slow", "Waits.", move |_: NoArguments| {
        let gate = inside.clone();
        async move {
            gate.pass().await;
            Ok("slow ran")
        }
    });
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").calls_as("c2", "slow", "{}").then().says("Done.");
    let agent = careful(&model)
        .tool(echo("search").concurrency_safe())
        .tool(slow.concurrency_safe().read_only())
        .build()
        .unwrap();
    let mut stream = agent.reply_stream("Hi").unwrap();
    let mut asked = None;
    while asked.is_none() {
        let event = stream.next().await.unwrap();
        if let EventKind::RequireUserConfirm(require) = event.kind {
            asked = require.tool_calls.into_iter().next();
        }
    }
    let rest = tokio::spawn(drain(stream));
    gate.reached().await;
    let reply_id = agent.state().reply.unwrap().id;
    let yes = UserConfirmResultEvent::new(reply_id, [ConfirmResult::allow(asked.unwrap())]);
    agent.answer(yes.clone()).await.unwrap();
    assert_eq!(agent.answer(yes).await, Err(InputRejection::AlreadyAnswered { call_id: "c1".to_owned() }));
    gate.open();
    let events = rest.await.unwrap();
    assert_eq!(order(&events).last().map(String::as_str), Some("REPLY_END completed"));
    assert!(agent.messages()[1].tool_pairs().all(|(_, result)| result.is_some()));
}
