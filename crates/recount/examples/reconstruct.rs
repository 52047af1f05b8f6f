//! Rebuilds a message from its events, also after a dropped connection and with duplicate events.
//!
//! ```text
//! cargo run -p recount --example reconstruct
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::{Checkpoint, Event, Fold, Msg, Outcome, ReplyEnd, ReplyWriter, Stamps, ToolResultState, Usage};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}

/// Returns the events of an agent, one per line, and its final message.
fn agent() -> (Vec<String>, Msg) {
    let mut lines = Vec::new();
    let sink = |event: recount::AgentEvent| lines.push(event.to_json());
    let mut reply = ReplyWriter::start(sink, Stamps::repeatable(), "session-1", "Friday");
    reply.model_call("some-model");
    reply.text("Let me look");
    reply.text(" at the weather.");
    let call = reply.tool_call("call_1", "get_weather");
    reply.tool_input(&call, r#"{"city": "#);
    reply.tool_input(&call, r#""Beijing"}"#);
    reply.end_model_call(Some(Usage::new(100, 20)));
    let result = reply.tool_result(call);
    reply.result_text(&result, "Sunny, 25°C");
    reply.end_result(result, ToolResultState::Success);
    reply.model_call("some-model");
    reply.text("It is sunny in Beijing.");
    reply.end_model_call(Some(Usage::new(150, 10)));
    let message = reply.end(ReplyEnd::completed());
    (lines, message)
}

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let (lines, sent) = agent();
    writeln!(out, "The agent sent {} events.", lines.len())?;

    // A reader that receives all events.
    let mut whole = Fold::new();
    for line in &lines {
        assert_eq!(whole.apply(&Event::from_json(line)?), Outcome::Applied);
    }
    assert_eq!(whole.messages().next(), Some(&sent));

    // A reader that loses its connection in the middle of a tool call. It stores a checkpoint as text.
    let mut first = Fold::new();
    for (cursor, line) in (1..).zip(&lines).take(7) {
        let _ = first.apply_at(cursor, &Event::from_json(line)?);
    }
    let stored = first.checkpoint().to_json();
    let half = first.messages().next().ok_or("a reply has begun")?;
    writeln!(out, "At event {} the message says: {:?}", first.cursor(), half.text_or_empty())?;

    // Later it resumes from the checkpoint. The server sends some events again.
    let mut second = Fold::resume(Checkpoint::from_json(&stored)?);
    let mut seen = 0;
    for (cursor, line) in (1..).zip(&lines).skip(4) {
        match second.apply_at(cursor, &Event::from_json(line)?) {
            Outcome::Seen => seen += 1,
            outcome => assert_eq!(outcome, Outcome::Applied),
        }
    }
    writeln!(out, "{seen} events came twice and changed nothing.")?;

    let message = second.into_messages().next().ok_or("a reply has begun")?;
    assert_eq!(message.to_json(), sent.to_json(), "the same message, byte for byte");
    writeln!(out, "In the end it says: {:?}", message.text_joined_by(" ").unwrap_or_default())?;
    Ok(())
}
