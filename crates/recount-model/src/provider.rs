//! The providers by name.

use std::fmt;
use std::str::FromStr;

/// Whose API is spoken.
///
/// ```
/// use recount_model::Provider;
///
/// let provider: Provider = "openai_response".parse()?;
/// assert_eq!(provider, Provider::OpenAiResponses);
/// assert_eq!(provider.name(), "openai_response");
/// # Ok::<(), recount_model::UnknownProvider>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI chat completions, and every endpoint that speaks them.
    OpenAi,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Alibaba DashScope, by its OpenAI-compatible endpoint.
    DashScope,
    /// Google Gemini.
    Gemini,
    /// Ollama's own chat API.
    Ollama,
    /// DeepSeek.
    DeepSeek,
    /// Moonshot (Kimi).
    Moonshot,
    /// xAI, by its REST API.
    Xai,
    /// MiniMax, by its Anthropic-compatible endpoint.
    MiniMax,
    /// Volcengine Ark (Doubao).
    Volcengine,
}

impl Provider {
    /// All providers, in the order in which they are listed to people.
    pub const ALL: [Self; 11] = [
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::DashScope,
        Self::Gemini,
        Self::Ollama,
        Self::DeepSeek,
        Self::Moonshot,
        Self::Xai,
        Self::MiniMax,
        Self::Volcengine,
    ];

    /// The name by which commands and configuration files call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai_response",
            Self::Anthropic => "anthropic",
            Self::DashScope => "dashscope",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::DeepSeek => "deepseek",
            Self::Moonshot => "moonshot",
            Self::Xai => "xai",
            Self::MiniMax => "minimax",
            Self::Volcengine => "volcengine",
        }
    }

    /// The environment variables that may hold its key; the first one that is set counts. Ollama needs none.
    ///
    /// ```
    /// use recount_model::Provider;
    ///
    /// assert_eq!(Provider::Gemini.api_key_env_vars(), ["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
    /// ```
    #[must_use]
    pub const fn api_key_env_vars(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::OpenAiResponses => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::DashScope => &["DASHSCOPE_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Ollama => &[],
            Self::DeepSeek => &["DEEPSEEK_API_KEY"],
            Self::Moonshot => &["MOONSHOT_API_KEY"],
            Self::Xai => &["XAI_API_KEY"],
            Self::MiniMax => &["MINIMAX_API_KEY"],
            Self::Volcengine => &["ARK_API_KEY", "VOLCENGINE_API_KEY"],
        }
    }

    /// The environment variable that may say where it is to be found instead of its usual address.
    ///
    /// ```
    /// use recount_model::Provider;
    ///
    /// assert_eq!(Provider::Ollama.base_url_env_var(), "OLLAMA_HOST");
    /// ```
    #[must_use]
    pub const fn base_url_env_var(self) -> &'static str {
        match self {
            Self::OpenAi | Self::OpenAiResponses => "OPENAI_BASE_URL",
            Self::Anthropic => "ANTHROPIC_BASE_URL",
            Self::DashScope => "DASHSCOPE_BASE_URL",
            Self::Gemini => "GEMINI_BASE_URL",
            Self::Ollama => "OLLAMA_HOST",
            Self::DeepSeek => "DEEPSEEK_BASE_URL",
            Self::Moonshot => "MOONSHOT_BASE_URL",
            Self::Xai => "XAI_BASE_URL",
            Self::MiniMax => "MINIMAX_BASE_URL",
            Self::Volcengine => "ARK_BASE_URL",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error of reading a provider's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider `{0}`, expected one of {names}", names = Provider::ALL.map(Provider::name).join(", "))]
pub struct UnknownProvider(String);

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|provider| provider.name() == name).ok_or_else(|| UnknownProvider(name.to_owned()))
    }
}
