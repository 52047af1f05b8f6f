//! The supported providers.

use std::fmt;
use std::str::FromStr;

/// A provider API.
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
    /// OpenAI chat completions, and any endpoint compatible with them.
    OpenAi,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Alibaba DashScope, through its OpenAI-compatible endpoint.
    DashScope,
    /// Google Gemini.
    Gemini,
    /// Ollama's native chat API.
    Ollama,
    /// DeepSeek.
    DeepSeek,
    /// Moonshot (Kimi).
    Moonshot,
    /// xAI, through its REST API.
    Xai,
    /// MiniMax, through its Anthropic-compatible endpoint.
    MiniMax,
    /// Volcengine Ark (Doubao).
    Volcengine,
}

impl Provider {
    /// All providers, in display order.
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

    /// Returns the name used by commands and configuration files.
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

    /// Returns the environment variables that may hold the API key, in order of precedence. Empty for Ollama, which
    /// needs no key.
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

    /// Returns the environment variable that overrides the provider's base URL.
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

/// The error of parsing an unknown provider name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider `{0}`, expected one of {names}", names = Provider::ALL.map(Provider::name).join(", "))]
pub struct UnknownProvider(String);

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|provider| provider.name() == name).ok_or_else(|| UnknownProvider(name.to_owned()))
    }
}
