use std::path::Path;
use std::time::Duration;

use pretty_assertions::assert_eq;
use recount_agent::mcp::{McpConfig, McpServer};
use recount_agent::permission::{PermissionContext, ToolPermission};
use recount_agent::tool::ToolSource;
use recount_message::Object;

use super::support::{Call, error, hostile, signals, text, tool};

fn names(server: &McpServer) -> Vec<String> {
    server.tools().iter().map(|tool| tool.spec().name.clone()).collect()
}

#[tokio::test]
async fn crashed_server_fails_call_and_restarts() {
    let server = McpServer::connect("frail", hostile(&[])).await.unwrap();
    let other = McpServer::connect("sound", hostile(&[])).await.unwrap();
    let before = server.tools();
    assert_eq!(
        error(&server, "die").await,
        "the MCP server `frail` exited before it responded; the call may have taken effect"
    );
    assert_eq!(text(&other, "echo", r#"{"a":1}"#).await, r#"{"a":1}"#);
    server.wait_for_tools_change(&before).await;
    server.wait_until_ready().await;
    assert_eq!(text(&server, "echo", r#"{"a":2}"#).await, r#"{"a":2}"#);
}

#[tokio::test]
async fn failed_restart_reports_reason() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("started");
    let server = McpServer::connect("once", hostile(&["once", file.to_str().unwrap()])).await.unwrap();
    error(&server, "die").await;
    let failure = error(&server, "echo").await;
    // Either error is possible, depending on the progress of the restart.
    let ended = "the MCP server `once` is not running: it exited; stderr: out of memory";
    let locked = failure.starts_with("the MCP server `once` is not running: ")
        && failure.ends_with("stderr: the database is locked");
    assert!(failure == ended || locked, "{failure}");
}

#[tokio::test]
async fn failed_start_reports_reason() {
    let failed = |name, config| async move { McpServer::connect(name, config).await.unwrap_err().to_string() };
    let message = failed("exits", hostile(&["exits"])).await;
    assert!(message.starts_with("cannot start the MCP server `exits`: "), "{message}");
    assert!(message.ends_with("stderr: Cannot find module 'sense'"), "{message}");
    let missing = McpConfig::command("/no/such/program", [""; 0]);
    let message = failed("missing", missing).await;
    assert!(message.starts_with("cannot start the MCP server `missing`: cannot run `/no/such/program`: "), "{message}");
    let mut silent = hostile(&["silent"]);
    silent.start_timeout = Duration::from_millis(300);
    let message = failed("silent", silent).await;
    assert_eq!(message, "cannot start the MCP server `silent`: it did not start within 300ms");
    let message = failed("a__b", hostile(&[])).await;
    assert!(message.starts_with("invalid name of an MCP server `a__b`"), "{message}");
    let message = failed("secret", hostile(&[]).env("KEY", "${RECOUNT_NO_SUCH}")).await;
    assert_eq!(message, "cannot start the MCP server `secret`: the environment variable `RECOUNT_NO_SUCH` is not set");
}

#[tokio::test]
async fn hanging_server_is_restarted() {
    let config = hostile(&[]).timeout(Duration::from_secs(2));
    let server = McpServer::connect("deaf", config).await.unwrap();
    let before = server.tools();
    assert_eq!(error(&server, "hang").await, "the MCP server `deaf` did not respond within 2s; the call was cancelled");
    server.wait_for_tools_change(&before).await;
    server.wait_until_ready().await;
    assert_eq!(text(&server, "echo", "{}").await, "{}");
}

#[tokio::test]
async fn call_timeout_keeps_server() {
    let config = hostile(&[]).timeout(Duration::from_secs(2));
    let server = McpServer::connect("slow", config).await.unwrap();
    error(&server, "wait").await;
    assert_eq!(text(&server, "cancelled", "{}").await, r#"["request timeout"]"#);
}

#[tokio::test]
async fn endless_progress_times_out() {
    let mut config = hostile(&[]).timeout(Duration::from_secs(1));
    config.max_duration = Duration::from_secs(3);
    let server = McpServer::connect("babbler", config).await.unwrap();
    // Unread progress does not prevent the timeout.
    let message = error(&server, "babble").await;
    assert_eq!(message, "the MCP server `babbler` did not respond within 3s; the call was cancelled");
}

#[tokio::test]
async fn long_result_is_truncated() {
    let server = McpServer::connect("flood", hostile(&[]).max_output(1000)).await.unwrap();
    let message = text(&server, "flood", "{}").await;
    let expected = format!("{}\n(2999000 more characters omitted: the result is too long)", "x".repeat(1000));
    assert_eq!(message, expected);
}

#[tokio::test]
async fn invalid_messages_are_ignored() {
    let server = McpServer::connect("noisy", hostile(&["noisy"])).await.unwrap();
    assert_eq!(text(&server, "echo", r#"{"a":"é"}"#).await, r#"{"a":"é"}"#);
}

#[tokio::test]
async fn tool_errors_are_returned() {
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    assert_eq!(error(&server, "refuse").await, "no such city");
    assert_eq!(error(&server, "nonsense").await, "the MCP server `s` returned an unexpected response");
}

#[tokio::test]
async fn progress_is_emitted_as_signal() {
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    let mut work = Call::new();
    let output = tool(&server, "progress").run(Object::new(), &work.context).await.unwrap();
    assert_eq!(output.content.text().as_deref(), Some("there"));
    let expected: Vec<String> = (1..=3)
        .map(|step| {
            let ids = r#""tool_call_id":"c1","tool":"s__progress""#;
            format!(r#"mcp.progress {{{ids},"progress":{step}.0,"total":3.0,"message":"step {step}"}}"#)
        })
        .collect();
    assert_eq!(signals(&mut work.events), expected);
}

#[tokio::test]
async fn cancellation_is_sent_to_server() {
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    let wait = tool(&server, "wait");
    let work = Call::new();
    let running = wait.run(Object::new(), &work.context);
    let (message, ()) = tokio::join!(running, async {
        // The server receives the call before this one.
        text(&server, "echo", "{}").await;
        work.cancel.cancel();
    });
    assert_eq!(message.unwrap_err().to_string(), "interrupted");
    assert_eq!(cancellations(&server, 1).await, 1);

    // Dropping the call cancels it as well.
    let work = Call::new();
    let running = wait.run(Object::new(), &work.context);
    tokio::select! {
        _ = running => panic!(),
        _ = text(&server, "echo", "{}") => {}
    }
    assert_eq!(cancellations(&server, 2).await, 2);
}

/// Polls the server until it has received a number of cancellations.
async fn cancellations(server: &std::sync::Arc<McpServer>, expected: usize) -> usize {
    let mut known = 0;
    for _ in 0..1000 {
        let message: Vec<String> = serde_json::from_str(&text(server, "cancelled", "{}").await).unwrap();
        known = message.len();
        if known >= expected {
            break;
        }
    }
    known
}

#[tokio::test]
async fn tool_list_change_is_applied() {
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    let before = server.tools();
    assert!(!names(&server).contains(&"s__grown".to_owned()));
    assert_eq!(text(&server, "grow", "{}").await, "grown");
    server.wait_for_tools_change(&before).await;
    assert!(names(&server).contains(&"s__grown".to_owned()));
    assert_eq!(server.instructions().as_deref(), Some("Be careful."));
}

#[tokio::test]
async fn invalid_tools_are_skipped() {
    let server = McpServer::connect("s", hostile(&["odd"])).await.unwrap();
    let long = format!("s__{}_", "x".repeat(52));
    let message = names(&server);
    let fitted: Vec<&str> = message.iter().map(|name| name.rsplit_once('_').map_or("", |(start, _)| start)).collect();
    assert_eq!(fitted, ["s__a_b", "s__a_b", "s_", long.trim_end_matches('_')]);
    assert_ne!(message[0], message[1]);
    assert_eq!((message[2].as_str(), message[3].len()), ("s__twice", 64));
    assert_eq!(server.tools()[0].spec().description.len(), 10_000);
    assert_eq!(server.tools()[2].spec().description, "first");
}

#[tokio::test]
async fn endless_tool_list_is_limited() {
    let server = McpServer::connect("s", hostile(&["endless"])).await.unwrap();
    assert_eq!(server.tools().len(), 100);
}

#[tokio::test]
async fn only_configured_tools_are_listed() {
    let server = McpServer::connect("s", hostile(&[]).tools(["echo", "no-such"])).await.unwrap();
    assert_eq!(names(&server), ["s__echo"]);
}

#[tokio::test]
async fn trusted_hints_set_flags() {
    let server = McpServer::connect("s", hostile(&[]).trust_hints()).await.unwrap();
    let marks = |name| {
        let tool = tool(&server, name);
        let spec = tool.spec();
        (spec.read_only, spec.idempotent, spec.concurrency_safe)
    };
    assert_eq!(marks("echo"), (true, true, true));
    assert_eq!(marks("cancelled"), (false, true, false));
    assert_eq!(marks("die"), (false, false, false));
    let context = PermissionContext::default();
    let permission = |name: &'static str| {
        let tool = tool(&server, name);
        let context = &context;
        async move { tool.check_permission(&Object::new(), context).await }
    };
    assert_eq!(permission("echo").await, ToolPermission::Passthrough);
    assert_eq!(permission("cancelled").await, ToolPermission::Ask("`cancelled` runs in the MCP server `s`".into()));
    let destroys = "`die` runs in the MCP server `s` and may be destructive";
    assert_eq!(permission("die").await, ToolPermission::Ask(destroys.into()));

    // Hints are not trusted by default.
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    let spec = tool(&server, "echo").spec().clone();
    assert_eq!((spec.read_only, spec.idempotent, spec.concurrency_safe), (false, false, false));
}

#[tokio::test]
async fn server_environment_has_no_secrets() {
    let directory = tempfile::tempdir().unwrap();
    let config = hostile(&[]).env("GREETING", "hello ${CARGO_PKG_NAME}").cwd(directory.path());
    let server = McpServer::connect("s", config).await.unwrap();
    let message: serde_json::Value = serde_json::from_str(&text(&server, "environment", "{}").await).unwrap();
    assert_eq!(message["env"]["GREETING"], "hello recount-agent");
    assert!(message["env"]["PATH"].is_string() && message["env"]["CARGO_PKG_NAME"].is_null(), "{message}");
    assert_eq!(Path::new(message["cwd"].as_str().unwrap()), directory.path().canonicalize().unwrap());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn dropped_server_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pid");
    let server = McpServer::connect("s", hostile(&["stubborn", file.to_str().unwrap()])).await.unwrap();
    let process = Path::new("/proc").join(std::fs::read_to_string(file).unwrap());
    let echo = tool(&server, "echo");
    assert!(process.exists());
    drop(server);
    while process.exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // A tool that is still referenced returns an error.
    let message = echo.run(Object::new(), &Call::new().context).await.unwrap_err().to_string();
    assert_eq!(message, "the MCP server `s` was closed");
}

/// Waits until a server has written its process id to a file, and returns the directory of the process in `/proc`.
async fn process_in(file: &Path) -> std::path::PathBuf {
    loop {
        match std::fs::read_to_string(file) {
            Ok(id) if !id.is_empty() => return Path::new("/proc").join(id),
            Ok(_) | Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Returns whether a process has ended, reaped or not.
fn has_ended(process: &Path) -> bool {
    std::fs::read_to_string(process.join("stat")).map_or(true, |stat| stat.contains(") Z "))
}

#[test]
fn dropped_server_is_killed_while_starting() {
    let directory = tempfile::tempdir().unwrap();
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let start = |name: &str| {
        let file = directory.path().join(name);
        (McpServer::start("mute", hostile(&["mute", file.to_str().unwrap()])).unwrap(), file)
    };
    let here = runtime();
    let process = here.block_on(async {
        let (server, file) = start("dropped");
        let process = process_in(&file).await;
        drop(server);
        while !has_ended(&process) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (server, file) = start("closed");
        let process = process_in(&file).await;
        server.close().await;
        assert!(server.error().is_some() && !server.is_starting());
        while !has_ended(&process) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (server, file) = start("left");
        let process = process_in(&file).await;
        std::mem::forget(server);
        process
    });
    // The runtime is dropped without waiting for the server.
    here.shutdown_background();
    while !has_ended(&process) {
        std::thread::sleep(Duration::from_millis(20));
    }
}
