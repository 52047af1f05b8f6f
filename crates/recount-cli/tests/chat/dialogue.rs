//! Interactive conversations.

use std::fs;

use pretty_assertions::assert_eq;
use recount_message::{Msg, Role};

use crate::terminal::{Terminal, directory};

const FAST: &[&str] = &["--model", "demo/5000"];

#[test]
fn reply_is_streamed() {
    let directory = directory("an_answer_is_streamed");
    let mut terminal = Terminal::start(&directory, &["--model", "demo"]);
    terminal.wait_for("assistant · demo · conversation ");
    terminal.submit("Hello");
    terminal.wait_for("not a language model");
    terminal.wait_for("- `think`: I think before I speak");
    terminal.wait_for("choose a model of a provider.");
    terminal.wait_for("tokens in");
    terminal.leave();
}

#[test]
fn markdown_is_colored_unless_no_color_is_set() {
    let directory = directory("markdown_is_shown_in_colours");
    let mut terminal = Terminal::start_with(&directory, FAST, &[]);
    terminal.submit("think of it");
    terminal.wait_for("\x1b[2m┊ thinking: ");
    terminal.wait_for("\x1b[1mdemo model\x1b[0m");
    terminal.leave();

    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("think of it");
    terminal.wait_for("┊ thinking: ");
    terminal.wait_for("**demo model**");
    let shown = terminal.wait_for("tokens in");
    assert!(!shown.contains("\x1b[1m") && !shown.contains("\x1b[2m"), "{shown:?}");
    terminal.leave();
}

#[test]
fn save_writes_the_conversation_or_its_image() {
    let directory = directory("the_conversation_can_be_kept");
    let home = directory.to_str().unwrap();
    let mut terminal = Terminal::start_with(&directory, FAST, &[("NO_COLOR", "1"), ("HOME", home)]);
    terminal.submit("show an image");
    terminal.wait_for("[image/png · ");
    terminal.submit("/save rings.png");
    terminal.wait_for("the last image is in rings.png");
    terminal.submit("/save talk.md");
    terminal.wait_for("the conversation of 2 messages is in talk.md");
    terminal.submit("/save talk.jsonl");
    terminal.wait_for("is in talk.jsonl");
    terminal.submit("/save talk.md");
    terminal.wait_for("error: talk.md is there already");
    terminal.submit("/save ~/talk.md");
    terminal.wait_for("error: ");
    terminal.wait_for("/talk.md is there already");
    terminal.leave();

    assert!(fs::read(directory.join("rings.png")).unwrap().starts_with(b"\x89PNG"));
    let talk = fs::read_to_string(directory.join("talk.md")).unwrap();
    assert!(talk.starts_with("## user\n\nshow an image\n\n## assistant\n\n*image/png: rings.png*"), "{talk}");
    let lines = fs::read_to_string(directory.join("talk.jsonl")).unwrap();
    let roles: Vec<Role> = lines.lines().map(|line| Msg::from_json(line).unwrap().role()).collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);
}

#[test]
fn image_paths_are_attached_to_the_message() {
    let directory = directory("an_image_goes_along");
    fs::write(directory.join("cat.gif"), b"GIF89a").unwrap();
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("Who is on cat.gif?");
    terminal.wait_for("I have received `image/gif`");
    terminal.submit("/image cat.gif");
    terminal.wait_for("goes along with the next message");
    terminal.submit("And here?");
    terminal.wait_for("  [image/gif · 6 B · cat.gif]");
    terminal.wait_for("I have received `image/gif`");
    terminal.submit("/image dog.gif");
    terminal.wait_for("error: cannot read dog.gif");
    terminal.leave();
}

#[test]
fn invalid_images_are_rejected() {
    let directory = directory("what_is_no_image");
    fs::write(directory.join("text.png"), "no image").unwrap();
    fs::write(directory.join("empty.png"), "").unwrap();
    let large = fs::File::create(directory.join("large.png")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&large, b"\x89PNG\r\n\x1a\n", 0).unwrap();
    large.set_len(60 << 20).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(directory.join("pipe.png")).status().unwrap().success());
    let mut terminal = Terminal::start(&directory, FAST);
    for (path, why) in [
        ("text.png", "error: cannot use text.png: it is no image"),
        ("empty.png", "error: cannot read empty.png: it is empty"),
        ("large.png", "error: cannot read large.png: it has 62914560 bytes, and an image may have 10485760 at most"),
        ("pipe.png", "error: cannot read pipe.png: it is a device or a pipe and no file"),
        ("/dev/zero", "error: cannot read /dev/zero: it is a device or a pipe and no file"),
        (".", "error: cannot read .: it is a directory"),
    ] {
        terminal.submit(&format!("/image {path}"));
        terminal.wait_for(why);
    }
    terminal.submit("What is on text.png?");
    terminal.wait_for("error: cannot use text.png: it is no image; the message goes without it");
    let shown = terminal.wait_for("tokens in");
    assert!(!shown.contains("I have received"), "{shown}");
    terminal.leave();
}

#[test]
fn slash_commands_print_their_result() {
    let directory = directory("commands_answer");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("/help");
    terminal.wait_for("/tools       the tools that the agent has");
    terminal.submit("/tools");
    for (tool, what) in [("read", "Reads a file."), ("shell", "Runs a shell command in the working directory")] {
        terminal.wait_for(&format!("  {tool:<7}{what}"));
    }
    terminal.submit("/model");
    terminal.wait_for("the model is demo/5000");
    terminal.submit("/model gpt");
    terminal.wait_for("error: `gpt` is neither `provider/name` nor `demo`");
    terminal.submit("/model openai/gpt-5");
    terminal.wait_for("OPENAI_API_KEY is not set");
    terminal.submit("/model demo/9000");
    terminal.wait_for("the model is demo/9000");
    terminal.submit("/dance");
    terminal.wait_for("error: there is no command `/dance`; /help lists them");
    terminal.submit("/quit");
    assert_eq!(terminal.end(), 0);
    let left =
        fs::read_dir(directory.join("data")).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count();
    assert_eq!(left, 0, "an empty conversation is not kept");
}

#[test]
fn ctrl_c_interrupts_the_reply_and_keeps_the_program() {
    let directory = directory("ctrl_c_stops_the_reply");
    let mut terminal = Terminal::start(&directory, &["--model", "demo"]);
    terminal.submit("a long story");
    terminal.wait_for("Paragraph 1");
    terminal.press("\x03");
    // The reply is rendered while it is streamed, so its end is missing.
    let shown = terminal.wait_for("— stopped");
    assert!(!shown.contains("Paragraph 5"), "{shown}");
    terminal.submit("Hello");
    terminal.wait_for("still the *demo model*");
    terminal.prompt();
    terminal.press("half a line\x03");
    terminal.wait_for("(Ctrl-C again, or Ctrl-D, leaves)");
    terminal.prompt();
    terminal.press("\x03");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn second_ctrl_c_leaves_during_a_reply() {
    let directory = directory("ctrl_c_twice");
    let mut terminal = Terminal::start(&directory, &["--model", "demo"]);
    terminal.submit("a long story");
    terminal.wait_for("Paragraph 1");
    terminal.press("\x03");
    terminal.wait_for("— stopped");
    terminal.press("\x03");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn history_persists_across_runs() {
    let directory = directory("history_outlives_the_program");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("Remember the milk");
    terminal.wait_for("tokens in");
    terminal.leave();
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("\x1b[A");
    terminal.wait_for("You wrote: “Remember the milk”");
    terminal.leave();
}

#[test]
fn trailing_backslash_continues_the_line() {
    let directory = directory("a_line_can_go_on");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("one\\");
    terminal.submit("two");
    terminal.wait_for("You wrote: “one two”");
    terminal.leave();
}

#[test]
fn argument_is_sent_as_first_message() {
    let directory = directory("the_first_message");
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000", "Good morning"]);
    terminal.wait_for("You wrote: “Good morning”");
    terminal.submit("And now?");
    terminal.wait_for("You wrote: “And now?”");
    terminal.leave();
}

#[test]
fn typeahead_starts_the_next_message() {
    let directory = directory("what_is_typed_ahead");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.prompt();
    // All input arrives at once, as with a paste without bracketed paste mode.
    terminal.press("one\rtwo\rthr");
    terminal.wait_for("You wrote: “one”");
    terminal.wait_for("You wrote: “two”");
    terminal.wait_for("thr");
    terminal.press("ee\r");
    terminal.wait_for("You wrote: “three”");
    terminal.leave();
}

#[test]
fn reply_is_rewrapped_when_the_terminal_narrows() {
    let directory = directory("a_terminal_may_become_narrower");
    let mut terminal = Terminal::start(&directory, &["--model", "demo"]);
    terminal.submit("a long story");
    terminal.wait_for("from any cursor.");
    terminal.resize(40);
    // Lines that the terminal has wrapped are rewritten in place, at the new width.
    terminal.wait_for("A\r");
    terminal.wait_for(
        "**Paragraph 1.** A message is the fold\r\nof its events, and nothing else. Every\r\nreader of the events",
    );
    terminal.press("\x03");
    terminal.wait_for("— stopped");
    terminal.leave();

    // A resumed conversation is rendered at the new width.
    let mut terminal = Terminal::start(&directory, &["--resume"]);
    terminal.wait_for("Every reader of the events\r\nends up with");
    terminal.leave();
}

#[test]
fn compress_summarises_the_conversation() {
    let directory = directory("what_was_said_is_summed_up");
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000"]);
    terminal.submit("/compress");
    terminal.wait_for("nothing was said yet");
    terminal.submit("a long story");
    terminal.wait_for("Paragraph 5");
    terminal.submit("/compress");
    terminal.wait_for("is summed up for the model before it is asked the next time");
    terminal.submit("Hello");
    terminal.wait_for("the beginning of the conversation was summed up for the model");
    terminal.wait_for("You wrote: “Hello”");
    terminal.leave();
}
