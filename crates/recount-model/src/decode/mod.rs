//! From what a model streams back to events.
//!
//! A [`Decoder`] takes the bytes of one response in any pieces and writes them to a [`ReplyWriter`] as the events of one model
//! call. It does no I/O and knows no clock: whoever has the bytes pushes them in.
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
//! for piece in response.chunks(50) {
//!     decoder.push(piece, &mut reply)?;
//! }
//! let end = decoder.finish(&mut reply);
//! end.end_model_call(&mut reply);
//!
//! assert_eq!(end.stop_reason, StopReason::Stop);
//! assert_eq!(reply.end(ReplyEnd::completed()).text().as_deref(), Some("Hello"));
//! # Ok::<(), recount_model::decode::CallError>(())
//! ```
//!
//! # What is taken
//!
//! Server-sent events, lines of JSON, a JSON array of chunks (a recording, or Gemini without `alt=sse`) and a whole JSON body
//! (a response that was not streamed); which of them it is shows in the first byte.
//!
//! # What is written
//!
//! Blocks in the order in which the model says things, at most one text or thinking block open at a time, any number of tool
//! calls beside it. What no field can carry travels with the end of a block and is kept in it: `signature` and
//! `redacted_thinking_data` (Anthropic), `thought_signature` (Gemini), `reasoning_item_id`, `reasoning_item_raw` and `item_id`
//! (OpenAI Responses), `refusal`, `provider_id` where an id had to be changed, and `cut` where the model call broke off
//! before the block was complete.
//!
//! # What can go wrong
//!
//! An error that the provider reports, a frame that is not JSON, a response that is too large, an early end: each ends the
//! call with a [`CallError`] of a clear class, and the blocks are closed.

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

/// How a response is decoded.
///
/// ```
/// use recount_model::decode::DecodeOptions;
///
/// let options = DecodeOptions { think_tags: false, ..DecodeOptions::default() };
/// assert_eq!(options.max_event_bytes, 32 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Whether `<think>…</think>` at the start of the text becomes thinking, as QwQ and other open models write it. Only
    /// where the provider does not give the thinking in a field of its own.
    pub think_tags: bool,
    /// Whether tool calls are read from the text, for endpoints without tools. See
    /// [`prompt_tools`](crate::format::prompt_tools) for the syntax.
    pub prompt_tools: bool,
    /// How large one event may be. An image comes in one.
    pub max_event_bytes: usize,
    /// How large the whole response may be.
    pub max_response_bytes: usize,
    /// How many blocks the response may have.
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

/// Turns one response of a model into the events of a model call.
///
/// The caller begins the model call ([`ReplyWriter::model_call`]) and ends it ([`CallEnd::end_model_call`]); the decoder writes
/// the blocks between. One reply may hold several calls, each with a decoder of its own.
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
/// // The stream ends here, in the middle of a sentence as it were.
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

/// How many bytes the response may still have.
#[derive(Debug)]
struct ResponseBudget {
    left: usize,
    all: usize,
}

impl ResponseBudget {
    fn exceeded(&self) -> CallError {
        CallError::too_large("the whole", self.all)
    }
}

/// The part that knows a provider.
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

    /// Reads one chunk. Nothing is said of a chunk that cannot be read.
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
    /// A decoder for one response.
    #[must_use]
    pub fn new(provider: Provider, options: DecodeOptions) -> Self {
        Self {
            framing: Framing::new(options.max_event_bytes),
            chunks: Chunks::new(provider),
            assembler: Assembler::new(&options),
            budget: ResponseBudget { left: options.max_response_bytes, all: options.max_response_bytes },
        }
    }

    /// Takes the next bytes, as many as there are, and writes what they say.
    ///
    /// # Errors
    ///
    /// When the call has failed: the provider says so, or what came cannot be read or is too large. No more bytes are
    /// needed then, and [`finish`](Self::finish) gives the same error.
    pub fn push<S: FnMut(AgentEvent)>(&mut self, bytes: &[u8], reply: &mut ReplyWriter<S>) -> Result<(), CallError> {
        let Self { framing, chunks, assembler, budget } = self;
        if let Some(error) = assembler.error() {
            return Err(error.clone());
        }
        if assembler.is_done() {
            return Ok(());
        }
        // What there is budget for is taken first, so that it does not matter how the bytes are cut.
        let (bytes, excess) = bytes.split_at_checked(budget.left).unwrap_or((bytes, &[]));
        budget.left -= bytes.len();
        let taken = framing.push(bytes, &mut |frame| take(frame, chunks, assembler, reply));
        let taken = taken.and_then(|()| if excess.is_empty() { Ok(()) } else { Err(budget.exceeded()) });
        match taken {
            // What comes after the end is nobody's business.
            Err(error) if !assembler.is_done() => {
                assembler.fail(error.clone());
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Whether the provider has said that nothing more comes, so that the connection can be let go.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.assembler.is_done()
    }

    /// Whether anything of the response has been written. As long as nothing has, a call that fails can be made again
    /// without anybody noticing.
    #[must_use]
    pub fn has_output(&self) -> bool {
        self.assembler.has_output()
    }

    /// The bytes have ended, or nobody wants more of them. Ends the blocks and says how the call ended.
    pub fn finish<S: FnMut(AgentEvent)>(mut self, reply: &mut ReplyWriter<S>) -> CallEnd {
        let Self { framing, chunks, assembler, .. } = &mut self;
        if assembler.error().is_none()
            && let Err(error) = framing.finish(&mut |frame| take(frame, chunks, assembler, reply))
            && !assembler.is_done()
        {
            assembler.fail(error);
        }
        self.assembler.finish(reply)
    }

    /// The connection broke, or nobody wants the answer any more. That is the error of the call, unless the response had
    /// come to its end.
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
    /// // The user saw it, so it is a part of the conversation.
    /// assert!(!reply.message().first::<TextBlock>().unwrap().extra.contains_key("cut"));
    /// # Ok::<(), CallError>(())
    /// ```
    pub fn abort<S: FnMut(AgentEvent)>(mut self, error: CallError, reply: &mut ReplyWriter<S>) -> CallEnd {
        let Self { framing, chunks, assembler, .. } = &mut self;
        // That the last frame is not whole is no news then.
        let _ = framing.finish(&mut |frame| take(frame, chunks, assembler, reply));
        if !assembler.has_ended() {
            assembler.fail(error);
        }
        self.assembler.finish(reply)
    }
}

/// Writes what a frame says.
fn take<S: FnMut(AgentEvent)>(
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
        // In an array the brackets are those of the array.
        "[DONE]" | "DONE" => {
            assembler.apply(ResponsePart::Done, reply);
            return Ok(());
        }
        "" => return Ok(()),
        _ => {}
    }
    // A recording may hold the data of its events as strings.
    if text.starts_with('"')
        && let Ok(data) = serde_json::from_str::<String>(text)
    {
        return if data.starts_with('"') {
            Err(not_json(text))
        } else {
            take(Frame { data: data.as_bytes(), ..frame }, chunks, assembler, reply)
        };
    }
    assembler.mark_received();
    read(text, chunks, &mut |part| assembler.apply(part, reply))?;
    if frame.is_error && assembler.error().is_none() {
        assembler.fail(CallError::reported(Some(&beginning(text)), &[], None));
    }
    assembler.error().map_or(Ok(()), |error| Err(error.clone()))
}

fn read(text: &str, chunks: &mut Chunks, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), CallError> {
    if chunks.read(text, emit).is_ok() {
        return Ok(());
    }
    let mended = json_text::without_lone_surrogates(text).ok_or_else(|| not_json(text))?;
    chunks.read(&mended, emit).map_err(|_| not_json(text))
}

fn not_json(text: &str) -> CallError {
    CallError::malformed(format!("the response has a part that is not a JSON object: {:?}", beginning(text)))
}

/// As much of a text as a person needs to know what it is.
fn beginning(text: &str) -> String {
    text.chars().take(60).collect()
}
