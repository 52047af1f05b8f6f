//! Sub-agents: their output is shown, and their confirmations are answered.

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

/// Makes the lead call the scout, which then requests to run a command.
const TASK: &str = r#"scout {"task": "use the shell"}"#;

fn configure(directory: &Path) {
    fs::write(directory.join("recount.toml"), CONFIG).unwrap();
}

#[test]
fn sub_agent_output_is_shown_and_its_confirmation_is_answered() {
    let directory = directory("what_a_helper_does");
    configure(&directory);
    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml"]);
    terminal.submit(TASK);
    terminal.wait_for("● scout");
    terminal.wait_for("↳ scout begins");
    terminal.wait_for("┆ ● shell");
    terminal.wait_for("? May it run: shell for scout");
    terminal.submit("y");
    terminal.wait_for("┆   │ 1\r\n");
    terminal.wait_for("┆   └ shell done");
    terminal.wait_for("↳ scout is done");
    // The result of the sub-agent was already shown.
    assert_eq!(terminal.wait_for("└ scout done").trim(), "");
    terminal.leave();
}

#[test]
fn waiting_sub_agent_resumes_after_kill() {
    let directory = directory("a_helper_that_waits");
    configure(&directory);
    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml"]);
    terminal.submit(TASK);
    terminal.wait_for("? May it run: shell for scout");
    terminal.kill();

    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml", "--resume"]);
    terminal.wait_for("● scout");
    terminal.wait_for("↳ scout begins");
    terminal.wait_for("┆ ● shell");
    terminal.wait_for("? May it run: shell for scout");
    terminal.submit("y");
    terminal.wait_for("┆   └ shell done");
    terminal.wait_for("└ scout done");
    terminal.leave();

    // A finished sub-agent is shown in place too.
    let mut terminal = Terminal::start(&directory, &["--config", "recount.toml", "--resume"]);
    terminal.wait_for("┆   └ shell done");
    terminal.wait_for("↳ scout is done");
    terminal.wait_for("└ scout done");
    terminal.leave();
}

#[test]
fn script_labels_sub_agent_confirmations() {
    let directory = directory("a_script_is_told_who_asks");
    configure(&directory);
    let run = |args: &[&str]| {
        let args: Vec<&str> = ["--config", "recount.toml"].into_iter().chain(args.iter().copied()).collect();
        let output = command(&directory, &args).stdin(std::process::Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };

    let (status, reply, stderr) = run(&[TASK]);
    assert_eq!(status, Some(1));
    assert!(
        stderr.contains("scout: shell asks to run (it requests to write to the workspace: to show how a command asks): denied; --allow would allow it\n"),
        "{stderr}"
    );
    assert!(stderr.contains("scout: shell ended: denied\n") && !stderr.contains("running shell"), "{stderr}");
    assert!(stderr.contains("running scout\n") && stderr.contains("\nscout ended: success\n"), "{stderr}");
    // The text of the sub-agent is printed to standard error, not as part of the reply.
    assert!(stderr.contains("scout: I call `shell`."), "{stderr}");
    assert!(reply.starts_with("I call `scout`."), "{reply}");

    let (status, events, _) = run(&["--json", "--allow", TASK]);
    assert_eq!(status, Some(0));
    let events: Vec<Event<'_>> = events.lines().map(|line| Event::from_json(line).unwrap()).collect();
    let is_start = |event: &&Event<'_>| matches!(event.kind, EventKind::ReplyStart(_));
    let starts: Vec<&Event<'_>> = events.iter().filter(is_start).collect();
    let parent = starts[1].extension("parent").and_then(|parent| parent.as_str().map(str::to_owned));
    assert_eq!(parent.as_deref(), starts[0].reply_id());
    let output = events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolResultTextDelta(text) if event.reply_id() == starts[1].reply_id() => Some(text.delta.as_ref()),
        _ => None,
    });
    assert_eq!(output.collect::<String>().trim_end(), "1\n4\n9");
}
