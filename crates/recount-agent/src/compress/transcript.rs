//! A conversation as plain text, for the summarising model and for transcript files.

use std::fmt::Write;

use recount_message::{ContentBlock, DataBlock, MediaBlock, Msg, Payload};

/// Formats messages as text, without thinking.
pub(crate) fn transcript<'a>(messages: impl IntoIterator<Item = &'a Msg>) -> String {
    let mut text = String::new();
    for message in messages {
        let _ = writeln!(text, "## {} ({})", message.name(), message.role());
        for block in message.content() {
            push(&mut text, block);
        }
        text.push('\n');
    }
    text
}

fn push(text: &mut String, block: &ContentBlock) {
    // Writing to a string cannot fail.
    let _ = match block {
        ContentBlock::Text(block) => writeln!(text, "{}", block.text),
        ContentBlock::Data(block) => writeln!(text, "{}", data(block)),
        ContentBlock::Hint(block) => writeln!(text, "[hint: {}]", payload(&block.hint)),
        ContentBlock::ToolCall(call) => writeln!(text, "[calls `{}` with {}]", call.name, call.input),
        ContentBlock::ToolResult(result) => {
            writeln!(text, "[`{}`, {}:\n{}]", result.name, result.state, payload(&result.output))
        }
        ContentBlock::Thinking(_) | ContentBlock::Unknown(_) | _ => Ok(()),
    };
}

fn payload(payload: &Payload) -> String {
    let Payload::Blocks(blocks) = payload else { return payload.text().unwrap_or_default() };
    let said = blocks.iter().map(|block| match block {
        MediaBlock::Text(block) => block.text.clone(),
        MediaBlock::Data(block) => data(block),
        _ => String::new(),
    });
    said.collect::<Vec<_>>().join("\n")
}

fn data(block: &DataBlock) -> String {
    match &block.name {
        Some(name) => format!("[{}: {name}]", block.media_type()),
        None => format!("[{}]", block.media_type()),
    }
}
