//! Replies that are parts of others, and answers that come too late or do not fit.

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
    AgentEvent, ConfirmResult, Event, FinishedReason, Object, PermissionBehavior, PermissionRule, ReplyWriter, Stamps,
    ToolResultState, UserConfirmResultEvent,
};

use crate::common::{Held, Watcher, check_paired, deploy, host, host_with, memory, user, yes};

#[tokio::test]
async fn an_answer_reaches_an_agent_that_works_for_another_one() {
    let (log, session) = memory().await;
    let runs: Arc<AtomicUsize> = Arc::default();
    let model = ScriptedModel::new().calls_as("b1", "delegate", r#"{"task": "Deploy it."}"#).then().says("Done.");
    let worker = ScriptedModel::new().calls_as("c1", "deploy", "{}").then().says("It is live.");
    let held = Held::default();
    let host = host(&log, {
        let (runs, held) = (Arc::clone(&runs), held.clone());
        move || {
            let (runs, worker) = (Arc::clone(&runs), worker.clone());
            let delegate = SubAgent::new("delegate", "Does it.", move || {
                Agent::builder("Worker").model(worker.clone()).tool(deploy(&runs))
            });
            Agent::builder("Friday").model(model.clone()).tool(delegate).middleware(held.clone())
        }
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    watcher.until("both wait", |watcher| watcher.signals("recount.waiting").len() == 2).await;
    let part = watcher.fold.messages().find(|message| message.parent().is_some()).unwrap().clone();
    host.append(session.key(), [&yes(&part, "c1")]).await.unwrap();
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(reply.result_of("b1").unwrap().output.text().as_deref(), Some("It is live."));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    check_paired(&watcher, &reply);
    assert_eq!(watcher.before_its_end(reply.id()), held.last());
}

#[tokio::test]
async fn rules_that_do_not_cover_an_edited_call_of_a_sub_agent_are_left_out() {
    let (log, session) = memory().await;
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
    let mut watcher = Watcher::of(&session);
    watcher.until("both wait", |watcher| watcher.signals("recount.waiting").len() == 2).await;
    let part = watcher.fold.messages().find(|message| message.parent().is_some()).unwrap().clone();
    let mut edited = part.call("c1").unwrap().clone();
    edited.input = r#"{"edited": true}"#.to_owned();
    let rule = PermissionRule::new("deploy", Some("original"), PermissionBehavior::Allow);
    let answer = ConfirmResult::allow(edited).with_rules([rule]);
    let answer = Event::new(UserConfirmResultEvent::new(part.id().to_owned(), [answer]));
    host.append(session.key(), [&answer]).await.unwrap();
    let reply = watcher.ended(&posted.reply_id).await;
    assert!(watcher.signals("recount.permissions").is_empty());
    check_paired(&watcher, &reply);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_call_that_nobody_confirms_in_time_counts_as_refused() {
    for is_restarted in [false, true] {
        let (log, session) = memory().await;
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
        let mut watcher = Watcher::of(&session);
        watcher.until("a reply that waits", |watcher| !watcher.signals("recount.waiting").is_empty()).await;
        assert!(!watcher.signals("recount.waiting")[0].get("expires_at").unwrap().is_null());
        if is_restarted {
            drop(running);
            running = host(&log, make).await;
        }
        let reply = watcher.ended(&posted.reply_id).await;
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
async fn arguments_that_a_tool_does_not_take_are_an_error_to_the_model() {
    let (log, session) = memory().await;
    let model = ScriptedModel::new().calls_as("c1", "visit", r#"{"city": "Rome"}"#).then().says("I could not.");
    // Nothing else happens for an hour that the run could go on with.
    let options = HostOptions { lease_time: Duration::from_secs(3 * 3_600), ..HostOptions::default() };
    let host = host_with(&log, options, move || {
        let visit = FunctionTool::new("visit", "Goes there.", |place: Place| async move { Ok(place.city) });
        Agent::builder("Friday").model(model.clone()).tool(visit)
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Go."), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    watcher.until("a reply that waits", |watcher| !watcher.signals("recount.waiting").is_empty()).await;
    let mut edited = watcher.reply(&posted.reply_id).unwrap().call("c1").unwrap().clone();
    edited.input = r#"{"town": 7}"#.to_owned();
    let answer = UserConfirmResultEvent::new(posted.reply_id.clone(), [ConfirmResult::allow(edited)]);
    host.append(session.key(), [&Event::new(answer)]).await.unwrap();
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(reply.result_of("c1").unwrap().state, ToolResultState::Error);
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    check_paired(&watcher, &reply);
}

#[tokio::test]
async fn what_nobody_can_go_on_with_is_brought_to_its_end() {
    let (log, session) = memory().await;
    let lease = session.lease(LeaseRequest::new("another run", "another host")).await.unwrap();
    let mut events: Vec<AgentEvent> = Vec::new();
    {
        let carried = Object::from([("parent", "r0")]);
        let sink = |event| events.push(event);
        let mut part = ReplyWriter::start_with(sink, Stamps::default(), "s", "Worker", "r1", carried);
        let call = part.tool_call("c1", "deploy");
        part.end_tool_call(&call);
        part.text("Now");
        let _ = part.pause();
    }
    session.appender(Some(lease)).append(&events).await.unwrap();
    let _host = host(&log, || Agent::builder("Friday").model(ScriptedModel::new())).await;
    let mut watcher = Watcher::of(&session);
    let part = watcher.ended("r1").await;
    assert_eq!(part.finished_reason(), Some(FinishedReason::Interrupted));
    check_paired(&watcher, &part);
}

#[tokio::test]
async fn a_hosted_reply_of_which_nothing_else_is_known_goes_on() {
    let (log, session) = memory().await;
    let lease = session.lease(LeaseRequest::new("another run", "another host")).await.unwrap();
    let mut events: Vec<AgentEvent> = Vec::new();
    {
        let sink = |event| events.push(event);
        let mut reply = ReplyWriter::start_with(sink, Stamps::default(), "s", "Friday", "r1", Object::new());
        reply.text("Once");
        let _ = reply.pause();
    }
    session.appender(Some(lease)).append(&events).await.unwrap();
    let _host = host(&log, || Agent::builder("Friday").model(ScriptedModel::new().says("Once upon a time."))).await;
    let reply = Watcher::of(&session).ended("r1").await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert!(reply.text_joined_by("|").unwrap().ends_with("Once upon a time."));
}
