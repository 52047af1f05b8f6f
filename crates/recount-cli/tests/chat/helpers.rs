//! Agents that work for others: what they say is shown, and what they ask is answered.

use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;
use recount_message::{Event, EventKind};

use crate::terminal::{Terminal, command, directory};

const CONFIG: &str = r#"
[agents.lead]
model = "demo/5000"
tools = []
helpers = ["scout"]

[agents.scout]
model = "demo/5000"
tools = ["shell"]
"#;

/// What makes the one call the other, which then wants to run a command.
const TASK: &str = r#"scout {"task": "use the shell"}"#;

fn configured(directory: &Path) {
    fs::write(directory.join("recount.toml"), CONFIG).unwrap();
}

#[test]
fn what_a_helper_does_is_shown_and_what_it_asks_is_answered() {
    let directory = directory("what_a_helper_does");
    configured(&directory);
    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml"]);
    terminal.say(TASK);
    terminal.wait_for("● scout");
    terminal.wait_for("↳ scout begins");
    terminal.wait_for("┆ ● shell");
    terminal.wait_for("? May it run: shell for scout");
    terminal.say("y");
    terminal.wait_for("┆   │ 1\r\n");
    terminal.wait_for("┆   └ shell done");
    terminal.wait_for("↳ scout is done");
    // What it answers was shown already.
    assert_eq!(terminal.wait_for("└ scout done").trim(), "");
    terminal.leave();
}

#[test]
fn a_helper_that_waits_goes_on_after_a_kill() {
    let directory = directory("a_helper_that_waits");
    configured(&directory);
    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml"]);
    terminal.say(TASK);
    terminal.wait_for("? May it run: shell for scout");
    terminal.kill();

    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml", "--resume"]);
    terminal.wait_for("● scout");
    terminal.wait_for("↳ scout begins");
    terminal.wait_for("┆ ● shell");
    terminal.wait_for("? May it run: shell for scout");
    terminal.say("y");
    terminal.wait_for("┆   └ shell done");
    terminal.wait_for("└ scout done");
    terminal.leave();

    // What is over is shown in its place too.
    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml", "--resume"]);
    terminal.wait_for("┆   └ shell done");
    terminal.wait_for("↳ scout is done");
    terminal.wait_for("└ scout done");
    terminal.leave();
}

#[test]
fn a_script_is_told_who_asks() {
    let directory = directory("a_script_is_told_who_asks");
    configured(&directory);
    let run = |args: &[&str]| {
        let args: Vec<&str> = ["--config", "recount.toml"].into_iter().chain(args.iter().copied()).collect();
        let output = command(&directory, &args).stdin(std::process::Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };

    let (status, answer, told) = run(&[TASK]);
    assert_eq!(status, Some(1));
    assert!(
        told.contains("scout: shell asks to run (it requests to write to the workspace: to show how a command asks): denied; --allow would allow it\n"),
        "{told}"
    );
    assert!(told.contains("scout: shell ended: denied\n") && !told.contains("running shell"), "{told}");
    assert!(told.contains("running scout\n") && told.contains("\nscout ended: success\n"), "{told}");
    // What the helper says is no part of the answer, and is told all the same.
    assert!(told.contains("scout: I call `shell`."), "{told}");
    assert!(answer.starts_with("I call `scout`."), "{answer}");

    let (status, events, _) = run(&["--json", "--allow", TASK]);
    assert_eq!(status, Some(0));
    let events: Vec<Event<'_>> = events.lines().map(|line| Event::from_json(line).unwrap()).collect();
    let is_start = |event: &&Event<'_>| matches!(event.kind, EventKind::ReplyStart(_));
    let starts: Vec<&Event<'_>> = events.iter().filter(is_start).collect();
    let parent = starts[1].extension("parent").and_then(|parent| parent.as_str().map(str::to_owned));
    assert_eq!(parent.as_deref(), starts[0].reply_id());
    let said = events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolResultTextDelta(text) if event.reply_id() == starts[1].reply_id() => Some(text.delta.as_ref()),
        _ => None,
    });
    assert_eq!(said.collect::<String>().trim_end(), "1\n4\n9");
}
