//! The published server over both transports.

use std::process::Stdio;
use std::sync::Arc;

use pretty_assertions::assert_eq;
use recount_agent::mcp::{McpConfig, McpServer};
use recount_agent::tool::{ToolSource, arguments};
use recount_message::{MediaBlock, Object};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::support::{Call, call, everything, signals, text, tool};

#[tokio::test]
async fn over_standard_input_and_output() {
    let config = McpConfig::command("node", [everything().to_str().unwrap(), "stdio"]);
    let server = McpServer::connect("everything", config).await.unwrap();
    check_everything_server(&server).await;
}

#[tokio::test]
async fn over_http() {
    let (address, _process) = served_over_http().await;
    let server = McpServer::connect("everything", McpConfig::http(address)).await.unwrap();
    check_everything_server(&server).await;
}

#[tokio::test]
async fn lost_http_server_is_reconnected() {
    let (address, mut process) = served_over_http().await;
    let server = McpServer::connect("everything", McpConfig::http(&address)).await.unwrap();
    let before = server.tools();
    process.kill().await.unwrap();
    let error = call(&server, "echo", r#"{"message": "hello"}"#).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot reach the MCP server `everything`: "), "{error}");
    let port = address.rsplit(':').next().and_then(|rest| rest.split('/').next()).unwrap().parse().unwrap();
    let (_, _process) = served_at(port).await;
    // It reconnects without a call.
    server.wait_for_tools_change(&before).await;
    server.wait_until_ready().await;
    assert_eq!(text(&server, "echo", r#"{"message": "hello"}"#).await, "Echo: hello");
}

/// Starts the server on a free port.
async fn served_over_http() -> (String, Child) {
    // The server does not report its port, so it gets one that was just free.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    served_at(port).await
}

async fn served_at(port: u16) -> (String, Child) {
    let mut process = Command::new("node")
        .args([everything().to_str().unwrap(), "streamableHttp"])
        .env("PORT", port.to_string())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("listening") {
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (format!("http://127.0.0.1:{port}/mcp"), process);
        }
    }
    panic!("the server did not start");
}

async fn check_everything_server(server: &Arc<McpServer>) {
    let names: Vec<String> = server.tools().iter().map(|tool| tool.spec().name.clone()).collect();
    for name in ["echo", "get-sum", "get-tiny-image", "get-structured-content", "trigger-long-running-operation"] {
        assert!(names.contains(&format!("everything__{name}")), "{names:?}");
    }
    assert_eq!(text(server, "echo", r#"{"message": "hello"}"#).await, "Echo: hello");
    // The arguments are repaired, as for any other tool.
    assert_eq!(text(server, "get-sum", r#"{"a": "2", "b": 3"#).await, "The sum of 2 and 3 is 5.");
    let error = arguments::parse(r#"{"a": "two"}"#, &tool(server, "get-sum")).unwrap_err().to_string();
    assert!(error.contains("\"b\" is a required property (at $)"), "{error}");

    let image = call(server, "get-tiny-image", "{}").await.unwrap();
    let is_image = |block: &MediaBlock| matches!(block, MediaBlock::Data(data) if data.media_type() == "image/png");
    assert_eq!(image.content.blocks().iter().filter(|block| is_image(block)).count(), 1);

    let weather = call(server, "get-structured-content", r#"{"location": "New York"}"#).await.unwrap();
    let structured = weather.metadata.get("structured_content").unwrap().to_object().unwrap();
    assert!(structured.contains_key("temperature"), "{structured}");
    assert_eq!(weather.content.text().unwrap().contains("temperature"), true);

    let blob = call(server, "get-resource-reference", r#"{"resourceType": "Blob", "resourceId": 1}"#).await.unwrap();
    let named = blob.content.blocks().iter().find_map(|block| match block {
        MediaBlock::Data(data) => data.name.clone(),
        _ => None,
    });
    assert!(named.as_ref().is_some_and(|name| name.starts_with("demo://resource/")), "{:?}", blob.content);
    let links = text(server, "get-resource-links", r#"{"count": 2}"#).await;
    assert!(links.contains("<demo://resource/"), "{links}");

    let mut work = Call::new();
    let long = tool(server, "trigger-long-running-operation");
    let arguments = Object::parse(r#"{"duration": 0.2, "steps": 2}"#).unwrap();
    let output = long.run(arguments, &work.context).await.unwrap();
    assert!(output.content.text().unwrap().contains("completed"), "{output:?}");
    let signals = signals(&mut work.events);
    assert_eq!(signals.len(), 2, "{signals:?}");
    assert!(signals[1].contains(r#""progress":2.0,"total":2.0"#), "{signals:?}");
}
