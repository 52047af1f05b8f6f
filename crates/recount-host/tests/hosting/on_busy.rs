//! Tests of messages that arrive while a reply is running or waiting.

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_host::{OnBusy, PostError};
use recount_message::{FinishedReason, Msg};

use crate::common::{TestReader, deploy, host, memory_session, user};

#[tokio::test]
async fn post_rejects_second_message_while_busy() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().waits(&gate).says("Hello.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = host.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
    let refused = host.post(session.key(), user("m2", "Are you there?"), OnBusy::Reject).await.unwrap_err();
    assert!(matches!(&refused, PostError::Busy { reply_id } if *reply_id == posted.reply_id), "{refused}");
    gate.open();
    let mut reader = TestReader::new(&session);
    reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reader.fold.messages().count(), 2);
    host.post(session.key(), user("m2", "Are you there?"), OnBusy::Reject).await.unwrap();
}

#[tokio::test]
async fn queued_messages_are_answered_in_order_and_hidden_until_then() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().waits(&gate).says("One.").then().says("Two.").then().says("Three.");
    let host = host(&log, {
        let model = model.clone();
        move || Agent::builder("Friday").model(model.clone()).runtime_state(None)
    })
    .await;
    let mut replies = Vec::new();
    for id in ["m1", "m2", "m3"] {
        replies.push(host.post(session.key(), user(id, id), OnBusy::Queue).await.unwrap().reply_id);
    }
    gate.open();
    let mut reader = TestReader::new(&session);
    let mut texts = Vec::new();
    for reply in &replies {
        texts.push(reader.wait_for_end(reply).await.text().unwrap());
    }
    assert_eq!(texts, ["One.", "Two.", "Three."]);
    // Each reply starts directly after the end of the previous one.
    for pair in reader.events.windows(2) {
        if pair[0].type_name() == "REPLY_END" {
            assert_eq!(pair[1].type_name(), "REPLY_START");
        }
    }
    let shown: Vec<Vec<String>> =
        model.requests().iter().map(|asked| asked.messages.iter().filter_map(Msg::text).collect()).collect();
    assert_eq!(shown[0], ["m1"]);
    assert_eq!(shown[1], ["m1", "One.", "m2"]);
    assert_eq!(shown[2], ["m1", "One.", "m2", "Two.", "m3"]);
}

#[tokio::test]
async fn interrupting_message_stops_reply_and_precedes_queue() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once upon").waits(&gate).then().says("Urgent.").then().says("Queued.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let first = host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let queued = host.post(session.key(), user("m2", "Later"), OnBusy::Queue).await.unwrap();
    let urgent = host.post(session.key(), user("m3", "Now"), OnBusy::Interrupt).await.unwrap();
    let mut reader = TestReader::new(&session);
    let stopped = reader.wait_for_end(&first.reply_id).await;
    assert_eq!(stopped.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(stopped.text().as_deref(), Some("Once upon"));
    assert_eq!(reader.wait_for_end(&queued.reply_id).await.text().as_deref(), Some("Queued."));
    assert_eq!(reader.reply(&urgent.reply_id).unwrap().text().as_deref(), Some("Urgent."));
}

#[tokio::test]
async fn waiting_reply_is_busy_and_can_be_interrupted() {
    let (log, session) = memory_session().await;
    let runs = std::sync::Arc::default();
    let model = ScriptedModel::new().calls("deploy", "{}").then().says("Something else.");
    let host = host(&log, {
        let runs = std::sync::Arc::clone(&runs);
        move || Agent::builder("Friday").model(model.clone()).tool(deploy(&runs))
    })
    .await;
    let first = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("a reply that waits", |reader| !reader.signals("recount.waiting").is_empty()).await;
    let refused = host.post(session.key(), user("m2", "?"), OnBusy::Reject).await.unwrap_err();
    assert!(matches!(refused, PostError::Busy { .. }), "{refused}");
    let second = host.post(session.key(), user("m2", "Never mind."), OnBusy::Interrupt).await.unwrap();
    let stopped = reader.wait_for_end(&first.reply_id).await;
    assert_eq!(stopped.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(reader.wait_for_end(&second.reply_id).await.text().as_deref(), Some("Something else."));
    assert_eq!(runs.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn interrupt_stops_reply_but_not_queued_messages() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once upon").waits(&gate).then().says("Queued.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    assert_eq!(host.interrupt(session.key()).await.unwrap(), None);
    let first = host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let queued = host.post(session.key(), user("m2", "Later"), OnBusy::Queue).await.unwrap();
    let stopped_at = host.interrupt(session.key()).await.unwrap().unwrap();
    let mut reader = TestReader::new(&session);
    let stopped = reader.wait_for_end(&first.reply_id).await;
    assert_eq!(stopped.finished_reason(), Some(FinishedReason::Interrupted));
    let entry = &reader.events[usize::try_from(stopped_at.seq - 1).unwrap()];
    assert_eq!(entry.type_name(), "USER_INTERRUPT");
    assert_eq!(reader.wait_for_end(&queued.reply_id).await.text().as_deref(), Some("Queued."));
    assert_eq!(host.interrupt(session.key()).await.unwrap(), None);
}
