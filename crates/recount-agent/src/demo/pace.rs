//! Writes an answer word by word at a pace.

use std::num::NonZeroU32;
use std::time::Duration;

use recount_message::ErrorType;
use recount_model::client::CancellationToken;
use recount_model::decode::{CallError, CallErrorKind};
use tokio::time::{Instant, sleep_until};

use super::plan::Part;
use super::png;
use crate::model::AgentReplyWriter;

/// The bytes of an image that count as one word. A multiple of three, so that each chunk is base64 without padding.
const IMAGE_CHUNK: usize = 384;

/// Writes an answer at a pace until it is cancelled.
pub(super) struct PacedWriter {
    words_per_second: NonZeroU32,
    begin: Instant,
    cancel: CancellationToken,
    words: u32,
    bytes: usize,
}

impl PacedWriter {
    pub(super) fn new(words_per_second: NonZeroU32, cancel: CancellationToken) -> Self {
        Self { words_per_second, begin: Instant::now(), cancel, words: 0, bytes: 0 }
    }

    /// Returns whether anything was written.
    pub(super) fn has_output(&self) -> bool {
        self.words > 0
    }

    /// The number of tokens written, by the rule of [`estimate_tokens`](recount_model::estimate_tokens).
    pub(super) fn tokens(&self) -> u64 {
        u64::try_from(self.bytes.saturating_add(2) / 4).unwrap_or(u64::MAX)
    }

    /// Writes all parts.
    ///
    /// # Errors
    ///
    /// The call was cancelled. All blocks are ended.
    pub(super) async fn write(&mut self, parts: Vec<Part>, reply: &mut AgentReplyWriter) -> Result<(), CallError> {
        for part in parts {
            let result = match part {
                Part::Thinking(text) => self.prose(&text, reply, |reply, word| reply.thinking(word)).await,
                Part::Text(text) => self.prose(&text, reply, |reply, word| reply.text(word)).await,
                Part::Image => self.image(reply).await,
                Part::Call { name, input } => self.call(&name, &input, reply).await,
            };
            if result.is_err() && reply.is_thinking() {
                // Incomplete thinking is excluded from the next request, as with a provider.
                reply.prose_extra("cut", true);
            }
            reply.end_prose();
            result?;
        }
        Ok(())
    }

    async fn prose(
        &mut self,
        text: &str,
        reply: &mut AgentReplyWriter,
        mut write: impl FnMut(&mut AgentReplyWriter, &str),
    ) -> Result<(), CallError> {
        for word in words(text) {
            self.wait_for_turn().await?;
            self.bytes += word.len();
            write(reply, word);
        }
        Ok(())
    }

    async fn image(&mut self, reply: &mut AgentReplyWriter) -> Result<(), CallError> {
        let file = png::image();
        self.wait_for_turn().await?;
        let image = reply.data("image/png", Some("rings.png".to_owned()));
        let mut result = Ok(());
        for (index, piece) in file.chunks(IMAGE_CHUNK).enumerate() {
            if index > 0 {
                result = self.wait_for_turn().await;
            }
            if result.is_err() {
                break;
            }
            reply.data_bytes(&image, piece);
        }
        reply.end_data(image);
        result
    }

    async fn call(&mut self, name: &str, input: &str, reply: &mut AgentReplyWriter) -> Result<(), CallError> {
        self.wait_for_turn().await?;
        let id = format!("call_{}", reply.new_id());
        let call = reply.tool_call(&id, name);
        let mut result = Ok(());
        for (index, word) in words(input).into_iter().enumerate() {
            if index > 0 {
                result = self.wait_for_turn().await;
            }
            if result.is_err() {
                reply.tool_call_extra(&call, "cut", true);
                break;
            }
            self.bytes += word.len();
            reply.tool_input(&call, word);
        }
        reply.end_tool_call(&call);
        result
    }

    /// Waits until the next word is due. The first word is due at once.
    async fn wait_for_turn(&mut self) -> Result<(), CallError> {
        let due = self.begin + Duration::from_secs(1) * self.words / self.words_per_second.get();
        let is_cancelled = if Instant::now() < due {
            self.cancel.run_until_cancelled(sleep_until(due)).await.is_none()
        } else {
            // Yields to readers of the reply at any pace.
            tokio::task::yield_now().await;
            self.cancel.is_cancelled()
        };
        if is_cancelled {
            return Err(CallError::new(CallErrorKind::Cancelled, ErrorType::Unknown, "the call was cancelled"));
        }
        self.words = self.words.saturating_add(1);
        Ok(())
    }
}

/// Splits a text into words, each with the white space after it.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let after = rest.get(end..).unwrap_or_default();
        let end = end + (after.len() - after.trim_start().len());
        let (word, left) = rest.split_at(end);
        words.push(word);
        rest = left;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_join_to_the_text() {
        for text in ["", "one", "one two\n\n- three ", " begins with a space"] {
            assert_eq!(words(text).concat(), text);
        }
        assert_eq!(words("one two\n\nthree"), ["one ", "two\n\n", "three"]);
    }
}
