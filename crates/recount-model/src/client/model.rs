//! A model that can be called.

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

/// A model of a provider, with all that is needed to call it.
///
/// It is cheap to clone, and clones share their connections.
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
/// // Any endpoint that speaks OpenAI's chat completions; without a key, if it wants none.
/// let local = Model::new(Provider::OpenAi, "qwen3").base_url("http://localhost:8000/v1")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Model {
    pub(super) provider: Provider,
    /// What is asked of this model in every call; its name is in it.
    pub(super) settings: RequestOptions,
    pub(super) formatter: Formatter,
    pub(super) decoding: DecodeOptions,
    pub(super) key: Option<ApiKey>,
    /// Where it is found, if not at the provider's usual address; or what is wrong with the environment's word for it.
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
    /// A model, with the key and the address that the environment has for its provider.
    #[must_use]
    pub fn new(provider: Provider, name: impl Into<String>) -> Self {
        Self::with_environment(provider, name, |variable| env::var(variable).ok())
    }

    /// The same with another environment, such as a configuration file or none at all.
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

    /// The key, in place of the environment's.
    #[must_use]
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.key = Some(key.into()).filter(|key| !key.is_empty());
        self
    }

    /// Where the model is found, up to where the provider's own path begins: `http://localhost:8000/v1`.
    ///
    /// # Errors
    ///
    /// When that is no address.
    pub fn base_url(mut self, address: &str) -> Result<Self, BaseUrlError> {
        self.base_url = Some(Ok(BaseUrl::parse(self.provider, address)?));
        Ok(self)
    }

    /// A further header of every request. It wins over one of ours.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// What is asked of this model in every call: how long it may speak, whether it thinks, fields in the provider's words.
    /// The name in it counts where it is not empty. Tools and the like are for [`CallOptions`](super::CallOptions).
    #[must_use]
    pub fn settings(mut self, settings: RequestOptions) -> Self {
        let name = std::mem::replace(&mut self.settings, settings).model;
        if self.settings.model.is_empty() {
            self.settings.model = name;
        }
        self
    }

    /// For conversations of several agents.
    #[must_use]
    pub fn multi_agent(mut self, form: MultiAgent) -> Self {
        self.formatter = self.formatter.multi_agent(form);
        self
    }

    /// The media that the model takes, as patterns such as `image/*`.
    #[must_use]
    pub fn input_types(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.formatter = self.formatter.input_types(patterns);
        self
    }

    /// How tools are brought to the model, and its calls read from what it answers.
    #[must_use]
    pub fn tool_mode(mut self, mode: ToolMode) -> Self {
        self.formatter = self.formatter.tool_mode(mode);
        self.decoding.prompt_tools = mode == ToolMode::Prompt;
        self
    }

    /// How its answers are read, and how large they may be. Whether calls are read from the text is for
    /// [`tool_mode`](Self::tool_mode).
    #[must_use]
    pub fn decoding(mut self, options: DecodeOptions) -> Self {
        self.decoding = DecodeOptions { prompt_tools: self.decoding.prompt_tools, ..options };
        self
    }

    /// How long a call waits.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        // The time to connect is the transport's.
        self.own_transport = Arc::default();
        self
    }

    /// How often a call is made again. For a call with fallbacks, the first model's word counts.
    #[must_use]
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// A model that is asked when this one and all fallbacks before it have failed before they showed anything. It goes by
    /// its own settings, key and address. Its own fallbacks are not asked.
    #[must_use]
    pub fn fallback(mut self, model: Self) -> Self {
        self.fallbacks.push(model);
        self
    }

    /// How requests are sent.
    #[must_use]
    pub fn transport(self, transport: impl Transport) -> Self {
        self.shared_transport(Arc::new(transport))
    }

    /// The same, with a transport that others use too.
    #[must_use]
    pub fn shared_transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }

    /// How the files and URLs in messages are brought, where a provider wants the bytes. By default web addresses of the
    /// public internet are, and no files: see [`MediaFetcher`]. For a call with fallbacks, the first model's word counts.
    #[must_use]
    pub fn media(mut self, media: impl FetchMedia) -> Self {
        self.media = Arc::new(media);
        self
    }

    /// Whose model it is.
    #[must_use]
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The model's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.settings.model
    }

    /// `provider/name`, as it can be read again.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider, self.name())
    }

    /// How many tokens it can read at once, where that is [known](crate::context_window).
    #[must_use]
    pub fn context_window(&self) -> Option<u64> {
        crate::context_window(self.provider, self.name())
    }

    /// Whether there is a key, or none is needed.
    #[must_use]
    pub fn has_key(&self) -> bool {
        // An endpoint of one's own may want none.
        self.key.is_some() || self.provider.api_key_env_vars().is_empty() || self.base_url.is_some()
    }

    /// The transport, which is made when it is needed for the first time.
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
        // The values of headers may be secret.
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

/// Why a text does not name a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelNameError {
    /// There is no `/` in it.
    #[error("`{0}` is not of the form `provider/name`")]
    NoProvider(String),
    /// Nothing follows the provider.
    #[error("`{0}` names no model")]
    NoName(String),
    /// There is no such provider.
    #[error(transparent)]
    UnknownProvider(#[from] UnknownProvider),
}

/// Reads `provider/name`. The name may have slashes of its own.
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
