//! Tests of sub-agents, expired confirmations, invalid arguments and orphaned replies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::multi_agent::SubAgent;
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::FunctionTool;
use recount_host::{HostOptions, OnBusy};
use recount_log::LeaseRequest;
use recount_message::{
    AgentEvent, ConfirmResult, Event, FinishedReason, PermissionBehavior, PermissionRule, ReplyStart, ReplyWriter,
    Stamps, ToolResultState, UserConfirmResultEvent,
};

use crate::common::{
    RecordedMessage, TestReader, assert_calls_answered, confirmation, deploy, host, host_with, memory_session, user,
};

#[tokio::test]
async fn confirmation_reaches_sub_agent() {
    let (log, session) = memory_session().await;
    let runs: Arc<AtomicUsize> = Arc::default();
    let model = ScriptedModel::new().calls_as("b1", "delegate", r#"{"task": "Deploy it."}"#).then().says("Done.");
    let worker = ScriptedModel::new().calls_as("c1", "deploy", "{}").then().says("It is live.");
    let recorded = RecordedMessage::default();
    let host = host(&log, {
        let (runs, recorded) = (Arc::clone(&runs), recorded.clone());
        move || {
            let (runs, worker) = (Arc::clone(&runs), worker.clone());
            let delegate = SubAgent::new("delegate", "Does it.", move || {
                Agent::builder("Worker").model(worker.clone()).tool(deploy(&runs))
            });
            Agent::builder("Friday").model(model.clone()).tool(delegate).middleware(recorded.clone())
        }
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("both wait", |reader| reader.signals("recount.waiting").len() == 2).await;
    let part = reader.fold.messages().find(|message| message.parent().is_some()).unwrap().clone();
    host.append(session.key(), [&confirmation(&part, "c1")]).await.unwrap();
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.result_of("b1").unwrap().output.text().as_deref(), Some("It is live."));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_calls_answered(&reader, &reply);
    assert_eq!(reader.message_before_end(reply.id()), recorded.last());
}

#[tokio::test]
async fn sub_agent_ignores_rule_that_does_not_cover_edited_call() {
    let (log, session) = memory_session().await;
    let runs: Arc<AtomicUsize> = Arc::default();
    let model = ScriptedModel::new().calls_as("b1", "delegate", r#"{"task": "Deploy it."}"#).then().says("Done.");
    let worker = ScriptedModel::new().calls_as("c1", "deploy", "{}").then().says("It is live.");
    let host = host(&log, {
        let runs = Arc::clone(&runs);
        move || {
            let (runs, worker) = (Arc::clone(&runs), worker.clone());
            let delegate = SubAgent::new("delegate", "Does it.", move || {
                Agent::builder("Worker").model(worker.clone()).tool(deploy(&runs))
            });
            Agent::builder("Friday").model(model.clone()).tool(delegate)
        }
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("both wait", |reader| reader.signals("recount.waiting").len() == 2).await;
    let part = reader.fold.messages().find(|message| message.parent().is_some()).unwrap().clone();
    let mut edited = part.call("c1").unwrap().clone();
    edited.input = r#"{"edited": true}"#.to_owned();
    let rule = PermissionRule::new("deploy", Some("original"), PermissionBehavior::Allow);
    let answer = ConfirmResult::allow(edited).with_rules([rule]);
    let answer = Event::new(UserConfirmResultEvent::new(part.id().to_owned(), [answer]));
    host.append(session.key(), [&answer]).await.unwrap();
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert!(reader.signals("recount.permissions").is_empty());
    assert_calls_answered(&reader, &reply);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn unconfirmed_call_is_denied_after_timeout() {
    for is_restarted in [false, true] {
        let (log, session) = memory_session().await;
        let runs: Arc<AtomicUsize> = Arc::default();
        let model = ScriptedModel::new().calls_as("c1", "deploy", "{}").then().says("Nobody was there.");
        let make = {
            let (model, runs) = (model.clone(), Arc::clone(&runs));
            move || {
                let agent = Agent::builder("Friday").model(model.clone()).tool(deploy(&runs));
                agent.confirm_within(Duration::from_millis(100))
            }
        };
        let mut running = host(&log, make.clone()).await;
        let posted = running.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
        let mut reader = TestReader::new(&session);
        reader.wait_until("a reply that waits", |reader| !reader.signals("recount.waiting").is_empty()).await;
        assert!(!reader.signals("recount.waiting")[0].get("expires_at").unwrap().is_null());
        if is_restarted {
            drop(running);
            running = host(&log, make).await;
        }
        let reply = reader.wait_for_end(&posted.reply_id).await;
        assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Denied);
        assert_eq!(reply.text().as_deref(), Some("Nobody was there."));
        assert_eq!(runs.load(Ordering::SeqCst), 0);
        drop(running);
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Place {
    city: String,
}

#[tokio::test]
async fn invalid_edited_arguments_become_tool_error() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new().calls_as("c1", "visit", r#"{"city": "Rome"}"#).then().says("I could not.");
    // The lease is not renewed during the test, so no timer wakes the run.
    let options = HostOptions { lease_time: Duration::from_secs(3 * 3_600), ..HostOptions::default() };
    let host = host_with(&log, options, move || {
        let visit = FunctionTool::new("visit", "Goes there.", |place: Place| async move { Ok(place.city) });
        Agent::builder("Friday").model(model.clone()).tool(visit)
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Go."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("a reply that waits", |reader| !reader.signals("recount.waiting").is_empty()).await;
    let mut edited = reader.reply(&posted.reply_id).unwrap().call("c1").unwrap().clone();
    edited.input = r#"{"town": 7}"#.to_owned();
    let answer = UserConfirmResultEvent::new(posted.reply_id.clone(), [ConfirmResult::allow(edited)]);
    host.append(session.key(), [&Event::new(answer)]).await.unwrap();
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Error);
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert_calls_answered(&reader, &reply);
}

#[tokio::test]
async fn orphaned_sub_agent_reply_is_ended() {
    let (log, session) = memory_session().await;
    let lease = session.lease(LeaseRequest::new("another run", "another host")).await.unwrap();
    let mut events: Vec<AgentEvent> = Vec::new();
    {
        let start = ReplyStart::new("s", "Worker").with_reply_id("r1").with_parent("r0");
        let mut part = ReplyWriter::start_with(|event| events.push(event), Stamps::default(), start);
        let call = part.tool_call("c1", "deploy");
        part.end_tool_call(&call);
        part.text("Now");
        let _ = part.pause();
    }
    session.appender(Some(lease)).append(&events).await.unwrap();
    let _host = host(&log, || Agent::builder("Friday").model(ScriptedModel::new())).await;
    let mut reader = TestReader::new(&session);
    let part = reader.wait_for_end("r1").await;
    assert_eq!(part.finished_reason(), Some(FinishedReason::Interrupted));
    assert_calls_answered(&reader, &part);
}

#[tokio::test]
async fn hosted_reply_without_metadata_is_resumed() {
    let (log, session) = memory_session().await;
    let lease = session.lease(LeaseRequest::new("another run", "another host")).await.unwrap();
    let mut events: Vec<AgentEvent> = Vec::new();
    {
        let start = ReplyStart::new("s", "Friday").with_reply_id("r1");
        let mut reply = ReplyWriter::start_with(|event| events.push(event), Stamps::default(), start);
        reply.text("Once");
        let _ = reply.pause();
    }
    session.appender(Some(lease)).append(&events).await.unwrap();
    let _host = host(&log, || Agent::builder("Friday").model(ScriptedModel::new().says("Once upon a time."))).await;
    let reply = TestReader::new(&session).wait_for_end("r1").await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert!(reply.text_joined_by("|").unwrap().ends_with("Once upon a time."));
}
