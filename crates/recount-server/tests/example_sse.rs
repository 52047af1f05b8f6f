//! Runs the example `sse` over HTTP.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

#[allow(dead_code, reason = "the example has a main function")]
#[path = "../examples/sse.rs"]
mod sse;

use recount_agent::Agent;
use recount_agent::scripted::ScriptedModel;
use recount_message::{Event, Fold};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn posted_message_streams_its_reply() {
    let agent = Agent::builder("Friday").model(ScriptedModel::new().streams(["Hello, ", "Alice."])).build().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = sse::app(&agent);
    tokio::spawn(async move { axum::serve(listener, app).await });

    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = "POST /chat HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\nHi";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("content-type: text/event-stream"),
        "{answer}"
    );
    let events: Vec<Event<'_>> = answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| Event::from_json(data).unwrap())
        .collect();
    let fold: Fold = events.iter().collect();
    let message = fold.messages().next().unwrap();
    assert!(message.finished_at().is_some());
    assert_eq!(message.text().as_deref(), Some("Hello, Alice."));
}
