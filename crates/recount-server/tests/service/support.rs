//! A service in this process, and an HTTP client that returns raw bytes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use recount_agent::Agent;
use recount_agent::scripted::ScriptedModel;
use recount_agent::tool::FunctionTool;
use recount_host::{Host, HostOptions, SingleAgent};
use recount_log::{Cursor, Log};
use recount_message::{AgentEvent, CustomEvent, Event, Msg, ReplyEnd, ReplyWriter, Stamps};
use recount_server::{Server, ServerOptions};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The time limit for a response; it is reached only if the service hangs.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) log: Log,
    pub(crate) stop: CancellationToken,
    pub(crate) task: JoinHandle<()>,
}

impl Service {
    pub(crate) async fn start() -> Self {
        Self::with(Log::in_memory(), ServerOptions::default()).await
    }

    pub(crate) async fn with(log: Log, options: ServerOptions) -> Self {
        Self::hosting(log, ScriptedModel::new(), options).await
    }

    /// Starts a service whose agent has a scripted model.
    pub(crate) async fn hosting(log: Log, model: ScriptedModel, options: ServerOptions) -> Self {
        let host = host_of(log.clone(), model).await;
        let server = Server::bind(host, "127.0.0.1:0", options).await.unwrap();
        let (address, stop) = (server.local_addr().unwrap(), CancellationToken::new());
        let task = tokio::spawn(server.run(stop.clone()));
        Self { address, log, stop, task }
    }

    /// Starts a service with one session.
    pub(crate) async fn with_session(name: &str) -> Self {
        let service = Self::start().await;
        service.log.create(name.parse().unwrap()).await.unwrap();
        service
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request("GET", path, &[], b"").await
    }

    pub(crate) async fn json(&self, method: &str, path: &str, body: &str) -> Response {
        self.request(method, path, &[("content-type", "application/json")], body.as_bytes()).await
    }

    pub(crate) async fn lines(&self, path: &str, body: &str) -> Response {
        self.request("POST", path, &[("content-type", "application/x-ndjson")], body.as_bytes()).await
    }

    pub(crate) async fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            head.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes).await
    }

    /// Sends bytes, and reads until the service closes the connection.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Response {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // Fails if the service rejects the request before it has read all of it.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        let _ = tokio::time::timeout(TIMEOUT, read).await.expect("a response");
        Response::of(&answer)
    }

    /// Opens an event stream.
    pub(crate) async fn stream(&self, path: &str, headers: &[(&str, &str)]) -> Stream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut stream = Stream { lines: BufReader::new(stream), head: String::new() };
        loop {
            let line = stream.line().await.expect("a response head");
            if line.is_empty() {
                return stream;
            }
            stream.head.push_str(&line);
            stream.head.push('\n');
        }
    }
}

/// The input of a tool that requires a confirmation.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Delete {
    path: String,
}

pub(crate) async fn host_of(log: Log, model: ScriptedModel) -> Host {
    let friday = SingleAgent::new("friday", move || {
        let delete = |delete: Delete| async move { Ok(format!("{} is gone", delete.path)) };
        Agent::builder("Friday").model(model.clone()).tool(FunctionTool::new("delete", "Deletes a file.", delete))
    });
    Host::start(log, Arc::new(friday), HostOptions::default()).await.unwrap()
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Response {
    fn of(bytes: &[u8]) -> Self {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Self { status: 0, head: String::from_utf8_lossy(bytes).into_owned(), body: Vec::new() };
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = bytes[end + 4..].to_vec();
        Self { status, head, body }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// Asserts that the response is a problem with a status, and returns it.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.text());
        assert_eq!(self.header("content-type").as_deref(), Some("application/problem+json"));
        let value = self.value();
        assert_eq!(value["status"], status);
        assert!(value["type"].is_string() && value["title"].is_string() && value["detail"].is_string(), "{value}");
        value
    }
}

/// A stream of server-sent events.
pub(crate) struct Stream {
    lines: BufReader<TcpStream>,
    pub(crate) head: String,
}

/// A frame of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) event: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

impl Stream {
    /// Returns the next line; `None` if the stream is over.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = tokio::time::timeout(TIMEOUT, self.lines.read_line(&mut line)).await.expect("a line").ok()?;
        (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Returns the next frame; `None` if the stream is over. Skips comments.
    pub(crate) async fn next(&mut self) -> Option<Sent> {
        let mut sent = Sent::default();
        let mut is_empty = true;
        loop {
            let line = self.line().await?;
            if line.is_empty() {
                if is_empty {
                    continue;
                }
                return Some(sent);
            }
            match line.split_once(": ") {
                Some(("event", event)) => sent.event = Some(event.to_owned()),
                Some(("id", id)) => sent.id = Some(id.to_owned()),
                Some(("data", data)) => sent.data = data.to_owned(),
                _ => continue,
            }
            is_empty = false;
        }
    }

    /// Returns the next `count` frames.
    pub(crate) async fn take(&mut self, count: usize) -> Vec<Sent> {
        let mut frames = Vec::with_capacity(count);
        for _ in 0..count {
            frames.push(self.next().await.expect("a frame"));
        }
        frames
    }
}

/// Returns a user's message as an event.
pub(crate) fn user_message(text: &str) -> AgentEvent {
    Event::new(CustomEvent::message(&Msg::user("Alice", text)))
}

/// Returns the events of a reply with some words.
pub(crate) fn reply(words: &[&str]) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    let mut reply = ReplyWriter::start(|event| events.push(event), Stamps::default(), "s", "Friday");
    for word in words {
        reply.text(*word);
    }
    reply.end(ReplyEnd::completed());
    events
}

pub(crate) fn lines_of(events: &[AgentEvent]) -> String {
    events.iter().map(|event| event.to_json() + "\n").collect()
}

pub(crate) fn seq(cursor: &str) -> u64 {
    cursor.parse::<Cursor>().unwrap().seq
}
