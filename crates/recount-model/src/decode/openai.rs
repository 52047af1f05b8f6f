//! Chunks of OpenAI chat completions and compatible APIs.
//!
//! | provider | difference |
//! |---|---|
//! | OpenAI and compatible endpoints | thinking may also be in `reasoning` (vLLM, OpenRouter) |
//! | DeepSeek | cached tokens in `prompt_cache_hit_tokens`; `insufficient_system_resource` as stop reason under overload |
//! | Moonshot | usage inside the choice; cached tokens in `cached_tokens` |
//! | xAI | `completion_tokens` excludes thinking tokens |
//! | DashScope | errors without an enclosing object |
//! | Mistral, as a compatible endpoint | content as a list of parts, including thinking |
//!
//! All differences except the one of xAI are handled for every provider.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::call_end::StopReason;
use super::error::CallError;
use super::lenient::{self, Count, List, Maybe, Text, TextOr, TextOrList, TextOrNumber};
use super::response_part::{BlockKey, CallPart, CallSlot, DataSource, ResponsePart, Tokens};
use super::wav;
use crate::Provider;

#[derive(Debug)]
pub(super) struct OpenAiChunks {
    provider: Provider,
    calls: Vec<SeenCall>,
    audio_begun: bool,
}

/// The known data of a call.
#[derive(Debug)]
struct SeenCall {
    index: Option<u64>,
    id: Option<String>,
    is_named: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    choices: List<Choice<'a>>,
    usage: Maybe<Usage>,
    #[serde(borrow)]
    error: TextOr<'a, ErrorBody<'a>>,
    #[serde(borrow)]
    object: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    code: TextOrNumber<'a>,
    #[serde(borrow, rename = "type")]
    kind: TextOrNumber<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    index: Count,
    #[serde(borrow)]
    delta: Maybe<Message<'a>>,
    #[serde(borrow)]
    message: Maybe<Message<'a>>,
    #[serde(borrow)]
    finish_reason: Text<'a>,
    usage: Maybe<Usage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    content: TextOrList<'a, Part<'a>>,
    #[serde(borrow)]
    reasoning_content: Text<'a>,
    #[serde(borrow)]
    reasoning: Text<'a>,
    #[serde(borrow)]
    refusal: Text<'a>,
    #[serde(borrow)]
    tool_calls: List<CallDelta<'a>>,
    #[serde(borrow)]
    audio: Maybe<Audio<'a>>,
    #[serde(borrow)]
    images: List<Image<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    thinking: List<ThinkingPart<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ThinkingPart<'a> {
    #[serde(borrow)]
    text: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallDelta<'a> {
    index: Count,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    function: Maybe<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Function<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Audio<'a> {
    #[serde(borrow)]
    data: Text<'a>,
    #[serde(borrow)]
    transcript: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Image<'a> {
    #[serde(borrow)]
    image_url: Maybe<ImageUrl<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ImageUrl<'a> {
    #[serde(borrow)]
    url: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Usage {
    prompt_tokens: Count,
    completion_tokens: Count,
    total_tokens: Count,
    prompt_tokens_details: Maybe<PromptDetails>,
    completion_tokens_details: Maybe<CompletionDetails>,
    prompt_cache_hit_tokens: Count,
    cached_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Count,
    cache_creation_input_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorBody<'a> {
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow, rename = "type")]
    kind: TextOrNumber<'a>,
    #[serde(borrow)]
    code: TextOrNumber<'a>,
}

impl OpenAiChunks {
    pub(super) fn new(provider: Provider) -> Self {
        Self { provider, calls: Vec::new(), audio_begun: false }
    }

    pub(super) fn read(&mut self, text: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), serde_json::Error> {
        let chunk: Chunk<'_> = lenient::object(text)?;
        if let Some(error) = error(&chunk) {
            emit(ResponsePart::Error(error));
            return Ok(());
        }
        let (id, model) = (chunk.id.non_empty(), chunk.model.non_empty());
        if id.is_some() || model.is_some() {
            emit(ResponsePart::Response { id, model });
        }
        for usage in chunk.usage.0.iter().chain(chunk.choices.0.iter().filter_map(|choice| choice.usage.0.as_ref())) {
            emit(ResponsePart::Usage(self.tokens(usage)));
        }
        // Requests ask for one choice. Further choices are ignored.
        let first = chunk.choices.0.into_iter().find(|choice| choice.index.0.unwrap_or(0) == 0);
        let Some(choice) = first else { return Ok(()) };
        if let Some(delta) = choice.delta.0 {
            self.message(delta, false, emit);
        }
        if let Some(message) = choice.message.0 {
            self.message(message, true, emit);
        }
        // DashScope sends the string `null`.
        if let Some(reason) = choice.finish_reason.non_empty().filter(|reason| reason != "null") {
            emit(stop_reason(reason));
        }
        Ok(())
    }

    /// Emits the content of a message or of a delta.
    fn message(&mut self, message: Message<'_>, is_whole: bool, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let key = BlockKey::ONLY;
        let thinking = match message.reasoning_content {
            Text(None) if self.provider == Provider::OpenAi => message.reasoning,
            thinking => thinking,
        };
        if let Some(delta) = thinking.non_empty() {
            emit(ResponsePart::Thinking { key, delta });
        }
        match message.content {
            TextOrList::Text(delta) => emit(ResponsePart::Text { key, delta }),
            TextOrList::List(parts) => {
                for part in parts {
                    for delta in part.thinking.0.into_iter().filter_map(|thinking| thinking.text.non_empty()) {
                        emit(ResponsePart::Thinking { key, delta });
                    }
                    if let Some(delta) = part.text.non_empty() {
                        emit(ResponsePart::Text { key, delta });
                    }
                }
            }
            TextOrList::Neither => {}
        }
        if let Some(audio) = message.audio.0 {
            if let Some(delta) = audio.transcript.non_empty() {
                emit(ResponsePart::Text { key, delta });
            }
            if let Some(data) = audio.data.non_empty() {
                emit(self.audio(&data, is_whole));
            }
        }
        if let Some(delta) = message.refusal.non_empty() {
            emit(ResponsePart::Refusal { key, delta });
        }
        for image in message.images.0 {
            if let Some(url) = image.image_url.0.and_then(|image| image.url.non_empty()) {
                emit(image_part(url));
            }
        }
        for call in message.tool_calls.0 {
            self.call(call, is_whole, emit);
        }
    }

    fn call(&mut self, call: CallDelta<'_>, is_whole: bool, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let CallDelta { index, id, function } = call;
        let function = function.0.unwrap_or_default();
        let (id, name) = (id.non_empty(), function.name.non_empty());
        let slot = if is_whole {
            self.new_call(None, id.as_deref(), true)
        } else {
            self.slot(index.0, id.as_deref(), name.is_some())
        };
        let input = function.arguments.0.unwrap_or_default();
        emit(ResponsePart::Call(CallPart { slot, id, name, input }));
        if is_whole {
            emit(ResponsePart::CallEnd { slot, default_input: Cow::Borrowed("") });
        }
    }

    /// Returns the slot of a call fragment.
    ///
    /// OpenAI gives each call an index, and sends its id and name in the first fragment only. Other endpoints repeat id
    /// and name, omit the index, use the same index for every call, or generate an id for each fragment. So a new id
    /// starts another call only if a name comes with it.
    fn slot(&mut self, index: Option<u64>, id: Option<&str>, is_named: bool) -> CallSlot {
        let known = match (index, id) {
            (Some(_), _) => self.calls.iter().rposition(|call| call.index == index),
            (None, Some(id)) => self.calls.iter().rposition(|call| call.id.as_deref() == Some(id)),
            (None, None) => self.calls.len().checked_sub(1),
        };
        let Some(at) = known else { return self.new_call(index, id, is_named) };
        let call = &mut self.calls[at];
        let is_another = is_named
            && match (id, call.id.as_deref()) {
                (Some(id), Some(known)) => id != known,
                (None, _) => index.is_none() && call.is_named,
                (Some(_), None) => false,
            };
        if is_another {
            return self.new_call(index, id, is_named);
        }
        call.is_named |= is_named;
        if call.id.is_none() {
            call.id = id.map(ToOwned::to_owned);
        }
        CallSlot(at as u64)
    }

    fn new_call(&mut self, index: Option<u64>, id: Option<&str>, is_named: bool) -> CallSlot {
        self.calls.push(SeenCall { index, id: id.map(ToOwned::to_owned), is_named });
        CallSlot(self.calls.len() as u64 - 1)
    }

    /// Emits audio. Raw samples get a WAV header, so that players accept them.
    fn audio(&mut self, data: &str, is_whole: bool) -> ResponsePart<'static> {
        let Ok(samples) = STANDARD.decode(data.as_bytes()) else {
            return ResponsePart::Error(CallError::malformed("the response contains invalid base64 audio"));
        };
        let is_first = !std::mem::replace(&mut self.audio_begun, true);
        let media_type = if is_first { wav::container(&samples) } else { None };
        if !is_first || media_type.is_some() {
            return ResponsePart::Audio { media_type: media_type.unwrap_or("audio/wav"), bytes: samples };
        }
        let mut bytes = wav::header(is_whole.then_some(samples.len())).to_vec();
        bytes.extend(samples);
        ResponsePart::Audio { media_type: "audio/wav", bytes }
    }

    fn tokens(&self, usage: &Usage) -> Tokens {
        let prompt = usage.prompt_tokens_details.0.as_ref();
        let reasoning = usage.completion_tokens_details.0.as_ref().and_then(|details| details.reasoning_tokens.0);
        let (input, completion, reasoning) = (usage.prompt_tokens.0, usage.completion_tokens.0, reasoning.unwrap_or(0));
        // The total shows whether thinking is included. Without a total, only xAI is known to exclude it.
        let sum = input.unwrap_or(0).saturating_add(completion.unwrap_or(0));
        let is_apart = match usage.total_tokens.0 {
            Some(total) => reasoning > 0 && total == sum.saturating_add(reasoning),
            None => self.provider == Provider::Xai,
        };
        Tokens {
            input,
            output: completion.map(|count| if is_apart { count.saturating_add(reasoning) } else { count }),
            cache_input: prompt
                .and_then(|details| details.cached_tokens.0)
                .or(usage.prompt_cache_hit_tokens.0)
                .or(usage.cached_tokens.0),
            cache_creation_input: prompt.and_then(|details| details.cache_creation_input_tokens.0),
        }
    }
}

fn error(chunk: &Chunk<'_>) -> Option<CallError> {
    match &chunk.error {
        TextOr::Text(message) => Some(CallError::reported(Some(message), &[], None)),
        TextOr::Object(error) => {
            let codes = [error.code.as_deref(), error.kind.as_deref()];
            Some(CallError::reported(error.message.as_deref(), &codes, None))
        }
        TextOr::Neither => {
            let is_bare = chunk.choices.0.is_empty()
                && chunk.message.0.is_some()
                && (chunk.code.0.is_some() || chunk.object.as_deref() == Some("error"));
            let codes = [chunk.code.as_deref(), chunk.kind.as_deref()];
            is_bare.then(|| CallError::reported(chunk.message.as_deref(), &codes, None))
        }
    }
}

fn stop_reason(reason: Cow<'_, str>) -> ResponsePart<'_> {
    let stop_reason = match &*reason {
        "stop" | "eos" | "end_turn" => StopReason::Stop,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        "content_filter" | "sensitive" => StopReason::ContentFilter,
        // DeepSeek stopped because of overload.
        "insufficient_system_resource" => {
            return ResponsePart::Error(CallError::reported(None, &[Some(&reason)], Some(503)));
        }
        _ => StopReason::Other,
    };
    ResponsePart::StopReason { stop_reason, reason }
}

/// Emits an image, given as a data URI or by its URL.
fn image_part(url: Cow<'_, str>) -> ResponsePart<'_> {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => ResponsePart::Data {
            media_type: Cow::Owned(media_type.to_owned()),
            source: DataSource::Base64(Cow::Owned(data.to_owned())),
        },
        None => ResponsePart::Data { media_type: Cow::Borrowed("image/png"), source: DataSource::Url(url) },
    }
}
