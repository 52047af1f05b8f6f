//! Answers that a reply waits for, whoever writes them to the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_host::{Host, OnBusy};
use recount_log::{Log, RefusalReason, Session};
use recount_message::{
    AgentEvent, ConfirmResult, Event, ExternalExecutionResultEvent, FinishedReason, Msg, PermissionBehavior,
    PermissionRule, ToolCallBlock, ToolResultBlock, ToolResultState, UserConfirmResultEvent,
};

use crate::common::{Held, Watcher, check_paired, deploy, host, memory, user, yes};

/// A reply that waits for the user's word about a call `c1` of `deploy`.
struct Waiting {
    log: Log,
    session: Session,
    host: Host,
    held: Held,
    runs: Arc<AtomicUsize>,
    watcher: Watcher,
    reply: Msg,
}

async fn waiting(model: &ScriptedModel) -> Waiting {
    let (log, session) = memory().await;
    let (held, runs) = (Held::default(), Arc::default());
    let host = host(&log, {
        let (model, held, runs) = (model.clone(), held.clone(), Arc::clone(&runs));
        move || Agent::builder("Friday").model(model.clone()).tool(deploy(&runs)).middleware(held.clone())
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    watcher.until("a reply that waits", |watcher| !watcher.signals("recount.waiting").is_empty()).await;
    let reply = watcher.reply(&posted.reply_id).unwrap().clone();
    Waiting { log, session, host, held, runs, watcher, reply }
}

fn asks_once() -> ScriptedModel {
    ScriptedModel::new().thinks("Hm.").says("I will.").calls_as("c1", "deploy", "{}").then().says("It is live.")
}

fn refusal(error: recount_host::Error) -> RefusalReason {
    match error {
        recount_host::Error::Log(recount_log::Error::Refused(refusal)) => refusal.reason,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_yes_lets_the_tool_run_and_comes_from_anywhere() {
    for is_direct in [false, true] {
        let model = asks_once();
        let mut at = waiting(&model).await;
        let told = at.watcher.signals("recount.waiting");
        assert_eq!(told[0].to_json(), r#"{"reply_id":"m1.reply","calls":["c1"],"expires_at":null}"#);
        let answer = yes(&at.reply, "c1");
        if is_direct {
            at.session.append([&answer]).await.unwrap();
        } else {
            at.host.append(at.session.key(), [&answer]).await.unwrap();
        }
        let reply = at.watcher.ended(at.reply.id()).await;
        assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Success);
        assert_eq!(reply.text_joined_by("|").as_deref(), Some("I will.|It is live."));
        assert_eq!(at.runs.load(Ordering::SeqCst), 1);
        check_paired(&at.watcher, &reply);
        assert_eq!(at.watcher.before_its_end(reply.id()), at.held.last());
    }
}

#[tokio::test]
async fn a_no_is_told_to_the_model() {
    let mut at = waiting(&asks_once()).await;
    let asked = at.reply.call("c1").unwrap().clone();
    let no = Event::new(UserConfirmResultEvent::new(at.reply.id().to_owned(), [ConfirmResult::deny(asked)]));
    at.host.append(at.session.key(), [&no]).await.unwrap();
    let reply = at.watcher.ended(at.reply.id()).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Denied);
    assert_eq!(at.runs.load(Ordering::SeqCst), 0);
    assert_eq!(at.watcher.before_its_end(reply.id()), at.held.last());
}

fn always(reply: &Msg, rule: PermissionRule) -> AgentEvent {
    let asked = reply.call("c1").unwrap().clone();
    let answer = ConfirmResult::allow(asked).with_rules([rule]);
    Event::new(UserConfirmResultEvent::new(reply.id().to_owned(), [answer]))
}

#[tokio::test]
async fn always_is_a_rule_that_outlives_the_host() {
    let model = asks_once().then().calls_as("c2", "deploy", "{}").then().says("Again.");
    let mut at = waiting(&model).await;
    let rule = PermissionRule::new("deploy", None, PermissionBehavior::Allow);
    at.host.append(at.session.key(), [&always(&at.reply, rule)]).await.unwrap();
    at.watcher.ended(at.reply.id()).await;
    assert_eq!(at.watcher.signals("recount.permissions").len(), 1);
    let Waiting { log, session, host: first, runs, mut watcher, .. } = at;
    first.drain(Duration::ZERO).await;
    let host = host(&log, {
        let runs = Arc::clone(&runs);
        move || Agent::builder("Friday").model(model.clone()).tool(deploy(&runs))
    })
    .await;
    let posted = host.post(session.key(), user("m2", "Once more."), OnBusy::Reject).await.unwrap();
    assert_eq!(watcher.ended(&posted.reply_id).await.text().as_deref(), Some("Again."));
    assert_eq!(watcher.signals("recount.waiting").len(), 1);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_rule_that_nobody_was_asked_for_is_left_out_and_the_yes_counts() {
    let mut at = waiting(&asks_once()).await;
    let rule = PermissionRule::new("format_disk", None, PermissionBehavior::Allow);
    at.host.append(at.session.key(), [&always(&at.reply, rule)]).await.unwrap();
    let reply = at.watcher.ended(at.reply.id()).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Success);
    assert!(at.watcher.signals("recount.permissions").is_empty());
    assert_eq!(at.watcher.before_its_end(reply.id()), at.held.last());
}

#[tokio::test]
async fn rules_that_do_not_cover_an_edited_call_are_left_out_and_the_yes_counts() {
    let mut at = waiting(&asks_once()).await;
    let mut edited = at.reply.call("c1").unwrap().clone();
    edited.input = r#"{"edited": true}"#.to_owned();
    let rule = PermissionRule::new("deploy", Some("original"), PermissionBehavior::Allow);
    let answer = ConfirmResult::allow(edited).with_rules([rule]);
    let answer = Event::new(UserConfirmResultEvent::new(at.reply.id().to_owned(), [answer]));
    at.host.append(at.session.key(), [&answer]).await.unwrap();
    let reply = at.watcher.ended(at.reply.id()).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Success);
    assert_eq!(at.runs.load(Ordering::SeqCst), 1);
    assert!(at.watcher.signals("recount.permissions").is_empty());
}

#[tokio::test]
async fn the_first_answer_wins_and_the_others_are_told_so() {
    let mut at = waiting(&asks_once()).await;
    let key = at.session.key().clone();
    let (first, second) = (yes(&at.reply, "c1"), yes(&at.reply, "c1"));
    let stranger = ToolCallBlock::new("c9", "deploy", "{}");
    let foreign = UserConfirmResultEvent::new(at.reply.id().to_owned(), [ConfirmResult::allow(stranger)]);
    let refused = at.host.append(&key, [&Event::new(foreign)]).await.unwrap_err();
    assert_eq!(refusal(refused), RefusalReason::Foreign);

    let taken = at.host.append(&key, [&first]).await.unwrap();
    let refused = at.host.append(&key, [&second]).await.unwrap_err();
    assert!(matches!(refusal(refused), RefusalReason::Duplicate | RefusalReason::Late));
    // The same one again gets its first answer.
    assert_eq!(at.host.append(&key, [&first]).await.unwrap().cursor, taken.cursor);
    at.watcher.ended(at.reply.id()).await;
    let refused = at.host.append(&key, [&second]).await.unwrap_err();
    assert_eq!(refusal(refused), RefusalReason::Late);
    assert_eq!(at.runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_reply_that_waits_outlives_its_host() {
    let mut at = waiting(&asks_once()).await;
    let answer = yes(&at.reply, "c1");
    drop(at.host);
    // Somebody answers while there is no host.
    at.session.append([&answer]).await.unwrap();
    let _host = host(&at.log, {
        let runs = Arc::clone(&at.runs);
        move || Agent::builder("Friday").model(ScriptedModel::new().says("It is live.")).tool(deploy(&runs))
    })
    .await;
    let reply = at.watcher.ended(at.reply.id()).await;
    assert_eq!(reply.text_joined_by("|").as_deref(), Some("I will.|It is live."));
    assert_eq!(at.runs.load(Ordering::SeqCst), 1);
    check_paired(&at.watcher, &reply);
}

#[tokio::test]
async fn an_always_that_came_while_there_was_no_host_is_a_rule_too() {
    let mut at = waiting(&asks_once()).await;
    let rule = PermissionRule::new("deploy", None, PermissionBehavior::Allow);
    let answer = always(&at.reply, rule);
    drop(at.host);
    at.session.append([&answer]).await.unwrap();
    let _host = host(&at.log, {
        let runs = Arc::clone(&at.runs);
        move || Agent::builder("Friday").model(ScriptedModel::new().says("It is live.")).tool(deploy(&runs))
    })
    .await;
    at.watcher.ended(at.reply.id()).await;
    assert_eq!(at.watcher.signals("recount.permissions").len(), 1);
}

#[tokio::test]
async fn two_calls_are_answered_one_by_one() {
    let (log, session) = memory().await;
    let runs: Arc<AtomicUsize> = Arc::default();
    let model = ScriptedModel::new()
        .calls_as("c1", "deploy", "{}")
        .calls_as("c2", "deploy", "{}")
        .then()
        .says("Both are live.");
    let held = Held::default();
    let host = host(&log, {
        let (runs, held) = (Arc::clone(&runs), held.clone());
        move || {
            let tool = deploy(&runs).concurrency_safe();
            Agent::builder("Friday").model(model.clone()).tool(tool).middleware(held.clone())
        }
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Deploy both."), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    for id in ["c1", "c2"] {
        let is_asked = |watcher: &Watcher| {
            let call = watcher.reply(&posted.reply_id).and_then(|reply| reply.call(id));
            call.is_some_and(|call| call.state == recount_message::ToolCallState::Asking)
        };
        watcher.until("a call that is asked about", is_asked).await;
        let reply = watcher.reply(&posted.reply_id).unwrap().clone();
        host.append(session.key(), [&yes(&reply, id)]).await.unwrap();
    }
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    check_paired(&watcher, &reply);
    assert_eq!(watcher.before_its_end(reply.id()), held.last());
}

/// An agent whose tool somebody else runs.
fn lookup_agent(model: &ScriptedModel, held: &Held) -> recount_agent::AgentBuilder {
    let lookup = FunctionTool::<NoArguments>::external("lookup", "Looks up.").read_only();
    Agent::builder("Friday").model(model.clone()).tool(lookup).middleware(held.clone())
}

fn found(reply_id: &str, result: ToolResultBlock) -> AgentEvent {
    Event::new(ExternalExecutionResultEvent::new(reply_id.to_owned(), [result]))
}

#[tokio::test]
async fn a_result_from_elsewhere_goes_on_with_the_reply() {
    for is_restarted in [false, true] {
        let (log, session) = memory().await;
        let model = ScriptedModel::new().calls_as("c1", "lookup", "{}").then().says("It is 42.");
        let held = Held::default();
        let make = {
            let (model, held) = (model.clone(), held.clone());
            move || lookup_agent(&model, &held)
        };
        let mut running = host(&log, make.clone()).await;
        let posted = running.post(session.key(), user("m1", "Look it up."), OnBusy::Reject).await.unwrap();
        let mut watcher = Watcher::of(&session);
        watcher.until("a reply that waits", |watcher| !watcher.signals("recount.waiting").is_empty()).await;
        let result = found(&posted.reply_id, ToolResultBlock::success("c1", "lookup", "42"));
        if is_restarted {
            drop(running);
            session.append([&result]).await.unwrap();
            running = host(&log, make).await;
        } else {
            running.append(session.key(), [&result]).await.unwrap();
        }
        let reply = watcher.ended(&posted.reply_id).await;
        assert_eq!(reply.result_of("c1").unwrap().output.text().as_deref(), Some("42"));
        assert_eq!(reply.text().as_deref(), Some("It is 42."));
        check_paired(&watcher, &reply);
        assert_eq!(watcher.before_its_end(reply.id()), held.last());
        drop(running);
    }
}

#[tokio::test]
async fn a_result_that_the_agent_does_not_take_is_an_error_to_the_model() {
    let (log, session) = memory().await;
    let model = ScriptedModel::new().calls_as("c1", "lookup", "{}").then().says("I could not.");
    let held = Held::default();
    let host = host(&log, {
        let (model, held) = (model.clone(), held.clone());
        move || lookup_agent(&model, &held)
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Look it up."), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    watcher.until("a reply that waits", |watcher| !watcher.signals("recount.waiting").is_empty()).await;
    let result = ToolResultBlock::success("c1", "another_tool", "42");
    host.append(session.key(), [&found(&posted.reply_id, result)]).await.unwrap();
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Error);
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert_eq!(watcher.before_its_end(reply.id()), held.last());
}
