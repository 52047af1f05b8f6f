//! Tests of posted messages and their replies.

use std::sync::Arc;

use pretty_assertions::assert_eq;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_agent::{Agent, AgentBuilder};
use recount_host::{Host, HostOptions, OnBusy, PostError, SourceError};
use recount_log::{Log, SessionKey};
use recount_message::{CustomEvent, Event, Msg, Object, Role, ThinkingBlock};

use crate::common::{FnSource, RecordedMessage, TestReader, host, memory_session, user};

#[tokio::test]
async fn post_appends_message_and_reply() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new().thinks("A greeting.").streams(["Hello, ", "Alice."]);
    let recorded = RecordedMessage::default();
    let host = host(&log, {
        let recorded = recorded.clone();
        move || Agent::builder("Friday").model(model.clone()).middleware(recorded.clone())
    })
    .await;

    let posted = host.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
    let mut reader = TestReader::new(&session);
    let reply = reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reply.text().as_deref(), Some("Hello, Alice."));
    assert_eq!(reply.name(), "Friday");
    assert_eq!(reader.fold.messages().map(Msg::id).collect::<Vec<_>>(), ["m1", "m1.reply"]);
    // The reply starts after the returned cursor.
    let next = &reader.events[usize::try_from(posted.cursor.seq).unwrap()];
    assert_eq!((next.type_name(), next.reply_id()), ("REPLY_START", Some("m1.reply")));
    assert_eq!(reader.message_before_end(&posted.reply_id), recorded.last());
}

#[tokio::test]
async fn post_is_idempotent_by_message_id() {
    let (log, session) = memory_session().await;
    let gate = Gate::new();
    let model = ScriptedModel::new().says("Once").waits(&gate).says(" upon a time.");
    let host = host(&log, {
        let model = model.clone();
        move || Agent::builder("Friday").model(model.clone())
    })
    .await;
    let key = session.key();

    let first = host.post(key, user("m1", "Tell me."), OnBusy::Reject).await.unwrap();
    assert_eq!(host.post(key, user("m1", "Tell me."), OnBusy::Reject).await.unwrap(), first);
    let queued = host.post(key, user("m2", "And then?"), OnBusy::Queue).await.unwrap();
    assert_eq!(host.post(key, user("m2", "And then?"), OnBusy::Interrupt).await.unwrap(), queued);
    gate.open();
    let mut reader = TestReader::new(&session);
    reader.wait_for_end(&first.reply_id).await;
    reader.wait_for_end(&queued.reply_id).await;
    assert_eq!(host.post(key, user("m1", "Tell me."), OnBusy::Queue).await.unwrap(), first);
    assert_eq!(host.post(key, user("m2", "And then?"), OnBusy::Reject).await.unwrap(), queued);
    let other = host.post(key, user("m2", "Really?"), OnBusy::Queue).await.unwrap_err();
    assert!(matches!(other, PostError::IdConflict { id } if id == "m2"));
    assert_eq!(reader.fold.messages().count(), 4);
    assert_eq!(session.info().await.unwrap().head, reader.events.len() as u64);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn post_answers_message_that_is_in_log_already() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new().says("Hello, Bob.");
    let host = host(&log, {
        let model = model.clone();
        move || Agent::builder("Friday").model(model.clone())
    })
    .await;
    let observed = Msg::user("Bob", "Hi").with_id("m1");
    let there = session.append([&Event::new(CustomEvent::message(&observed))]).await.unwrap();

    let posted = host.post(session.key(), observed, OnBusy::Reject).await.unwrap();
    assert_eq!(posted.cursor, there.cursor);
    let mut reader = TestReader::new(&session);
    reader.wait_for_end(&posted.reply_id).await;
    assert_eq!(reader.fold.messages().count(), 2);
}

#[tokio::test]
async fn conversation_includes_messages_of_other_clients() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new().says("First.").then().says("Second.");
    let host = host(&log, {
        let model = model.clone();
        move || Agent::builder("Friday").model(model.clone()).runtime_state(None)
    })
    .await;
    let mut reader = TestReader::new(&session);
    let posted = host.post(session.key(), user("m1", "One"), OnBusy::Reject).await.unwrap();
    reader.wait_for_end(&posted.reply_id).await;
    let thought = ThinkingBlock::new("Bob is wrong.");
    let robot = Msg::assistant("Robot", (thought, "Beep.")).with_id("x1");
    let bob = Msg::user("Bob", "I am here too.").with_id("x2");
    let others = [robot, bob].map(|message| Event::new(CustomEvent::message(&message)));
    host.append(session.key(), &others[..]).await.unwrap();
    let posted = host.post(session.key(), user("m2", "Two"), OnBusy::Reject).await.unwrap();
    reader.wait_for_end(&posted.reply_id).await;

    let asked = model.requests();
    let shown: Vec<(&str, Option<String>)> =
        asked[1].messages.iter().map(|message| (message.name(), message.text())).collect();
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(
        shown,
        [
            ("Alice", said("One")),
            ("Friday", said("First.")),
            ("Robot", said("Beep.")),
            ("Bob", said("I am here too.")),
            ("Alice", said("Two")),
        ]
    );
    assert!(asked[1].messages.iter().all(|message| !message.has::<ThinkingBlock>()));
}

#[tokio::test]
async fn post_rejects_invalid_message_and_unknown_session() {
    let (log, session) = memory_session().await;
    let host = host(&log, || Agent::builder("Friday").model(ScriptedModel::new())).await;
    let system = Msg::builder().role(Role::System).name("system").text_content("Obey.").build().unwrap();
    let refused = host.post(session.key(), system, OnBusy::Reject).await.unwrap_err();
    assert!(matches!(refused, PostError::InvalidMessage { .. }), "{refused}");
    let unknown: SessionKey = "nobody".parse().unwrap();
    let refused = host.post(&unknown, user("m1", "Hi"), OnBusy::Reject).await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no session nobody");
    assert_eq!(session.info().await.unwrap().head, 0);
}

/// Agents by name, one of which is unavailable.
fn team(name: &str) -> Result<AgentBuilder, SourceError> {
    match name {
        "friday" => Ok(Agent::builder("Friday").model(ScriptedModel::new().says("I am Friday."))),
        "robot" => Ok(Agent::builder("Robot").model(ScriptedModel::new().says("I am Robot."))),
        "broken" => Err(SourceError::Unavailable { name: name.to_owned(), problem: "it has no key".to_owned() }),
        _ => Err(SourceError::Unknown { name: name.to_owned() }),
    }
}

#[tokio::test]
async fn session_property_selects_agent_and_may_change() {
    let log = Log::in_memory();
    let session = log.create_with("chat".parse().unwrap(), &Object::from([("agent", "robot")])).await.unwrap();
    let host = Host::start(log, Arc::new(FnSource(team)), HostOptions::default()).await.unwrap();
    let mut reader = TestReader::new(&session);
    let posted = host.post(session.key(), user("m1", "Who?"), OnBusy::Reject).await.unwrap();
    assert_eq!(reader.wait_for_end(&posted.reply_id).await.text().as_deref(), Some("I am Robot."));
    let posted = host.post(session.key(), user("m2", "Who?"), OnBusy::Reject).await.unwrap();
    reader.wait_for_end(&posted.reply_id).await;

    session.set_properties(&Object::new()).await.unwrap();
    let posted = host.post(session.key(), user("m3", "Who?"), OnBusy::Reject).await.unwrap();
    assert_eq!(reader.wait_for_end(&posted.reply_id).await.text().as_deref(), Some("I am Friday."));
    let told: Vec<String> = reader.signals("recount.agent").iter().map(Object::to_json).collect();
    assert_eq!(
        told,
        [
            r#"{"name":"Robot","joined":true}"#,
            r#"{"name":"Robot","joined":false}"#,
            r#"{"name":"Friday","joined":true}"#
        ]
    );

    let head = session.info().await.unwrap().head;
    for (agent, problem) in
        [("broken", "agent `broken` is unavailable: it has no key"), ("nobody", "unknown agent `nobody`")]
    {
        session.set_properties(&Object::from([("agent", agent)])).await.unwrap();
        let refused = host.post(session.key(), user("m4", "Who?"), OnBusy::Reject).await.unwrap_err();
        assert_eq!(refused.to_string(), problem);
    }
    assert_eq!(session.info().await.unwrap().head, head);
}

#[tokio::test]
async fn sessions_run_concurrently() {
    let log = Log::in_memory();
    let gate = Gate::new();
    let host = host(&log, {
        let gate = gate.clone();
        move || Agent::builder("Friday").model(ScriptedModel::new().waits(&gate).says("Hello."))
    })
    .await;
    let mut readers = Vec::new();
    for number in 0..20 {
        let session = log.create(format!("chat-{number}").parse().unwrap()).await.unwrap();
        let posted = host.post(session.key(), user("m1", "Hi"), OnBusy::Reject).await.unwrap();
        readers.push((TestReader::new(&session), posted.reply_id));
    }
    gate.open();
    for (mut reader, reply_id) in readers {
        assert_eq!(reader.wait_for_end(&reply_id).await.text().as_deref(), Some("Hello."));
    }
}

#[tokio::test]
async fn post_rejects_id_that_is_in_use() {
    let (log, session) = memory_session().await;
    let model = ScriptedModel::new().says("Hello.");
    let host = host(&log, move || Agent::builder("Friday").model(model.clone())).await;
    let mut note = Event::new(CustomEvent::signal("note", Object::new()));
    note.id = "m1".into();
    session.append([&note]).await.unwrap();
    let start = r#"{"type":"REPLY_START","session_id":"chat","reply_id":"m2.reply","name":"Elsewhere"}"#;
    session.append([&Event::from_json(start).unwrap()]).await.unwrap();
    let head = session.info().await.unwrap().head;

    for (message, taken) in [("m1", "m1"), ("m2", "m2.reply")] {
        let refused = host.post(session.key(), user(message, "Hi"), OnBusy::Queue).await.unwrap_err();
        assert!(matches!(&refused, PostError::IdInUse { id } if id == taken), "{refused}");
    }
    assert_eq!(session.info().await.unwrap().head, head);
}
