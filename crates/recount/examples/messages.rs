//! A conversation as messages: a question, a reply with a tool call and its result, and the final reply.
//!
//! ```text
//! cargo run -p recount --example messages
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::{Json, Msg, Object, ThinkingBlock, ToolCallBlock, ToolResultBlock};

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    // A string becomes one text block.
    let question = Msg::user("User", "What's the weather like?");

    // A tuple contains blocks of different types.
    let thinking = ThinkingBlock::new("I need to call the weather API...");
    let answer = Msg::assistant("Assistant", (thinking, "Let me check the weather for you."));

    let location = Object::from([("location", "Beijing")]);
    let call = ToolCallBlock::with_arguments("call_001", "get_weather", &location)?;

    // The result has the id and the name of its call.
    let result = Msg::tool("system", call.success("Sunny, 25°C"));
    let call = Msg::assistant("Assistant", call);

    let conclusion = Msg::assistant("Assistant", "The weather in Beijing is sunny with 25°C.").with_metadata([
        ("temperature", Json::from(25)),
        ("condition", "sunny".into()),
        ("location", "Beijing".into()),
    ]);

    writeln!(out, "User: {}", question.text_or_empty())?;
    writeln!(out, "Assistant: {}", answer.text_or_empty())?;
    if let Some(call) = call.first::<ToolCallBlock>() {
        writeln!(out, "Tool Call: {}", call.name)?;
    }
    if let Some(result) = result.first::<ToolResultBlock>() {
        writeln!(out, "Tool Result: {}", result.output.text().unwrap_or_default())?;
    }
    writeln!(out, "Final: {}", conclusion.text_or_empty())?;
    writeln!(out, "Metadata: {}", conclusion.metadata().to_json())?;

    // Messages round-trip through JSON.
    for message in [question, answer, call, result, conclusion] {
        assert_eq!(Msg::from_json(&message.to_json())?, message);
    }
    Ok(())
}
