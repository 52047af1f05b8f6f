//! Others who speak in a reply that is an agent's here.

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_host::OnBusy;
use recount_message::{AgentEvent, CustomEvent, Event, FinishedReason, Object};

use crate::common::{Watcher, deploy, host, memory, user};

/// What somebody says in a reply who is not at it: words, a step of a call, and its end.
fn strays(reply_id: &str) -> Vec<AgentEvent> {
    let said = [
        format!(r#"{{"type":"TEXT_BLOCK_START","id":"x1","reply_id":"{reply_id}","block_id":"b"}}"#),
        format!(r#"{{"type":"TEXT_BLOCK_DELTA","id":"x2","reply_id":"{reply_id}","block_id":"b","delta":"Nonsense"}}"#),
        format!(
            r#"{{"type":"CUSTOM","id":"x3","name":"recount.call","value":{{"reply_id":"{reply_id}","tool_call_id":"c1","state":"allowed"}}}}"#
        ),
        format!(r#"{{"type":"REPLY_END","id":"x4","session_id":"s","reply_id":"{reply_id}"}}"#),
    ];
    said.iter().map(|text| Event::from_json(text).unwrap().into_owned()).collect()
}

#[tokio::test]
async fn only_its_agent_speaks_in_a_reply_that_is_under_way() {
    let (log, session) = memory().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("One").waits(&gate).then().says("Two");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone()).runtime_state(None)).await;
    let posted = host.post(session.key(), user("m1", "Go"), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let mut batch = strays(&posted.reply_id);
    batch.insert(1, Event::new(CustomEvent::signal("build.done", Object::new())));
    let answer = host.append(session.key(), &batch).await.unwrap();
    assert_eq!((answer.written, answer.duplicates), (1, 0), "what is of nobody's reply is written");
    let told: Vec<_> =
        answer.ignored.iter().map(|ignored| (ignored.index, ignored.reason, &*ignored.event_id)).collect();
    assert_eq!(told, [(0, "hosted", "x1"), (2, "hosted", "x2"), (3, "hosted", "x3"), (4, "hosted", "x4")]);
    let queued = host.post(session.key(), user("m2", "Again"), OnBusy::Queue).await.unwrap();
    gate.open();
    let mut watcher = Watcher::of(&session);
    let reply = watcher.ended(&posted.reply_id).await;
    assert_eq!((reply.text().as_deref(), reply.finished_reason()), (Some("One"), Some(FinishedReason::Completed)));
    assert_eq!(watcher.ended(&queued.reply_id).await.text().as_deref(), Some("Two"));
}

#[tokio::test]
async fn a_reply_that_waits_is_ended_by_nobody_else() {
    let (log, session) = memory().await;
    let model = ScriptedModel::new().calls_as("c1", "deploy", "{}");
    let host =
        host(&log, move || Agent::builder("Friday").model(model.clone()).tool(deploy(&std::sync::Arc::default())))
            .await;
    let posted = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut watcher = Watcher::of(&session);
    watcher.until("it waits", |watcher| watcher.signals("recount.waiting").len() == 1).await;
    let before = session.info().await.unwrap().head;
    let answer = host.append(session.key(), &strays(&posted.reply_id)).await.unwrap();
    assert_eq!((answer.written, answer.ignored.len(), answer.cursor.seq), (0, 4, before));
    // What the log has already is known, as ever.
    let again: Vec<AgentEvent> = watcher.events.clone();
    let answer = host.append(session.key(), &again).await.unwrap();
    assert_eq!((answer.written, answer.duplicates, answer.ignored.len()), (0, again.len(), 0));
    assert!(host.interrupt(session.key()).await.unwrap().is_some());
    assert_eq!(watcher.ended(&posted.reply_id).await.finished_reason(), Some(FinishedReason::Interrupted));
}
