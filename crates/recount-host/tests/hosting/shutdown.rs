//! Tests of draining, of the lease, and of two hosts on one log.

use std::sync::Arc;
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_host::{Error, Host, HostOptions, LEASE, OnBusy, PostError, SourceError};
use recount_log::LeaseRequest;
use recount_message::{FinishedReason, Msg};

use crate::common::{
    FnSource, TestReader, assert_calls_answered, confirmation, deploy, host, host_with, memory_session, user,
};

#[tokio::test]
async fn drain_finishes_running_reply_and_starts_nothing_new() {
    let (log, session) = memory_session().await;
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
        // The reply is busy until the host starts to drain.
        match first.post(session.key(), user("m3", "?"), OnBusy::Reject).await.unwrap_err() {
            PostError::Busy { .. } => tokio::task::yield_now().await,
            other => break other,
        }
    };
    assert!(matches!(refused, PostError::Host(Error::Draining)), "{refused}");
    gate.open();
    draining.await.unwrap();
    let mut reader = TestReader::new(&session);
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.text().as_deref(), Some("Once upon a time."));

    // The next host answers the queued message, and does not treat it as a crash.
    let options = HostOptions { on_restart: Some(recount_agent::OnRestart::Close), ..HostOptions::default() };
    let _second =
        host_with(&log, options, || Agent::builder("Friday").model(ScriptedModel::new().says("The end."))).await;
    assert_eq!(reader.wait_for_end(&queued.reply_id).await.text().as_deref(), Some("The end."));
}

#[tokio::test]
async fn reply_that_outlasts_drain_resumes_on_next_host() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate);
    let first = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = first.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    first.drain(Duration::ZERO).await;
    let mut reader = TestReader::new(&session);
    let next = ScriptedModel::new().says("Once upon a time.");
    let _second = host(&log, move || Agent::builder("Friday").model(next.clone())).await;
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert!(reply.text_joined_by("|").unwrap().ends_with("Once upon a time."));
    assert_calls_answered(&reader, &reply);
    // The lease was released, not taken over.
    assert!(reader.signals("recount.taken_over").is_empty());
}

#[tokio::test]
async fn queue_survives_crash() {
    let (log, session) = memory_session().await;
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
    let mut reader = TestReader::new(&session);
    let mut texts = Vec::new();
    for posted in &replies {
        texts.push(reader.wait_for_end(&posted.reply_id).await.text_joined_by("|").unwrap());
    }
    assert_eq!(texts, ["One|One.", "Two.", "Three."]);
    assert_eq!(second.post(session.key(), user("m3", "m3"), OnBusy::Reject).await.unwrap(), replies[2]);
    assert_eq!(reader.fold.messages().map(Msg::id).filter(|id| !id.ends_with("reply")).count(), 3);
}

#[tokio::test]
async fn host_appends_nothing_after_losing_lease() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate).says(" upon a time.");
    let first = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = first.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let mut reader = TestReader::new(&session);
    reader
        .wait_until("the first delta", |reader| reader.count(|event| event.type_name() == "TEXT_BLOCK_DELTA") == 1)
        .await;

    let thief = session.lease(LeaseRequest::new(LEASE, "thief").force()).await.unwrap();
    gate.open();
    // The host no longer holds the lease, so it rejects messages.
    let refused = loop {
        match first.post(session.key(), user("m2", "?"), OnBusy::Reject).await.unwrap_err() {
            PostError::Busy { .. } => tokio::task::yield_now().await,
            other => break other,
        }
    };
    assert!(matches!(&refused, PostError::Host(Error::LeaseHeld { holder }) if holder == "thief"), "{refused}");
    reader.wait_until("the takeover", |reader| !reader.signals("recount.taken_over").is_empty()).await;
    assert_eq!(session.info().await.unwrap().head, reader.events.len() as u64);
    drop(first);

    // The next host waits for the lease, then resumes the reply.
    let options = HostOptions { lease_time: Duration::from_millis(30), ..HostOptions::default() };
    let next = ScriptedModel::new().says("Once upon a time.");
    let _second = host_with(&log, options, move || Agent::builder("Friday").model(next.clone())).await;
    session.release(thief).await.unwrap();
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed));
    assert_calls_answered(&reader, &reply);
}

#[tokio::test]
async fn second_host_does_not_run_leased_session() {
    let (log, session) = memory_session().await;
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
    // An interrupt reaches the run through the log, whichever host appends it.
    second.interrupt(session.key()).await.unwrap().unwrap();
    let mut reader = TestReader::new(&session);
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Interrupted));
    assert!(reader.signals("recount.taken_over").is_empty());
}

#[tokio::test]
async fn remote_reply_stays_open_across_restart() {
    let (log, session) = memory_session().await;
    let start = recount_message::Event::from_json(
        r#"{"type":"REPLY_START","session_id":"s","reply_id":"r1","name":"Elsewhere"}"#,
    )
    .unwrap();
    let first = host(&log, || Agent::builder("Friday").model(ScriptedModel::new().says("Hello."))).await;
    first.append(session.key(), [&start]).await.unwrap();
    drop(first);
    let second = host(&log, || Agent::builder("Friday").model(ScriptedModel::new().says("Hello."))).await;
    // A hosted and a remote reply are open in the same session.
    let posted = second.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reader.reply("r1").unwrap().finished_at(), None);
    // Without an open hosted reply, the remote one is interrupted.
    let at = second.interrupt(session.key()).await.unwrap().unwrap();
    reader.wait_until("the interrupt", |reader| reader.events.len() as u64 == at.seq).await;
    assert_eq!(reader.events.last().unwrap().reply_id(), Some("r1"));
}

#[tokio::test]
async fn reply_of_unavailable_agent_ends_with_error() {
    let (log, session) = memory_session().await;
    let runs = Arc::default();
    let first = host(&log, move || {
        let model = ScriptedModel::new().calls_as("c1", "deploy", "{}");
        Agent::builder("Friday").model(model).tool(deploy(&runs))
    })
    .await;
    let posted = first.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("a reply that waits", |reader| !reader.signals("recount.waiting").is_empty()).await;
    drop(first);
    let gone = FnSource(|name: &str| {
        Err(SourceError::Unavailable { name: name.to_owned(), problem: "its key is gone".to_owned() })
    });
    let second = Host::start(log, Arc::new(gone), HostOptions::default()).await.unwrap();
    let reply = reader.reply(&posted.reply_id).unwrap().clone();
    second.append(session.key(), [&confirmation(&reply, "c1")]).await.unwrap();
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.error().unwrap().message, "agent `friday` is unavailable: its key is gone");
    assert_calls_answered(&reader, &reply);
}

#[tokio::test]
async fn drained_hosts_do_not_count_as_crashes() {
    let (log, session) = memory_session().await;
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
    let mut reader = TestReader::new(&session);
    let reply = reader.wait_for_end(&posted.unwrap().reply_id).await;
    assert_eq!(reply.finished_reason(), Some(FinishedReason::Completed), "{}", reader.transcript());
}

#[tokio::test]
async fn interrupt_is_idempotent_by_id() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate);
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let id = || Some("stop".to_owned());
    let first = host.interrupt_once(session.key(), id()).await.unwrap();
    assert!(first.is_some());
    TestReader::new(&session).wait_for_end(&posted.reply_id).await;
    assert_eq!(host.interrupt_once(session.key(), id()).await.unwrap(), first);
    assert_eq!(host.interrupt_once(session.key(), Some("another".to_owned())).await.unwrap(), None);
}
