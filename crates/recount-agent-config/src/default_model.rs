//! The model of agents whose configuration names none.

use std::fmt;

use recount_model::Provider;

use crate::environment::Environment;
use crate::names::ModelName;

/// The name of the agent that is used without a configuration.
pub(crate) const AGENT_NAME: &str = "assistant";

/// The variable that names the default model.
const MODEL_VARIABLE: &str = "RECOUNT_MODEL";

/// The model of agents whose configuration names none, with the reason for the choice. [`Display`](fmt::Display) formats it
/// as a sentence for users.
///
/// ```
/// use recount_agent_config::{DefaultModel, Environment};
///
/// let default = DefaultModel::from_env(&Environment::empty());
/// assert!(default.model.is_demo());
/// assert!(default.to_string().contains("no provider's key is set"));
///
/// let environment = Environment::new(|name| (name == "ANTHROPIC_API_KEY").then(|| "sk-1".to_owned()));
/// assert_eq!(
///     DefaultModel::from_env(&environment).to_string(),
///     "the model is anthropic/claude-opus-5-5, because ANTHROPIC_API_KEY is set",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefaultModel {
    /// The model.
    pub model: ModelName,
    /// The environment variable that selected the model. `None` for the demo model as the last resort.
    pub variable: Option<&'static str>,
}

impl DefaultModel {
    /// Selects the model that `RECOUNT_MODEL` names, else one of the first provider whose key is set, else the demo model.
    #[must_use]
    pub fn from_env(environment: &Environment) -> Self {
        let named = environment.get(MODEL_VARIABLE).and_then(|name| name.parse().ok());
        if let Some(model) = named {
            return Self { model, variable: Some(MODEL_VARIABLE) };
        }
        let with_key = Provider::ALL.into_iter().find_map(|provider| {
            let variable = provider.api_key_env_vars().iter().find(|name| environment.get(name).is_some())?;
            let model = format!("{provider}/{}", default_model_of(provider)?).parse().ok()?;
            Some(Self { model, variable: Some(variable) })
        });
        with_key.unwrap_or_else(|| Self { model: ModelName::demo(), variable: None })
    }
}

impl fmt::Display for DefaultModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variable {
            Some(variable) => write!(f, "the model is {}, because {variable} is set", self.model),
            None => write!(f, "the model is `{}`, a script, because no provider's key is set", self.model),
        }
    }
}

/// Returns a model with tool support for each provider, as documented by the provider in November 2026. `None` for providers
/// whose models depend on the local installation.
fn default_model_of(provider: Provider) -> Option<&'static str> {
    match provider {
        Provider::OpenAi | Provider::OpenAiResponses => Some("gpt-5.5"),
        Provider::Anthropic => Some("claude-opus-5-5"),
        Provider::DashScope => Some("qwen3.8-max"),
        Provider::Gemini => Some("gemini-3.8-flash"),
        Provider::DeepSeek => Some("deepseek-v4-flash"),
        Provider::Moonshot => Some("kimi-k2.6"),
        Provider::Xai => Some("grok-4.5"),
        Provider::MiniMax => Some("MiniMax-M3"),
        Provider::Volcengine => Some("doubao-seed-1-8-251228"),
        _ => None,
    }
}
