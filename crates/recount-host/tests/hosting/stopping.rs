//! Hosts that stop, and hosts that are two.

use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_host::{Error, Host, HostOptions, LEASE, OnBusy, PostError, SourceError};
use recount_log::LeaseRequest;
use recount_message::{FinishedReason, Msg};

use crate::common::{Team, Watcher, check_paired, deploy, host, host_with, memory, user, yes};

#[tokio::test]
async fn draining_lets_a_reply_come_to_its_end_and_begins_nothing_new() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate).says(" upon a time.");
    let first = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = first.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    let queued = first.post(session.key(), user("m2", "And then?"), OnBusy::Queue).await.unwrap();
    gate.reached().await;
    let draining = tokio::spawn({
        let first = first.clone();
        async move { first.drain(Duration::from_secs(60)).await }
    });
    let refused = loop {
        // It is busy until the host has heard of it.
        match first.post(session.key(), user("m3", "?"), OnBusy::Reject).await.unwrap_err() {
            PostError::Busy { .. } => tokio::task::yield_now().await,
            other => break other,
        }
    };
    assert!(matches!(refused, PostError::Host(Error::Draining)), "{refused}");
    gate.open();
    draining.await.unwrap();
    let mut watcher = Watcher::of(&session);
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(reply.text().as_deref(), Some("Once upon a time."));

    // What was queued is answered by the next host, and it does not count as a restart.
    let options = HostOptions { on_restart: Some(recount_agent::OnRestart::Close), ..HostOptions::default() };
    let _second =
        host_with(&log, options, || Agent::builder("Friday").model(ScriptedModel::new().says("The end."))).await;
    assert_eq!(watcher.ended(&queued.reply_id).await.text().as_deref(), Some("The end."));
}

#[tokio::test]
async fn what_does_not_end_in_time_is_left_for_the_next_host() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate);
    let first = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = first.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    first.drain(Duration::ZERO).await;
    let mut watcher = Watcher::of(&session);
    let next = ScriptedModel::new().says("Once upon a time.");
    let _second = host(&log, move || Agent::builder("Friday").model(next.clone())).await;
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert!(reply.text_joined_by("|").unwrap().ends_with("Once upon a time."));
    check_paired(&watcher, &reply);
    // Nobody had to take anything from anybody.
    assert!(watcher.signals("recount.taken_over").is_empty());
}

#[tokio::test]
async fn a_queue_survives_its_host() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("One").waits(&gate);
    let first = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let mut replies = Vec::new();
    for id in ["m1", "m2", "m3"] {
        replies.push(first.post(session.key(), user(id, id), OnBusy::Queue).await.unwrap());
    }
    gate.reached().await;
    drop(first);
    let next = ScriptedModel::new().says("One.").then().says("Two.").then().says("Three.");
    let second = host(&log, move || Agent::builder("Friday").model(next.clone())).await;
    let mut watcher = Watcher::of(&session);
    let mut texts = Vec::new();
    for posted in &replies {
        texts.push(watcher.ended(&posted.reply_id).await.text_joined_by("|").unwrap());
    }
    assert_eq!(texts, ["One|One.", "Two.", "Three."]);
    assert_eq!(second.post(session.key(), user("m3", "m3"), OnBusy::Reject).await.unwrap(), replies[2]);
    assert_eq!(watcher.fold.messages().map(Msg::id).filter(|id| !id.ends_with("reply")).count(), 3);
}

#[tokio::test]
async fn a_host_that_has_lost_its_lease_writes_nothing_more() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate).says(" upon a time.");
    let first = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = first.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let mut watcher = Watcher::of(&session);
    watcher
        .until("the first words", |watcher| watcher.count(|event| event.type_name() == "TEXT_BLOCK_DELTA") == 1)
        .await;

    let thief = session.lease(LeaseRequest::new(LEASE, "thief").force()).await.unwrap();
    gate.open();
    // A message that comes now is not this host's to answer.
    let refused = loop {
        match first.post(session.key(), user("m2", "?"), OnBusy::Reject).await.unwrap_err() {
            PostError::Busy { .. } => tokio::task::yield_now().await,
            other => break other,
        }
    };
    assert!(matches!(&refused, PostError::Host(Error::LeaseHeld { holder }) if holder == "thief"), "{refused}");
    watcher.until("the take-over", |watcher| !watcher.signals("recount.taken_over").is_empty()).await;
    assert_eq!(session.info().await.unwrap().head, watcher.events.len() as u64);
    drop(first);

    // The next host waits until the lease is free, and goes on.
    let options = HostOptions { lease_time: Duration::from_millis(30), ..HostOptions::default() };
    let next = ScriptedModel::new().says("Once upon a time.");
    let _second = host_with(&log, options, move || Agent::builder("Friday").model(next.clone())).await;
    session.release(thief).await.unwrap();
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    check_paired(&watcher, &reply);
}

#[tokio::test]
async fn two_hosts_on_a_log_do_not_work_on_the_same_reply() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let make = {
        let gate = gate.clone();
        move || Agent::builder("Friday").model(ScriptedModel::new().waits(&gate).says("Hello."))
    };
    let options = |holder: &str| HostOptions {
        holder: holder.to_owned(),
        lease_time: Duration::from_millis(300),
        ..HostOptions::default()
    };
    let first = host_with(&log, options("first"), make.clone()).await;
    let posted = first.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let second = host_with(&log, options("second"), make).await;
    let refused = second.post(session.key(), user("m2", "Hi"), OnBusy::Queue).await.unwrap_err();
    assert!(matches!(&refused, PostError::Host(Error::LeaseHeld { holder }) if holder == "first"), "{refused}");
    // An interrupt reaches the run wherever it comes from.
    second.interrupt(session.key()).await.unwrap().unwrap();
    let mut watcher = Watcher::of(&session);
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Interrupted));
    assert!(watcher.signals("recount.taken_over").is_empty());
}

#[tokio::test]
async fn a_reply_of_an_agent_elsewhere_stays_open_through_a_restart() {
    let (log, session) = memory().await;
    let start = recount_message::Event::from_json(
        r#"{"type":"REPLY_START","session_id":"s","reply_id":"r1","name":"Elsewhere"}"#,
    )
    .unwrap();
    let first = host(&log, || Agent::builder("Friday").model(ScriptedModel::new().says("Hello."))).await;
    first.append(session.key(), [&start]).await.unwrap();
    drop(first);
    let second = host(&log, || Agent::builder("Friday").model(ScriptedModel::new().says("Hello."))).await;
    // Both are at work in the same session.
    let posted = second.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    watcher.ended(&posted.reply_id).await;
    assert_eq!(watcher.reply("r1").unwrap().finished_at(), None);
    // There is none here, so the one elsewhere is told to stop.
    let at = second.interrupt(session.key()).await.unwrap().unwrap();
    watcher.until("the interrupt", |watcher| watcher.events.len() as u64 == at.seq).await;
    assert_eq!(watcher.events.last().unwrap().reply_id(), Some("r1"));
}

#[tokio::test]
async fn a_reply_whose_agent_is_gone_ends_with_an_error() {
    let (log, session) = memory().await;
    let runs = Arc::default();
    let first = host(&log, move || {
        let model = ScriptedModel::new().calls_as("c1", "deploy", "{}");
        Agent::builder("Friday").model(model).tool(deploy(&runs))
    })
    .await;
    let posted = first.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    watcher.until("a reply that waits", |watcher| !watcher.signals("recount.waiting").is_empty()).await;
    drop(first);
    let gone = Team(|name: &str| {
        Err(SourceError::Unavailable { name: name.to_owned(), problem: "its key is gone".to_owned() })
    });
    let second = Host::start(log, Arc::new(gone), HostOptions::default()).await.unwrap();
    let reply = watcher.reply(&posted.reply_id).unwrap().clone();
    second.append(session.key(), [&yes(&reply, "c1")]).await.unwrap();
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!(reply.error().unwrap().message, "agent `friday` is unavailable: its key is gone");
    check_paired(&watcher, &reply);
}

#[tokio::test]
async fn hosts_that_stop_in_good_order_do_not_count_as_dead() {
    let (log, session) = memory().await;
    let mut posted = None;
    for _ in 0..6 {
        let gate = Gate::new();
        let model = ScriptedModel::new().says("Once").waits(&gate);
        let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
        if posted.is_none() {
            posted = Some(host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap());
        }
        gate.reached().await;
        host.drain(Duration::ZERO).await;
    }
    let next = ScriptedModel::new().says("Once upon a time.");
    let _last = host(&log, move || Agent::builder("Friday").model(next.clone())).await;
    let mut watcher = Watcher::of(&session);
    let reply = watcher.ended(&posted.unwrap().reply_id).await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed), "{}", watcher.story());
}

#[tokio::test]
async fn an_interrupt_that_is_sent_again_gets_its_first_answer() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate);
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let id = || Some("stop".to_owned());
    let first = host.interrupt_once(session.key(), id()).await.unwrap();
    assert!(first.is_some());
    Watcher::of(&session).ended(&posted.reply_id).await;
    assert_eq!(host.interrupt_once(session.key(), id()).await.unwrap(), first);
    assert_eq!(host.interrupt_once(session.key(), Some("another".to_owned())).await.unwrap(), None);
}
