//! Confirmation of several calls in one response.

use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::provider::{ENVIRONMENT, configure, text_response, tool_calls};
use crate::server::{ScriptedResponse, Server};
use crate::terminal::{Terminal, command, directory};

fn responses() -> [ScriptedResponse; 2] {
    let touch =
        |name: &str| ("shell", json!({"command": format!("touch {name}"), "access": ["write"], "reason": name}));
    let list = ("glob", json!({"pattern": "*.toml"}));
    [tool_calls(&[touch("one"), list, touch("two")]), text_response("All of it is done.")]
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_confirmed_one_at_a_time() {
    let server = Server::start(responses()).await;
    let directory = directory("each_is_asked_about");
    configure(&directory, &server, "");
    let workspace = directory.clone();
    let dialogue = move || {
        let mut terminal = Terminal::start_with(&workspace, &["--config", "c.toml"], ENVIRONMENT);
        terminal.submit("Go on.");
        terminal.wait_for("? May it run: shell (it requests to write to the workspace: one)");
        terminal.submit("y");
        terminal.wait_for("└ glob done");
        terminal.wait_for("? May it run: shell (it requests to write to the workspace: two)");
        // The open confirmation and the calls after it are kept for the resumed session.
        terminal.leave();
        let mut terminal = Terminal::start_with(&workspace, &["--config", "c.toml", "--resume"], ENVIRONMENT);
        terminal.wait_for("? May it run: shell (it requests to write to the workspace: two)");
        terminal.submit("n");
        terminal.wait_for("└ shell denied");
        terminal.wait_for("All of it is done.");
        terminal.leave();
    };
    tokio::task::spawn_blocking(dialogue).await.unwrap();
    assert_eq!((directory.join("one").exists(), directory.join("two").exists()), (true, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn pending_calls_are_confirmed_after_kill_and_resume() {
    let server = Server::start(responses()).await;
    let directory = directory("those_that_wait_behind");
    configure(&directory, &server, "");
    let dialogue = move || {
        let mut terminal = Terminal::start_with(&directory, &["--config", "c.toml"], ENVIRONMENT);
        terminal.submit("Go on.");
        terminal.wait_for("? May it run: shell");
        terminal.kill();
        let mut terminal = Terminal::start_with(&directory, &["--config", "c.toml", "--resume"], ENVIRONMENT);
        terminal.wait_for("? May it run: shell");
        terminal.submit("n");
        terminal.wait_for("? May it run: shell");
        terminal.submit("n");
        terminal.wait_for("All of it is done.");
        terminal.leave();
    };
    tokio::task::spawn_blocking(dialogue).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn script_denies_or_allows_every_call() {
    for (test, args, is_allowed) in [
        ("a_script_denies_each", &["Go on."][..], false),
        ("a_script_allows_each", &["--allow", "Go on."], true),
        ("events_of_each", &["--json", "--allow", "Go on."], true),
    ] {
        let server = Server::start(responses()).await;
        let directory = directory(test);
        configure(&directory, &server, "");
        let mut command = command(&directory, args);
        command.args(["--config", "c.toml"]).envs(ENVIRONMENT.iter().copied()).stdin(Stdio::null());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let (reply, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(reply.contains("All of it is done."), "{test}: {reply}\n{stderr}");
        assert_eq!(
            stderr.matches("shell asks to run (it requests to write to the workspace: ").count(),
            2,
            "{test}: {stderr}"
        );
        let exists = ["one", "two"].map(|name| directory.join(name).exists());
        assert_eq!(exists, [is_allowed, is_allowed], "{test}: {stderr}");
    }
}
