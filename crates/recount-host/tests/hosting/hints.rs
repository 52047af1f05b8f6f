//! Tests of hints, signals, background tools and requested summaries.

use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::Agent;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_agent::tool::{FunctionTool, NoArguments};
use recount_host::OnBusy;
use recount_message::{
    AgentEvent, CustomEvent, Event, HintBlock, HintBlockEvent, Object, ReplyEnd, ReplyWriter, Stamps,
};

use crate::common::{
    RecordedMessage, TestReader, assert_calls_answered, confirmation, deploy, host, memory_session, user,
};

fn hint(reply_id: &str, id: &str, text: &str) -> AgentEvent {
    let kind = HintBlockEvent::new(reply_id.to_owned(), format!("{id}-block"), text).with_source("ci");
    Event::stamped(id.to_owned(), "2026-01-01T00:00:00.000000+00:00".to_owned(), kind)
}

fn is_hint(event: &AgentEvent) -> bool {
    event.type_name() == "HINT_BLOCK"
}

#[tokio::test]
async fn hint_starts_one_reply_in_idle_session() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new().says("I see.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone()).runtime_state(None)).await;
    let event = hint("", "e1", "The build is green.");
    let taken = host.append(session.key(), [&event]).await.unwrap();
    assert_eq!((taken.written, taken.duplicates), (1, 0));
    let again = host.append(session.key(), [&event]).await.unwrap();
    assert_eq!((again.written, again.duplicates, again.cursor), (0, 1, taken.cursor));

    let mut reader = TestReader::new(&session);
    reader.wait_until("an answer", |reader| reader.count(|event| event.type_name() == "REPLY_END") == 1).await;
    let reply = reader.fold.messages().next().unwrap().clone();
    assert_eq!(reply.first::<HintBlock>().unwrap().source.as_deref(), Some("ci"));
    assert_eq!(reply.text().as_deref(), Some("I see."));
    assert_eq!(host.append(session.key(), [&event]).await.unwrap().duplicates, 1);
    assert_eq!(reader.count(is_hint), 1);
    assert_eq!(reader.events[usize::try_from(taken.cursor.seq).unwrap() - 1].id, "e1");
}

#[tokio::test]
async fn hint_is_added_before_next_model_call() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Let me see.").waits(&gate).calls("clock", "{}").then().says("Noon.");
    let recorded = RecordedMessage::default();
    let host = host(&log, {
        let recorded = recorded.clone();
        move || {
            let clock = FunctionTool::new("clock", "Tells the time.", |_: NoArguments| async { Ok("12:00") });
            Agent::builder("Friday").model(model.clone()).tool(clock.read_only()).middleware(recorded.clone())
        }
    })
    .await;
    let posted = host.post(session.key(), user("m1", "When?"), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    let event = hint(&posted.reply_id, "e1", "Hurry.");
    for (written, duplicates) in [(1, 0), (0, 1)] {
        let taken = host.append(session.key(), [&event]).await.unwrap();
        assert_eq!((taken.written, taken.duplicates), (written, duplicates));
    }
    gate.open();
    let mut reader = TestReader::new(&session);
    let reply = reader.wait_for_end(&posted.reply_id).await;
    let hurry = reply.content().iter().position(|block| block.id() == "e1-block").unwrap();
    let result = reply.content().iter().position(|block| block.type_name() == "tool_result").unwrap();
    assert!(result < hurry, "the hint must follow the result and precede the next call");
    assert_eq!(reader.count(|event| event.id == "e1"), 1);
    assert_eq!(host.append(session.key(), [&event]).await.unwrap().duplicates, 1);
    assert_calls_answered(&reader, &reply);
    assert_eq!(reader.message_before_end(reply.id()), recorded.last());
}

#[tokio::test]
async fn hint_after_last_model_call_starts_next_reply() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Done.").waits(&gate).then().says("Oh, that.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let posted = host.post(session.key(), user("m1", "Do it."), OnBusy::Reject).await.unwrap();
    gate.reached().await;
    host.append(session.key(), [&hint(&posted.reply_id, "e1", "By the way.")]).await.unwrap();
    gate.open();
    let mut reader = TestReader::new(&session);
    reader.wait_until("a second reply", |reader| reader.count(|event| event.type_name() == "REPLY_END") == 2).await;
    let last = reader.fold.messages().last().unwrap();
    assert_eq!(last.text().as_deref(), Some("Oh, that."));
    assert_eq!(reader.count(|event| event.id == "e1"), 1);
}

#[tokio::test]
async fn hint_for_waiting_reply_survives_restart() {
    let (log, session) = memory_session().await;
    let runs = std::sync::Arc::default();
    let model = ScriptedModel::new().calls_as("c1", "deploy", "{}").then().says("It is live.");
    let make = {
        let (model, runs) = (model.clone(), std::sync::Arc::clone(&runs));
        move || Agent::builder("Friday").model(model.clone()).tool(deploy(&runs))
    };
    let first = host(&log, make.clone()).await;
    let posted = first.post(session.key(), user("m1", "Deploy it."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_until("a reply that waits", |reader| !reader.signals("recount.waiting").is_empty()).await;
    let taken = first.append(session.key(), [&hint(&posted.reply_id, "e1", "Carefully.")]).await.unwrap();
    assert_eq!(taken.written, 1);
    drop(first);
    let second = host(&log, make).await;
    let reply = reader.reply(&posted.reply_id).unwrap().clone();
    second.append(session.key(), [&confirmation(&reply, "c1")]).await.unwrap();
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.content().iter().filter(|block| block.id() == "e1-block").count(), 1);
    assert_calls_answered(&reader, &reply);
}

#[tokio::test]
async fn hint_in_remote_reply_is_appended_to_log() {
    let (log, session) = memory_session().await;
    let host = host(&log, || Agent::builder("Friday").model(ScriptedModel::new())).await;
    let mut events: Vec<AgentEvent> = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Elsewhere");
    reply.hint(HintBlock::new("It is noon."));
    reply.text("Lunch.");
    let message = reply.end(ReplyEnd::completed());
    let (first, rest) = events.split_at(1);
    host.append(session.key(), first).await.unwrap();
    host.append(session.key(), rest).await.unwrap();
    host.append(session.key(), &events).await.unwrap();
    let mut reader = TestReader::new(&session);
    assert_eq!(reader.wait_for_end(message.id()).await, message);
    assert_eq!(session.info().await.unwrap().head, events.len() as u64);
}

#[tokio::test]
async fn signal_starts_no_reply() {
    let (log, session) = memory_session().await;
    let host = host(&log, || Agent::builder("Friday").model(ScriptedModel::new())).await;
    let signal = Event::new(CustomEvent::signal("progress", Object::from([("percent", 7)])));
    assert_eq!(host.append(session.key(), [&signal]).await.unwrap().written, 1);
    assert_eq!(session.info().await.unwrap().head, 1);
}

#[tokio::test]
async fn background_tool_result_starts_reply() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().calls_as("c1", "build", "{}").then().says("Started.").then().says("It is green.");
    let host = host(&log, {
        let gate = gate.clone();
        move || {
            let gate = gate.clone();
            let build = FunctionTool::new("build", "Builds.", move |_: NoArguments| {
                let gate = gate.clone();
                async move {
                    gate.pass().await;
                    Ok("green")
                }
            });
            Agent::builder("Friday").model(model.clone()).tool(build.read_only().background())
        }
    })
    .await;
    let posted = host.post(session.key(), user("m1", "Build it."), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    reader.wait_for_end(&posted.reply_id).await;
    gate.open();
    reader.wait_until("a second reply", |reader| reader.count(|event| event.type_name() == "REPLY_END") == 2).await;
    let last = reader.fold.messages().last().unwrap();
    assert!(last.first::<HintBlock>().unwrap().hint.text().unwrap().ends_with("green"));
    assert_eq!(last.text().as_deref(), Some("It is green."));
    assert_eq!(reader.count(|event| event.id == "m1.reply.c1.outcome"), 1);
}

#[tokio::test]
async fn lost_background_result_is_reported_as_unknown() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new()
        .calls_as("c1", "build", "{}")
        .then()
        .says("Started.")
        .then()
        .says("It runs.")
        .then()
        .says("Nobody knows.");
    let make = move || {
        let build = FunctionTool::new("build", "Builds.", |_: NoArguments| async {
            std::future::pending::<()>().await;
            Ok("green")
        });
        Agent::builder("Friday").model(model.clone()).tool(build.background().read_only()).runtime_state(None)
    };
    let first = host(&log, make.clone()).await;
    let mut reader = TestReader::new(&session);
    for id in ["m1", "m2"] {
        let posted = first.post(session.key(), user(id, "Build it."), OnBusy::Reject).await.unwrap();
        reader.wait_for_end(&posted.reply_id).await;
    }
    // There is no hint while the tool is running.
    assert_eq!(reader.count(is_hint), 0);
    first.drain(Duration::ZERO).await;
    let second = host(&log, make).await;
    let posted = second.post(session.key(), user("m3", "Is it green?"), OnBusy::Reject).await.unwrap();
    let reply = reader.wait_for_end(&posted.reply_id).await;
    let hint = reply.first::<HintBlock>().unwrap();
    assert_eq!(hint.id, "c1.outcome");
    assert!(hint.hint.text().unwrap().contains("unknown"));
    assert_calls_answered(&reader, &reply);
}

#[tokio::test]
async fn compress_request_survives_restart_and_summarises() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new()
        .says("It rains, and it has rained all week long.")
        .then()
        .says("They spoke of rain.")
        .then()
        .says("Still.");
    let make = {
        let model = model.clone();
        move || Agent::builder("Friday").model(model.clone()).runtime_state(None)
    };
    let first = host(&log, make.clone()).await;
    let mut reader = TestReader::new(&session);
    let posted = first.post(session.key(), user("m1", "How is the weather with you?"), OnBusy::Reject).await.unwrap();
    reader.wait_for_end(&posted.reply_id).await;
    first.compress(session.key()).await.unwrap();
    // The host stops before the next model call.
    drop(first);
    let second = host(&log, make).await;
    let posted = second.post(session.key(), user("m2", "And now?"), OnBusy::Reject).await.unwrap();
    reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reader.signals("recount.compressed").len(), 1);
    assert!(model.requests()[2].messages[0].text_or_empty().contains("They spoke of rain."));
}
