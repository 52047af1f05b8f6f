//! The end of a model call.

use std::fmt;

use recount_message::{AgentEvent, ReplyWriter, Usage};

use super::error::{CallError, CallErrorKind};

/// Why the model stopped.
///
/// ```
/// use recount_message::{ReplyWriter, Stamps};
/// use recount_model::Provider;
/// use recount_model::decode::{DecodeOptions, Decoder, StopReason};
///
/// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
/// let mut decoder = Decoder::new(Provider::Ollama, DecodeOptions::default());
/// decoder.push(br#"{"message":{"content":"Once upon a"},"done":true,"done_reason":"length"}"#, &mut reply)?;
/// assert_eq!(decoder.finish(&mut reply).stop_reason, StopReason::Length);
/// # Ok::<(), recount_model::decode::CallError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished its response.
    Stop,
    /// The model requests tool calls.
    ToolCalls,
    /// The response reached the output limit or filled the context window.
    Length,
    /// A content filter of the provider stopped the model.
    ContentFilter,
    /// The model refused to respond.
    Refusal,
    /// A reason of the provider's own, named by [`CallEnd::provider_stop_reason`].
    Other,
    /// The provider gave no reason.
    Unknown,
}

impl StopReason {
    /// Returns the reason in snake case.
    ///
    /// ```
    /// use recount_model::decode::StopReason;
    ///
    /// assert_eq!(StopReason::ToolCalls.name(), "tool_calls");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "filter",
            Self::Refusal => "refusal",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The end of a model call, as reported by the provider.
///
/// ```
/// use recount_message::{ReplyEnd, ReplyWriter, Stamps, Usage};
/// use recount_model::Provider;
/// use recount_model::decode::{DecodeOptions, Decoder, StopReason};
///
/// let mut reply = ReplyWriter::start(|_event| {}, Stamps::repeatable(), "s1", "Friday");
/// reply.model_call("gpt-5");
/// let mut decoder = Decoder::new(Provider::OpenAi, DecodeOptions::default());
/// let body = br#"{"id":"chatcmpl-1","model":"gpt-5-2026","choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],
///     "usage":{"prompt_tokens":9,"completion_tokens":1}}"#;
/// decoder.push(body, &mut reply)?;
///
/// let end = decoder.finish(&mut reply);
/// assert_eq!((end.stop_reason, end.usage.clone()), (StopReason::Stop, Some(Usage::new(9, 1))));
/// assert_eq!((end.response_id.as_deref(), end.model.as_deref()), (Some("chatcmpl-1"), Some("gpt-5-2026")));
/// end.end_model_call(&mut reply);
/// let message = reply.end(ReplyEnd::completed());
/// assert_eq!(message.usage(), Some(&Usage::new(9, 1)));
/// # Ok::<(), recount_model::decode::CallError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEnd {
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// The provider's name for the stop reason. `None` if it gave none.
    pub provider_stop_reason: Option<String>,
    /// The token counts. `None` if the provider reported none.
    pub usage: Option<Usage>,
    /// The error that ended the call. An early end of the stream is an error too.
    pub error: Option<CallError>,
    /// The provider's id of the response.
    pub response_id: Option<String>,
    /// The model that responded, as named by the provider.
    pub model: Option<String>,
    /// Whether any block was written. If not, a failed call can be repeated without readers noticing.
    pub has_output: bool,
}

impl CallEnd {
    /// Creates the end of a successful call that was made by other means than this crate's client.
    ///
    /// ```
    /// use recount_message::Usage;
    /// use recount_model::decode::{CallEnd, StopReason};
    ///
    /// let end = CallEnd::completed(StopReason::Stop, Some(Usage::new(9, 1)), true);
    /// assert_eq!(end.error, None);
    /// ```
    #[must_use]
    pub fn completed(stop_reason: StopReason, usage: Option<Usage>, has_output: bool) -> Self {
        Self { stop_reason, provider_stop_reason: None, usage, error: None, response_id: None, model: None, has_output }
    }

    /// Creates the end of a failed call.
    ///
    /// ```
    /// use recount_message::ErrorType;
    /// use recount_model::decode::{CallEnd, CallError, CallErrorKind};
    ///
    /// let error = CallError::new(CallErrorKind::Unreachable, ErrorType::Connection, "connection refused");
    /// assert_eq!(CallEnd::failed(error, false).error.unwrap().to_string(), "connection refused");
    /// ```
    #[must_use]
    pub fn failed(error: CallError, has_output: bool) -> Self {
        Self { error: Some(error), ..Self::completed(StopReason::Unknown, None, has_output) }
    }

    /// Whether the stream ended before the model had finished.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.error.as_ref().is_some_and(|error| error.kind() == CallErrorKind::Truncated)
    }

    /// Ends the model call in the reply: with its usage, and as interrupted if it failed.
    pub fn end_model_call<S: FnMut(AgentEvent)>(&self, reply: &mut ReplyWriter<S>) {
        match self.error {
            None => reply.end_model_call(self.usage.clone()),
            Some(_) => reply.interrupt_model_call(self.usage.clone()),
        }
    }
}
