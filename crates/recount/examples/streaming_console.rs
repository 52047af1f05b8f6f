//! A streaming user interface on the console: prints a reply while it is streamed, and has the complete message at the end.
//!
//! Reads events as JSON lines from a file. Without a file, it prints a built-in reply.
//!
//! ```text
//! cargo run -p recount --example streaming_console
//! cargo run -p recount --example streaming_console -- events.jsonl
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use recount::{AgentEvent, Event, EventKind, Msg, ReplyEnd, ReplyWriter, Stamps, ToolResultState, Usage};

fn main() -> Result<(), Box<dyn Error>> {
    let out = &mut io::stdout().lock();
    match std::env::args_os().nth(1) {
        Some(path) => {
            let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            run(out, BufReader::new(file))?
        }
        None => run(out, built_in().as_bytes())?,
    };
    Ok(())
}

/// Prints the reply of a stream and returns its message; `None` if the stream has no reply.
pub(crate) fn run(out: &mut impl Write, stream: impl BufRead) -> Result<Option<Msg>, Box<dyn Error>> {
    let mut message: Option<Msg> = None;

    for (number, line) in (1..).zip(stream.lines()) {
        let line = line?;
        let event = Event::from_json(&line).map_err(|error| format!("line {number}: {error}"))?;

        match &event.kind {
            EventKind::ReplyStart(start) => {
                message = Some(Msg::assistant(&*start.name, []).with_id(&*start.reply_id));
            }
            EventKind::TextBlockDelta(text) => {
                write!(out, "{}", text.delta)?;
                out.flush()?;
            }
            EventKind::ToolCallStart(call) => writeln!(out, "\n[Calling {}...]", call.tool_call_name)?,
            EventKind::ToolResultEnd(result) => writeln!(out, "[Tool finished: {}]", result.state)?,
            EventKind::ReplyEnd(_) => writeln!(out, "\n[Done]")?,
            // Other events are not printed, but they are part of the message.
            _ => {}
        }

        if let Some(message) = &mut message
            && let Some(reason) = message.append_event(&event).reason()
        {
            writeln!(out, "[Ignored line {number}: {reason}]")?;
        }
    }
    Ok(message)
}

/// The built-in reply as JSON lines.
pub(crate) fn built_in() -> String {
    let mut lines = String::new();
    let sink = |event: AgentEvent| {
        event.write_json(&mut lines);
        lines.push('\n');
    };
    let mut reply = ReplyWriter::start(sink, Stamps::repeatable(), "session-1", "Friday");
    reply.model_call("some-model");
    reply.thinking("An off-by-one error, most likely.");
    for piece in ["I will ", "look at ", "the loop first."] {
        reply.text(piece);
    }
    let call = reply.tool_call("call_1", "read_file");
    reply.tool_input(&call, r#"{"path": "src/main.rs"}"#);
    reply.end_model_call(Some(Usage::new(120, 30)));

    let result = reply.tool_result(call);
    reply.result_text(&result, "for i in 0..=items.len() {");
    reply.end_result(result, ToolResultState::Success);

    reply.model_call("some-model");
    reply.text("The range includes ");
    reply.text("one index too many.");
    reply.end_model_call(Some(Usage::new(180, 15)));
    reply.end(ReplyEnd::completed());
    lines
}
