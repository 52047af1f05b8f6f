//! Failures over HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::mcp::{McpConfig, McpServer};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::support::{call, error, text};

/// Starts a server that responds to each request with the result of a function, and records the request heads.
async fn served(answer: fn(&serde_json::Value) -> Option<String>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(one(stream, answer, Arc::clone(&seen)));
        }
    });
    (address, heads)
}

async fn one(mut stream: TcpStream, answer: fn(&serde_json::Value) -> Option<String>, seen: Arc<Mutex<Vec<String>>>) {
    let (read, mut write) = stream.split();
    let mut read = BufReader::new(read);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if read.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line.to_lowercase());
        }
        let mut body = vec![0; length];
        read.read_exact(&mut body).await.unwrap();
        let is_post = head.starts_with("post");
        seen.lock().unwrap().push(head);
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let reply = match (is_post, body.get("id")) {
            (true, Some(_)) => match answer(&body) {
                Some(reply) => reply,
                // Never.
                None => return std::future::pending().await,
            },
            (true, None) => "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
            (false, _) => "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_owned(),
        };
        if write.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn json(body: &serde_json::Value, result: &str) -> Option<String> {
    let json = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, body["id"]);
    Some(format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{json}", json.len()))
}

fn plain(body: &serde_json::Value) -> Option<String> {
    match (body["method"].as_str().unwrap(), body["params"]["name"].as_str()) {
        ("initialize", _) => json(
            body,
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}"#,
        ),
        ("tools/list", _) => json(
            body,
            r#"{"tools":[{"name":"echo","inputSchema":{}},{"name":"hang","inputSchema":{}},
            {"name":"fail","inputSchema":{}}]}"#,
        ),
        ("tools/call", Some("echo")) => json(body, r#"{"content":[{"type":"text","text":"here"}]}"#),
        ("tools/call", Some("fail")) => {
            Some("HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n".to_owned())
        }
        ("tools/call", _) => None,
        _ => json(body, "{}"),
    }
}

#[tokio::test]
async fn configured_headers_are_sent_with_every_request() {
    let (address, heads) = served(plain).await;
    let config = McpConfig::http(address).header("Authorization", "Bearer ${CARGO_PKG_NAME}");
    assert!(!format!("{config:?}").contains("Bearer"));
    let server = McpServer::connect("h", config).await.unwrap();
    assert_eq!(text(&server, "echo", "{}").await, "here");
    let heads = heads.lock().unwrap();
    assert!(heads.iter().all(|head| head.contains("authorization: bearer recount-agent\r\n")), "{heads:?}");
}

#[tokio::test]
async fn failing_call_does_not_affect_others() {
    let (address, _) = served(plain).await;
    let server = McpServer::connect("h", McpConfig::http(address).timeout(Duration::from_secs(2))).await.unwrap();
    let message = error(&server, "fail").await;
    assert!(message.starts_with("cannot reach the MCP server `h`: ") && message.contains("500"), "{message}");
    assert!(!message.contains("::"), "no types: {message}");
    assert_eq!(error(&server, "hang").await, "the MCP server `h` did not respond within 2s; the call was cancelled");
    assert_eq!(call(&server, "echo", "{}").await.unwrap().content.text().as_deref(), Some("here"));
}

#[tokio::test]
async fn unreachable_server_is_an_error() {
    // This port was just free.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let message =
        McpServer::connect("gone", McpConfig::http(format!("http://{address}/mcp"))).await.unwrap_err().to_string();
    assert!(message.starts_with("cannot start the MCP server `gone`: Connection refused"), "{message}");
    let config = McpConfig::http("http://127.0.0.1:1/mcp").header("not a name", "x");
    let message = McpServer::connect("wrong", config).await.unwrap_err().to_string();
    assert_eq!(message, "cannot start the MCP server `wrong`: invalid header name `not a name`");
}

#[test]
fn config_round_trips() {
    let read = |json: &str| serde_json::from_str::<McpConfig>(json);
    let config =
        read(r#"{"url":"https://example.com/mcp","headers":{"X-Key":"k"},"timeout":1.5,"tools":["a"]}"#).unwrap();
    assert_eq!(
        config,
        McpConfig::http("https://example.com/mcp")
            .header("X-Key", "k")
            .timeout(Duration::from_millis(1500))
            .tools(["a"])
    );
    let written = serde_json::to_string(&config).unwrap();
    assert_eq!(read(&written).unwrap(), config);
    let command = McpConfig::command("npx", ["-y", "x"]).env("A", "b").cwd("/tmp");
    assert_eq!(read(&serde_json::to_string(&command).unwrap()).unwrap(), command);

    let error = |json: &str| read(json).unwrap_err().to_string();
    assert_eq!(error("{}"), "invalid configuration of an MCP server: expected either `command` or `url`");
    assert_eq!(
        error(r#"{"url":"x","args":["a"]}"#),
        "invalid configuration of an MCP server: `args`, `env`, `cwd`, `inherit_env` and `access` require `command`"
    );
    assert_eq!(
        error(r#"{"command":"x","timeout":-1}"#),
        "invalid configuration of an MCP server: `timeout` must be a positive number of seconds"
    );
    assert!(error(r#"{"command":"x","comand":"y"}"#).contains("unknown field `comand`"));
}
