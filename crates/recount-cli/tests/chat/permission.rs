//! Confirmation prompts.

use pretty_assertions::assert_eq;

use crate::terminal::{Terminal, directory};

const FAST: &[&str] = &["--model", "demo/5000"];

#[test]
fn allow_once_prompts_again() {
    let directory = directory("once_is_once");
    let mut terminal = Terminal::start(&directory, FAST);
    for _ in 0..2 {
        terminal.submit("use a tool");
        terminal.wait_for("● shell");
        terminal.wait_for("$ for n in 1 2 3; do expr $n '*' $n; sleep 0.2; done");
        terminal.wait_for("? May it run: shell");
        terminal.submit("y");
        terminal.wait_for("│ 1");
        terminal.wait_for("│ 9");
        terminal.wait_for("└ shell done");
        terminal.wait_for("The tool `shell` returned:");
        terminal.wait_for("tokens in");
    }
    terminal.leave();
}

#[test]
fn allow_always_does_not_prompt_again() {
    let directory = directory("always_is_always");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("use a tool");
    terminal.wait_for("  always: shell(for n in 1 2 3; do expr");
    terminal.wait_for("  y once  a always  n no  e edit");
    terminal.submit("always");
    terminal.wait_for("└ shell done");
    terminal.submit("the tool again");
    let shown = terminal.wait_for("└ shell done");
    assert!(!shown.contains("May it run"), "{shown}");
    terminal.leave();
}

#[test]
fn prompt_shows_requested_access_and_reason() {
    let directory = directory("question_shows_access");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit(r#"shell {"command": "expr 6 '*' 7", "access": ["network"], "reason": "to try it"}"#);
    let shown = terminal.wait_for("? May it run: shell");
    assert!(shown.contains("requests: network — reason: to try it\r\n  $ expr 6"), "{shown}");
    terminal.wait_for(" (it requests to ");
    terminal.wait_for(": to try it)");
    terminal.wait_for("  always: shell(expr 6 ");
    terminal.wait_for(" with network");
    terminal.wait_for("  y once  a always  n no  e edit");
    terminal.submit("n");
    terminal.wait_for("└ shell denied");
    terminal.leave();
}

#[test]
fn deny_does_not_run_the_call() {
    let directory = directory("no_is_no");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("use a tool");
    terminal.wait_for("? May it run: shell");
    terminal.submit("perhaps");
    terminal.wait_for("y, a, n or e");
    terminal.submit("n");
    terminal.wait_for("└ shell denied");
    terminal.wait_for("`shell` was not allowed, so nothing has run.");
    terminal.leave();
}

#[test]
fn command_can_be_edited_before_it_runs() {
    let directory = directory("a_command_can_be_edited");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("use a tool");
    terminal.wait_for("? May it run: shell");
    terminal.submit("e");
    // Ctrl-U clears the line.
    terminal.submit("\x15expr 6 '*' 7");
    terminal.wait_for("│ 42");
    terminal.wait_for("└ shell done");
    terminal.leave();
}

#[test]
fn arguments_can_be_edited_as_json() {
    let directory = directory("arguments_can_be_edited");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit(r#"write {"path": "a.txt", "content": "one"}"#);
    terminal.wait_for("? May it run: write");
    terminal.submit("e");
    terminal.submit("\x15no json");
    terminal.wait_for("that is no JSON object");
    terminal.submit("e");
    terminal.submit("\x15{\"path\": \"a.txt\", \"content\": \"two\"}");
    terminal.wait_for("└ write done");
    terminal.leave();
    assert_eq!(std::fs::read_to_string(directory.join("a.txt")).unwrap(), "two");
}

#[test]
fn ctrl_c_at_a_prompt_interrupts_the_reply() {
    let directory = directory("ctrl_c_at_a_question");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("use a tool");
    terminal.wait_for("? May it run: shell");
    terminal.prompt();
    terminal.press("\x03");
    terminal.wait_for("— stopped");
    terminal.submit("Hello");
    terminal.wait_for("still the *demo model*");
    terminal.leave();
}

#[test]
fn interrupt_stops_the_running_command() {
    let directory = directory("a_running_command_is_stopped");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit(r#"shell {"command": "echo begun; expr 1; sleep 1000"}"#);
    terminal.wait_for("│ begun");
    terminal.press("\x03");
    terminal.wait_for("— stopped");
    terminal.leave();
}

#[test]
fn tool_output_is_escaped_and_truncated() {
    let directory = directory("what_a_tool_says");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit(r#"shell {"command": "printf '\\033[2Jgone\\n'; seq 30"}"#);
    let shown = terminal.wait_for("└ shell done");
    assert!(shown.contains("\\u{1b}[2Jgone") && !shown.contains("\x1b[2J"), "{shown:?}");
    assert!(shown.contains("│ 19\r") && shown.contains("│ … 11 more lines") && !shown.contains("│ 20"), "{shown}");
    terminal.leave();
}

#[test]
fn long_lines_and_progress_output_are_shortened() {
    let directory = directory("a_long_line_and_progress");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit(r#"shell {"command": "printf '10%%\\r20%%\\r30%%\\n'; seq -s x 2000"}"#);
    let shown = terminal.wait_for("└ shell done");
    assert!(shown.contains("│ 30%\r\n") && !shown.contains("10%\\r20%\\r30%\r"), "{shown}");
    assert!(shown.contains("│ … 1 more lines") && shown.matches("\r\n  │ ").count() < 24, "{shown}");
    terminal.leave();
}

#[test]
fn command_has_no_controlling_terminal() {
    let directory = directory("a_command_has_no_terminal");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit(r#"shell {"command": "echo gone > /dev/tty; read -r x < /dev/tty; expr 6 '*' 7"}"#);
    let shown = terminal.wait_for("└ shell done");
    assert!(shown.contains("/dev/tty: No such file or directory") && shown.contains("│ 42"), "{shown}");
    assert!(!shown.contains("\r\ngone"), "{shown}");
    terminal.leave();
}

#[test]
fn typeahead_does_not_answer_a_prompt() {
    let directory = directory("what_was_typed_before");
    let mut terminal = Terminal::start(&directory, &["--model", "demo"]);
    terminal.submit("use a tool");
    terminal.wait_for("I call `shell`.");
    terminal.press("y\r");
    terminal.wait_for("? May it run: shell");
    terminal.submit("n");
    terminal.wait_for("└ shell denied");
    // Input that arrived with the message does not answer it either. It becomes the next message.
    terminal.prompt();
    terminal.press("use a tool\ry\r");
    terminal.wait_for("? May it run: shell");
    terminal.submit("n");
    terminal.wait_for("└ shell denied");
    terminal.wait_for("You wrote: “y”");
    terminal.leave();
}

/// Configures an agent with a confirmation deadline in seconds.
fn configure_deadline(directory: &std::path::Path, seconds: u32) {
    let config = format!("[agents.a]\nmodel = \"demo/5000\"\nconfirm_within = {seconds}\n");
    std::fs::write(directory.join("a.toml"), config).unwrap();
}

#[test]
fn prompt_expires_at_its_deadline() {
    let directory = directory("a_question_goes_away");
    configure_deadline(&directory, 1);
    let mut terminal = Terminal::start(&directory, &["--config", "a.toml"]);
    terminal.submit("use a tool");
    terminal.wait_for("e edit  (within ");
    terminal.wait_for("allow? ");
    // A partial answer does not become part of the next message.
    terminal.press("y");
    terminal.wait_for("(the time is over: it does not run)");
    terminal.wait_for("This call was not confirmed before");
    terminal.wait_for("└ shell denied");
    terminal.wait_for("was not allowed, so nothing has run.");
    terminal.submit("es");
    terminal.wait_for("You wrote: “es”");
    terminal.leave();
}

#[test]
fn prompt_with_deadline_can_be_answered() {
    let directory = directory("a_question_whose_time_is_limited");
    configure_deadline(&directory, 600);
    let mut terminal = Terminal::start(&directory, &["--config", "a.toml"]);
    terminal.submit("use a tool");
    terminal.wait_for("e edit  (within ");
    terminal.wait_for("allow? ");
    terminal.press("perhaps\r");
    terminal.wait_for("y, a, n or e");
    terminal.wait_for("allow? ");
    terminal.press("y\r");
    terminal.wait_for("└ shell done");
    terminal.submit("use a tool");
    terminal.wait_for("allow? ");
    terminal.press("\x04");
    assert_eq!(terminal.end(), 0);

    // A resumed session shows the same prompt.
    let mut terminal = Terminal::start(&directory, &["--config", "a.toml", "--resume"]);
    terminal.wait_for("? May it run: shell (it requests to write to the workspace: to show how a command asks)");
    terminal.wait_for("e edit  (within ");
    terminal.wait_for("allow? ");
    terminal.press("\x03");
    terminal.wait_for("— stopped");
    terminal.leave();
}

#[test]
fn open_confirmation_is_shown_again_on_resume() {
    let directory = directory("a_question_waits");
    let mut terminal = Terminal::start(&directory, FAST);
    terminal.submit("use a tool");
    terminal.wait_for("? May it run: shell");
    terminal.leave();
    let mut terminal = Terminal::start(&directory, &["--model", "demo/5000", "--resume"]);
    terminal.wait_for("? May it run: shell (it requests to write to the workspace: to show how a command asks)");
    terminal.submit("n");
    terminal.wait_for("└ shell denied");
    terminal.leave();
}
