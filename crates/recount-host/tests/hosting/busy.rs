//! Messages that come while a reply is under way or waits.

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_host::{OnBusy, PostError};
use recount_message::{FinishedReason, Msg};

use crate::common::{Watcher, deploy, host, memory, user};

#[tokio::test]
async fn a_second_message_is_refused_and_told_why() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().waits(&gate).says("Hello.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = host.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
    let refused = host.post(session.key(), user("m2", "Are you there?"), OnBusy::Reject).await.unwrap_err();
    assert!(matches!(&refused, PostError::Busy { reply_id } if *reply_id == posted.reply_id), "{refused}");
    gate.open();
    let mut watcher = Watcher::of(&session);
    watcher.ended(&posted.reply_id).await;
    assert_eq!(watcher.fold.messages().count(), 2);
    host.post(session.key(), user("m2", "Are you there?"), OnBusy::Reject).await.unwrap();
}

#[tokio::test]
async fn queued_messages_are_answered_in_turn_and_seen_when_their_turn_comes() {
    let (log, session) = memory().await;
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
    let mut watcher = Watcher::of(&session);
    let mut texts = Vec::new();
    for reply in &replies {
        texts.push(watcher.ended(reply).await.text().unwrap());
    }
    assert_eq!(texts, ["One.", "Two.", "Three."]);
    // The start of the next one stands right behind the end of the one before it.
    for pair in watcher.events.windows(2) {
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
async fn an_interrupting_message_stops_the_reply_and_is_answered_before_the_queued_ones() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once upon").waits(&gate).then().says("Urgent.").then().says("Queued.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let first = host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let queued = host.post(session.key(), user("m2", "Later"), OnBusy::Queue).await.unwrap();
    let urgent = host.post(session.key(), user("m3", "Now"), OnBusy::Interrupt).await.unwrap();
    let mut watcher = Watcher::of(&session);
    let stopped = watcher.ended(&first.reply_id).await;
    assert_eq!(stopped.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(stopped.text().as_deref(), Some("Once upon"));
    assert_eq!(watcher.ended(&queued.reply_id).await.text().as_deref(), Some("Queued."));
    assert_eq!(watcher.reply(&urgent.reply_id).unwrap().text().as_deref(), Some("Urgent."));
}

#[tokio::test]
async fn a_reply_that_waits_is_busy_and_can_be_interrupted() {
    let (log, session) = memory().await;
    let runs = std::sync::Arc::default();
    let model = ScriptedModel::new().calls("deploy", "{}").then().says("Something else.");
    let host = host(&log, {
        let runs = std::sync::Arc::clone(&runs);
        move || Agent::builder("Friday").model(model.clone()).tool(deploy(&runs))
    })
    .await;
    let first = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    watcher.until("a reply that waits", |watcher| !watcher.signals("recount.waiting").is_empty()).await;
    let refused = host.post(session.key(), user("m2", "?"), OnBusy::Reject).await.unwrap_err();
    assert!(matches!(refused, PostError::Busy { .. }), "{refused}");
    let second = host.post(session.key(), user("m2", "Never mind."), OnBusy::Interrupt).await.unwrap();
    let stopped = watcher.ended(&first.reply_id).await;
    assert_eq!(stopped.finished_reason(), Some(FinishedReason::Interrupted));
    assert_eq!(watcher.ended(&second.reply_id).await.text().as_deref(), Some("Something else."));
    assert_eq!(runs.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn stopping_stops_the_reply_and_not_what_is_queued() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once upon").waits(&gate).then().says("Queued.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    assert_eq!(host.interrupt(session.key()).await.unwrap(), None);
    let first = host.post(session.key(), user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let queued = host.post(session.key(), user("m2", "Later"), OnBusy::Queue).await.unwrap();
    let stopped_at = host.interrupt(session.key()).await.unwrap().unwrap();
    let mut watcher = Watcher::of(&session);
    let stopped = watcher.ended(&first.reply_id).await;
    assert_eq!(stopped.finished_reason(), Some(FinishedReason::Interrupted));
    let entry = &watcher.events[usize::try_from(stopped_at.seq - 1).unwrap()];
    assert_eq!(entry.type_name(), "USER_INTERRUPT");
    assert_eq!(watcher.ended(&queued.reply_id).await.text().as_deref(), Some("Queued."));
    assert_eq!(host.interrupt(session.key()).await.unwrap(), None);
}
