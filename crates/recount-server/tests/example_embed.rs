//! Runs the example `embed` over HTTP.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

#[allow(dead_code, reason = "the example has a main function")]
#[path = "../examples/embed.rs"]
mod embed;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use futures_util::StreamExt as _;
use recount_agent::Agent;
use recount_agent::scripted::ScriptedModel;
use recount_host::{Host, HostOptions, SingleAgent};
use recount_log::Log;
use recount_message::{Event, Fold};
use recount_server::{Api, Auth, ServerOptions, Tokens};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

/// The time limit for one response.
const TIMEOUT: Duration = Duration::from_secs(60);

struct Server {
    address: SocketAddr,
    api: Api,
}

impl Server {
    /// Starts the application of the example.
    async fn start() -> Self {
        Self::start_with(Auth::Extension, embed::app).await
    }

    async fn start_with(auth: Auth, app: impl FnOnce(&Api) -> Router) -> Self {
        let model = ScriptedModel::new().streams(["Hello, ", "Alice."]);
        let friday = SingleAgent::new("friday", move || Agent::builder("Friday").model(model.clone()));
        let host = Host::start(Log::in_memory(), Arc::new(friday), HostOptions::default()).await.unwrap();
        let api = Api::start(host, auth, ServerOptions::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, app) = (listener.local_addr().unwrap(), app(&api));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, api }
    }

    async fn connect(&self, method: &str, path: &str, key: Option<&str>, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let key = key.map(|key| format!("x-api-key: {key}\r\n")).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{key}content-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Sends a request and returns the whole response.
    async fn request(&self, method: &str, path: &str, key: Option<&str>, body: &str) -> String {
        let mut stream = self.connect(method, path, key, body).await;
        let mut response = String::new();
        tokio::time::timeout(TIMEOUT, stream.read_to_string(&mut response)).await.unwrap().unwrap();
        response
    }
}

#[track_caller]
fn assert_status(response: &str, status: u16) {
    assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
}

#[tokio::test]
async fn embedded_api_serves_a_session_with_the_applications_authentication() {
    let server = Server::start().await;
    assert!(server.request("GET", "/", None, "").await.ends_with("The application's own page.\n"));
    assert_status(&server.request("GET", "/agents/v1/sessions", None, "").await, 401);

    let created = server.request("PUT", "/agents/v1/sessions/hello", Some("alice-key"), "").await;
    assert_status(&created, 201);
    assert!(created.contains("location: /agents/v1/sessions/hello\r\n"), "{created}");
    let posted =
        server.request("POST", "/agents/v1/sessions/hello/messages", Some("alice-key"), r#"{"content":"Hi"}"#).await;
    assert_status(&posted, 202);
    // Another user is another tenant.
    for path in ["/agents/v1/sessions/hello", "/chats/hello/events"] {
        assert_status(&server.request("GET", path, Some("bob-key"), "").await, 404);
    }

    for path in ["/agents/v1/sessions/hello/stream?after=start", "/chats/hello/events?after=start"] {
        let stream = server.connect("GET", path, Some("alice-key"), "").await;
        let (mut lines, mut fold) = (BufReader::new(stream).lines(), Fold::new());
        while fold.messages().filter(|message| message.finished_at().is_some()).count() < 2 {
            let line = tokio::time::timeout(TIMEOUT, lines.next_line()).await.unwrap().unwrap().unwrap();
            if let Some(data) = line.strip_prefix("data: ") {
                let _ = fold.apply(&Event::from_json(data).unwrap());
            }
        }
        let reply = fold.messages().last().unwrap();
        assert_eq!(reply.text().as_deref(), Some("Hello, Alice."));
    }
}

#[tokio::test]
async fn stream_route_at_another_path_keeps_its_checks() {
    let server = Server::start().await;
    assert_status(&server.request("GET", "/chats/hello/events", None, "").await, 401);
    assert_status(&server.request("GET", "/chats/unknown/events", Some("alice-key"), "").await, 404);
    assert_status(&server.request("POST", "/chats/hello/events", Some("alice-key"), "{}").await, 405);
    let unknown = server.request("GET", "/chats/hello/events?nonsense=1", Some("alice-key"), "").await;
    assert_status(&unknown, 400);
    assert!(unknown.contains("unknown parameter `nonsense`"), "{unknown}");
    // The scope `write` does not include metrics.
    assert_status(&server.request("GET", "/agents/metrics", Some("alice-key"), "").await, 403);
}

#[tokio::test]
async fn shutdown_ends_event_streams() {
    let server = Server::start().await;
    assert_status(&server.request("PUT", "/agents/v1/sessions/hello", Some("alice-key"), "").await, 201);
    let stream = server.connect("GET", "/chats/hello/events", Some("alice-key"), "").await;
    let mut lines = BufReader::new(stream).lines();
    loop {
        let line = tokio::time::timeout(TIMEOUT, lines.next_line()).await.unwrap().unwrap().unwrap();
        if line == ": live" {
            break;
        }
    }
    server.api.shutdown().await;
    let rest = async { while lines.next_line().await.unwrap().is_some() {} };
    tokio::time::timeout(TIMEOUT, rest).await.unwrap();
    assert_status(&server.request("GET", "/agents/readyz", Some("alice-key"), "").await, 503);
}

#[tokio::test]
async fn embedded_api_accepts_web_sockets() {
    let server = Server::start().await;
    assert_status(&server.request("PUT", "/agents/v1/sessions/hello", Some("alice-key"), "").await, 201);
    let url = format!("ws://{}/agents/v1/sessions/hello/ws", server.address);
    let mut request = url.as_str().into_client_request().unwrap();
    request.headers_mut().insert("x-api-key", "alice-key".parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let frame = tokio::time::timeout(TIMEOUT, socket.next()).await.unwrap().unwrap().unwrap();
    assert!(frame.to_text().unwrap().starts_with(r#"{"session":"hello","id":"#), "{frame}");
}

#[tokio::test]
async fn api_router_merges_into_router_with_fallback() {
    let server = Server::start_with(Auth::Tokens(Tokens::none()), |api| {
        Router::new().fallback(async || "fallback of the application").merge(api.router())
    })
    .await;
    assert!(server.request("GET", "/unknown", None, "").await.ends_with("fallback of the application"));
    assert_status(&server.request("GET", "/healthz", None, "").await, 200);
    let created = server.request("PUT", "/v1/sessions/hello", None, "").await;
    assert!(created.contains("location: /v1/sessions/hello\r\n"), "{created}");
    let stream = Server::start_with(Auth::Tokens(Tokens::none()), Api::stream_router).await;
    assert_status(&stream.request("GET", "/v1/sessions/hello/stream", None, "").await, 404);
    assert_status(&stream.request("PUT", "/v1/sessions/hello", None, "").await, 404);
}
