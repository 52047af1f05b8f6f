//! Tests of inputs that a reply waits for: confirmations and external results, from any client.

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

use crate::common::{
    RecordedMessage, TestReader, assert_calls_answered, confirmation, deploy, host, memory_session, user,
};

/// A reply that waits for the confirmation of a call `c1` of `deploy`.
struct Waiting {
    log: Log,
    session: Session,
    host: Host,
    recorded: RecordedMessage,
    runs: Arc<AtomicUsize>,
    reader: TestReader,
    reply: Msg,
}

async fn waiting(model: &ScriptedModel) -> Waiting {
    let (log, session) = memory_session().await;
    let (recorded, runs) = (RecordedMessage::default(), Arc::default());
    let host = host(&log, {
        let (model, recorded, runs) = (model.clone(), recorded.clone(), Arc::clone(&runs));
        move || Agent::builder("Friday").model(model.clone()).tool(deploy(&runs)).middleware(recorded.clone())
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("a reply that waits", |reader| !reader.signals("recount.waiting").is_empty()).await;
    let reply = reader.reply(&posted.reply_id).unwrap().clone();
    Waiting { log, session, host, recorded, runs, reader, reply }
}

fn deploy_model() -> ScriptedModel {
    ScriptedModel::new().thinks("Hm.").says("I will.").calls_as("c1", "deploy", "{}").then().says("It is live.")
}

fn refusal(error: recount_host::Error) -> RefusalReason {
    match error {
        recount_host::Error::Log(recount_log::Error::Refused(refusal)) => refusal.reason,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn confirmation_from_host_or_log_runs_tool() {
    for is_direct in [false, true] {
        let model = deploy_model();
        let mut at = waiting(&model).await;
        let signals = at.reader.signals("recount.waiting");
        assert_eq!(signals[0].to_json(), r#"{"reply_id":"m1.reply","calls":["c1"],"expires_at":null}"#);
        let answer = confirmation(&at.reply, "c1");
        if is_direct {
            at.session.append([&answer]).await.unwrap();
        } else {
            at.host.append(at.session.key(), [&answer]).await.unwrap();
        }
        let reply = at.reader.wait_for_end(at.reply.id()).await;
        assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Success);
        assert_eq!(reply.text_joined_by("|").as_deref(), Some("I will.|It is live."));
        assert_eq!(at.runs.load(Ordering::SeqCst), 1);
        assert_calls_answered(&at.reader, &reply);
        assert_eq!(at.reader.message_before_end(reply.id()), at.recorded.last());
    }
}

#[tokio::test]
async fn rejected_call_returns_denied_result_to_model() {
    let mut at = waiting(&deploy_model()).await;
    let asked = at.reply.call("c1").unwrap().clone();
    let no = Event::new(UserConfirmResultEvent::new(at.reply.id().to_owned(), [ConfirmResult::deny(asked)]));
    at.host.append(at.session.key(), [&no]).await.unwrap();
    let reply = at.reader.wait_for_end(at.reply.id()).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Denied);
    assert_eq!(at.runs.load(Ordering::SeqCst), 0);
    assert_eq!(at.reader.message_before_end(reply.id()), at.recorded.last());
}

fn always(reply: &Msg, rule: PermissionRule) -> AgentEvent {
    let asked = reply.call("c1").unwrap().clone();
    let answer = ConfirmResult::allow(asked).with_rules([rule]);
    Event::new(UserConfirmResultEvent::new(reply.id().to_owned(), [answer]))
}

#[tokio::test]
async fn permission_rule_survives_host_restart() {
    let model = deploy_model().then().calls_as("c2", "deploy", "{}").then().says("Again.");
    let mut at = waiting(&model).await;
    let rule = PermissionRule::new("deploy", None, PermissionBehavior::Allow);
    at.host.append(at.session.key(), [&always(&at.reply, rule)]).await.unwrap();
    at.reader.wait_for_end(at.reply.id()).await;
    assert_eq!(at.reader.signals("recount.permissions").len(), 1);
    let Waiting { log, session, host: first, runs, mut reader, .. } = at;
    first.drain(Duration::ZERO).await;
    let host = host(&log, {
        let runs = Arc::clone(&runs);
        move || Agent::builder("Friday").model(model.clone()).tool(deploy(&runs))
    })
    .await;
    let posted = host.post(session.key(), user("m2", "Once more."), OnBusy::Reject).await.unwrap();
    assert_eq!(reader.wait_for_end(&posted.reply_id).await.text().as_deref(), Some("Again."));
    assert_eq!(reader.signals("recount.waiting").len(), 1);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn confirmation_ignores_rule_that_was_not_suggested() {
    let mut at = waiting(&deploy_model()).await;
    let rule = PermissionRule::new("format_disk", None, PermissionBehavior::Allow);
    at.host.append(at.session.key(), [&always(&at.reply, rule)]).await.unwrap();
    let reply = at.reader.wait_for_end(at.reply.id()).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Success);
    assert!(at.reader.signals("recount.permissions").is_empty());
    assert_eq!(at.reader.message_before_end(reply.id()), at.recorded.last());
}

#[tokio::test]
async fn confirmation_ignores_rule_that_does_not_cover_edited_call() {
    let mut at = waiting(&deploy_model()).await;
    let mut edited = at.reply.call("c1").unwrap().clone();
    edited.input = r#"{"edited": true}"#.to_owned();
    let rule = PermissionRule::new("deploy", Some("original"), PermissionBehavior::Allow);
    let answer = ConfirmResult::allow(edited).with_rules([rule]);
    let answer = Event::new(UserConfirmResultEvent::new(at.reply.id().to_owned(), [answer]));
    at.host.append(at.session.key(), [&answer]).await.unwrap();
    let reply = at.reader.wait_for_end(at.reply.id()).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Success);
    assert_eq!(at.runs.load(Ordering::SeqCst), 1);
    assert!(at.reader.signals("recount.permissions").is_empty());
}

#[tokio::test]
async fn first_confirmation_wins_and_later_ones_are_rejected() {
    let mut at = waiting(&deploy_model()).await;
    let key = at.session.key().clone();
    let (first, second) = (confirmation(&at.reply, "c1"), confirmation(&at.reply, "c1"));
    let stranger = ToolCallBlock::new("c9", "deploy", "{}");
    let foreign = UserConfirmResultEvent::new(at.reply.id().to_owned(), [ConfirmResult::allow(stranger)]);
    let refused = at.host.append(&key, [&Event::new(foreign)]).await.unwrap_err();
    assert_eq!(refusal(refused), RefusalReason::Foreign);

    let taken = at.host.append(&key, [&first]).await.unwrap();
    let refused = at.host.append(&key, [&second]).await.unwrap_err();
    assert!(matches!(refusal(refused), RefusalReason::Duplicate | RefusalReason::Late));
    // Resending the same event returns the first result.
    assert_eq!(at.host.append(&key, [&first]).await.unwrap().cursor, taken.cursor);
    at.reader.wait_for_end(at.reply.id()).await;
    let refused = at.host.append(&key, [&second]).await.unwrap_err();
    assert_eq!(refusal(refused), RefusalReason::Late);
    assert_eq!(at.runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn waiting_reply_resumes_on_next_host() {
    let mut at = waiting(&deploy_model()).await;
    let answer = confirmation(&at.reply, "c1");
    drop(at.host);
    // The confirmation is appended while no host is running.
    at.session.append([&answer]).await.unwrap();
    let _host = host(&at.log, {
        let runs = Arc::clone(&at.runs);
        move || Agent::builder("Friday").model(ScriptedModel::new().says("It is live.")).tool(deploy(&runs))
    })
    .await;
    let reply = at.reader.wait_for_end(at.reply.id()).await;
    assert_eq!(reply.text_joined_by("|").as_deref(), Some("I will.|It is live."));
    assert_eq!(at.runs.load(Ordering::SeqCst), 1);
    assert_calls_answered(&at.reader, &reply);
}

#[tokio::test]
async fn rule_appended_without_host_is_applied_on_start() {
    let mut at = waiting(&deploy_model()).await;
    let rule = PermissionRule::new("deploy", None, PermissionBehavior::Allow);
    let answer = always(&at.reply, rule);
    drop(at.host);
    at.session.append([&answer]).await.unwrap();
    let _host = host(&at.log, {
        let runs = Arc::clone(&at.runs);
        move || Agent::builder("Friday").model(ScriptedModel::new().says("It is live.")).tool(deploy(&runs))
    })
    .await;
    at.reader.wait_for_end(at.reply.id()).await;
    assert_eq!(at.reader.signals("recount.permissions").len(), 1);
}

#[tokio::test]
async fn concurrent_calls_are_confirmed_one_by_one() {
    let (log, session) = memory_session().await;
    let runs: Arc<AtomicUsize> = Arc::default();
    let model = ScriptedModel::new()
        .calls_as("c1", "deploy", "{}")
        .calls_as("c2", "deploy", "{}")
        .then()
        .says("Both are live.");
    let recorded = RecordedMessage::default();
    let host = host(&log, {
        let (runs, recorded) = (Arc::clone(&runs), recorded.clone());
        move || {
            let tool = deploy(&runs).concurrency_safe();
            Agent::builder("Friday").model(model.clone()).tool(tool).middleware(recorded.clone())
        }
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Deploy both."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    for id in ["c1", "c2"] {
        let is_asked = |reader: &TestReader| {
            let call = reader.reply(&posted.reply_id).and_then(|reply| reply.call(id));
            call.is_some_and(|call| call.state == recount_message::ToolCallState::Asking)
        };
        reader.wait_until("the confirmation request", is_asked).await;
        let reply = reader.reply(&posted.reply_id).unwrap().clone();
        host.append(session.key(), [&confirmation(&reply, id)]).await.unwrap();
    }
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_calls_answered(&reader, &reply);
    assert_eq!(reader.message_before_end(reply.id()), recorded.last());
}

/// An agent with an external tool.
fn agent_with_external_tool(model: &ScriptedModel, recorded: &RecordedMessage) -> recount_agent::AgentBuilder {
    let lookup = FunctionTool::<NoArguments>::external("lookup", "Looks up.").read_only();
    Agent::builder("Friday").model(model.clone()).tool(lookup).middleware(recorded.clone())
}

fn found(reply_id: &str, result: ToolResultBlock) -> AgentEvent {
    Event::new(ExternalExecutionResultEvent::new(reply_id.to_owned(), [result]))
}

#[tokio::test]
async fn external_result_resumes_reply() {
    for is_restarted in [false, true] {
        let (log, session) = memory_session().await;
        let model = ScriptedModel::new().calls_as("c1", "lookup", "{}").then().says("It is 42.");
        let recorded = RecordedMessage::default();
        let make = {
            let (model, recorded) = (model.clone(), recorded.clone());
            move || agent_with_external_tool(&model, &recorded)
        };
        let mut running = host(&log, make.clone()).await;
        let posted = running.post(session.key(), user("m1", "Look it up."), OnBusy::Reject).await.unwrap();
        let mut reader = TestReader::new(&session);
        reader.wait_until("a reply that waits", |reader| !reader.signals("recount.waiting").is_empty()).await;
        let result = found(&posted.reply_id, ToolResultBlock::success("c1", "lookup", "42"));
        if is_restarted {
            drop(running);
            session.append([&result]).await.unwrap();
            running = host(&log, make).await;
        } else {
            running.append(session.key(), [&result]).await.unwrap();
        }
        let reply = reader.wait_for_end(&posted.reply_id).await;
        assert_eq!(reply.result_of("c1").unwrap().output.text().as_deref(), Some("42"));
        assert_eq!(reply.text().as_deref(), Some("It is 42."));
        assert_calls_answered(&reader, &reply);
        assert_eq!(reader.message_before_end(reply.id()), recorded.last());
        drop(running);
    }
}

#[tokio::test]
async fn rejected_external_result_becomes_tool_error() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new().calls_as("c1", "lookup", "{}").then().says("I could not.");
    let recorded = RecordedMessage::default();
    let host = host(&log, {
        let (model, recorded) = (model.clone(), recorded.clone());
        move || agent_with_external_tool(&model, &recorded)
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Look it up."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("a reply that waits", |reader| !reader.signals("recount.waiting").is_empty()).await;
    let result = ToolResultBlock::success("c1", "another_tool", "42");
    host.append(session.key(), [&found(&posted.reply_id, result)]).await.unwrap();
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Error);
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert_eq!(reader.message_before_end(reply.id()), recorded.last());
}
