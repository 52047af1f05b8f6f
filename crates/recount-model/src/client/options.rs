//! The options and the outcome of a call.

use std::time::Duration;

use recount_message::Json;
use tokio_util::sync::CancellationToken;

use super::media::MediaError;
use crate::Provider;
use crate::decode::{CallEnd, CallErrorKind};
use crate::format::{Cache, FormatWarning, RequestOptions, Structured, StructuredMethod, Tool, ToolChoice};

/// The options of one call, independent of the model. Options of the model (its name, output limit, thinking) are in
/// its [settings](super::Model::settings).
///
/// ```
/// use recount_model::client::CallOptions;
/// use recount_model::format::{Tool, ToolChoice};
///
/// let options = CallOptions::new().tools([Tool::new("search")]).tool_choice(ToolChoice::required());
/// assert_eq!(options.tools.len(), 1);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CallOptions {
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// The tools that the model may or must call. `None` is the provider's default.
    pub tool_choice: Option<ToolChoice>,
    /// The JSON Schema of the response, and the method to enforce it. No method means the best one of the provider.
    pub structured: Option<(Json, Option<StructuredMethod>)>,
    /// Whether the response is streamed. Defaults to `true`.
    pub stream: bool,
    /// The cache key of the conversation, for providers with prompt caching. See [`Cache::Marked`].
    pub cache_key: Option<String>,
    /// Cancels the call.
    pub cancel: CancellationToken,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            tool_choice: None,
            structured: None,
            stream: true,
            cache_key: None,
            cancel: CancellationToken::new(),
        }
    }
}

impl CallOptions {
    /// Creates options for a streamed call without tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the tools that the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Sets the tools that the model may or must call.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Requests a response that matches a JSON Schema, by the best method of the provider.
    #[must_use]
    pub fn structured(mut self, schema: impl Into<Json>) -> Self {
        self.structured = Some((schema.into(), None));
        self
    }

    /// Requests a response that matches a JSON Schema, by a specific method.
    #[must_use]
    pub fn structured_with(mut self, schema: impl Into<Json>, method: StructuredMethod) -> Self {
        self.structured = Some((schema.into(), Some(method)));
        self
    }

    /// Requests the response in one piece.
    #[must_use]
    pub fn unstreamed(mut self) -> Self {
        self.stream = false;
        self
    }

    /// Marks the request for prompt caching under the key of the conversation.
    #[must_use]
    pub fn cache_key(mut self, key: impl Into<String>) -> Self {
        self.cache_key = Some(key.into());
        self
    }

    /// Sets a token that cancels the call.
    ///
    /// ```
    /// use recount_message::{Msg, ReplyWriter, Stamps};
    /// use recount_model::Provider;
    /// use recount_model::client::{CallOptions, Model};
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let stop = CancellationToken::new();
    /// stop.cancel();
    /// let mut reply = ReplyWriter::start(|_event| {}, Stamps::default(), "s1", "Friday");
    /// let options = CallOptions::new().cancelled_by(stop);
    /// let model = Model::new(Provider::Ollama, "qwen3");
    /// assert!(model.call(&[Msg::user("Alice", "Hi")], &options, &mut reply).await.is_cancelled());
    /// # });
    /// ```
    #[must_use]
    pub fn cancelled_by(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Returns the remaining structured output methods, best first. Empty if the caller chose a method.
    pub(super) fn other_methods(&self, provider: Provider, settings: &RequestOptions) -> Vec<StructuredMethod> {
        let is_open = matches!(self.structured, Some((_, None)));
        let ladder = if is_open { StructuredMethod::fallback_order(provider, settings.thinking) } else { Vec::new() };
        ladder.into_iter().skip(1).collect()
    }

    /// Returns the same options with a specific structured output method.
    pub(super) fn with_method(&self, method: StructuredMethod) -> Self {
        let structured = self.structured.as_ref().map(|(schema, _)| (schema.clone(), Some(method)));
        Self { structured, ..self.clone() }
    }

    /// Returns the options of the request to one model.
    pub(super) fn request(&self, provider: Provider, settings: &RequestOptions) -> RequestOptions {
        let mut request = settings.clone();
        request.stream = self.stream;
        if !self.tools.is_empty() {
            request.tools.clone_from(&self.tools);
        }
        if self.tool_choice.is_some() {
            request.tool_choice.clone_from(&self.tool_choice);
        }
        if let Some((schema, method)) = &self.structured {
            let best = || StructuredMethod::fallback_order(provider, settings.thinking).into_iter().next();
            let method = method.or_else(best).unwrap_or(StructuredMethod::ToolWithoutChoice);
            request.structured = Some(Structured { schema: schema.clone(), method });
        }
        if self.cache_key.is_some() {
            request.cache = Cache::Marked { key: self.cache_key.clone() };
        }
        request
    }
}

/// The timeouts of a call.
///
/// ```
/// use std::time::Duration;
///
/// use recount_model::client::Timeouts;
///
/// let hasty = Timeouts { first_byte: Duration::from_secs(20), ..Timeouts::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The limit for connecting.
    pub connect: Duration,
    /// The limit from sending the request to the first byte of a streamed response.
    pub first_byte: Duration,
    /// The limit from sending the request to the first byte of an unstreamed response, which arrives when the model is
    /// done.
    pub unstreamed_response: Duration,
    /// The limit between two chunks of a response.
    pub between_chunks: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            unstreamed_response: Duration::from_secs(600),
            between_chunks: Duration::from_secs(120),
        }
    }
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallOutcome {
    /// The end of the call: stop reason, usage and error.
    pub end: CallEnd,
    /// The model that responded, or the last one that failed, as `provider/name`.
    pub model: String,
    /// The number of requests sent.
    pub requests: u32,
    /// The parts of the messages that could not be sent unchanged.
    pub warnings: Vec<FormatWarning>,
    /// The errors of fetching files and URLs.
    pub media_errors: Vec<MediaError>,
}

impl CallOutcome {
    /// Creates the outcome of a call that was made by other means than this crate's client.
    ///
    /// ```
    /// use recount_model::client::CallOutcome;
    /// use recount_model::decode::{CallEnd, StopReason};
    ///
    /// let outcome = CallOutcome::new(CallEnd::completed(StopReason::Stop, None, true), "mine/parrot");
    /// assert!(outcome.is_complete());
    /// ```
    #[must_use]
    pub fn new(end: CallEnd, model: impl Into<String>) -> Self {
        Self { end, model: model.into(), requests: 1, warnings: Vec::new(), media_errors: Vec::new() }
    }

    /// Whether the call was cancelled by its token.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.end.error.as_ref().is_some_and(|error| error.kind() == CallErrorKind::Cancelled)
    }

    /// Whether the call ended without an error.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.end.error.is_none()
    }
}
