//! What one call asks for, and what came of it.

use std::time::Duration;

use recount_message::Json;
use tokio_util::sync::CancellationToken;

use super::media::MediaError;
use crate::Provider;
use crate::decode::{CallEnd, CallErrorKind};
use crate::format::{Cache, FormatWarning, RequestOptions, Structured, StructuredMethod, Tool, ToolChoice};

/// What one call asks for, whichever model answers it. What belongs to a model (its name, how long it may speak, whether it
/// thinks) is in its [settings](super::Model::settings).
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
    /// Which of them it may or must call; nothing is the provider's default.
    pub tool_choice: Option<ToolChoice>,
    /// The JSON Schema that the answer has to have, and the way to it. No way is the best that the model's provider has.
    pub structured: Option<(Json, Option<StructuredMethod>)>,
    /// Whether the answer comes as it is made, or in one piece.
    pub stream: bool,
    /// The conversation's key, for providers that keep what they have read. See [`Cache::Marked`].
    pub cache_key: Option<String>,
    /// Cancelled when nobody wants the answer any more.
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
    /// A streamed answer, and no tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tools that the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Which of them it may or must call.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// An answer of a form, by the best way that the model's provider has.
    #[must_use]
    pub fn structured(mut self, schema: impl Into<Json>) -> Self {
        self.structured = Some((schema.into(), None));
        self
    }

    /// An answer of a form, by a certain way.
    #[must_use]
    pub fn structured_with(mut self, schema: impl Into<Json>, method: StructuredMethod) -> Self {
        self.structured = Some((schema.into(), Some(method)));
        self
    }

    /// The answer in one piece.
    #[must_use]
    pub fn unstreamed(mut self) -> Self {
        self.stream = false;
        self
    }

    /// Marks what the provider shall keep, under the conversation's key.
    #[must_use]
    pub fn cache_key(mut self, key: impl Into<String>) -> Self {
        self.cache_key = Some(key.into());
        self
    }

    /// A token by which the call can be stopped from elsewhere.
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

    /// The further ways in which a form can be asked for, where nobody said which one, the better ones first.
    pub(super) fn other_methods(&self, provider: Provider, settings: &RequestOptions) -> Vec<StructuredMethod> {
        let is_open = matches!(self.structured, Some((_, None)));
        let ladder = if is_open { StructuredMethod::fallback_order(provider, settings.thinking) } else { Vec::new() };
        ladder.into_iter().skip(1).collect()
    }

    /// The same options, with the form asked for in this way.
    pub(super) fn with_method(&self, method: StructuredMethod) -> Self {
        let structured = self.structured.as_ref().map(|(schema, _)| (schema.clone(), Some(method)));
        Self { structured, ..self.clone() }
    }

    /// The options of the request to one model.
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

/// How long a call waits.
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
    /// For the connection.
    pub connect: Duration,
    /// From sending the request until something of a streamed answer comes.
    pub first_byte: Duration,
    /// From sending the request until an answer in one piece begins to come, which it does when the model is done.
    pub unstreamed_response: Duration,
    /// Between two pieces of an answer.
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

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallOutcome {
    /// How the call ended: why the model stopped, how many tokens it took, what went wrong.
    pub end: CallEnd,
    /// The model that answered or was the last to fail, as `provider/name`.
    pub model: String,
    /// How many requests were sent.
    pub requests: u32,
    /// What of the messages could not be said as it was.
    pub warnings: Vec<FormatWarning>,
    /// The files and URLs that could not be brought.
    pub media_errors: Vec<MediaError>,
}

impl CallOutcome {
    /// What came of a call to a model, for one that is asked in another way than by this crate.
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

    /// Whether the call was stopped by its token.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.end.error.as_ref().is_some_and(|error| error.kind() == CallErrorKind::Cancelled)
    }

    /// Whether the answer is there as far as the model made it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.end.error.is_none()
    }
}
