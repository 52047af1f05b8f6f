//! Resuming after the process was killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pretty_assertions::assert_eq;
use recount_message::{FinishedReason, Msg};

use crate::terminal::{Terminal, directory};

/// Returns the directory of the only conversation.
pub(crate) fn conversation_dir(directory: &Path) -> PathBuf {
    let entries = fs::read_dir(directory.join("data")).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<PathBuf> = entries.filter(|path| path.join("log.sqlite").exists()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// Verifies the log and returns the messages of a file written by `/save`.
fn saved_messages(directory: &Path, file: &str) -> Vec<Msg> {
    let verified =
        Command::new(env!("CARGO_BIN_EXE_recount")).args(["log", "verify"]).arg(conversation_dir(directory)).output();
    let verified = verified.unwrap();
    assert!(verified.status.success(), "{verified:?}");
    let text = fs::read_to_string(directory.join(file)).unwrap();
    text.lines().map(|line| Msg::from_json(line).unwrap()).collect()
}

#[test]
fn interrupted_reply_resumes_after_kill() {
    let directory = directory("a_reply_that_was_cut_goes_on");
    let mut terminal = Terminal::start(&directory, &["--model", "demo"]);
    terminal.submit("a long story");
    terminal.wait_for("Paragraph 1");
    terminal.wait_for("nothing");
    terminal.kill();

    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000", "--resume"]);
    terminal.wait_for("> a long story");
    // The partial text stays, and the model call is repeated.
    terminal.wait_for("Paragraph 1");
    terminal.wait_for("— broken off here, and begun again");
    terminal.wait_for("Paragraph 1");
    terminal.wait_for("Paragraph 5");
    terminal.wait_for("tokens in");
    terminal.submit("/save talk.jsonl");
    terminal.wait_for("is in talk.jsonl");
    terminal.leave();

    let messages = saved_messages(&directory, "talk.jsonl");
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[1].finished_reason(), Some(FinishedReason::Completed));
    let texts: Vec<usize> =
        messages[1].blocks::<recount_message::TextBlock>().map(|block| block.text.split_whitespace().count()).collect();
    assert!(texts.len() == 2 && texts[0] < 500 && texts[1] == 500, "{texts:?}");
}

#[test]
fn open_confirmation_is_shown_again_after_kill() {
    let directory = directory("a_question_is_asked_again");
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000"]);
    terminal.submit("use a tool");
    terminal.wait_for("? May it run: shell");
    terminal.prompt();
    terminal.kill();

    let name = conversation_dir(&directory).file_name().unwrap().to_str().unwrap().to_owned();
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000", "--resume", &name]);
    terminal.wait_for("> use a tool");
    terminal.wait_for("? May it run: shell");
    terminal.submit("y");
    terminal.wait_for("└ shell done");
    terminal.wait_for("The tool `shell` returned:");
    terminal.leave();
}

#[test]
fn interrupted_command_is_not_run_again() {
    let directory = directory("a_command_that_was_cut");
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000"]);
    terminal.submit(r#"shell {"command": "echo begun >> runs.txt; echo begun; sleep 60", "access": ["write"]}"#);
    terminal.submit("y");
    terminal.wait_for("│ begun");
    terminal.kill();

    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000", "--resume"]);
    terminal.wait_for("└ shell interrupted");
    terminal.wait_for("its effect is unknown");
    terminal.leave();
    assert_eq!(fs::read_to_string(directory.join("runs.txt")).unwrap(), "begun\n");
}

#[test]
fn resume_continues_the_last_conversation() {
    let directory = directory("a_conversation_goes_on");
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000", "Good morning"]);
    terminal.wait_for("tokens in");
    terminal.leave();
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000", "--resume"]);
    terminal.wait_for("> Good morning");
    terminal.wait_for("You wrote: “Good morning”");
    terminal.submit("And now?");
    terminal.wait_for("still the *demo model*");
    terminal.leave();
}

#[test]
fn resume_keeps_the_chosen_model() {
    let directory = directory("a_conversation_goes_on_with_the_model");
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000", "Good morning"]);
    terminal.wait_for("tokens in");
    terminal.kill();
    let mut terminal = Terminal::start(&directory, &["--resume"]);
    terminal.wait_for("demo/5000 · conversation");
    terminal.submit("/model demo/4000");
    terminal.wait_for("the model is demo/4000");
    terminal.kill();
    let mut terminal = Terminal::start(&directory, &["--resume"]);
    terminal.wait_for("demo/4000 · conversation");
    terminal.leave();
    let mut terminal = Terminal::start(&directory, &["--resume", "--model", "demo/3000"]);
    terminal.wait_for("demo/3000 · conversation");
    terminal.leave();
}

#[test]
fn resume_rejects_unknown_conversation() {
    let directory = directory("a_conversation_that_is_not_there");
    for (args, expected) in [
        (&["--resume"][..], "there is no conversation in "),
        (&["--resume", "nowhere"], "there is no conversation `nowhere` in "),
    ] {
        let output = crate::terminal::command(&directory, args).args(["--model", "demo"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(expected), "{stderr}");
    }
}
