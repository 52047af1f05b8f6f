//! Running without a terminal.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use recount_message::check::Checker;
use recount_message::{
    DataBlock, Event, FinishedReason, Fold, Msg, Role, ThinkingBlock, ToolResultBlock, ToolResultState,
};

use crate::terminal::{command, directory};

struct Run {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(mut command: Command, input: &str) -> Run {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { exit: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn chat(directory: &Path, args: &[&str], input: &str) -> Run {
    run(command(directory, args), input)
}

/// Checks that the events are a valid stream, and folds them into messages.
fn fold_events(lines: &str) -> Vec<Msg> {
    let (mut checker, mut fold, mut findings) = (Checker::new(), Fold::new(), Vec::new());
    for line in lines.lines() {
        let event = Event::from_json(line).unwrap();
        findings.extend(checker.event(&event));
        let _ = fold.apply(&event);
    }
    findings.extend(checker.finish());
    assert!(findings.is_empty(), "{findings:?}");
    fold.into_messages().collect()
}

#[test]
fn json_prints_one_event_per_line() {
    let directory = directory("events_come_as_lines");
    let run = chat(&directory, &["--json", "--model", "demo/50000", "think of an image"], "");
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
    let messages = fold_events(&run.stdout);
    assert_eq!(messages.iter().map(Msg::role).collect::<Vec<_>>(), [Role::User, Role::Assistant]);
    assert!(messages[1].has::<ThinkingBlock>() && messages[1].has::<DataBlock>());
}

#[test]
fn confirmations_are_denied_without_allow() {
    let directory = directory("what_is_asked_is_denied");
    let state = |run: &Run| fold_events(&run.stdout)[1].first::<ToolResultBlock>().unwrap().state;
    let denied = chat(&directory, &["--json", "--model", "demo/50000", "-"], "use a tool");
    assert_eq!((denied.exit, state(&denied)), (Some(1), ToolResultState::Denied));
    let output = fold_events(&denied.stdout)[1].first::<ToolResultBlock>().unwrap().output.text().unwrap();
    assert!(
        output.contains("This call was not run: nobody is there to be asked") && output.contains("--allow"),
        "{output}"
    );
    assert_eq!(
        denied.stderr,
        "shell asks to run (it requests to write to the workspace: to show how a command asks): denied; --allow would allow it\n"
    );
    let allowed = chat(&directory, &["--json", "--allow", "--model", "demo/50000"], "use a tool");
    assert_eq!((allowed.exit, state(&allowed)), (Some(0), ToolResultState::Success));
    assert_eq!(
        allowed.stderr,
        "shell asks to run (it requests to write to the workspace: to show how a command asks): allowed\n"
    );
}

#[test]
fn reply_is_plain_text_in_a_pipe() {
    let directory = directory("the_answer_is_plain_text");
    let run = chat(&directory, &["--model", "demo/50000", "think:"], "a long story");
    assert_eq!((run.exit, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(run.stdout.split_whitespace().count(), 500);
    assert!(run.stdout.starts_with("**Paragraph 1.** ") && !run.stdout.contains('\x1b'), "{}", run.stdout);
}

#[test]
fn resume_continues_a_conversation_in_a_script() {
    let directory = directory("a_conversation_in_a_script");
    let first = chat(&directory, &["--model", "demo/50000", "Hello"], "");
    assert!(first.stdout.contains("This is Recount's **demo model**"), "{}", first.stdout);
    let second = chat(&directory, &["--model", "demo/50000", "--resume", "--", "Hello again"], "");
    assert!(second.stdout.contains("still the *demo model*"), "{}", second.stdout);
}

#[test]
fn resume_rejects_unknown_conversation_names() {
    let directory = directory("words_after_resume");
    let count = || fs::read_dir(directory.join("data")).unwrap().count();
    let resume = |args: &[&str]| chat(&directory, &[&["--model", "demo/50000", "--resume"], args].concat(), "");
    assert_eq!(resume(&[]).stderr.lines().last(), Some("hint: `recount chat` begins one"));
    for _ in 0..2 {
        assert_eq!(chat(&directory, &["--model", "demo/50000", "Hello"], "").exit, Some(0));
    }
    let mut names: Vec<String> = fs::read_dir(directory.join("data"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for args in [&["Tell me more"][..], &["Tell", "me more"]] {
        let run = resume(args);
        assert_eq!((run.exit, run.stdout.as_str(), count()), (Some(2), "", 2));
        assert!(
            run.stderr.starts_with(&format!("error: there is no conversation `{}` in ", args[0])),
            "{}",
            run.stderr
        );
        assert!(names.iter().all(|name| run.stderr.contains(name)), "{}", run.stderr);
        assert!(run.stderr.ends_with("; `--resume -- MESSAGE` says something in the last one\n"), "{}", run.stderr);
    }
    let run = resume(&["2"]);
    assert!(
        run.stderr.starts_with("error: 2 conversations begin with `2`\nhint: the newest of them are "),
        "{}",
        run.stderr
    );
    let last = names.pop().unwrap();
    assert_eq!((resume(&[&last, "Hello"]).exit, count()), (Some(0), 2));
}

#[test]
fn missing_key_error_suggests_the_demo_model() {
    let directory = directory("without_a_key");
    let nothing = chat(&directory, &["Hello"], "");
    assert_eq!((nothing.exit, nothing.stdout.as_str()), (Some(2), ""));
    assert_eq!(
        nothing.stderr,
        "error: no model is named, and no provider's key is set\n\
         hint: `recount models` lists the variables that hold keys; `--model demo` needs none\n"
    );
    let named = chat(&directory, &["--model", "openai/gpt-5", "Hello"], "");
    assert_eq!(
        (named.exit, named.stderr.as_str()),
        (Some(2), "error: no API key for openai/gpt-5: OPENAI_API_KEY is not set\nhint: `--model demo` needs no key\n")
    );
    assert!(!directory.join("data").exists(), "nothing is left behind");
}

#[test]
fn invalid_arguments_are_reported() {
    let directory = directory("what_cannot_be_done");
    fs::write(directory.join("text.png"), "no image").unwrap();
    fs::write(directory.join("bad.toml"), "[agents.a]\nmodel = \"demo\"\npromt = \"Hi\"\n").unwrap();
    fs::write(directory.join("serve.toml"), "[server]\nlissten = \"127.0.0.1:7171\"\n").unwrap();
    for (args, expected) in [
        (&["--model", "gpt-5", "Hi"][..], "`gpt-5` is neither `provider/name` nor `demo`"),
        (&["--config", "bad.toml", "Hi"], "bad.toml:3: unknown field `promt`, expected one of `model`"),
        (&["--config", "none.toml", "Hi"], "none.toml: cannot read the configuration"),
        (&["--config", "serve.toml", "Hi"], "serve.toml:2: unknown field `lissten`, expected one of"),
        (&["--model", "demo", "--agent", "nobody", "Hi"], "there is no agent `nobody`\nhint: there is assistant"),
        (&["--model", "demo", "--image", "cat.png", "Hi"], "cannot read cat.png"),
        (&["--model", "demo", "--image", "text.png", "Hi"], "cannot use text.png: it is no image"),
        (&["--model", "demo", "--image", "/dev/zero", "Hi"], "cannot read /dev/zero: it is a device or a pipe"),
        (&["Hi", "--resume", "nowhere"], "there is no conversation `nowhere`"),
        (&["--model", "demo"], "there is no message\nhint: give one"),
    ] {
        let run = chat(&directory, args, "");
        assert_eq!(run.exit, Some(2), "{args:?}");
        assert!(run.stderr.contains(expected), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn exit_status_is_1_if_the_reply_fails() {
    let directory = directory("the_exit_status");
    fs::write(
        directory.join("c.toml"),
        "[agents.a]\nmodel = \"openai/x\"\nbase_url = \"http://127.0.0.1:1\"\nretries = 0\n",
    )
    .unwrap();
    let run = chat(&directory, &["--config", "c.toml", "Hello"], "");
    assert_eq!((run.exit, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.starts_with("connection: "), "{}", run.stderr);
}

#[test]
fn interrupt_ends_the_reply_and_exits_with_130() {
    let directory = directory("an_interrupt");
    let mut child = command(&directory, &["--json", "--model", "demo", "a long story"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut lines = String::new();
    while !lines.contains("TEXT_BLOCK_DELTA") {
        assert!(output.read_line(&mut lines).unwrap() > 0, "{lines}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    output.read_to_string(&mut lines).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fold_events(&lines)[1].finished_reason(), Some(FinishedReason::Interrupted));
}

#[test]
fn mcp_server_start_failure_is_reported() {
    let directory = directory("a_server_that_does_not_start");
    let config = "[agents.a]\nmodel = \"demo/50000\"\n[agents.a.mcp.gone]\ncommand = \"/nowhere/at-all\"\n";
    fs::write(directory.join("c.toml"), config).unwrap();
    let run = chat(&directory, &["--config", "c.toml", "Hello"], "");
    assert_eq!(run.exit, Some(0));
    assert!(run.stderr.starts_with("the MCP server `gone` is not running: "), "{}", run.stderr);
    assert!(run.stdout.contains("demo model"), "{}", run.stdout);
}
