//! Shortening long tool results.

use recount_message::{ContentBlock, MediaBlock, Payload, TextBlock, ToolResultBlock};

/// The maximum length of a tool result in a request. The message keeps the full result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResultLimit {
    /// In tokens, estimated as four bytes each.
    pub(crate) tokens: usize,
}

/// The estimated number of bytes in a token.
const BYTES_PER_TOKEN: usize = 4;

impl Default for ResultLimit {
    fn default() -> Self {
        Self { tokens: 50_000 }
    }
}

impl ResultLimit {
    fn bytes(self) -> usize {
        self.tokens.saturating_mul(BYTES_PER_TOKEN)
    }

    /// Returns the length of a tool result in tokens if it exceeds the limit.
    pub(crate) fn exceeds(self, block: &ContentBlock) -> Option<usize> {
        let ContentBlock::ToolResult(result) = block else { return None };
        self.exceeded_by(result)
    }

    /// Returns the length of a tool result in tokens if it exceeds the limit.
    pub(crate) fn exceeded_by(self, result: &ToolResultBlock) -> Option<usize> {
        let length = text_length(&result.output);
        (length > self.bytes()).then(|| length.div_ceil(BYTES_PER_TOKEN))
    }

    /// Truncates a result that exceeds the limit, and appends a note about the rest.
    pub(super) fn shorten(self, block: &mut ContentBlock, kept_in: Option<&str>) {
        let Some(tokens) = self.exceeds(block) else { return };
        let ContentBlock::ToolResult(result) = block else { return };
        let rest = kept_in.map_or_else(
            || "Call the tool again with narrower arguments to see the rest.".to_owned(),
            |path| {
                format!("All of it is in `{path}`: use `read` with `offset` and `limit`, or `grep`, to see more of it.")
            },
        );
        let note = format!(
            "\n<system-reminder>The result was about {tokens} tokens long and is cut off here, after {}. \
             {rest}</system-reminder>",
            self.tokens
        );
        match &mut result.output {
            Payload::Text(text) => {
                keep(text, self.bytes());
                text.push_str(&note);
            }
            Payload::Blocks(blocks) => {
                let mut left = self.bytes();
                for block in blocks.iter_mut() {
                    if let MediaBlock::Text(block) = block {
                        keep(&mut block.text, left);
                        left -= block.text.len().min(left);
                    }
                }
                blocks.retain(|block| !matches!(block, MediaBlock::Text(block) if block.text.is_empty()));
                blocks.push(TextBlock::new(note).into());
            }
            _ => {}
        }
    }
}

/// Returns the text of a result.
pub(super) fn text_of(output: &Payload) -> String {
    match output {
        Payload::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                MediaBlock::Text(block) => Some(block.text.as_str()),
                _ => None,
            });
            texts.collect()
        }
        other => other.text().unwrap_or_default(),
    }
}

fn text_length(output: &Payload) -> usize {
    match output {
        Payload::Text(text) => text.len(),
        Payload::Blocks(blocks) => {
            blocks.iter().map(|block| if let MediaBlock::Text(block) = block { block.text.len() } else { 0 }).sum()
        }
        _ => 0,
    }
}

/// Truncates a text to a maximum number of bytes, at a character boundary.
fn keep(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
}
