//! Tests of events that clients append to the reply of a hosted agent.

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_host::OnBusy;
use recount_message::{AgentEvent, CustomEvent, Event, FinishedReason, Object};

use crate::common::{TestReader, deploy, host, memory_session, user};

/// Events that only the agent may append to its reply: text, a call state, and the end.
fn foreign_events(reply_id: &str) -> Vec<AgentEvent> {
    let texts = [
        format!(r#"{{"type":"TEXT_BLOCK_START","id":"x1","reply_id":"{reply_id}","block_id":"b"}}"#),
        format!(r#"{{"type":"TEXT_BLOCK_DELTA","id":"x2","reply_id":"{reply_id}","block_id":"b","delta":"Nonsense"}}"#),
        format!(
            r#"{{"type":"CUSTOM","id":"x3","name":"recount.call","value":{{"reply_id":"{reply_id}","tool_call_id":"c1","state":"allowed"}}}}"#
        ),
        format!(r#"{{"type":"REPLY_END","id":"x4","session_id":"s","reply_id":"{reply_id}"}}"#),
    ];
    texts.iter().map(|text| Event::from_json(text).unwrap().into_owned()).collect()
}

#[tokio::test]
async fn append_rejects_events_in_running_hosted_reply() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("One").waits(&gate).then().says("Two");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone()).runtime_state(None)).await;
    let posted = host.post(session.key(), user("m1", "Go"), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let mut batch = foreign_events(&posted.reply_id);
    batch.insert(1, Event::new(CustomEvent::signal("build.done", Object::new())));
    let answer = host.append(session.key(), &batch).await.unwrap();
    assert_eq!((answer.written, answer.duplicates), (1, 0), "events outside of the reply are appended");
    let ignored: Vec<_> =
        answer.ignored.iter().map(|ignored| (ignored.index, ignored.reason, &*ignored.event_id)).collect();
    assert_eq!(ignored, [(0, "hosted", "x1"), (2, "hosted", "x2"), (3, "hosted", "x3"), (4, "hosted", "x4")]);
    let queued = host.post(session.key(), user("m2", "Again"), OnBusy::Queue).await.unwrap();
    gate.open();
    let mut reader = TestReader::new(&session);
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!((reply.text().as_deref(), reply.finished_reason()), (Some("One"), Some(FinishedReason::Completed)));
    assert_eq!(reader.wait_for_end(&queued.reply_id).await.text().as_deref(), Some("Two"));
}

#[tokio::test]
async fn append_rejects_end_of_waiting_hosted_reply() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new().calls_as("c1", "deploy", "{}");
    let host =
        host(&log, move || Agent::builder("Friday").model(model.clone()).tool(deploy(&std::sync::Arc::default())))
            .await;
    let posted = host.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("it waits", |reader| reader.signals("recount.waiting").len() == 1).await;
    let before = session.info().await.unwrap().head;
    let answer = host.append(session.key(), &foreign_events(&posted.reply_id)).await.unwrap();
    assert_eq!((answer.written, answer.ignored.len(), answer.cursor.seq), (0, 4, before));
    // Events that are in the log already count as duplicates.
    let again: Vec<AgentEvent> = reader.events.clone();
    let answer = host.append(session.key(), &again).await.unwrap();
    assert_eq!((answer.written, answer.duplicates, answer.ignored.len()), (0, again.len(), 0));
    assert!(host.interrupt(session.key()).await.unwrap().is_some());
    assert_eq!(reader.wait_for_end(&posted.reply_id).await.finished_reason(), Some(FinishedReason::Interrupted));
}
