//! Regression tests for the defects of AgentScope's agent that its specification lists.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pretty_assertions::assert_eq;
use recount_agent::permission::{Mode, PermissionContext, Permissions, ToolPermission};
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_agent::tool::{FunctionTool, NoArguments, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use recount_agent::{Agent, BoxFuture, Error, Input, InputRejection};
use recount_message::{
    AgentEvent, ConfirmResult, DataBlock, Event, EventKind, ExternalExecutionResultEvent, FinishedReason, Json, Msg,
    Object, PermissionBehavior, PermissionRule, ToolResultBlock, ToolResultState, UserConfirmResultEvent,
    UserInterruptEvent,
};
use serde::Deserialize;

use crate::support::{agent, careful, drain, echo, folded, order, say};

fn confirm(message: &Msg, ids: &[&str]) -> UserConfirmResultEvent<'static> {
    let answers = ids.iter().map(|id| ConfirmResult::allow(message.call(id).unwrap().clone()));
    UserConfirmResultEvent::new(message.id().to_owned(), answers.collect::<Vec<_>>())
}

fn results(message: &Msg, results: Vec<ToolResultBlock>) -> ExternalExecutionResultEvent<'static> {
    ExternalExecutionResultEvent::new(message.id().to_owned(), results)
}

fn external(name: &'static str) -> FunctionTool<NoArguments> {
    FunctionTool::external(name, "Runs outside the agent.")
}

/// Asserts that every call has exactly one result, and that the reply has ended once.
fn assert_closed(message: &Msg) {
    assert!(message.finished_at().is_some());
    for (call, result) in message.tool_pairs() {
        assert!(result.is_some_and(|result| result.finished_at.is_some()), "{}", call.id);
    }
    assert!(message.content().iter().all(|block| block.finished_at().is_some()));
}

#[tokio::test]
async fn d9_waiting_reply_can_be_confirmed_after_observe() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let agent = careful(&model).tool(echo("search")).build().unwrap();
    let waiting = agent.reply("Hi").await.unwrap();
    agent.observe([Msg::user("Bob", "By the way.")]).unwrap();
    let done = agent.reply(confirm(&waiting, &["c1"])).await.unwrap();
    assert_eq!((done.id(), done.finished_reason()), (waiting.id(), Some(FinishedReason::Completed)));
    let names: Vec<String> = agent.messages().iter().map(|message| message.name().to_owned()).collect();
    assert_eq!(names, ["user", "Friday", "Bob"]);
}

#[tokio::test]
async fn d10_rounds_with_external_results_count() {
    let mut model = ScriptedModel::new();
    for round in 0..5 {
        model = model.calls_as(format!("c{round}"), "door", "{}").then();
    }
    let agent = agent(&model.says("…")).tool(external("door")).max_iterations(2).build().unwrap();
    let mut message = agent.reply("Hi").await.unwrap();
    let mut rounds = 0;
    while message.finished_at().is_none() {
        rounds += 1;
        let call = message.tool_pairs().last().unwrap().0.clone();
        message = agent.reply(results(&message, vec![call.success("opened")])).await.unwrap();
    }
    // Two rounds, and the final answer.
    assert_eq!((rounds, message.finished_reason()), (3, Some(FinishedReason::ExceedMaxIters)));
}

#[tokio::test]
async fn d11_dropped_stream_closes_its_reply() {
    let gate = Gate::new();
    let model = ScriptedModel::new().calls_as("c1", "slow", "{}").calls_as("c2", "slow", "{}").then().says("Next.");
    let slow = {
        let gate = gate.clone();
        FunctionTool::new("slow", "Waits.", move |_: NoArguments| {
            let gate = gate.clone();
            async move {
                gate.pass().await;
                Ok("never said")
            }
        })
    };
    let agent = agent(&model).tool(slow).build().unwrap();
    let mut stream = agent.reply_stream("Hi").unwrap();
    while let Some(event) = stream.next().await {
        if event.type_name() == "TOOL_RESULT_START" {
            break;
        }
    }
    drop(stream);
    let message = agent.messages()[1].clone();
    assert_closed(&message);
    assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(agent.reply("Again").await.unwrap().text().as_deref(), Some("Next."));
}

#[tokio::test]
async fn d11b_dropped_stream_records_all_events_it_returned() {
    let length = {
        let agent = scripted_round();
        say(&agent, "Hi").await.len()
    };
    for stop in 1..=length {
        let agent = scripted_round();
        let mut stream = agent.reply_stream("Hi").unwrap();
        let mut events = Vec::new();
        for _ in 0..stop {
            events.extend(stream.next().await);
        }
        drop(stream);
        let message = agent.messages()[1].clone();
        assert_closed(&message);
        let seen = events.iter().filter(|event| matches!(event.kind, EventKind::ToolResultEnd(_))).count();
        let kept =
            message.tool_pairs().filter(|(_, result)| result.is_some_and(|r| r.state == ToolResultState::Success));
        assert!(kept.count() >= seen, "stopped after {stop} events");
    }
}

fn scripted_round() -> Agent {
    let model = ScriptedModel::new().says("Let me look.").calls_as("c1", "search", "{}").then().says("Done.");
    agent(&model).tool(echo("search")).build().unwrap()
}

#[tokio::test]
async fn d12_interrupted_call_gets_a_complete_result() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").calls_as("c2", "search", "{}");
    let agent = careful(&model).tool(echo("search")).build().unwrap();
    let mut events = say(&agent, "Hi").await;
    let waiting = agent.open_reply().unwrap();
    let stream = agent.reply_stream(confirm(&waiting, &["c1"])).unwrap();
    agent.interrupt();
    let more = drain(stream).await;
    assert_eq!(
        order(&more),
        [
            "USER_CONFIRM_RESULT",
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_END interrupted",
            "TOOL_RESULT_START",
            "TOOL_RESULT_TEXT_DELTA",
            "TOOL_RESULT_END interrupted",
            "REPLY_END interrupted"
        ]
    );
    events.extend(more);
    assert_eq!(folded(&events), agent.messages()[1]);
}

#[tokio::test]
async fn d13_invalid_tool_metadata_fails_the_call() {
    let model = ScriptedModel::new().calls_as("c1", "picture", "{}").then().says("Sorry.");
    let picture = FunctionTool::new("picture", "Paints.", |_: NoArguments| async {
        let mut block = DataBlock::from_bytes(b"GIF89a");
        if let recount_message::Source::Base64(source) = &mut block.source {
            source.data = "no base64 at all!".to_owned();
        }
        Ok(ToolOutput::new(block))
    });
    let agent = agent(&model).tool(picture).build().unwrap();
    let message = agent.reply("Hi").await.unwrap();
    assert_eq!(message.result_of("c1").unwrap().state, ToolResultState::Error);
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
}

/// A tool whose permission check waits or panics.
struct Opinionated {
    spec: ToolSpec,
    gate: Option<Gate>,
    ran: Arc<AtomicUsize>,
}

impl Tool for Opinionated {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, _: Object, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.ran.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(ToolOutput::new("ran")) })
    }

    fn check_permission<'a>(&'a self, _: &'a Object, _: &'a PermissionContext) -> BoxFuture<'a, ToolPermission> {
        Box::pin(async {
            match &self.gate {
                Some(gate) => gate.pass().await,
                None => panic!("no opinion"),
            }
            ToolPermission::Allow
        })
    }
}

fn opinionated(gate: Option<Gate>) -> (Opinionated, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let spec = ToolSpec::new("search", "Searches.").concurrency_safe();
    (Opinionated { spec, gate, ran: Arc::clone(&ran) }, ran)
}

#[tokio::test]
async fn d14_interrupt_during_permission_check_ends_the_reply() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").calls_as("c2", "search", "{}");
    let gate = Gate::new();
    let (tool, ran) = opinionated(Some(gate.clone()));
    let agent = agent(&model).tool(tool).build().unwrap();
    let reply = tokio::spawn({
        let agent = agent.clone();
        async move { agent.reply("Hi").await }
    });
    gate.reached().await;
    assert!(agent.interrupt());
    let message = reply.await.unwrap().unwrap();
    assert_eq!(message.finished_reason(), Some(FinishedReason::Interrupted));
    assert_closed(&message);
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn d14b_panicking_tool_fails_only_its_call() {
    let model = ScriptedModel::new().calls_as("c1", "quits", "{}").then().says("It quit.");
    let quits = FunctionTool::new("quits", "Panics.", |_: NoArguments| async {
        std::panic::panic_any("I quit");
        #[allow(unreachable_code)]
        Ok("")
    });
    let agent = agent(&model).tool(quits).build().unwrap();
    let message = agent.reply("Hi").await.unwrap();
    let result = message.result_of("c1").unwrap();
    assert_eq!(
        (result.state, result.output.text().as_deref()),
        (ToolResultState::Error, Some("the tool panicked: I quit"))
    );
    assert_eq!(message.text().as_deref(), Some("It quit."));
}

#[tokio::test]
async fn d15_reused_call_id_is_a_new_call() {
    let model = ScriptedModel::new()
        .calls_as("call_0", "search", "{}")
        .then()
        .calls_as("call_0", "search", "{}")
        .then()
        .says("Done.");
    let agent = agent(&model).tool(echo("search")).build().unwrap();
    let message = agent.reply("Hi").await.unwrap();
    let calls: Vec<(&str, bool)> =
        message.tool_pairs().map(|(call, result)| (call.id.as_str(), result.is_some())).collect();
    assert_eq!(calls, [("call_0", true), ("call_0_2", true)]);
}

#[tokio::test]
async fn d16_agent_accepts_input_after_a_failed_reply() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().fails("overloaded").then().says("Back.");
    let agent = agent(&model).tool(echo("search")).build().unwrap();
    let events = say(&agent, "Hi").await;
    assert_eq!(order(&events).last().map(String::as_str), Some("REPLY_END error"));
    let message = folded(&events);
    assert_closed(&message);
    assert_eq!(message.error().unwrap().message, "overloaded");
    assert_eq!(agent.reply("Again").await.unwrap().text().as_deref(), Some("Back."));
}

#[tokio::test]
async fn d16_panicking_permission_check_fails_only_its_call() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Sorry.");
    let (tool, ran) = opinionated(None);
    let agent = agent(&model).tool(tool).build().unwrap();
    let message = agent.reply("Hi").await.unwrap();
    assert_eq!(message.result_of("c1").unwrap().state, ToolResultState::Error);
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
    assert_eq!(ran.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn d16b_broken_stream_is_retried_then_falls_back() {
    let model = ScriptedModel::new().named("first").says("Once upon").fails("gone").then().says("Once a").fails("gone");
    let other = ScriptedModel::new().named("second").says("All of it.");
    let agent = agent(&model).fallback(other.clone()).max_retries(1).build().unwrap();
    let events = say(&agent, "Hi").await;
    let reported: Vec<&str> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Custom(custom) => Some(&*custom.name),
            EventKind::ModelCallStart(start) => Some(&*start.model_name),
            _ => None,
        })
        .collect();
    assert_eq!(reported, ["first", "recount.retry", "first", "recount.fallback", "second"]);
    let message = folded(&events);
    assert_eq!(message.finished_reason(), Some(FinishedReason::Completed));
    // The partial output stays in the message, and no request contains it.
    assert_eq!(message.content().len(), 3);
    let asked = other.requests().pop().unwrap();
    assert!(asked.messages.iter().all(|message| !message.text_or_empty().contains("Once")), "{:?}", asked.messages);
    assert_eq!(agent.state().reply, None);
}

#[tokio::test]
async fn d17_answer_is_applied_atomically() {
    let model = ScriptedModel::new().calls_as("c1", "door", "{}").calls_as("c2", "door", "{}").then().says("Done.");
    let schema = Json::parse(r#"{"type":"object","required":["lock"]}"#).unwrap();
    let door = external("door").concurrency_safe().metadata_schema(schema);
    let agent = agent(&model).tool(door).build().unwrap();
    let waiting = agent.reply("Hi").await.unwrap();
    let call = |id: &str| waiting.call(id).unwrap().clone();
    let good = |id: &str| call(id).success("opened").with_metadata([("lock", 1)]);
    let refused = |input: Input| agent.reply_stream(input).map(|_| ()).unwrap_err();
    let refusal = |input: Input| match refused(input) {
        Error::Rejected(refusal) => refusal,
        other => panic!("{other}"),
    };
    let reply_id = waiting.id().to_owned();
    let changed = |mut result: ToolResultBlock, change: fn(&mut ToolResultBlock)| {
        change(&mut result);
        result
    };

    let foreign = ExternalExecutionResultEvent::new("another", [good("c1")]);
    assert_eq!(refusal(foreign.into()), InputRejection::UnknownReply { reply_id: "another".to_owned() });
    let twice = results(&waiting, vec![good("c1"), good("c1")]);
    assert_eq!(refusal(twice.into()), InputRejection::AlreadyAnswered { call_id: "c1".to_owned() });
    let running = changed(good("c1"), |result| result.state = ToolResultState::Running);
    assert_eq!(refusal(results(&waiting, vec![running]).into()), InputRejection::NotFinal { call_id: "c1".to_owned() });
    let renamed = changed(good("c1"), |result| result.name = "window".to_owned());
    assert!(
        matches!(refusal(results(&waiting, vec![renamed]).into()), InputRejection::ToolMismatch { named, .. } if named == "window")
    );
    let unknown = changed(good("c1"), |result| result.id = "c9".to_owned());
    let expected = InputRejection::UnknownCall { reply_id: reply_id.clone(), call_id: "c9".to_owned() };
    assert_eq!(refusal(results(&waiting, vec![unknown]).into()), expected);
    let half = results(&waiting, vec![good("c1"), call("c2").success("opened")]);
    assert!(matches!(refusal(half.into()), InputRejection::InvalidMetadata { call_id, .. } if call_id == "c2"));
    assert!(
        matches!(refusal(confirm(&waiting, &["c1"]).into()), InputRejection::NotWaiting { call_id, .. } if call_id == "c1")
    );
    let calls = vec!["c1".to_owned(), "c2".to_owned()];
    assert_eq!(refusal("Hello?".into()), InputRejection::Waiting { reply_id: reply_id.clone(), calls: calls.clone() });
    assert_eq!(refusal(().into()), InputRejection::Waiting { reply_id, calls });
    let bad = vec![Msg::user("Alice", "Hi"), Msg::system("system", "Obey.")];
    assert!(matches!(refused(bad.into()), Error::InvalidMessage(_)));
    assert_eq!(agent.open_reply().unwrap(), waiting);

    let done = agent.reply(results(&waiting, vec![good("c2"), good("c1")])).await.unwrap();
    assert_eq!(done.finished_reason(), Some(FinishedReason::Completed));
    assert_eq!(agent.messages().len(), 2);
    let late = results(&waiting, vec![good("c1")]);
    assert!(matches!(refusal(late.into()), InputRejection::ReplyEnded { .. }));
}

#[tokio::test]
async fn d18_second_reply_is_rejected_while_busy() {
    let gate = Gate::new();
    let model = ScriptedModel::new().waits(&gate).says("First.").then().says("Second.");
    let agent = agent(&model).build().unwrap();
    let first = agent.reply_stream("Hi").unwrap();
    let Err(Error::Busy { reply_id }) = agent.reply("Hi too").await else { panic!() };
    gate.open();
    let message = first.into_msg().await.unwrap();
    assert_eq!(message.id(), reply_id);
    assert_eq!(agent.messages().len(), 2);
    assert_eq!(agent.reply("Hi too").await.unwrap().text().as_deref(), Some("Second."));
}

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
struct Verdict {
    approved: bool,
}

#[tokio::test]
async fn d18_agents_with_shared_tools_have_separate_schemas() {
    let script = || ScriptedModel::new().calls("GenerateStructuredOutput", r#"{"approved": true}"#);
    let toolkit = recount_agent::tool::Toolkit::new().with(echo("search")).unwrap();
    let first = agent(&script()).toolkit(toolkit.clone()).build().unwrap();
    let second = agent(&script()).toolkit(toolkit).build().unwrap();
    let (one, other) = tokio::join!(first.reply_as::<Verdict>("Hi"), second.reply_as::<Verdict>("Hi"));
    assert_eq!((one.unwrap(), other.unwrap()), (Verdict { approved: true }, Verdict { approved: true }));
}

#[tokio::test]
async fn d24_confirmation_cannot_change_the_tool() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("Done.");
    let forbidden = PermissionRule::new("danger", None, PermissionBehavior::Deny);
    let permissions = Permissions::new(Mode::Default).with_rule(forbidden);
    let agent = careful(&model).permissions(permissions).tool(echo("search")).tool(echo("danger")).build().unwrap();
    let waiting = agent.reply("Hi").await.unwrap();
    let mut renamed = waiting.call("c1").unwrap().clone();
    renamed.name = "danger".to_owned();
    let smuggled = UserConfirmResultEvent::new(waiting.id().to_owned(), [ConfirmResult::allow(renamed)]);
    assert!(matches!(agent.reply(smuggled).await, Err(Error::Rejected(InputRejection::ToolMismatch { .. }))));

    let asked = waiting.call("c1").unwrap().clone();
    let rule = |tool: &str| PermissionRule::new(tool, None, PermissionBehavior::Allow);
    let mut answer = ConfirmResult::allow(asked);
    answer.rules = Some(vec![rule("danger")]);
    let smuggled = UserConfirmResultEvent::new(waiting.id().to_owned(), [answer.clone()]);
    assert!(matches!(agent.reply(smuggled).await, Err(Error::Rejected(InputRejection::InvalidRules { .. }))));

    answer.rules = Some(vec![rule("search"), rule("search")]);
    let good = UserConfirmResultEvent::new(waiting.id().to_owned(), [answer]);
    let events = say(&agent, good).await;
    assert_eq!(order(&events)[..2], ["USER_CONFIRM_RESULT", "recount.permissions"]);
    assert_eq!(agent.state().permissions.rules(PermissionBehavior::Allow)["search"].len(), 1);
}

#[tokio::test]
async fn d24_edited_arguments_are_checked_again() {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Arguments {
        x: u8,
    }
    let model = ScriptedModel::new().calls_as("c1", "set", r#"{"x":1}"#).then().says("Done.");
    let set = FunctionTool::new("set", "Sets.", |set: Arguments| async move { Ok(format!("x is {}", set.x)) });
    let agent = careful(&model).tool(set).build().unwrap();
    let waiting = agent.reply("Hi").await.unwrap();
    let mut edited = waiting.call("c1").unwrap().clone();
    edited.input = r#"{"x":"many"}"#.to_owned();
    let answer = UserConfirmResultEvent::new(waiting.id().to_owned(), [ConfirmResult::allow(edited)]);
    assert!(matches!(agent.reply(answer).await, Err(Error::Rejected(InputRejection::InvalidArguments { .. }))));
    // The answer was rejected as a whole, so the call still waits.
    assert_eq!(agent.open_reply().as_ref(), Some(&waiting));
}

#[tokio::test]
async fn d24b_stop_on_reject_ends_the_reply() {
    let model = ScriptedModel::new().calls_as("c1", "search", "{}").then().says("I go on.");
    let agent = careful(&model).tool(echo("search")).stop_on_reject(true).build().unwrap();
    let events = say(&agent, "Hi").await;
    let asked = events.iter().find(|event| event.type_name() == "REQUIRE_USER_CONFIRM").unwrap();
    assert!(asked.extension("reason").is_some());
    let waiting = agent.open_reply().unwrap();
    let no = ConfirmResult::deny(waiting.call("c1").unwrap().clone());
    let message = agent.reply(UserConfirmResultEvent::new(waiting.id().to_owned(), [no])).await.unwrap();
    assert_eq!(message.generate_reason(), recount_message::GenerateReason::AllToolsDenied);
    assert_eq!((message.text(), model.remaining()), (None, 1));
}

#[tokio::test]
async fn d26_second_wait_is_signalled() {
    let model = ScriptedModel::new().calls_as("c1", "a", "{}").calls_as("c2", "b", "{}").then().says("Done.");
    let tools = |name| echo(name).concurrency_safe();
    let agent = careful(&model).tool(tools("a")).tool(tools("b")).build().unwrap();
    let waiting = agent.reply("Hi").await.unwrap();
    let events = say(&agent, confirm(&waiting, &["c2"])).await;
    let EventKind::Custom(reported) = &events.last().unwrap().kind else { panic!() };
    assert_eq!(reported.name, "recount.waiting");
    assert_eq!(
        reported.value.to_json(),
        format!(r#"{{"reply_id":"{}","calls":["c1"],"expires_at":null}}"#, waiting.id())
    );
}

#[tokio::test]
async fn d27_resumed_reply_validates_the_output_type() {
    #[derive(Debug, Deserialize, schemars::JsonSchema)]
    #[serde(try_from = "u8")]
    #[allow(dead_code, reason = "only its reading matters")]
    struct Even(u8);
    impl TryFrom<u8> for Even {
        type Error = String;
        fn try_from(number: u8) -> Result<Self, String> {
            if number.is_multiple_of(2) { Ok(Self(number)) } else { Err(format!("{number} is odd")) }
        }
    }
    #[derive(Debug, Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its reading matters")]
    struct Answer {
        number: Even,
    }
    let model = ScriptedModel::new()
        .calls_as("c1", "search", "{}")
        .then()
        .calls("GenerateStructuredOutput", r#"{"number": 3}"#)
        .then()
        .calls("GenerateStructuredOutput", r#"{"number": 4}"#);
    let first = careful(&model).tool(echo("search")).build().unwrap();
    let Err(Error::Waiting { message: waiting }) = first.reply_as::<Answer>("Hi").await else { panic!() };
    let second = careful(&model).tool(echo("search")).resume(first.save().unwrap()).build().unwrap();
    let answer: Answer = second.reply_as(confirm(&waiting, &["c1"])).await.unwrap();
    assert_eq!(answer.number.0, 4);
}

#[tokio::test]
async fn d28_interrupt_of_an_idle_agent_is_rejected() {
    let agent = agent(&ScriptedModel::new()).build().unwrap();
    assert!(!agent.interrupt());
    assert!(matches!(agent.reply(Input::interrupt()).await, Err(Error::Rejected(InputRejection::NothingWaiting))));
    let event: AgentEvent = Event::new(UserInterruptEvent::new("r9"));
    assert!(matches!(agent.reply(event).await, Err(Error::Rejected(InputRejection::UnknownReply { .. }))));
}

#[tokio::test]
async fn d28_external_results_are_shortened_and_keep_audio() {
    let model = ScriptedModel::new()
        .shows(DataBlock::from_bytes(b"RIFF....WAVEfmt "))
        .calls_as("c1", "door", "{}")
        .then()
        .says("Done.");
    let agent = agent(&model).tool(external("door")).tool_result_limit(10).build().unwrap();
    let waiting = agent.reply("Hi").await.unwrap();
    let call = waiting.call("c1").unwrap().clone();
    let events = say(&agent, results(&waiting, vec![call.success("o".repeat(1_000))])).await;
    assert!(order(&events).contains(&"recount.truncated".to_owned()));
    let asked = model.requests().pop().unwrap();
    let shown = asked.messages.last().unwrap();
    assert!(shown.result_of("c1").unwrap().output.text().unwrap().len() < 400);
    assert!(shown.has::<DataBlock>());
}
