//! Decoding of provider responses.
//!
//! A [`Decoder`] receives the bytes of one response in chunks of any size and writes the events of one model call to a
//! [`ReplyWriter`]. It performs no I/O and uses no clock.
//!
//! ```
//! use recount_message::{ReplyEnd, ReplyWriter, Stamps};
//! use recount_model::Provider;
//! use recount_model::decode::{DecodeOptions, Decoder, StopReason};
//!
//! let response = br#"
//! data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}
//!
//! data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"lo"}}]}
//!
//! data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}
//!
//! data: [DONE]
//!
//! "#;
//!
//! let mut reply = ReplyWriter::start(|event| println!("{}", event.to_json()), Stamps::default(), "s1", "Friday");
//! reply.model_call("gpt-5");
//! let mut decoder = Decoder::new(Provider::OpenAi, DecodeOptions::default());
//! for chunk in response.chunks(50) {
//!     decoder.push(chunk, &mut reply)?;
//! }
//! let end = decoder.finish(&mut reply);
//! end.end_model_call(&mut reply);
//!
//! assert_eq!(end.stop_reason, StopReason::Stop);
//! assert_eq!(reply.end(ReplyEnd::completed()).text().as_deref(), Some("Hello"));
//! # Ok::<(), recount_model::decode::CallError>(())
//! ```
//!
//! # Input formats
//!
//! Server-sent events, newline-delimited JSON, a JSON array of chunks (a recording, or Gemini without `alt=sse`), and a
//! single JSON body (an unstreamed response). The first byte decides which.
//!
//! # Output
//!
//! Blocks in the order in which the model produces them: at most one open text or thinking block at a time, and any
//! number of open tool calls beside it. Provider-specific values are stored in the `extra` fields of a block when it
//! ends: `signature` and `redacted_thinking_data` (Anthropic), `thought_signature` (Gemini), `reasoning_item_id`,
//! `reasoning_item_raw` and `item_id` (OpenAI Responses), `refusal`, `provider_id` if an id had to be changed, and
//! `cut` if the model call ended before the block was complete.
//!
//! # Errors
//!
//! An error reported by the provider, invalid JSON, an oversized response, or an early end of the stream ends the call
//! with a [`CallError`] and closes all blocks.

mod anthropic;
mod assemble;
mod call_end;
mod context_overflow;
mod error;
mod framing;
mod gemini;
mod json_text;
mod lenient;
mod ollama;
mod openai;
mod openai_responses;
mod prompt_calls;
mod response_part;
mod think_tags;
mod wav;

pub use call_end::{CallEnd, StopReason};
pub use error::{CallError, CallErrorKind};

use recount_message::{AgentEvent, ReplyWriter};

use crate::Provider;
use anthropic::AnthropicChunks;
use assemble::Assembler;
use framing::{Frame, Framing};
use gemini::GeminiChunks;
use ollama::OllamaChunks;
use openai::OpenAiChunks;
use openai_responses::ResponsesChunks;
use response_part::ResponsePart;

/// The options and limits of a [`Decoder`].
///
/// ```
/// use recount_model::decode::DecodeOptions;
///
/// let options = DecodeOptions { think_tags: false, ..DecodeOptions::default() };
/// assert_eq!(options.max_event_bytes, 32 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Whether a leading `<think>…</think>` in the text becomes a thinking block. QwQ and other open models write it.
    /// Has no effect if the provider sends thinking in a separate field. Defaults to `true`.
    pub think_tags: bool,
    /// Whether tool calls are parsed from the text, for endpoints without a tool API. See
    /// [`prompt_tools`](crate::format::prompt_tools) for the syntax. Defaults to `false`.
    pub prompt_tools: bool,
    /// The maximum size of one event, in bytes. Generated images arrive as a single event.
    pub max_event_bytes: usize,
    /// The maximum size of the response, in bytes.
    pub max_response_bytes: usize,
    /// The maximum number of blocks in the response.
    pub max_blocks: usize,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self {
            think_tags: true,
            prompt_tools: false,
            max_event_bytes: 32 << 20,
            max_response_bytes: 256 << 20,
            max_blocks: 4_096,
        }
    }
}

/// Decodes one response into the events of a model call.
///
/// The caller starts the model call ([`ReplyWriter::model_call`]) and ends it ([`CallEnd::end_model_call`]); the
/// decoder writes the blocks in between. A reply with several calls needs a decoder for each.
///
/// ```
/// use recount_message::{ReplyWriter, Stamps, ThinkingBlock};
/// use recount_model::Provider;
/// use recount_model::decode::{DecodeOptions, Decoder};
///
/// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
/// let mut decoder = Decoder::new(Provider::Anthropic, DecodeOptions::default());
/// decoder.push(
///     br#"
/// event: content_block_delta
/// data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}
///
/// "#,
///     &mut reply,
/// )?;
/// assert_eq!(reply.message().first::<ThinkingBlock>().unwrap().thinking, "Hm.");
/// // The stream ends here, before the model has finished.
/// let end = decoder.finish(&mut reply);
/// assert!(end.is_truncated());
/// assert!(reply.message().first::<ThinkingBlock>().unwrap().extra.contains_key("cut"));
/// # Ok::<(), recount_model::decode::CallError>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    framing: Framing,
    chunks: Chunks,
    assembler: Assembler,
    budget: ResponseBudget,
}

/// The number of bytes that the response may still have.
#[derive(Debug)]
struct ResponseBudget {
    remaining: usize,
    limit: usize,
}

impl ResponseBudget {
    fn exceeded(&self) -> CallError {
        CallError::too_large("the response", self.limit)
    }
}

/// The provider-specific parser.
#[derive(Debug)]
enum Chunks {
    OpenAi(OpenAiChunks),
    Responses(ResponsesChunks),
    Anthropic(AnthropicChunks),
    Gemini(GeminiChunks),
    Ollama(OllamaChunks),
}

impl Chunks {
    fn new(provider: Provider) -> Self {
        match provider {
            Provider::OpenAi
            | Provider::DashScope
            | Provider::DeepSeek
            | Provider::Moonshot
            | Provider::Xai
            | Provider::Volcengine => Self::OpenAi(OpenAiChunks::new(provider)),
            Provider::OpenAiResponses => Self::Responses(ResponsesChunks::default()),
            Provider::Anthropic | Provider::MiniMax => Self::Anthropic(AnthropicChunks::default()),
            Provider::Gemini => Self::Gemini(GeminiChunks::default()),
            Provider::Ollama => Self::Ollama(OllamaChunks::default()),
        }
    }

    /// Parses one chunk and emits its parts. Emits nothing if the chunk cannot be parsed.
    fn read(&mut self, text: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), serde_json::Error> {
        match self {
            Self::OpenAi(chunks) => chunks.read(text, emit),
            Self::Responses(chunks) => chunks.read(text, emit),
            Self::Anthropic(chunks) => chunks.read(text, emit),
            Self::Gemini(chunks) => chunks.read(text, emit),
            Self::Ollama(chunks) => chunks.read(text, emit),
        }
    }
}

impl Decoder {
    /// Creates a decoder for one response.
    #[must_use]
    pub fn new(provider: Provider, options: DecodeOptions) -> Self {
        Self {
            framing: Framing::new(options.max_event_bytes),
            chunks: Chunks::new(provider),
            assembler: Assembler::new(&options),
            budget: ResponseBudget { remaining: options.max_response_bytes, limit: options.max_response_bytes },
        }
    }

    /// Decodes the next bytes of the response and writes the events they complete.
    ///
    /// # Errors
    ///
    /// If the provider reported an error, or if the response is invalid or too large. No further bytes are needed then,
    /// and [`finish`](Self::finish) returns the same error.
    pub fn push<S: FnMut(AgentEvent)>(&mut self, bytes: &[u8], reply: &mut ReplyWriter<S>) -> Result<(), CallError> {
        let Self { framing, chunks, assembler, budget } = self;
        if let Some(error) = assembler.error() {
            return Err(error.clone());
        }
        if assembler.is_done() {
            return Ok(());
        }
        // Bytes within the limit are decoded first, so that the result does not depend on the chunk boundaries.
        let (bytes, excess) = bytes.split_at_checked(budget.remaining).unwrap_or((bytes, &[]));
        budget.remaining -= bytes.len();
        let result = framing.push(bytes, &mut |frame| decode_frame(frame, chunks, assembler, reply));
        let result = result.and_then(|()| if excess.is_empty() { Ok(()) } else { Err(budget.exceeded()) });
        match result {
            // Errors after the end of the response are ignored.
            Err(error) if !assembler.is_done() => {
                assembler.fail(error.clone());
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Whether the provider has ended the response, so that the connection can be closed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.assembler.is_done()
    }

    /// Whether any block was written. If not, a failed call can be repeated without readers noticing.
    #[must_use]
    pub fn has_output(&self) -> bool {
        self.assembler.has_output()
    }

    /// Ends the response: closes all blocks and returns how the call ended.
    pub fn finish<S: FnMut(AgentEvent)>(mut self, reply: &mut ReplyWriter<S>) -> CallEnd {
        let Self { framing, chunks, assembler, .. } = &mut self;
        if assembler.error().is_none()
            && let Err(error) = framing.finish(&mut |frame| decode_frame(frame, chunks, assembler, reply))
            && !assembler.is_done()
        {
            assembler.fail(error);
        }
        self.assembler.finish(reply)
    }

    /// Ends the response after a broken connection or a cancellation. `error` becomes the error of the call, unless the
    /// response was already complete.
    ///
    /// ```
    /// use recount_message::{ErrorType, ReplyWriter, Stamps, TextBlock};
    /// use recount_model::Provider;
    /// use recount_model::decode::{CallError, CallErrorKind, DecodeOptions, Decoder};
    ///
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
    /// let mut decoder = Decoder::new(Provider::Ollama, DecodeOptions::default());
    /// decoder.push(b"{\"message\":{\"role\":\"assistant\",\"content\":\"Once upon\"},\"done\":false}\n", &mut reply)?;
    /// let stopped = CallError::new(CallErrorKind::Cancelled, ErrorType::Unknown, "the user pressed a key");
    /// let end = decoder.abort(stopped.clone(), &mut reply);
    /// assert_eq!(end.error, Some(stopped));
    /// // The user saw the text, so it remains part of the conversation.
    /// assert!(!reply.message().first::<TextBlock>().unwrap().extra.contains_key("cut"));
    /// # Ok::<(), CallError>(())
    /// ```
    pub fn abort<S: FnMut(AgentEvent)>(mut self, error: CallError, reply: &mut ReplyWriter<S>) -> CallEnd {
        let Self { framing, chunks, assembler, .. } = &mut self;
        // The call fails with `error`, so an incomplete last frame does not matter.
        let _ = framing.finish(&mut |frame| decode_frame(frame, chunks, assembler, reply));
        if !assembler.has_ended() {
            assembler.fail(error);
        }
        self.assembler.finish(reply)
    }
}

/// Decodes one frame and writes its events.
fn decode_frame<S: FnMut(AgentEvent)>(
    frame: Frame<'_>,
    chunks: &mut Chunks,
    assembler: &mut Assembler,
    reply: &mut ReplyWriter<S>,
) -> Result<(), CallError> {
    if assembler.is_done() {
        return Ok(());
    }
    let text =
        std::str::from_utf8(frame.data).map_err(|_| CallError::malformed("the response is not UTF-8"))?.trim_ascii();
    match text {
        // Inside a JSON array, the framing removes the brackets of `[DONE]`.
        "[DONE]" | "DONE" => {
            assembler.apply(ResponsePart::Done, reply);
            return Ok(());
        }
        "" => return Ok(()),
        _ => {}
    }
    // A recording may store the data of its events as JSON strings.
    if text.starts_with('"')
        && let Ok(data) = serde_json::from_str::<String>(text)
    {
        return if data.starts_with('"') {
            Err(not_json(text))
        } else {
            decode_frame(Frame { data: data.as_bytes(), ..frame }, chunks, assembler, reply)
        };
    }
    assembler.mark_received();
    parse_chunk(text, chunks, &mut |part| assembler.apply(part, reply))?;
    if frame.is_error && assembler.error().is_none() {
        assembler.fail(CallError::reported(Some(&excerpt(text)), &[], None));
    }
    assembler.error().map_or(Ok(()), |error| Err(error.clone()))
}

fn parse_chunk(text: &str, chunks: &mut Chunks, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), CallError> {
    if chunks.read(text, emit).is_ok() {
        return Ok(());
    }
    let repaired = json_text::without_lone_surrogates(text).ok_or_else(|| not_json(text))?;
    chunks.read(&repaired, emit).map_err(|_| not_json(text))
}

fn not_json(text: &str) -> CallError {
    CallError::malformed(format!("the response contains a chunk that is not a JSON object: {:?}", excerpt(text)))
}

/// Returns the beginning of a text, for error messages.
fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}
