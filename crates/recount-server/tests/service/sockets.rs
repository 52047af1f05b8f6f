//! Sessions over WebSocket.

use futures_util::{SinkExt, StreamExt};
use pretty_assertions::assert_eq;
use recount_log::Log;
use recount_message::Event;
use recount_server::ServerOptions;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::support::{Service, TIMEOUT, lines_of, reply, user_message};

pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn open(service: &Service, path: &str) -> Self {
        let (socket, _) = tokio_tungstenite::connect_async(format!("ws://{}{path}", service.address)).await.unwrap();
        Self(socket)
    }

    pub(crate) async fn send(&mut self, value: Value) {
        self.0.send(Message::text(value.to_string())).await.unwrap();
    }

    /// Returns the next frame as text; `None` if the connection is closed.
    pub(crate) async fn text(&mut self) -> Option<String> {
        loop {
            match tokio::time::timeout(TIMEOUT, self.0.next()).await.expect("a frame")? {
                Ok(Message::Text(text)) if text.as_str() == "{}" => {}
                Ok(Message::Text(text)) => return Some(text.to_string()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.text().await.expect("a frame")).unwrap()
    }
}

#[tokio::test]
async fn one_connection_subscribes_to_many_sessions() {
    let service = Service::with_session("a").await;
    service.json("PUT", "/v1/sessions/b", "").await;
    let mut socket = Socket::open(&service, "/v1/ws").await;
    socket.send(json!({"subscribe": "a"})).await;
    let snapshot = socket.next().await;
    assert_eq!((&snapshot["session"], &snapshot["snapshot"]["messages"]), (&json!("a"), &json!([])));
    let live = socket.next().await;
    assert_eq!((&live["session"], &live["live"]), (&json!("a"), &snapshot["id"]));
    socket.send(json!({"subscribe": "b", "after": "start"})).await;
    assert_eq!(socket.next().await["session"], "b");

    let event = user_message("Hi");
    let answer = service.lines("/v1/sessions/b/events", &lines_of(std::slice::from_ref(&event))).await.value();
    let cursor = answer["cursor"].as_str().unwrap();
    let frame = socket.text().await.unwrap();
    assert_eq!(frame, format!(r#"{{"session":"b","id":"{cursor}","event":{}}}"#, event.to_json()));

    socket.send(json!({"unsubscribe": "b"})).await;
    socket.send(json!({"subscribe": "nobody"})).await;
    let problem = socket.next().await;
    assert_eq!((&problem["session"], &problem["problem"]["status"]), (&json!("nobody"), &json!(404)));
}

#[tokio::test]
async fn oversized_message_gets_a_problem_before_close() {
    let mut options = ServerOptions::default();
    options.limits.body = 1_024;
    let service = Service::with(Log::in_memory(), options).await;
    let mut socket = Socket::open(&service, "/v1/ws").await;
    socket.send(json!({"subscribe": "x".repeat(2_000)})).await;
    let problem = socket.next().await["problem"].clone();
    assert!(problem["detail"].as_str().unwrap().starts_with("invalid WebSocket message: "), "{problem}");
    let end = tokio::time::timeout(TIMEOUT, socket.0.next()).await.expect("a close frame").unwrap().unwrap();
    assert!(matches!(&end, Message::Close(Some(close)) if u16::from(close.code) == 1008), "{end:?}");
}

#[tokio::test]
async fn posted_events_are_acknowledged() {
    let service = Service::with_session("s").await;
    let mut socket = Socket::open(&service, "/v1/sessions/s/ws?after=now").await;
    assert!(socket.next().await["live"].is_string());
    let event: Value = serde_json::from_str(&user_message("Hi").to_json()).unwrap();
    socket.send(json!({"ref": 7, "session": "s", "event": event})).await;
    let (mut told, mut seen) = (None, None);
    while told.is_none() || seen.is_none() {
        let frame = socket.next().await;
        if frame["ref"].is_null() { seen = Some(frame) } else { told = Some(frame) }
    }
    let (told, seen) = (told.unwrap(), seen.unwrap());
    assert_eq!((&told["ref"], &told["session"], &told["cursor"]), (&json!(7), &json!("s"), &seen["id"]));

    let foreign = json!({"type": "USER_INTERRUPT", "reply_id": "nobody"});
    socket.send(json!({"ref": "x", "session": "s", "event": foreign})).await;
    let rejected = socket.next().await;
    assert_eq!((&rejected["ref"], &rejected["problem"]["reason"]), (&json!("x"), &json!("foreign")));
    socket.send(json!({"ref": 8, "session": "s", "event": {"type": "REPLY_START"}})).await;
    assert_eq!(socket.next().await["problem"]["status"], 400);
    socket.send(json!({"what": 1})).await;
    assert_eq!(socket.next().await["problem"]["status"], 400);
}

#[tokio::test]
async fn invalid_message_gets_a_problem_with_its_session_and_ref() {
    let service = Service::with_session("s").await;
    let mut socket = Socket::open(&service, "/v1/ws").await;
    socket.0.send(Message::text("no json")).await.unwrap();
    let problem = socket.next().await;
    assert_eq!(problem.as_object().unwrap().keys().collect::<Vec<_>>(), ["problem"]);
    for (message, about) in [
        (json!({"ref": 7, "session": "s"}), json!({"ref": 7, "session": "s"})),
        (json!({"ref": "a", "event": {}}), json!({"ref": "a"})),
        (json!({"ref": 1, "session": "s", "event": {"type": "REPLY_START"}}), json!({"ref": 1, "session": "s"})),
        (json!({"ref": 2, "session": "s", "event": {}, "bogus": 1}), json!({"ref": 2, "session": "s"})),
        (json!({"subscribe": "s", "after": "soon"}), json!({"session": "s"})),
        (json!({"subscribe": "s", "bogus": 1, "ref": 3}), json!({"ref": 3, "session": "s"})),
        (json!({"subscribe": 7}), json!({})),
        (json!({"unsubscribe": 7, "ref": 4}), json!({"ref": 4})),
    ] {
        socket.send(message.clone()).await;
        let mut frame = socket.next().await;
        let problem = frame.as_object_mut().unwrap().remove("problem").unwrap();
        assert_eq!((&problem["status"], frame), (&json!(400), about), "{message}");
    }
}

#[tokio::test]
async fn socket_resumes_from_stream_cursor() {
    let service = Service::with_session("s").await;
    let events = reply(&["Hello"]);
    service.lines("/v1/sessions/s/events", &lines_of(&events)).await;
    let mut stream = service.stream("/v1/sessions/s/stream?after=start", &[]).await;
    let third = stream.take(3).await.pop().unwrap().id.unwrap();
    let mut socket = Socket::open(&service, &format!("/v1/sessions/s/ws?after={third}")).await;
    for event in &events[3..] {
        let frame = socket.next().await;
        assert_eq!(frame["event"]["id"], Value::from(event.id.as_ref()));
    }
    assert!(socket.next().await["live"].is_string());
    let mut socket = Socket::open(&service, "/v1/sessions/s/ws?after=1.1").await;
    assert_eq!(socket.next().await, json!({"session": "s", "gap": {"reason": "epoch"}}));
    assert!(socket.next().await["snapshot"].is_object());
}

#[tokio::test]
async fn session_events_are_published() {
    let service = Service::start().await;
    let mut socket = Socket::open(&service, "/v1/ws").await;
    socket.send(json!({"subscribe": "sessions"})).await;
    assert_eq!(socket.next().await, json!({"sessions": "live"}));
    // Earlier changes are not published.
    assert_eq!(socket.next().await, json!({"sessions": "missed"}));
    service.json("PUT", "/v1/sessions/s", "").await;
    let heard = socket.next().await;
    assert_eq!((&heard["change"], &heard["info"]["status"]), (&json!("created"), &json!("idle")));
    let name = heard["session"].as_str().unwrap().to_owned();
    let events = reply(&["Hello"]);
    service.lines(&format!("/v1/sessions/{name}/events"), &lines_of(&events[..2])).await;
    loop {
        let frame = socket.next().await;
        if frame["session"] == *name && frame["change"] == "changed" {
            assert_eq!(frame["info"]["status"], "running");
            break;
        }
    }
    assert_eq!(events[0].type_name(), Event::from_json(&events[0].to_json()).unwrap().type_name());
}

#[tokio::test]
async fn shutdown_closes_sockets() {
    let service = Service::with_session("s").await;
    let mut socket = Socket::open(&service, "/v1/sessions/s/ws").await;
    assert!(socket.next().await["snapshot"].is_object());
    service.stop.cancel();
    while socket.text().await.is_some() {}
}

#[tokio::test]
async fn ignored_event_is_reported_in_its_acknowledgement() {
    let service = Service::with_session("s").await;
    let done = reply(&["Done."]);
    service.lines("/v1/sessions/s/events", &lines_of(&done)).await;
    let mut socket = Socket::open(&service, "/v1/ws").await;
    let late = json!({"type": "TEXT_BLOCK_START", "reply_id": done[0].reply_id(), "block_id": "b", "id": "late"});
    socket.send(json!({"ref": 1, "session": "s", "event": late})).await;
    let answer = socket.next().await;
    assert_eq!((&answer["ref"], &answer["ignored"][0]["reason"]), (&json!(1), &json!("reply_ended")));
    let signal = json!({"type": "CUSTOM", "name": "n", "value": {}});
    socket.send(json!({"ref": 2, "session": "s", "event": signal})).await;
    assert_eq!(socket.next().await.get("ignored"), None);
}

#[tokio::test]
async fn name_sessions_is_reserved() {
    let service = Service::with_session("s").await;
    assert_eq!(service.json("PUT", "/v1/sessions/sessions", "{}").await.problem(400)["field"], "id");
    let fork = service.json("POST", "/v1/sessions/s/fork", r#"{"id":"sessions"}"#).await;
    assert_eq!(fork.problem(400)["field"], "id");
}
