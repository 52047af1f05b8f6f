//! Token estimates.

use recount_message::{ContentBlock, MediaBlock, Msg, Payload};

use crate::format::Tool;

/// The estimate for an image, an audio clip or a file.
const TOKENS_PER_DATA: u64 = 2_000;

/// Estimates the number of tokens of messages and tools.
///
/// The estimate is the same for every provider: a quarter of the bytes of all text, plus 2000 for each image, audio
/// clip or file. Names, ids and JSON syntax of messages are not counted. It is meant for deciding when to compress a
/// conversation, not for billing.
///
/// ```
/// use recount_message::Msg;
/// use recount_model::estimate_tokens;
///
/// assert_eq!(estimate_tokens(&[Msg::user("Alice", "Hello there")], &[]), 3);
/// ```
#[must_use]
pub fn estimate_tokens(messages: &[Msg], tools: &[Tool]) -> u64 {
    let mut size = Size::default();
    for block in messages.iter().flat_map(Msg::content) {
        size.add_block(block);
    }
    size.add_tools(tools);
    size.tokens()
}

/// Estimates the number of tokens of one block, as [`estimate_tokens`] does for messages.
///
/// ```
/// use recount_message::{ContentBlock, DataBlock};
/// use recount_model::estimate_block_tokens;
///
/// assert_eq!(estimate_block_tokens(&ContentBlock::from("Hello there")), 3);
/// assert_eq!(estimate_block_tokens(&DataBlock::from_bytes(b"GIF89a").into()), 2_000);
/// ```
#[must_use]
pub fn estimate_block_tokens(block: &ContentBlock) -> u64 {
    let mut size = Size::default();
    size.add_block(block);
    size.tokens()
}

#[derive(Default)]
struct Size {
    bytes: u64,
    data: u64,
}

impl Size {
    fn tokens(&self) -> u64 {
        // Rounds half a token up.
        (self.bytes + 2) / 4 + self.data * TOKENS_PER_DATA
    }

    fn add_block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(block) => self.add_text(&block.text),
            ContentBlock::Thinking(block) => self.add_text(&block.thinking),
            ContentBlock::Hint(block) => self.add_payload(&block.hint),
            ContentBlock::ToolCall(block) => self.add_text(&block.input),
            ContentBlock::ToolResult(block) => self.add_payload(&block.output),
            ContentBlock::Data(_) => self.data += 1,
            // Formatters do not send unknown blocks.
            _ => {}
        }
    }

    fn add_payload(&mut self, payload: &Payload) {
        match payload {
            Payload::Text(text) => self.add_text(text),
            Payload::Blocks(blocks) => {
                for block in blocks {
                    match block {
                        MediaBlock::Text(block) => self.add_text(&block.text),
                        MediaBlock::Data(_) => self.data += 1,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        self.bytes += count(text);
    }

    /// Adds the tools as a JSON array with a space after each comma and colon, as AgentScope counts them.
    fn add_tools(&mut self, tools: &[Tool]) {
        if tools.is_empty() {
            return;
        }
        self.add_text("[]");
        for (index, tool) in tools.iter().enumerate() {
            let json = tool.to_value();
            self.bytes += count(json.as_raw()) + separators(json.as_raw());
            if index > 0 {
                self.add_text(", ");
            }
        }
    }
}

fn count(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// Counts the commas and colons between the values of a JSON text.
fn separators(json: &str) -> u64 {
    let (mut found, mut in_string, mut escaped) = (0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b':' if !in_string => found += 1,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use recount_message::{DataBlock, HintBlock, ToolCallBlock, ToolResultBlock, ToolResultState};

    use super::*;

    #[test]
    fn text_counts_a_quarter_of_its_bytes() {
        for (text, tokens) in [("", 0), ("a", 0), ("ab", 1), ("Hello!", 2), ("你好", 2)] {
            assert_eq!(estimate_tokens(&[Msg::user("Alice", text)], &[]), tokens, "{text}");
        }
    }

    #[test]
    fn names_and_ids_are_not_counted() {
        let image = DataBlock::from_bytes(b"GIF89a");
        let call = ToolCallBlock::new("a long id", "a long name", r#"{"a":1}"#);
        let result = ToolResultBlock::new("a long id", "a long name", "12345", ToolResultState::Success);
        let hint = HintBlock::new("1234");
        let messages = [
            Msg::user("Alice", image),
            Msg::assistant("Friday", [call.into(), result.into(), ContentBlock::from(hint)]),
        ];
        assert_eq!(estimate_tokens(&messages, &[]), 2_000 + (7 + 5 + 4) / 4);
    }

    #[test]
    fn tools_are_counted_as_spaced_json() {
        let tool = r#"{"type":"function","function":{"name":"f","description":"说明","parameters":{"type":"object","properties":{}}}}"#;
        assert_eq!(estimate_tokens(&[], &[Tool::from_json(tool).unwrap()]), 32);
    }
}
