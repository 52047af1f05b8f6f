//! Several calls in one answer, which are asked about one after another.

use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::provider::{ENVIRONMENT, calls, configure, says};
use crate::server::{ScriptedResponse, Server};
use crate::terminal::{Terminal, command, directory};

fn answers() -> [ScriptedResponse; 2] {
    let touch =
        |name: &str| ("shell", json!({"command": format!("touch {name}"), "access": ["write"], "reason": name}));
    let list = ("glob", json!({"pattern": "*.toml"}));
    [calls(&[touch("one"), list, touch("two")]), says("All of it is done.")]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_is_asked_about_in_its_turn() {
    let server = Server::start(answers()).await;
    let directory = directory("each_is_asked_about");
    configure(&directory, &server, "");
    let place = directory.clone();
    let dialogue = move || {
        let mut terminal = Terminal::start_with(&place, &["--config", "c.toml"], ENVIRONMENT);
        terminal.say("Go on.");
        terminal.wait_for("? May it run: shell (it requests to write to the workspace: one)");
        terminal.say("y");
        terminal.wait_for("└ glob done");
        terminal.wait_for("? May it run: shell (it requests to write to the workspace: two)");
        // The one that is asked about, and what comes after it, wait for who comes back.
        terminal.leave();
        let mut terminal = Terminal::start_with(&place, &["--config", "c.toml", "--resume"], ENVIRONMENT);
        terminal.wait_for("? May it run: shell (it requests to write to the workspace: two)");
        terminal.say("n");
        terminal.wait_for("└ shell denied");
        terminal.wait_for("All of it is done.");
        terminal.leave();
    };
    tokio::task::spawn_blocking(dialogue).await.unwrap();
    assert_eq!((directory.join("one").exists(), directory.join("two").exists()), (true, false));
}

#[tokio::test(flavor = "multi_thread")]
async fn those_that_wait_behind_a_question_wait_for_who_comes_back() {
    let server = Server::start(answers()).await;
    let directory = directory("those_that_wait_behind");
    configure(&directory, &server, "");
    let dialogue = move || {
        let mut terminal = Terminal::start_with(&directory, &["--config", "c.toml"], ENVIRONMENT);
        terminal.say("Go on.");
        terminal.wait_for("? May it run: shell");
        terminal.kill();
        let mut terminal = Terminal::start_with(&directory, &["--config", "c.toml", "--resume"], ENVIRONMENT);
        terminal.wait_for("? May it run: shell");
        terminal.say("n");
        terminal.wait_for("? May it run: shell");
        terminal.say("n");
        terminal.wait_for("All of it is done.");
        terminal.leave();
    };
    tokio::task::spawn_blocking(dialogue).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_answers_for_each() {
    for (test, args, are_there) in [
        ("a_script_denies_each", &["Go on."][..], false),
        ("a_script_allows_each", &["--allow", "Go on."], true),
        ("events_of_each", &["--json", "--allow", "Go on."], true),
    ] {
        let server = Server::start(answers()).await;
        let directory = directory(test);
        configure(&directory, &server, "");
        let mut command = command(&directory, args);
        command.args(["--config", "c.toml"]).envs(ENVIRONMENT.iter().copied()).stdin(Stdio::null());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let (answer, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(answer.contains("All of it is done."), "{test}: {answer}\n{told}");
        assert_eq!(
            told.matches("shell asks to run (it requests to write to the workspace: ").count(),
            2,
            "{test}: {told}"
        );
        let made = ["one", "two"].map(|name| directory.join(name).exists());
        assert_eq!(made, [are_there, are_there], "{test}: {told}");
    }
}
