//! Which model there is where nobody has named one.

use std::fmt;

use recount_model::Provider;

use super::environment::Environment;
use super::names::ModelName;

/// What the agent without a configuration is called.
pub(super) const NAME: &str = "assistant";

/// The variable that names a model.
const VARIABLE: &str = "RECOUNT_MODEL";

/// The model that is used where none is named, and why. As a text it is a sentence for people.
///
/// ```
/// use recount_host::agents::{Choice, Environment};
///
/// let nothing = Choice::of(&Environment::empty());
/// assert!(nothing.model.is_demo());
/// assert!(nothing.to_string().contains("no provider's key is set"));
///
/// let keys = Environment::new(|name| (name == "ANTHROPIC_API_KEY").then(|| "sk-1".to_owned()));
/// assert_eq!(
///     Choice::of(&keys).to_string(),
///     "the model is anthropic/claude-opus-5-5, because ANTHROPIC_API_KEY is set",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The model.
    pub model: ModelName,
    /// The variable that decided it. Without one it is the demo model.
    pub variable: Option<&'static str>,
}

impl Choice {
    /// What `RECOUNT_MODEL` says, else the first provider whose key is set, else the demo model.
    #[must_use]
    pub fn of(environment: &Environment) -> Self {
        let named = environment.filled(VARIABLE).and_then(|name| name.parse().ok());
        if let Some(model) = named {
            return Self { model, variable: Some(VARIABLE) };
        }
        let keyed = Provider::ALL.into_iter().find_map(|provider| {
            let set = provider.api_key_env_vars().iter().find(|name| environment.filled(name).is_some())?;
            let model = format!("{provider}/{}", usual_model(provider)?).parse().ok()?;
            Some(Self { model, variable: Some(set) })
        });
        keyed.unwrap_or_else(|| Self { model: ModelName::demo(), variable: None })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.variable {
            Some(variable) => write!(f, "the model is {}, because {variable} is set", self.model),
            None => write!(f, "the model is `{}`, a script, because no provider's key is set", self.model),
        }
    }
}

/// A model of each provider that can use tools, as their documentation had it in November 2026. Which ones run on somebody's own
/// machine is not known here.
fn usual_model(provider: Provider) -> Option<&'static str> {
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
