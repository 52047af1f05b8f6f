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
async fn a_server_that_dies_hurts_only_the_call_and_is_started_again() {
    let server = McpServer::connect("frail", hostile(&[])).await.unwrap();
    let other = McpServer::connect("sound", hostile(&[])).await.unwrap();
    let before = server.tools();
    assert_eq!(
        error(&server, "die").await,
        "the MCP server `frail` died before it answered; whether it did what was asked is not known"
    );
    assert_eq!(text(&other, "echo", r#"{"a":1}"#).await, r#"{"a":1}"#);
    server.wait_for_tools_change(&before).await;
    server.wait_until_ready().await;
    assert_eq!(text(&server, "echo", r#"{"a":2}"#).await, r#"{"a":2}"#);
}

#[tokio::test]
async fn a_server_that_cannot_be_started_again_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("started");
    let server = McpServer::connect("once", hostile(&["once", file.to_str().unwrap()])).await.unwrap();
    error(&server, "die").await;
    let told = error(&server, "echo").await;
    // Which of the two it is depends on how far it has got; it is down in either case.
    let ended = "the MCP server `once` is not running: it ended; it said: out of memory";
    let locked =
        told.starts_with("the MCP server `once` is not running: ") && told.ends_with("it said: the database is locked");
    assert!(told == ended || locked, "{told}");
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why() {
    let failed = |name, config| async move { McpServer::connect(name, config).await.unwrap_err().to_string() };
    let told = failed("exits", hostile(&["exits"])).await;
    assert!(told.starts_with("the MCP server `exits` could not be started: "), "{told}");
    assert!(told.ends_with("it said: Cannot find module 'sense'"), "{told}");
    let missing = McpConfig::command("/no/such/program", [""; 0]);
    let told = failed("missing", missing).await;
    assert!(
        told.starts_with("the MCP server `missing` could not be started: `/no/such/program` cannot be run: "),
        "{told}"
    );
    let mut silent = hostile(&["silent"]);
    silent.start_timeout = Duration::from_millis(300);
    let told = failed("silent", silent).await;
    assert_eq!(told, "the MCP server `silent` could not be started: it took longer than 300ms to start");
    let told = failed("a__b", hostile(&[])).await;
    assert!(told.starts_with("`a__b` cannot be the name of an MCP server"), "{told}");
    let told = failed("secret", hostile(&[]).env("KEY", "${RECOUNT_NO_SUCH}")).await;
    assert_eq!(told, "the MCP server `secret` could not be started: the environment has no variable `RECOUNT_NO_SUCH`");
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_and_started_again() {
    let config = hostile(&[]).timeout(Duration::from_secs(2));
    let server = McpServer::connect("deaf", config).await.unwrap();
    let before = server.tools();
    assert_eq!(error(&server, "hang").await, "the MCP server `deaf` did not answer within 2s; the call was given up");
    server.wait_for_tools_change(&before).await;
    server.wait_until_ready().await;
    assert_eq!(text(&server, "echo", "{}").await, "{}");
}

#[tokio::test]
async fn a_call_that_takes_too_long_ends_and_the_server_stays() {
    let config = hostile(&[]).timeout(Duration::from_secs(2));
    let server = McpServer::connect("slow", config).await.unwrap();
    error(&server, "wait").await;
    assert_eq!(text(&server, "cancelled", "{}").await, r#"["request timeout"]"#);
}

#[tokio::test]
async fn progress_without_end_comes_to_an_end() {
    let mut config = hostile(&[]).timeout(Duration::from_secs(1));
    config.max_duration = Duration::from_secs(3);
    let server = McpServer::connect("babbler", config).await.unwrap();
    // It tells of more progress than anybody listens to, which does not keep the call from ending.
    let told = error(&server, "babble").await;
    assert_eq!(told, "the MCP server `babbler` did not answer within 3s; the call was given up");
}

#[tokio::test]
async fn a_flood_is_cut() {
    let server = McpServer::connect("flood", hostile(&[]).max_output(1000)).await.unwrap();
    let told = text(&server, "flood", "{}").await;
    let expected = format!("{}\n(2999000 more characters were too long and are left out)", "x".repeat(1000));
    assert_eq!(told, expected);
}

#[tokio::test]
async fn what_is_no_message_is_passed_over() {
    let server = McpServer::connect("noisy", hostile(&["noisy"])).await.unwrap();
    assert_eq!(text(&server, "echo", r#"{"a":"é"}"#).await, r#"{"a":"é"}"#);
}

#[tokio::test]
async fn errors_of_a_tool_are_told() {
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    assert_eq!(error(&server, "refuse").await, "no such city");
    assert_eq!(error(&server, "nonsense").await, "the MCP server `s` answered with something that is no result");
}

#[tokio::test]
async fn progress_is_signalled() {
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
    assert_eq!(signals(&mut work.said), expected);
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    let wait = tool(&server, "wait");
    let work = Call::new();
    let running = wait.run(Object::new(), &work.context);
    let (told, ()) = tokio::join!(running, async {
        // The server has the call before it has this one.
        text(&server, "echo", "{}").await;
        work.cancel.cancel();
    });
    assert_eq!(told.unwrap_err().to_string(), "it was interrupted");
    assert_eq!(cancellations(&server, 1).await, 1);

    // Nor does it go on for somebody who has dropped the call.
    let work = Call::new();
    let running = wait.run(Object::new(), &work.context);
    tokio::select! {
        _ = running => panic!(),
        _ = text(&server, "echo", "{}") => {}
    }
    assert_eq!(cancellations(&server, 2).await, 2);
}

/// How many cancellations the server knows of, asked until there are enough.
async fn cancellations(server: &std::sync::Arc<McpServer>, expected: usize) -> usize {
    let mut known = 0;
    for _ in 0..1000 {
        let told: Vec<String> = serde_json::from_str(&text(server, "cancelled", "{}").await).unwrap();
        known = told.len();
        if known >= expected {
            break;
        }
    }
    known
}

#[tokio::test]
async fn new_tools_are_there_as_soon_as_the_server_tells_of_them() {
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    let before = server.tools();
    assert!(!names(&server).contains(&"s__grown".to_owned()));
    assert_eq!(text(&server, "grow", "{}").await, "grown");
    server.wait_for_tools_change(&before).await;
    assert!(names(&server).contains(&"s__grown".to_owned()));
    assert_eq!(server.instructions().as_deref(), Some("Be careful."));
}

#[tokio::test]
async fn tools_that_cannot_be_are_left_out() {
    let server = McpServer::connect("s", hostile(&["odd"])).await.unwrap();
    let long = format!("s__{}_", "x".repeat(52));
    let told = names(&server);
    let fitted: Vec<&str> = told.iter().map(|name| name.rsplit_once('_').map_or("", |(start, _)| start)).collect();
    assert_eq!(fitted, ["s__a_b", "s__a_b", "s_", long.trim_end_matches('_')]);
    assert_ne!(told[0], told[1]);
    assert_eq!((told[2].as_str(), told[3].len()), ("s__twice", 64));
    assert_eq!(server.tools()[0].spec().description.len(), 10_000);
    assert_eq!(server.tools()[2].spec().description, "first");
}

#[tokio::test]
async fn a_list_without_end_comes_to_an_end() {
    let server = McpServer::connect("s", hostile(&["endless"])).await.unwrap();
    assert_eq!(server.tools().len(), 100);
}

#[tokio::test]
async fn only_the_tools_that_are_wanted_are_taken() {
    let server = McpServer::connect("s", hostile(&[]).tools(["echo", "no-such"])).await.unwrap();
    assert_eq!(names(&server), ["s__echo"]);
}

#[tokio::test]
async fn hints_are_marks_where_they_are_trusted() {
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
    assert_eq!(permission("cancelled").await, ToolPermission::Ask("`cancelled` is run by the MCP server `s`".into()));
    let destroys = "`die` is run by the MCP server `s` and may destroy something";
    assert_eq!(permission("die").await, ToolPermission::Ask(destroys.into()));

    // Anybody can say so.
    let server = McpServer::connect("s", hostile(&[])).await.unwrap();
    let spec = tool(&server, "echo").spec().clone();
    assert_eq!((spec.read_only, spec.idempotent, spec.concurrency_safe), (false, false, false));
}

#[tokio::test]
async fn a_server_gets_the_environment_that_it_needs_and_no_secrets() {
    let directory = tempfile::tempdir().unwrap();
    let config = hostile(&[]).env("GREETING", "hello ${CARGO_PKG_NAME}").cwd(directory.path());
    let server = McpServer::connect("s", config).await.unwrap();
    let told: serde_json::Value = serde_json::from_str(&text(&server, "environment", "{}").await).unwrap();
    assert_eq!(told["env"]["GREETING"], "hello recount-agent");
    assert!(told["env"]["PATH"].is_string() && told["env"]["CARGO_PKG_NAME"].is_null(), "{told}");
    assert_eq!(Path::new(told["cwd"].as_str().unwrap()), directory.path().canonicalize().unwrap());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_ends_when_nobody_needs_it_even_one_that_does_not_want_to() {
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
    // A tool that somebody still holds says so.
    let told = echo.run(Object::new(), &Call::new().context).await.unwrap_err().to_string();
    assert_eq!(told, "the MCP server `s` was closed");
}

/// Waits until a server has written down its process, and gives the place of that.
async fn process_in(file: &Path) -> std::path::PathBuf {
    loop {
        match std::fs::read_to_string(file) {
            Ok(id) if !id.is_empty() => return Path::new("/proc").join(id),
            Ok(_) | Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Whether a process has ended, waited for or not.
fn has_ended(process: &Path) -> bool {
    std::fs::read_to_string(process.join("stat")).map_or(true, |stat| stat.contains(") Z "))
}

#[test]
fn a_server_that_is_still_starting_ends_too() {
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
    // The program ends, and nothing is waited for.
    here.shutdown_background();
    while !has_ended(&process) {
        std::thread::sleep(Duration::from_millis(20));
    }
}
