//! Chunks of Gemini, each in the form of a full response.

use std::borrow::Cow;

use recount_message::Json;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_end::StopReason;
use super::error::CallError;
use super::json_text::spaced_json;
use super::lenient::{self, Count, Flag, List, Maybe, Text, TextOrNumber};
use super::response_part::{BlockKey, CallPart, CallSlot, DataSource, ResponsePart, Tokens};

#[derive(Debug, Default)]
pub(super) struct GeminiChunks {
    calls: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: List<Candidate<'a>>,
    usage_metadata: Maybe<Usage>,
    #[serde(borrow)]
    prompt_feedback: Maybe<PromptFeedback<'a>>,
    #[serde(borrow)]
    model_version: Text<'a>,
    #[serde(borrow)]
    response_id: Text<'a>,
    #[serde(borrow)]
    error: Maybe<ErrorBody<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Candidate<'a> {
    index: Count,
    #[serde(borrow)]
    content: Maybe<Content<'a>>,
    #[serde(borrow)]
    finish_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    parts: List<Part<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Text<'a>,
    thought: Flag,
    #[serde(borrow)]
    thought_signature: Text<'a>,
    #[serde(borrow)]
    function_call: Maybe<FunctionCall<'a>>,
    #[serde(borrow)]
    inline_data: Maybe<Blob<'a>>,
    #[serde(borrow)]
    file_data: Maybe<Blob<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Blob<'a> {
    #[serde(borrow)]
    mime_type: Text<'a>,
    #[serde(borrow)]
    data: Text<'a>,
    #[serde(borrow)]
    file_uri: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Usage {
    prompt_token_count: Count,
    tool_use_prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    cached_content_token_count: Count,
    total_token_count: Count,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PromptFeedback<'a> {
    #[serde(borrow)]
    block_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ErrorBody<'a> {
    code: Count,
    #[serde(borrow)]
    status: TextOrNumber<'a>,
    #[serde(borrow)]
    message: Text<'a>,
}

impl GeminiChunks {
    pub(super) fn read(&mut self, text: &str, emit: &mut dyn FnMut(ResponsePart<'_>)) -> Result<(), serde_json::Error> {
        let chunk: Chunk<'_> = lenient::object(text)?;
        if let Some(error) = chunk.error.0 {
            let error = CallError::reported(error.message.as_deref(), &[error.status.as_deref()], error.code.0);
            emit(ResponsePart::Error(error));
            return Ok(());
        }
        let (id, model) = (chunk.response_id.non_empty(), chunk.model_version.non_empty());
        if id.is_some() || model.is_some() {
            emit(ResponsePart::Response { id, model });
        }
        if let Some(usage) = chunk.usage_metadata.0 {
            emit(ResponsePart::Usage(usage.tokens()));
        }
        let first = chunk.candidates.0.into_iter().find(|candidate| candidate.index.0.unwrap_or(0) == 0);
        if let Some(candidate) = first {
            for part in candidate.content.0.unwrap_or_default().parts.0 {
                self.part(part, emit);
            }
            let reason = candidate.finish_reason.non_empty().filter(|reason| reason != "FINISH_REASON_UNSPECIFIED");
            if let Some(reason) = reason {
                emit(stop_reason(reason));
            }
        }
        if let Some(reason) = chunk.prompt_feedback.0.and_then(|feedback| feedback.block_reason.non_empty()) {
            emit(ResponsePart::StopReason { stop_reason: StopReason::ContentFilter, reason });
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let key = BlockKey::ONLY;
        let name = "thought_signature";
        let signature = part.thought_signature.non_empty().map(|signature| Json::from(signature.into_owned()));
        if let Some(call) = part.function_call.0 {
            return self.call(call, signature, emit);
        }
        for blob in part.inline_data.0.into_iter().chain(part.file_data.0) {
            let media_type = blob.mime_type.non_empty().unwrap_or(Cow::Borrowed("application/octet-stream"));
            let source = match (blob.data.non_empty(), blob.file_uri.non_empty()) {
                (Some(data), _) => DataSource::Base64(standard_base64(data)),
                (None, Some(url)) => DataSource::Url(url),
                (None, None) => continue,
            };
            emit(ResponsePart::Data { media_type, source });
        }
        let delta = part.text.non_empty();
        match (part.thought.0, delta) {
            (true, Some(delta)) => emit(ResponsePart::Thinking { key, delta }),
            (false, Some(delta)) => emit(ResponsePart::Text { key, delta }),
            (_, None) => {}
        }
        match signature {
            Some(value) if part.thought.0 => emit(ResponsePart::ThinkingExtra { key, name, value }),
            Some(value) => emit(ResponsePart::TextExtra { key, name, value }),
            None => {}
        }
    }

    fn call(&mut self, call: FunctionCall<'_>, signature: Option<Json>, emit: &mut dyn FnMut(ResponsePart<'_>)) {
        let slot = CallSlot(self.calls);
        self.calls += 1;
        let input = call.args.map_or(Cow::Borrowed("{}"), |args| Cow::Owned(spaced_json(args.get())));
        emit(ResponsePart::Call(CallPart { slot, id: call.id.non_empty(), name: call.name.non_empty(), input }));
        if let Some(value) = signature {
            emit(ResponsePart::CallExtra { slot, name: "thought_signature", value });
        }
        emit(ResponsePart::CallEnd { slot, default_input: Cow::Borrowed("{}") });
    }
}

impl Usage {
    /// Returns the token counts. Gemini counts thinking and server tools separately, and may omit the count of the
    /// response.
    fn tokens(&self) -> Tokens {
        let input = self
            .prompt_token_count
            .0
            .map(|count| count.saturating_add(self.tool_use_prompt_token_count.0.unwrap_or(0)));
        let thoughts = self.thoughts_token_count.0;
        let output = match (self.candidates_token_count.0, self.total_token_count.0) {
            (Some(answer), _) => Some(answer.saturating_add(thoughts.unwrap_or(0))),
            (None, Some(total)) => input.map(|input| total.saturating_sub(input)),
            (None, None) => thoughts,
        };
        Tokens { input, output, cache_input: self.cached_content_token_count.0, cache_creation_input: None }
    }
}

/// Converts URL-safe or unpadded base64, which Google's JSON allows, to standard base64.
fn standard_base64(data: Cow<'_, str>) -> Cow<'_, str> {
    if !data.contains(['-', '_']) && data.len().is_multiple_of(4) {
        return data;
    }
    let mut standard = data.replace('-', "+").replace('_', "/");
    while !standard.len().is_multiple_of(4) {
        standard.push('=');
    }
    Cow::Owned(standard)
}

fn stop_reason(reason: Cow<'_, str>) -> ResponsePart<'_> {
    let stop_reason = match &*reason {
        "STOP" => StopReason::Stop,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "LANGUAGE"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::ContentFilter,
        _ => StopReason::Other,
    };
    ResponsePart::StopReason { stop_reason, reason }
}
