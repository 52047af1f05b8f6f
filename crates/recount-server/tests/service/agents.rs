//! Sessions with agents: messages, confirmations, interrupts and restarts.

use pretty_assertions::assert_eq;
use recount_agent::scripted::{Gate, ScriptedModel};
use recount_log::{Log, Options};
use recount_message::Event;
use recount_message::Fold;
use recount_server::ServerOptions;
use serde_json::{Value, json};

use crate::support::{Service, Stream};

async fn hosting(model: ScriptedModel) -> Service {
    let service = Service::hosting(Log::in_memory(), model, ServerOptions::default()).await;
    service.log.create("s".parse().unwrap()).await.unwrap();
    service
}

/// Reads frames until an event of a type.
async fn until(stream: &mut Stream, wanted: &str) -> (Value, String) {
    loop {
        let frame = stream.next().await.unwrap();
        let event: Value = serde_json::from_str(&frame.data).unwrap();
        if event["type"] == wanted {
            return (event, frame.id.unwrap());
        }
    }
}

#[tokio::test]
async fn posted_message_gets_a_reply() {
    let service = hosting(ScriptedModel::new().streams(["Hello, ", "Alice."])).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let posted = service.json("POST", "/v1/sessions/s/messages", r#"{"content":"Hi","id":"m1"}"#).await;
    assert_eq!(posted.status, 202, "{}", posted.text());
    let (end, _) = until(&mut stream, "REPLY_END").await;
    assert_eq!((&end["reply_id"], &end["finished_reason"]), (&posted.value()["reply_id"], &json!("completed")));
    let messages = service.get("/v1/sessions/s/messages").await.value();
    assert_eq!(messages["messages"][0]["id"], "m1");
    assert!(messages["messages"][1].to_string().contains("\"Hello, Alice.\""), "{messages}");
    // Posting the same message again returns the first response.
    let again = service.json("POST", "/v1/sessions/s/messages", r#"{"content":"Hi","id":"m1"}"#).await;
    assert_eq!((again.status, again.value()), (202, posted.value()));
    assert_eq!(service.get("/v1/sessions/s/messages").await.value()["messages"].as_array().unwrap().len(), 2);
    // The stream can start at the cursor of the response.
    let cursor = posted.value()["cursor"].as_str().unwrap().to_owned();
    let rest = service.get(&format!("/v1/sessions/s/events?after={cursor}")).await.text();
    assert!(rest.contains("Alice.") && !rest.contains("recount.message"));
}

#[tokio::test]
async fn reused_message_id_with_other_content_is_rejected() {
    let service = hosting(ScriptedModel::new().says("Hello.")).await;
    let post = async |body: Value| service.json("POST", "/v1/sessions/s/messages", &body.to_string()).await;
    let first = post(json!({"content": "Hi", "id": "m1", "metadata": {"a": 1}})).await;
    assert_eq!(first.status, 202);
    let blocks = json!([{"type": "text", "text": "Hi"}]);
    let again =
        post(json!({"content": blocks, "id": "m1", "metadata": {"a": 1}, "created_at": "2026-01-01T00:00:00Z"}));
    let again = again.await;
    assert_eq!((again.status, again.value()), (202, first.value()));
    for other in [
        json!({"content": "Bye", "id": "m1", "metadata": {"a": 1}}),
        json!({"content": "Hi", "id": "m1", "name": "Bob", "metadata": {"a": 1}}),
        json!({"content": "Hi", "id": "m1"}),
        json!({"content": "Bye", "id": "m1", "metadata": {"a": 1}, "on_busy": "queue"}),
    ] {
        let problem = post(other).await.problem(409);
        assert_eq!((&problem["reason"], &problem["field"]), (&json!("different"), &json!("id")));
    }
}

/// User messages of AgentScope have `finished_at` from their creation.
#[tokio::test]
async fn posted_message_is_complete() {
    let service = hosting(ScriptedModel::new().says("Hello.").then().says("Hello.")).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    service.json("POST", "/v1/sessions/s/messages", r#"{"content":"Hi"}"#).await;
    until(&mut stream, "REPLY_END").await;
    let whole = r#"{"name":"Alice","content":[{"type":"text","text":"Hi","id":"b1","created_at":"2026-01-01T00:00:00.000001","finished_at":null}],"role":"user","id":"m2","metadata":{},"created_at":"2026-01-01T00:00:00.000001","usage":null,"finished_at":"2026-01-01T00:00:00.000001","finished_reason":null,"structured_output":null,"error":null,"novel":[1.0]}"#;
    assert_eq!(service.json("POST", "/v1/sessions/s/messages", whole).await.status, 202);
    until(&mut stream, "REPLY_END").await;
    let page = service.get("/v1/sessions/s/messages").await;
    let first = &page.value()["messages"][0];
    assert!(first["created_at"].is_string());
    assert_eq!(first["finished_at"], first["created_at"]);
    assert!(page.text().contains(whole), "a whole message stays as it is: {}", page.text());
}

#[tokio::test]
async fn hint_starts_a_reply_in_every_dialect() {
    let model = ScriptedModel::new().says("One.").then().says("Two.");
    let service = hosting(model).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let native = r#"{"type":"HINT_BLOCK","id":"h1","reply_id":"","block_id":"b1","hint":"The build is green."}"#;
    let java = r#"{"type":"HINT_BLOCK","id":"h2","createdAt":"2026-01-01T00:00:00Z","replyId":"","blockId":"b2","hintSource":"ci","hint":"The build is red."}"#;
    for (path, line) in [("events", native), ("events?dialect=java", java)] {
        let path = format!("/v1/sessions/s/{path}");
        let answer = service.lines(&path, line).await;
        assert_eq!((answer.status, &answer.value()["written"]), (200, &json!(1)), "{}", answer.text());
        until(&mut stream, "HINT_BLOCK").await;
        until(&mut stream, "REPLY_END").await;
        let again = service.lines(&path, line).await.value();
        assert_eq!((&again["written"], &again["duplicates"]), (&json!(0), &json!(1)), "{again}");
    }
    assert_eq!(service.get("/v1/sessions/s/messages").await.value()["messages"].as_array().unwrap().len(), 2);
    // An error after a hint has its own line number.
    let body = format!("{}\n{}", native.replace("h1", "h3"), r#"{"type":"USER_INTERRUPT","reply_id":"nobody"}"#);
    assert_eq!(service.lines("/v1/sessions/s/events", &body).await.problem(409)["line"], 2);
}

#[tokio::test]
async fn invalid_messages_are_rejected() {
    let service = hosting(ScriptedModel::new()).await;
    for (body, field) in [
        (r#"{}"#, "content"),
        (r#"{"content":7}"#, "content"),
        (r#"{"content":"x","role":"assistant"}"#, "role"),
        (r#"{"content":"x","on_busy":"wait"}"#, "on_busy"),
        (r#"{"content":[{"type":"text"}]}"#, "content[0].text"),
    ] {
        let problem = service.json("POST", "/v1/sessions/s/messages", body).await.problem(400);
        assert_eq!(problem["field"], field, "{body}");
    }
    service.json("POST", "/v1/sessions/nobody/messages", r#"{"content":"x"}"#).await.problem(404);
    assert_eq!(service.get("/v1/sessions/s/events").await.text(), "");
}

#[tokio::test]
async fn busy_session_rejects_queues_or_interrupts() {
    let (gate, other) = (Gate::new(), Gate::new());
    let model = ScriptedModel::new().says("One.").waits(&gate).then().says("Two.").waits(&other).then().says("Three.");
    let service = hosting(model).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let post = async |body: Value| service.json("POST", "/v1/sessions/s/messages", &body.to_string()).await;
    let first = post(json!({"content": "1"})).await.value();
    let busy = post(json!({"content": "2"})).await.problem(409);
    assert_eq!((&busy["reason"], &busy["reply_id"]), (&json!("busy"), &first["reply_id"]));
    assert_eq!(service.get("/v1/sessions/s").await.value()["status"], "running");
    let queued = post(json!({"content": "2", "on_busy": "queue"})).await;
    assert_eq!(queued.status, 202);
    gate.open();
    assert_eq!(until(&mut stream, "REPLY_END").await.0["reply_id"], first["reply_id"]);
    assert_eq!(until(&mut stream, "REPLY_START").await.0["reply_id"], queued.value()["reply_id"]);
    until(&mut stream, "TEXT_BLOCK_DELTA").await;
    let third = service.json("POST", "/v1/sessions/s/messages?on_busy=interrupt", r#"{"content":"3"}"#).await;
    assert_eq!(third.status, 202);
    let (end, _) = until(&mut stream, "REPLY_END").await;
    assert_eq!((&end["reply_id"], &end["finished_reason"]), (&queued.value()["reply_id"], &json!("interrupted")));
    let (end, _) = until(&mut stream, "REPLY_END").await;
    assert_eq!((&end["reply_id"], &end["finished_reason"]), (&third.value()["reply_id"], &json!("completed")));
}

#[tokio::test]
async fn first_confirmation_wins() {
    let model = ScriptedModel::new().calls("delete", r#"{"path":"old.log"}"#).then().says("Gone.");
    let service = hosting(model).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    service.json("POST", "/v1/sessions/s/messages", r#"{"content":"Tidy up"}"#).await;
    let (request, _) = until(&mut stream, "REQUIRE_USER_CONFIRM").await;
    let status = service.get("/v1/sessions/s").await.value();
    assert_eq!((&status["status"], &status["open"][0]), (&json!("waiting"), &request["reply_id"]));
    let answer = |id: &str, confirmed: bool| {
        let results = json!([{"confirmed": confirmed, "tool_call": request["tool_calls"][0]}]);
        json!([{"type": "USER_CONFIRM_RESULT", "id": id, "reply_id": request["reply_id"], "confirm_results": results}])
            .to_string()
    };
    let post = async |body: String| service.json("POST", "/v1/sessions/s/events", &body).await;
    let foreign = json!([{"type": "USER_INTERRUPT", "reply_id": "nobody"}]).to_string();
    assert_eq!(post(foreign).await.problem(409)["reason"], "foreign");
    let first = post(answer("yes", true)).await;
    assert_eq!((first.status, &first.value()["written"]), (200, &json!(1)));
    // The same confirmation again is a duplicate; another one is late.
    let again = post(answer("yes", true)).await.value();
    assert_eq!((&again["duplicates"], &again["cursor"]), (&json!(1), &first.value()["cursor"]));
    let other = post(answer("no", false)).await.problem(409);
    assert!(other["reason"] == "duplicate" || other["reason"] == "late" || other["reason"] == "not_waiting", "{other}");
    assert_eq!((&other["line"], &other["id"]), (&json!(1), &json!("no")));
    let (end, _) = until(&mut stream, "REPLY_END").await;
    assert_eq!(end["finished_reason"], "completed");
    assert_eq!(post(answer("later", true)).await.problem(409)["reason"], "late");
    let text = service.get("/v1/sessions/s/messages").await.text();
    assert!(text.contains("old.log is gone") && text.contains("Gone."), "{text}");
}

#[tokio::test]
async fn repeated_interrupt_with_same_id_does_not_stop_next_reply() {
    let (first, second) = (Gate::new(), Gate::new());
    let service = hosting(ScriptedModel::new().says("One").waits(&first).then().says("Two").waits(&second)).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    service.json("POST", "/v1/sessions/s/messages", r#"{"content":"Go"}"#).await;
    until(&mut stream, "TEXT_BLOCK_DELTA").await;
    service.json("POST", "/v1/sessions/s/messages?on_busy=queue", r#"{"content":"Again"}"#).await;
    let stopped = service.json("POST", "/v1/sessions/s/interrupt", r#"{"id":"stop"}"#).await.value();
    until(&mut stream, "REPLY_END").await;
    until(&mut stream, "TEXT_BLOCK_DELTA").await;
    let again = service.json("POST", "/v1/sessions/s/interrupt", r#"{"id":"stop"}"#).await;
    assert_eq!((again.status, again.value()["cursor"].is_string()), (202, stopped["cursor"].is_string()));
    second.open();
    assert_eq!(until(&mut stream, "REPLY_END").await.0["finished_reason"], "completed");
    service.json("POST", "/v1/sessions/s/interrupt", r#"{"id":7}"#).await.problem(400);
}

#[tokio::test]
async fn reply_continues_after_disconnect_until_interrupted() {
    let gate = Gate::new();
    let service = hosting(ScriptedModel::new().says("One").waits(&gate)).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    service.json("POST", "/v1/sessions/s/messages", r#"{"content":"Go"}"#).await;
    until(&mut stream, "TEXT_BLOCK_DELTA").await;
    drop(stream);
    assert_eq!(service.get("/v1/sessions/s").await.value()["status"], "running");
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let stopped = service.json("POST", "/v1/sessions/s/interrupt", "{}").await;
    assert_eq!(stopped.status, 202);
    let (_, at) = until(&mut stream, "USER_INTERRUPT").await;
    assert_eq!(stopped.value()["cursor"], at);
    assert_eq!(until(&mut stream, "REPLY_END").await.0["finished_reason"], "interrupted");
    assert_eq!(service.json("POST", "/v1/sessions/s/interrupt", "").await.value()["cursor"], Value::Null);
}

#[tokio::test]
async fn restarted_service_resumes_replies() {
    let directory = tempfile::tempdir().unwrap();
    let gate = Gate::new();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let model = ScriptedModel::new().says("One, ").waits(&gate);
    let service = Service::hosting(log, model, ServerOptions::default()).await;
    service.json("PUT", "/v1/sessions/s", "").await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let posted = service.json("POST", "/v1/sessions/s/messages", r#"{"content":"Count"}"#).await.value();
    let (mut fold, mut last) = (Fold::new(), String::new());
    while fold.message(posted["reply_id"].as_str().unwrap()).is_none_or(|reply| reply.text_or_empty() != "One, ") {
        let frame = stream.next().await.unwrap();
        let _ = fold.apply(&Event::from_json(&frame.data).unwrap());
        last = frame.id.unwrap();
    }
    let mut options = ServerOptions::default();
    options.drain = std::time::Duration::ZERO;
    service.stop.cancel();
    while stream.next().await.is_some() {}
    let Service { log, task, .. } = service;
    task.await.unwrap();
    log.close().await.unwrap();

    let log = Log::open(directory.path(), Options::default()).unwrap();
    let service = Service::hosting(log, ScriptedModel::new().says("Two."), options).await;
    let mut stream = service.stream("/v1/sessions/s/stream", &[("last-event-id", &last)]).await;
    loop {
        let frame = stream.next().await.unwrap();
        assert_eq!(frame.event, None, "unexpected gap");
        let event = Event::from_json(&frame.data).unwrap();
        let _ = fold.apply(&event);
        if event.type_name() == "REPLY_END" {
            break;
        }
    }
    let stored = service.get("/v1/sessions/s/messages").await.text();
    let folded: Vec<String> = fold.messages().map(recount_message::Msg::to_json).collect();
    assert!(stored.starts_with(&format!(r#"{{"messages":[{}]"#, folded.join(","))), "{stored}");
    assert!(stored.contains("One, ") && stored.contains("Two."));
}

#[tokio::test]
async fn agents_are_listed() {
    let service = hosting(ScriptedModel::new()).await;
    let agents = service.get("/v1/agents").await.value();
    assert_eq!((&agents["default"], &agents["agents"][0]["name"]), (&json!("friday"), &json!("friday")));
    let made = service.json("POST", "/v1/sessions", r#"{"agent":"friday"}"#).await;
    assert_eq!((made.status, &made.value()["agent"]), (201, &json!("friday")));
    assert_eq!(service.json("POST", "/v1/sessions", r#"{"agent":"monday"}"#).await.problem(400)["field"], "agent");
}

#[tokio::test]
async fn java_stream_is_one_message_for_any_batch_boundaries() {
    let service = hosting(ScriptedModel::new()).await;
    let lines = [
        r#"{"type":"AGENT_START","id":"j1","replyId":"a","name":"Friday","role":"assistant"}"#,
        r#"{"type":"MODEL_CALL_START","id":"j2","replyId":"m1"}"#,
        r#"{"type":"TEXT_BLOCK_START","id":"j3","replyId":"m1","blockId":"text"}"#,
        r#"{"type":"TEXT_BLOCK_DELTA","id":"j4","replyId":"m1","blockId":"text","delta":"Hello"}"#,
        r#"{"type":"TEXT_BLOCK_END","id":"j5","replyId":"m1","blockId":"text"}"#,
        r#"{"type":"MODEL_CALL_END","id":"j6","replyId":"m1"}"#,
        r#"{"type":"AGENT_END","id":"j7","replyId":"a"}"#,
    ];
    for batch in [&lines[..2], &lines[1..4], &lines[..4], &lines[3..]] {
        let answer = service.lines("/v1/sessions/s/events?dialect=java", &batch.join("\n")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let again = service.lines("/v1/sessions/s/events?dialect=java", &lines.join("\n")).await.value();
    assert_eq!((&again["written"], &again["duplicates"]), (&json!(0), &json!(lines.len())));
    let messages = service.get("/v1/sessions/s/messages").await.value();
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1);
    assert_eq!(messages["messages"][0]["content"][0]["text"], "Hello");
    let bad = format!("{}\n{{\"type\":\"AGENT_BEGINS\"}}", lines[0].replace("j1", "k1"));
    assert_eq!(service.lines("/v1/sessions/s/events?dialect=java", &bad).await.problem(400)["line"], 2);
}
