//! A configured model.

use std::env;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::endpoint::{BaseUrl, BaseUrlError};
use super::http::HttpTransport;
use super::key::ApiKey;
use super::media::{FetchMedia, MediaFetcher};
use super::options::Timeouts;
use super::retry::Retries;
use super::transport::{Transport, TransportError};
use crate::Provider;
use crate::decode::DecodeOptions;
use crate::format::{Formatter, MultiAgent, RequestOptions, ToolMode};
use crate::provider::UnknownProvider;

/// A model of a provider, with the configuration to call it.
///
/// Cloning is cheap, and clones share their connections.
///
/// ```
/// use recount_model::Provider;
/// use recount_model::client::{Model, Retries};
/// use recount_model::format::{RequestOptions, Thinking};
///
/// let model = Model::new(Provider::Anthropic, "claude-opus-4-5")
///     .settings(RequestOptions::new("").max_tokens(4096).thinking(Thinking::Adaptive))
///     .retries(Retries { max_retries: 4, ..Retries::default() })
///     .fallback("openai/gpt-5".parse()?);
/// assert_eq!(model.id(), "anthropic/claude-opus-4-5");
///
/// // Any endpoint compatible with OpenAI chat completions. The key is optional with a custom base URL.
/// let local = Model::new(Provider::OpenAi, "qwen3").base_url("http://localhost:8000/v1")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Model {
    pub(super) provider: Provider,
    /// The request options of every call, including the name of the model.
    pub(super) settings: RequestOptions,
    pub(super) formatter: Formatter,
    pub(super) decoding: DecodeOptions,
    pub(super) key: Option<ApiKey>,
    /// The configured base URL, or the error of an invalid one in the environment. `None` is the provider's default.
    pub(super) base_url: Option<Result<BaseUrl, BaseUrlError>>,
    pub(super) headers: HeaderMap,
    pub(super) timeouts: Timeouts,
    pub(super) retries: Retries,
    pub(super) fallbacks: Vec<Model>,
    transport: Option<Arc<dyn Transport>>,
    own_transport: Arc<OnceLock<Result<HttpTransport, TransportError>>>,
    pub(super) media: Arc<dyn FetchMedia>,
}

impl Model {
    /// Creates a model with the API key and base URL from the environment.
    #[must_use]
    pub fn new(provider: Provider, name: impl Into<String>) -> Self {
        Self::with_environment(provider, name, |variable| env::var(variable).ok())
    }

    /// Creates a model with the API key and base URL from `variable` instead of the process environment.
    ///
    /// ```
    /// use recount_model::Provider;
    /// use recount_model::client::Model;
    ///
    /// let tenant = [("OPENAI_API_KEY", "sk-of-this-tenant")];
    /// let model = Model::with_environment(Provider::OpenAi, "gpt-5", |name| {
    ///     tenant.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    /// });
    /// assert!(!format!("{model:?}").contains("tenant"));
    /// ```
    #[must_use]
    pub fn with_environment(
        provider: Provider,
        name: impl Into<String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let filled = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let key = provider.api_key_env_vars().iter().find_map(|name| filled(name)).map(ApiKey::new);
        let base_url = filled(provider.base_url_env_var()).map(|address| BaseUrl::parse(provider, &address));
        Self {
            provider,
            settings: RequestOptions::new(name),
            formatter: Formatter::new(provider),
            decoding: DecodeOptions::default(),
            key,
            base_url,
            headers: HeaderMap::new(),
            timeouts: Timeouts::default(),
            retries: Retries::default(),
            fallbacks: Vec::new(),
            transport: None,
            own_transport: Arc::default(),
            media: Arc::new(MediaFetcher::new()),
        }
    }

    /// Sets the API key, replacing the one from the environment.
    #[must_use]
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.key = Some(key.into()).filter(|key| !key.is_empty());
        self
    }

    /// Sets the base URL, to which the provider's path is appended: `http://localhost:8000/v1`.
    ///
    /// # Errors
    ///
    /// If the URL is invalid or its scheme is not `http` or `https`.
    pub fn base_url(mut self, address: &str) -> Result<Self, BaseUrlError> {
        self.base_url = Some(Ok(BaseUrl::parse(self.provider, address)?));
        Ok(self)
    }

    /// Adds a header to every request. It replaces a default header of the same name.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the request options of every call, such as the output limit, thinking and provider-specific fields.
    ///
    /// A non-empty model name in `settings` replaces the current one. Per-call options, such as tools, belong in
    /// [`CallOptions`](super::CallOptions).
    #[must_use]
    pub fn settings(mut self, settings: RequestOptions) -> Self {
        let name = std::mem::replace(&mut self.settings, settings).model;
        if self.settings.model.is_empty() {
            self.settings.model = name;
        }
        self
    }

    /// Sets the format of conversations with several agents.
    #[must_use]
    pub fn multi_agent(mut self, form: MultiAgent) -> Self {
        self.formatter = self.formatter.multi_agent(form);
        self
    }

    /// Sets the media types that the model accepts, as patterns such as `image/*`.
    #[must_use]
    pub fn input_types(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.formatter = self.formatter.input_types(patterns);
        self
    }

    /// Sets how tools are sent to the model and how its calls are parsed.
    #[must_use]
    pub fn tool_mode(mut self, mode: ToolMode) -> Self {
        self.formatter = self.formatter.tool_mode(mode);
        self.decoding.prompt_tools = mode == ToolMode::Prompt;
        self
    }

    /// Sets the options and limits of response decoding. `prompt_tools` in them is ignored; see
    /// [`tool_mode`](Self::tool_mode).
    #[must_use]
    pub fn decoding(mut self, options: DecodeOptions) -> Self {
        self.decoding = DecodeOptions { prompt_tools: self.decoding.prompt_tools, ..options };
        self
    }

    /// Sets the timeouts.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        // The connect timeout is part of the transport.
        self.own_transport = Arc::default();
        self
    }

    /// Sets the retry policy. Fallbacks use the policy of the first model.
    #[must_use]
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// Adds a model to call if this one and all earlier fallbacks fail before writing any block.
    ///
    /// The fallback uses its own settings, key and base URL. Its own fallbacks are ignored.
    #[must_use]
    pub fn fallback(mut self, model: Self) -> Self {
        self.fallbacks.push(model);
        self
    }

    /// Sets the transport that sends requests.
    #[must_use]
    pub fn transport(self, transport: impl Transport) -> Self {
        self.shared_transport(Arc::new(transport))
    }

    /// Sets a transport that is shared with other models.
    #[must_use]
    pub fn shared_transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }

    /// Sets the fetcher for files and URLs in messages, for providers that require the bytes. The default fetches from
    /// the public internet and reads no files: see [`MediaFetcher`]. Fallbacks use the fetcher of the first model.
    #[must_use]
    pub fn media(mut self, media: impl FetchMedia) -> Self {
        self.media = Arc::new(media);
        self
    }

    /// Returns the provider.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.settings.model
    }

    /// Returns `provider/name`, which `FromStr` parses.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider, self.name())
    }

    /// Returns the context window in tokens. `None` if it is not [known](crate::context_window()).
    #[must_use]
    pub fn context_window(&self) -> Option<u64> {
        crate::context_window(self.provider, self.name())
    }

    /// Whether the model has an API key or needs none.
    #[must_use]
    pub fn has_key(&self) -> bool {
        // A custom endpoint may not require a key.
        self.key.is_some() || self.provider.api_key_env_vars().is_empty() || self.base_url.is_some()
    }

    /// Returns the configured transport, or creates the default one on first use.
    pub(super) fn transport_or_default(&self) -> Result<&dyn Transport, TransportError> {
        if let Some(transport) = &self.transport {
            return Ok(transport.as_ref());
        }
        let made = self.own_transport.get_or_init(|| HttpTransport::new(self.timeouts.connect));
        made.as_ref().map(|transport| transport as &dyn Transport).map_err(Clone::clone)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = self.base_url.as_ref().map(|url| url.as_ref().map(BaseUrl::redacted));
        // Header values may be secret.
        let headers: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Model")
            .field("id", &self.id())
            .field("key", &self.key)
            .field("base_url", &base_url)
            .field("headers", &headers)
            .field("settings", &self.settings)
            .field("timeouts", &self.timeouts)
            .field("retries", &self.retries)
            .field("fallbacks", &self.fallbacks)
            .finish_non_exhaustive()
    }
}

/// The error of parsing a model id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelNameError {
    /// The id has no `/`.
    #[error("invalid model `{0}`, expected `provider/name`")]
    NoProvider(String),
    /// The name after the provider is empty.
    #[error("model name missing in `{0}`, expected `provider/name`")]
    NoName(String),
    /// The provider is unknown.
    #[error(transparent)]
    UnknownProvider(#[from] UnknownProvider),
}

/// Parses `provider/name`. The name may contain slashes.
///
/// ```
/// use recount_model::Provider;
/// use recount_model::client::Model;
///
/// let model: Model = "openai/meta-llama/Llama-4".parse()?;
/// assert_eq!((model.provider(), model.name()), (Provider::OpenAi, "meta-llama/Llama-4"));
/// # Ok::<(), recount_model::client::ModelNameError>(())
/// ```
impl FromStr for Model {
    type Err = ModelNameError;

    fn from_str(id: &str) -> Result<Self, Self::Err> {
        let (provider, name) = id.split_once('/').ok_or_else(|| ModelNameError::NoProvider(id.to_owned()))?;
        let provider = provider.parse()?;
        if name.is_empty() { Err(ModelNameError::NoName(id.to_owned())) } else { Ok(Self::new(provider, name)) }
    }
}
