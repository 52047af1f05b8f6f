//! Middleware, stop requests, hints, signals, background tools, and the content of requests.

use pretty_assertions::assert_eq;
use recount_agent::machine::CallPlan;
use recount_agent::middleware::{Middleware, ModelRequest, Next, ToolRun};
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, NoArguments, ToolContext, ToolError, ToolOutput};
use recount_agent::{ActiveReply, BoxFuture, Error, Failure, ReplyOutcome, RuntimeState};
use recount_message::{EventKind, FinishedReason, GenerateReason, HintBlock, Msg, ToolResultState};
use recount_model::client::CallOutcome;

use crate::support::{Kept, agent, echo, folded, order, say};

/// Starts this many additional rounds.
struct Again(u32);

impl Middleware for Again {
    fn reply<'a>(&'a self, work: &'a mut ActiveReply, next: Next<'a>) -> BoxFuture<'a, ReplyOutcome> {
        Box::pin(async move {
            let mut ending = next.reply(work).await;
            for _ in 0..self.0 {
                ending = next.reply(work).await;
            }
            ending
        })
    }
}

#[tokio::test]
async fn middleware_can_start_another_round() {
    let model = ScriptedModel::new().says("One.").then().says("Two.");
    let agent = agent(&model).middleware(Again(1)).build().unwrap();
    let events = say(&agent, "Hi").await;
    assert_eq!(order(&events).iter().filter(|name| name.starts_with("REPLY_END")).count(), 1);
    assert_eq!(folded(&events).text().as_deref(), Some("One.\nTwo."));
}

#[tokio::test]
async fn second_round_without_a_step_fails_the_reply() {
    let model = ScriptedModel::new().says("One.").then().says("Two.");
    let agent = agent(&model).middleware(Again(3)).max_iterations(1).build().unwrap();
    let Err(Error::Failed { message, .. }) = agent.reply("Hi").await else { panic!() };
    assert_eq!(message.finished_reason(), Some(FinishedReason::Error));
}

/// Records the order of the layers, and changes what passes through them.
struct Marks(&'static str);

impl Middleware for Marks {
    fn reasoning<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        plan: CallPlan,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            work.signal(format!("{} reasons", self.0), [("iteration", work.state().iteration)]);
            next.reasoning(work, plan).await
        })
    }

    fn model_call<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        mut request: ModelRequest,
        next: Next<'a>,
    ) -> BoxFuture<'a, CallOutcome> {
        request.messages.push(Msg::user("middleware", self.0));
        next.model_call(work, request)
    }

    fn acting<'a>(&'a self, act: ToolRun, next: Next<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let output = next.acting(act).await?;
            let text = output.content.text().unwrap_or_default();
            Ok(ToolOutput::new(format!("{}({text})", self.0)))
        })
    }

    fn system_prompt<'a>(&'a self, prompt: String) -> BoxFuture<'a, String> {
        Box::pin(async move { format!("{prompt} {}", self.0) })
    }
}

#[tokio::test]
async fn first_middleware_is_outermost() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let agent =
        agent(&model).tool(echo("search")).middleware(Marks("outer")).middleware(Marks("inner")).build().unwrap();
    let events = say(&agent, "Hi").await;
    assert_eq!(order(&events)[1..3], ["outer reasons", "inner reasons"]);
    let result = folded(&events).result_of("c1").unwrap().output.text().unwrap();
    assert_eq!(result, "outer(inner(search ran))");
    let asked = &model.requests()[0].messages;
    assert_eq!(asked[0].text().as_deref(), Some("You are Friday. outer inner"));
    let said: Vec<String> = asked[2..].iter().filter_map(Msg::text).collect();
    assert_eq!(said, ["outer", "inner"]);
}

/// Requests a stop after the reasoning.
struct Stops;

impl Middleware for Stops {
    fn reasoning<'a>(
        &'a self,
        work: &'a mut ActiveReply,
        plan: CallPlan,
        next: Next<'a>,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            next.reasoning(work, plan).await?;
            work.request_stop("enough");
            Ok(())
        })
    }
}

#[tokio::test]
async fn middleware_can_stop_the_reply_after_reasoning() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}");
    let agent = agent(&model).tool(echo("search")).middleware(Stops).build().unwrap();
    let events = say(&agent, "Hi").await;
    assert_eq!(
        order(&events)[6..],
        [
            "recount.request_stop",
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_END interrupted",
            "REPLY_END completed"
        ]
    );
    assert_eq!(folded(&events).generate_reason(), GenerateReason::ReasoningStopRequested);
}

#[tokio::test]
async fn tool_can_stop_the_reply_and_send_signals() {
    let model = ScriptedModel::new().calls_as("c1", "last", "{}");
    let last = FunctionTool::with_context("last", "Is the last.", |_: NoArguments, context: ToolContext| async move {
        context.signal("progress", [("done", 1)]).await;
        context.request_stop("all is done").await;
        Ok("done")
    });
    let agent = agent(&model).tool(last).build().unwrap();
    let events = say(&agent, "Hi").await;
    assert_eq!(
        order(&events)[8..],
        [
            "progress",
            "recount.request_stop",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_END success",
            "REPLY_END completed"
        ]
    );
    assert_eq!(folded(&events).generate_reason(), GenerateReason::ActingStopRequested);
}

#[tokio::test]
async fn hints_are_written_before_the_model_call() {
    let model = ScriptedModel::new().says("I see.");
    let kept = Kept::default();
    let agent = agent(&model).sink(kept.clone()).build().unwrap();
    agent.hint(HintBlock::new("The build is green.").with_source("ci"));
    let events = say(&agent, ()).await;
    assert_eq!(order(&events)[..3], ["REPLY_START", "HINT_BLOCK", "MODEL_CALL_START"]);
    assert!(agent.state().hints.is_empty() && kept.state().hints.is_empty());
    assert!(model.requests()[0].messages[1].has::<HintBlock>());
}

#[tokio::test]
async fn background_tool_result_becomes_a_hint() {
    let model = ScriptedModel::new().calls_as("c1", "build", "{}").then().says("Started.").then().says("It is green.");
    let (done, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let build = FunctionTool::new("build", "Builds.", move |_: NoArguments| {
        let done = done.clone();
        async move {
            let _ = done.send(());
            Ok("green")
        }
    });
    let agent = agent(&model).tool(build.background()).build().unwrap();
    let message = agent.reply("Hi").await.unwrap();
    assert_eq!(message.result_of("c1").unwrap().state, ToolResultState::Success);
    assert_eq!(message.text().as_deref(), Some("Started."));
    ended.recv().await.unwrap();
    while agent.state().hints.is_empty() {
        tokio::task::yield_now().await;
    }
    let events = say(&agent, ()).await;
    let EventKind::HintBlock(hint) = &events[1].kind else { panic!() };
    assert!(hint.hint.text().unwrap().contains("green"));
}

#[tokio::test]
async fn current_time_is_sent_once_per_interval() {
    let model = ScriptedModel::new().says("One.").then().says("Two.");
    let agent = agent(&model).runtime_state(RuntimeState::default()).build().unwrap();
    let events = say(&agent, "Hi").await;
    let EventKind::HintBlock(hint) = &events[1].kind else { panic!() };
    let text = hint.hint.text().unwrap();
    assert!(text.contains("<current-time>2026-01-01T00:00:00</current-time>\n<timezone>UTC</timezone>"), "{text}");
    assert!(say(&agent, "Hi").await.iter().all(|event| event.type_name() != "HINT_BLOCK"));
}

#[tokio::test]
async fn repeated_identical_failures_add_a_hint() {
    let mut model = ScriptedModel::new();
    for round in 0..3 {
        model = model.calls_as(format!("c{round}"), "fails", "{}").then();
    }
    let model = model.says("I give up.");
    let fails = FunctionTool::new("fails", "Fails.", |_: NoArguments| async { Err::<&str, _>(ToolError::new("no")) });
    let agent = agent(&model).tool(fails).runtime_state(RuntimeState::default()).build().unwrap();
    let events = say(&agent, "Hi").await;
    let hints: Vec<String> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::HintBlock(hint) => hint.hint.text(),
            _ => None,
        })
        .collect();
    assert_eq!(hints.len(), 2);
    assert!(hints[1].contains("<tool-error>`fails` has failed 3 times"), "{}", hints[1]);
}

#[tokio::test]
async fn long_result_is_shortened_only_in_requests() {
    let model = ScriptedModel::new().calls_as("c1", "long", "{}").then().says("Done.");
    let long = FunctionTool::new("long", "Talks.", |_: NoArguments| async { Ok("é".repeat(1_000)) });
    let agent = agent(&model).tool(long).tool_result_limit(10).build().unwrap();
    let events = say(&agent, "Hi").await;
    assert!(order(&events).contains(&"recount.truncated".to_owned()));
    let result = |message: &Msg| message.result_of("c1").unwrap().output.text().unwrap();
    assert_eq!(result(&folded(&events)).chars().count(), 1_000);
    let asked = model.requests().pop().unwrap();
    let shown = result(asked.messages.last().unwrap());
    assert!(shown.starts_with(&"é".repeat(20)) && shown.contains("about 500 tokens"), "{shown}");
}

#[tokio::test]
async fn control_hints_are_only_in_the_request() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("That was it.");
    let agent = agent(&model).tool(echo("search")).max_iterations(1).build().unwrap();
    let message = agent.reply("Hi").await.unwrap();
    assert_eq!(message.finished_reason(), Some(FinishedReason::ExceedMaxIters));
    assert!(!message.has::<HintBlock>());
    let asked = model.requests().pop().unwrap();
    assert!(asked.messages.last().unwrap().has::<HintBlock>());
    assert_eq!(asked.tool_choice, Some(recount_model::format::ToolChoice::none()));
}
