//! The models that a configuration can name.

use recount_agent::demo::DemoModel;
use recount_agent::{AgentReplyWriter, BoxFuture, ChatModel};
use recount_message::Msg;
use recount_model::Provider;
use recount_model::client::{ApiKey, CallOptions, CallOutcome, Model, Retries};
use recount_model::format::{RequestOptions, Thinking};

use crate::config::{AgentConfig, ThinkingConfig};
use crate::environment::Environment;
use crate::names::ModelName;

/// A model that a configuration names.
#[derive(Debug)]
pub(crate) enum ConfiguredModel {
    Demo(DemoModel),
    Provider(Box<Model>),
}

impl ConfiguredModel {
    /// Creates a model by its name, with the API key and base URL of the environment.
    pub(crate) fn new(name: &ModelName, environment: &Environment) -> Result<Self, String> {
        if name.is_demo() {
            return name.as_str().parse().map(Self::Demo).map_err(|error| format!("{error}"));
        }
        let (provider, model) =
            name.as_str().split_once('/').ok_or_else(|| format!("`{name}` is not of the form `provider/name`"))?;
        let provider: Provider = provider.parse().map_err(|error| format!("{error}"))?;
        let model = Model::with_environment(provider, model, |variable| environment.get(variable));
        Ok(Self::Provider(Box::new(model)))
    }

    /// Applies the settings of an agent. They do not affect the demo model.
    pub(crate) fn with_settings(self, config: &AgentConfig, environment: &Environment) -> Result<Self, String> {
        let Self::Provider(model) = self else { return Ok(self) };
        let mut settings = RequestOptions::new("");
        settings.max_tokens = config.max_tokens;
        settings.temperature = config.temperature;
        settings.effort.clone_from(&config.effort);
        settings.thinking = match config.thinking {
            None => Thinking::Default,
            Some(ThinkingConfig::Off) => Thinking::Off,
            Some(ThinkingConfig::On) => Thinking::On { budget: None },
            Some(ThinkingConfig::Budget(tokens)) => Thinking::On { budget: Some(tokens) },
            Some(ThinkingConfig::Adaptive) => Thinking::Adaptive,
        };
        let mut model = model.settings(settings);
        if let Some(times) = config.retries {
            model = model.retries(Retries { max_retries: times, ..Retries::default() });
        }
        if let Some(address) = &config.base_url {
            model = model.base_url(address).map_err(|error| format!("`base_url`: {error}"))?;
        }
        if let Some(variable) = &config.key_variable {
            let key = environment.get(variable).ok_or_else(|| format!("the variable {variable} is not set"))?;
            model = model.key(ApiKey::new(key));
        }
        Ok(Self::Provider(Box::new(model)))
    }

    /// Returns a message if the model requires an API key and none is set.
    pub(crate) fn missing_key(&self) -> Option<String> {
        match self {
            Self::Provider(model) if !model.has_key() => {
                let variables = model.provider().api_key_env_vars().join(" nor ");
                Some(format!("no API key for {}: {variables} is not set", model.id()))
            }
            Self::Provider(_) | Self::Demo(_) => None,
        }
    }
}

impl ChatModel for ConfiguredModel {
    fn name(&self) -> &str {
        match self {
            Self::Demo(model) => model.name(),
            Self::Provider(model) => model.name(),
        }
    }

    fn context_window(&self) -> Option<u64> {
        match self {
            Self::Demo(model) => model.context_window(),
            Self::Provider(model) => ChatModel::context_window(model.as_ref()),
        }
    }

    fn call<'a>(
        &'a self,
        messages: &'a [Msg],
        options: &'a CallOptions,
        reply: &'a mut AgentReplyWriter,
    ) -> BoxFuture<'a, CallOutcome> {
        match self {
            Self::Demo(model) => ChatModel::call(model, messages, options, reply),
            Self::Provider(model) => ChatModel::call(model.as_ref(), messages, options, reply),
        }
    }
}
