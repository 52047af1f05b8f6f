//! Confirmations that expire, and answers that do not fit.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::scripted::ScriptedModel;
use recount_agent::several::SubAgent;
use recount_agent::tool::FunctionTool;
use recount_agent::{Agent, Error, Input, Refusal, Saved};
use recount_message::jiff::{SignedDuration, Timestamp};
use recount_message::{
    AgentEvent, Clock, ConfirmResult, CountingIds, EventKind, Json, Msg, Stamps, ToolCallState, ToolResultState,
    UserConfirmResultEvent,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::looker::looker;
use crate::support::{careful, echo, folded, say};

/// A clock that a test sets.
#[derive(Clone)]
struct Hand(Arc<Mutex<Timestamp>>);

impl Hand {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Timestamp::UNIX_EPOCH)))
    }

    fn pass(&self, seconds: i64) {
        let mut time = self.0.lock().unwrap();
        *time = time.checked_add(SignedDuration::from_secs(seconds)).unwrap();
    }

    fn stamps(&self) -> Stamps {
        Stamps::new(CountingIds::new("id-"), self.clone())
    }
}

impl Clock for Hand {
    fn now(&mut self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

fn yes(message: &Msg, call: &str) -> Input {
    let call = message.call(call).unwrap().clone();
    UserConfirmResultEvent::new(message.id().to_owned(), [ConfirmResult::allow(call)]).into()
}

fn waiting(events: &[AgentEvent]) -> Option<String> {
    let told = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Custom(custom) if custom.name == "recount.waiting" => Some(custom.value.clone()),
        _ => None,
    });
    told.unwrap().get("expires_at").and_then(Json::to_text)
}

#[tokio::test]
async fn what_nobody_confirms_in_time_is_refused() {
    let hand = Hand::new();
    let model = ScriptedModel::new().calls("deploy", "{}").then().says("Nobody was there.");
    let agent = careful(&model)
        .tool(echo("deploy"))
        .confirm_within(Duration::from_secs(60))
        .stamps(hand.stamps())
        .build()
        .unwrap();
    let events = say(&agent, "Deploy.").await;
    assert_eq!(waiting(&events).as_deref(), Some("1970-01-01T00:01:00.000000+00:00"));
    assert_eq!(agent.expires_at().map(Timestamp::as_second), Some(60));

    // Before that nothing has happened, and after that nobody can confirm any more.
    hand.pass(59);
    assert!(matches!(agent.reply(()).await, Err(Error::Refused(Refusal::Waiting { .. }))));
    hand.pass(1);
    let open = agent.open_reply().unwrap();
    let Err(Error::Refused(late)) = agent.reply(yes(&open, "call_1")).await else { panic!() };
    assert_eq!((late.code(), agent.open_reply().as_ref()), ("late", Some(&open)));
    assert_eq!(late.to_string(), "the call \"call_1\" could be confirmed until 1970-01-01T00:01:00.000000+00:00");

    let message = agent.reply(()).await.unwrap();
    let result = message.result_of("call_1").unwrap();
    assert_eq!(result.state, ToolResultState::Denied);
    assert!(result.output.text().unwrap().contains("Nobody has confirmed this call until 1970-01-01T00:01:00"));
    assert_eq!((message.text().as_deref(), agent.expires_at()), (Some("Nobody was there."), None));
}

#[tokio::test]
async fn a_confirmation_in_time_counts_also_elsewhere() {
    let hand = Hand::new();
    let model = ScriptedModel::new().calls("deploy", "{}").then().says("Live.");
    let build = || careful(&model).tool(echo("deploy")).confirm_within(Duration::from_secs(60)).stamps(hand.stamps());
    let here = build().build().unwrap();
    here.reply("Deploy.").await.unwrap();
    let saved = Saved::from_json(&here.save().unwrap().to_json()).unwrap();
    hand.pass(30);
    let there = build().resume(saved).build().unwrap();
    assert_eq!(there.expires_at().map(Timestamp::as_second), Some(60));
    let open = there.open_reply().unwrap();
    assert_eq!(there.reply(yes(&open, "call_1")).await.unwrap().text().as_deref(), Some("Live."));
}

#[tokio::test]
async fn a_call_that_waits_on_keeps_its_time() {
    let hand = Hand::new();
    let model = ScriptedModel::new().calls("a", "{}").calls("b", "{}").then().says("Done.");
    let (a, b) = (echo("a").concurrency_safe(), echo("b").concurrency_safe());
    let agent =
        careful(&model).tool(a).tool(b).confirm_within(Duration::from_secs(60)).stamps(hand.stamps()).build().unwrap();
    agent.reply("Both.").await.unwrap();
    hand.pass(30);
    let open = agent.open_reply().unwrap();
    let events = say(&agent, yes(&open, "call_1")).await;
    assert_eq!(waiting(&events).as_deref(), Some("1970-01-01T00:01:00.000000+00:00"));
    hand.pass(30);
    let message = agent.reply(()).await.unwrap();
    assert_eq!(message.result_of("call_1").unwrap().state, ToolResultState::Success);
    assert_eq!(message.result_of("call_2").unwrap().state, ToolResultState::Denied);
}

#[tokio::test]
async fn what_a_helper_asks_expires_too() {
    let hand = Hand::new();
    let model = ScriptedModel::new().calls("research", r#"{"task": "Look."}"#).then().says("Nobody was there.");
    let helper = || {
        let model = looker(vec![vec![("h1", "look", "{}")]], "I could not look.");
        Agent::builder("Helper").model(model).tool(echo("look")).confirm_within(Duration::from_secs(60))
    };
    let agent =
        careful(&model).tool(SubAgent::new("research", "Finds out.", helper)).stamps(hand.stamps()).build().unwrap();
    agent.reply("Well?").await.unwrap();
    assert_eq!(agent.expires_at().map(Timestamp::as_second), Some(60));
    assert!(matches!(agent.reply(()).await, Err(Error::Refused(Refusal::Waiting { .. }))));
    hand.pass(60);
    let message = agent.reply(()).await.unwrap();
    assert!(message.result_of("call_1").unwrap().output.text().unwrap().ends_with("I could not look."));
    assert_eq!(message.text().as_deref(), Some("Nobody was there."));
}

#[tokio::test]
async fn without_a_limit_nothing_expires() {
    let model = ScriptedModel::new().calls("deploy", "{}");
    let agent = careful(&model).tool(echo("deploy")).build().unwrap();
    let events = say(&agent, "Deploy.").await;
    assert_eq!((waiting(&events), agent.expires_at()), (None, None));
}

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    times: u32,
}

#[tokio::test]
async fn edited_arguments_that_do_not_fit_are_refused_and_the_call_waits_on() {
    let greet =
        FunctionTool::new(
            "greet",
            "Greets.",
            |greeting: Greeting| async move { Ok("Hi ".repeat(greeting.times as usize)) },
        );
    let model = ScriptedModel::new().calls("greet", r#"{"times": 1}"#).then().says("Done.");
    let agent = careful(&model).tool(greet).build().unwrap();
    agent.reply("Greet.").await.unwrap();
    let open = agent.open_reply().unwrap();
    let edited = |input: &str| {
        let mut call = open.call("call_1").unwrap().clone();
        call.input = input.to_owned();
        UserConfirmResultEvent::new(open.id().to_owned(), [ConfirmResult::allow(call)])
    };
    let Err(Error::Refused(refusal)) = agent.reply(edited(r#"{"times": "often"}"#)).await else { panic!() };
    assert_eq!(refusal.code(), "invalid");
    assert!(refusal.to_string().contains("$.times"), "{refusal}");
    assert_eq!(agent.open_reply().unwrap().call("call_1").unwrap().state, ToolCallState::Asking);

    let events = say(&agent, edited(r#"{"times": 2}"#)).await;
    let result = agent.messages()[1].result_of("call_1").unwrap().output.text();
    assert_eq!(result.as_deref(), Some("Hi Hi "));
    assert!(!events.is_empty());
}

#[tokio::test]
async fn an_answer_for_no_call_is_refused() {
    let model = ScriptedModel::new().calls("deploy", "{}");
    let agent = careful(&model).tool(echo("deploy")).build().unwrap();
    let events = say(&agent, "Deploy.").await;
    let reply_id = folded(&events).id().to_owned();
    let nothing = UserConfirmResultEvent::new(reply_id, []);
    assert!(matches!(agent.reply(nothing).await, Err(Error::Refused(Refusal::Empty { .. }))));
}
