//! Runs the examples and compares their output.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "the examples' own `main` is not called here")]

#[path = "../examples/confirmation.rs"]
mod confirmation;
#[path = "../examples/messages.rs"]
mod messages;
#[path = "../examples/multi_agent_names.rs"]
mod multi_agent_names;
#[path = "../examples/reconstruct.rs"]
mod reconstruct;
#[path = "../examples/streaming_console.rs"]
mod streaming_console;
#[path = "../examples/structured_output.rs"]
mod structured_output;

use std::error::Error;

use pretty_assertions::assert_eq;

/// Compares the output of an example.
#[track_caller]
fn check(run: impl FnOnce(&mut Vec<u8>) -> Result<(), Box<dyn Error>>, expected: &str) {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn the_messages_of_a_conversation_are_printed() {
    check(
        messages::run,
        r#"User: What's the weather like?
Assistant: Let me check the weather for you.
Tool Call: get_weather
Tool Result: Sunny, 25°C
Final: The weather in Beijing is sunny with 25°C.
Metadata: {"temperature":25,"condition":"sunny","location":"Beijing"}
"#,
    );
}

#[test]
fn a_message_is_rebuilt_after_a_dropped_connection() {
    check(
        reconstruct::run,
        r#"The agent sent 20 events.
At event 7 the message says: "Let me look at the weather."
3 events came twice and changed nothing.
In the end it says: "Let me look at the weather. It is sunny in Beijing."
"#,
    );
}

#[test]
fn a_reply_is_shown_while_it_comes_in() {
    check(
        |out| {
            let message = streaming_console::run(out, streaming_console::built_in().as_bytes())?.unwrap();
            assert_eq!(
                message.text().as_deref(),
                Some("I will look at the loop first.\nThe range includes one index too many.")
            );
            assert_eq!(message.finished_reason(), Some(recount::FinishedReason::Completed));
            Ok(())
        },
        "I will look at the loop first.
[Calling read_file...]
[Tool finished: success]
The range includes one index too many.
[Done]
",
    );
}

#[test]
fn invalid_line_is_named() {
    let stream = format!("{}{{}}\n", streaming_console::built_in());
    let error = streaming_console::run(&mut Vec::new(), stream.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), format!("line {}: `type`: this field is required", stream.lines().count()));
}

#[test]
fn agents_are_distinguished_by_name() {
    check(
        multi_agent_names::run,
        "[AgentA]: I think we should do this...
[AgentB]: I disagree because...
[Moderator]: I think we should do this...
[AgentA]: View A
[AgentB]: View B
",
    );
}

#[test]
fn structured_output_is_read_as_a_type() {
    check(
        structured_output::run,
        r#"Goal: Release version 1
Steps: test, tag, publish
Hours: 3
Error: `goal`: invalid type: integer `1`, expected a string at line 1 column 9
Metadata: {"task_id":"12345","priority":3,"tags":["important","urgent"]}
"#,
    );
}

#[test]
fn a_tool_runs_as_the_user_allowed_it() {
    check(
        confirmation::run,
        r#"shell {"command": "rm -r build target"} is asking
shell {"command": "rm -r build"} is allowed
shell {"command": "rm -r build"} is finished: removed 12 files (success)
"#,
    );
}
