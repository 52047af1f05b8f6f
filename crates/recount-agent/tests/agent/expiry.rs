//! Expiring confirmations, and answers that are rejected.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::multi_agent::SubAgent;
use recount_agent::permission::Coverage;
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use recount_agent::{Agent, BoxFuture, Error, Input, InputRejection, SavedAgent};
use recount_message::jiff::{SignedDuration, Timestamp};
use recount_message::{
    AgentEvent, Clock, ConfirmResult, CountingIds, EventKind, Json, Msg, Object, PermissionBehavior, PermissionRule,
    Stamps, ToolCallState, ToolResultState, UserConfirmResultEvent,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::looker::looker;
use crate::support::{careful, echo, folded, say};

/// A clock that is advanced by the test.
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
    let reported = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Custom(custom) if custom.name == "recount.waiting" => Some(custom.value.clone()),
        _ => None,
    });
    reported.unwrap().get("expires_at").and_then(Json::as_str).map(str::to_owned)
}

#[tokio::test]
async fn unconfirmed_call_is_denied_after_expiry() {
    let hand = Hand::new();
    let model = ScriptedModel::new().calls("deploy", "{}").then().says("No confirmation arrived.");
    let agent = careful(&model)
        .tool(echo("deploy"))
        .confirm_within(Duration::from_secs(60))
        .stamps(hand.stamps())
        .build()
        .unwrap();
    let events = say(&agent, "Deploy.").await;
    assert_eq!(waiting(&events).as_deref(), Some("1970-01-01T00:01:00.000000+00:00"));
    assert_eq!(agent.expires_at().map(Timestamp::as_second), Some(60));

    // Before the expiry nothing changes, and after it the confirmation is rejected.
    hand.pass(59);
    assert!(matches!(agent.reply(()).await, Err(Error::Rejected(InputRejection::Waiting { .. }))));
    hand.pass(1);
    let open = agent.open_reply().unwrap();
    let Err(Error::Rejected(late)) = agent.reply(yes(&open, "call_1")).await else { panic!() };
    assert_eq!((late.code(), agent.open_reply().as_ref()), ("late", Some(&open)));
    assert_eq!(late.to_string(), "the call \"call_1\" expired at 1970-01-01T00:01:00.000000+00:00");

    let message = agent.reply(()).await.unwrap();
    let result = message.result_of("call_1").unwrap();
    assert_eq!(result.state, ToolResultState::Denied);
    assert!(result.output.text().unwrap().contains("This call was not confirmed before 1970-01-01T00:01:00"));
    assert_eq!((message.text().as_deref(), agent.expires_at()), (Some("No confirmation arrived."), None));
}

#[tokio::test]
async fn confirmation_before_expiry_is_accepted_in_another_process() {
    let hand = Hand::new();
    let model = ScriptedModel::new().calls("deploy", "{}").then().says("Live.");
    let build = || careful(&model).tool(echo("deploy")).confirm_within(Duration::from_secs(60)).stamps(hand.stamps());
    let here = build().build().unwrap();
    here.reply("Deploy.").await.unwrap();
    let saved = SavedAgent::from_json(&here.save().unwrap().to_json()).unwrap();
    hand.pass(30);
    let there = build().resume(saved).build().unwrap();
    assert_eq!(there.expires_at().map(Timestamp::as_second), Some(60));
    let open = there.open_reply().unwrap();
    assert_eq!(there.reply(yes(&open, "call_1")).await.unwrap().text().as_deref(), Some("Live."));
}

#[tokio::test]
async fn waiting_call_keeps_its_expiry() {
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
async fn sub_agent_calls_expire() {
    let hand = Hand::new();
    let model = ScriptedModel::new().calls("research", r#"{"task": "Look."}"#).then().says("No confirmation arrived.");
    let sub_agent = || {
        let model = looker(vec![vec![("h1", "look", "{}")]], "I could not look.");
        Agent::builder("Helper").model(model).tool(echo("look")).confirm_within(Duration::from_secs(60))
    };
    let agent =
        careful(&model).tool(SubAgent::new("research", "Finds out.", sub_agent)).stamps(hand.stamps()).build().unwrap();
    agent.reply("Well?").await.unwrap();
    assert_eq!(agent.expires_at().map(Timestamp::as_second), Some(60));
    assert!(matches!(agent.reply(()).await, Err(Error::Rejected(InputRejection::Waiting { .. }))));
    hand.pass(60);
    let message = agent.reply(()).await.unwrap();
    assert!(message.result_of("call_1").unwrap().output.text().unwrap().ends_with("I could not look."));
    assert_eq!(message.text().as_deref(), Some("No confirmation arrived."));
}

#[tokio::test]
async fn calls_do_not_expire_without_a_limit() {
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
async fn invalid_edited_arguments_are_rejected_and_the_call_keeps_waiting() {
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
    let Err(Error::Rejected(refusal)) = agent.reply(edited(r#"{"times": "often"}"#)).await else { panic!() };
    assert_eq!(refusal.code(), "invalid");
    assert!(refusal.to_string().contains("$.times"), "{refusal}");
    assert_eq!(agent.open_reply().unwrap().call("call_1").unwrap().state, ToolCallState::Asking);

    let events = say(&agent, edited(r#"{"times": 2}"#)).await;
    let result = agent.messages()[1].result_of("call_1").unwrap().output.text();
    assert_eq!(result.as_deref(), Some("Hi Hi "));
    assert!(!events.is_empty());
}

/// A tool whose rules match calls with the same `word`.
struct WordTool(ToolSpec);

impl WordTool {
    fn new(name: &str) -> Self {
        Self(ToolSpec::new(name, "Prints a word."))
    }
}

impl Tool for WordTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run<'a>(&'a self, arguments: Object, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            Ok(arguments.get("word").and_then(Json::as_str).map(str::to_owned).unwrap_or_default().into())
        })
    }

    fn rule_coverage(&self, rules: &[&PermissionRule], _: PermissionBehavior, arguments: &Object) -> Coverage {
        let word = arguments.get("word").and_then(Json::as_str).map(str::to_owned);
        assert_ne!(word.as_deref(), Some("panic"), "a tool that fails");
        Coverage::from(rules.iter().any(|rule| rule.rule_content.is_none() || rule.rule_content == word))
    }
}

/// Answers a call of a [`WordTool`] whose word is `one`. Returns the rejection, or the resulting allow rules of the
/// agent.
async fn answer_word_call(
    tool: &str,
    input: &str,
    confirmed: bool,
    rules: &[(Option<&str>, PermissionBehavior)],
) -> Result<usize, InputRejection> {
    let model = ScriptedModel::new().calls(tool, r#"{"word": "one", "more": [1, 2]}"#).then().says("Done.");
    let agent = careful(&model).tool(WordTool::new(tool)).build().unwrap();
    agent.reply("Print.").await.unwrap();
    let open = agent.open_reply().unwrap();
    let mut call = open.call("call_1").unwrap().clone();
    call.input = input.to_owned();
    let answer = if confirmed { ConfirmResult::allow(call) } else { ConfirmResult::deny(call) };
    let rules = rules.iter().map(|(content, behavior)| PermissionRule::new(tool, *content, *behavior));
    let answer = UserConfirmResultEvent::new(open.id().to_owned(), [answer.with_rules(rules)]);
    let outcome = agent.reply(answer).await;
    let accepted = agent.state().permissions.rules(PermissionBehavior::Allow).get(tool).map_or(0, Vec::len);
    match outcome {
        Ok(_) => Ok(accepted),
        Err(Error::Rejected(refusal)) => {
            assert_eq!((accepted, agent.open_reply().as_ref()), (0, Some(&open)), "the answer was applied in part");
            Err(refusal)
        }
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn rules_not_covering_the_edited_call_are_rejected() {
    use PermissionBehavior::{Allow, Ask, Deny};
    let check =
        async |tool: &str, word: &str, rules: &[(Option<&str>, PermissionBehavior)], expected: Result<usize, usize>| {
            for confirmed in [true, false] {
                let input = format!(r#"{{"word": "{word}"}}"#);
                let outcome = answer_word_call(tool, &input, confirmed, rules).await;
                let index = outcome.map_err(|refusal| match refusal {
                    InputRejection::RuleNotCovering { index, .. } => index,
                    other => panic!("{other}"),
                });
                assert_eq!(index, expected, "{tool} {word} {rules:?} {confirmed}");
            }
        };
    check("print", "two", &[(Some("one"), Allow)], Err(0)).await;
    check("print", "two", &[(Some("two"), Allow)], Ok(1)).await;
    check("print", "two", &[(Some("two"), Allow), (Some("one"), Allow)], Err(1)).await;
    check("print", "panic", &[(Some("panic"), Allow)], Err(0)).await;
    // Deny rules never reduce the rights of the user.
    check("print", "two", &[(Some("one"), Deny), (Some("one"), Ask)], Ok(0)).await;
    // A rule for all calls of the shell allows every command.
    check("print", "two", &[(None, Allow)], Ok(1)).await;
    check("shell", "two", &[(None, Allow)], Err(0)).await;
    check("shell", "two", &[(Some(""), Allow)], Err(0)).await;
    check("shell", "two", &[(Some("two"), Allow)], Ok(1)).await;
}

#[tokio::test]
async fn rules_for_an_unedited_call_need_not_cover_it() {
    let rule = [(Some("other"), PermissionBehavior::Allow)];
    for input in [r#"{"word": "one", "more": [1, 2]}"#, r#"{"word":"one","more":[1,2]}"#] {
        assert_eq!(answer_word_call("shell", input, true, &rule).await, Ok(1), "{input}");
    }
}

#[tokio::test]
async fn rejection_names_the_rule_not_covering_the_edited_call() {
    let rules = [(Some("two"), PermissionBehavior::Allow), (Some("one:*"), PermissionBehavior::Allow)];
    let refusal = answer_word_call("shell", r#"{"word": "two"}"#, true, &rules).await.unwrap_err();
    assert_eq!(refusal.code(), "invalid");
    assert_eq!(
        refusal.to_string(),
        r#"invalid rules for the call "call_1": rule 1 (`shell(one:*)`) does not cover the edited call"#
    );
}

#[tokio::test]
async fn empty_answer_is_rejected() {
    let model = ScriptedModel::new().calls("deploy", "{}");
    let agent = careful(&model).tool(echo("deploy")).build().unwrap();
    let events = say(&agent, "Deploy.").await;
    let reply_id = folded(&events).id().to_owned();
    let nothing = UserConfirmResultEvent::new(reply_id, []);
    assert!(matches!(agent.reply(nothing).await, Err(Error::Rejected(InputRejection::Empty { .. }))));
}
