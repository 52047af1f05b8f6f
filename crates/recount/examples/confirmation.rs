//! Human in the loop: a reply asks for permission, the user allows the call with changed arguments, and the reply continues.
//!
//! ```text
//! cargo run -p recount --example confirmation
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::{
    ConfirmResult, Event, Fold, Msg, PermissionBehavior, PermissionRule, ReplyEnd, ReplyWriter, Stamps, ToolCallState,
    ToolResultState, UserConfirmResultEvent,
};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}

/// Prints the states of the calls of a reply.
fn show(out: &mut impl Write, message: &Msg) -> io::Result<()> {
    for (call, result) in message.tool_pairs() {
        write!(out, "{} {} is {}", call.name, call.input, call.state)?;
        match result {
            Some(result) => writeln!(out, ": {} ({})", result.output.text().unwrap_or_default(), result.state)?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    // The events of the agent and of the user are in one stream.
    let mut stream = Vec::new();

    // The agent starts a reply and asks. It suggests a rule for similar calls.
    let mut reply = ReplyWriter::start(|event| stream.push(event), Stamps::repeatable(), "session-1", "Friday");
    reply.text("I will clean up.");
    let call = reply.tool_call("call_1", "shell");
    reply.tool_input(&call, r#"{"command": "rm -r build target"}"#);
    let rule = PermissionRule::new("shell", Some("rm -r build*"), PermissionBehavior::Allow).with_source("suggested");
    reply.ask(&call, vec![rule]);
    show(out, reply.message())?;

    // The user shortens the command and allows this one call.
    let asked = reply.message().call("call_1").ok_or("the call is there")?;
    assert_eq!(asked.state, ToolCallState::Asking);
    let mut edited = asked.clone();
    edited.input = r#"{"command": "rm -r build"}"#.to_owned();
    let answer = Event::new(UserConfirmResultEvent::new(reply.reply_id().to_owned(), [ConfirmResult::allow(edited)]));

    // The agent receives the confirmation and runs the tool.
    assert_eq!(reply.receive(&answer).reason(), None);
    show(out, reply.message())?;
    let result = reply.tool_result(call);
    reply.result_text(&result, "removed 12 files");
    reply.end_result(result, ToolResultState::Success);
    reply.text("Done.");
    let message = reply.end(ReplyEnd::completed());
    show(out, &message)?;

    // A reader of the stream has the same message. The confirmation must be at its position in the stream.
    let asked_at = stream.iter().position(|event| event.type_name() == "REQUIRE_USER_CONFIRM").ok_or("it asks")?;
    stream.insert(asked_at + 1, answer);
    let mut fold = Fold::new();
    fold.extend(&stream);
    assert_eq!(fold.messages().next(), Some(&message));
    Ok(())
}
