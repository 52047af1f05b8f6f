//! The models of a configuration.

use recount_agent::demo::DemoModel;
use recount_agent::{BoxFuture, ChatModel, Reply};
use recount_message::Msg;
use recount_model::Provider;
use recount_model::client::{ApiKey, CallOptions, CallOutcome, Model, Retries};
use recount_model::format::{RequestOptions, Thinking};

use super::config::{AgentConfig, ThinkingConfig};
use super::environment::Environment;
use super::names::ModelName;

/// A model as a configuration may name one.
#[derive(Debug)]
pub(super) enum NamedModel {
    Demo(DemoModel),
    OfProvider(Box<Model>),
}

impl NamedModel {
    /// The model of that name, with what the environment has for it.
    pub(super) fn new(name: &ModelName, environment: &Environment) -> Result<Self, String> {
        if name.is_demo() {
            return name.as_str().parse().map(Self::Demo).map_err(|error| format!("{error}"));
        }
        let (provider, model) = name.as_str().split_once('/').ok_or_else(|| format!("`{name}` names no model"))?;
        let provider: Provider = provider.parse().map_err(|error| format!("{error}"))?;
        let model = Model::with_environment(provider, model, |variable| environment.filled(variable));
        Ok(Self::OfProvider(Box::new(model)))
    }

    /// The same with the settings of an agent.
    pub(super) fn with(self, config: &AgentConfig, environment: &Environment) -> Result<Self, String> {
        let Self::OfProvider(model) = self else { return Ok(self) };
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
            model = model.retries(Retries { times, ..Retries::default() });
        }
        if let Some(address) = &config.base_url {
            model = model.base_url(address).map_err(|error| format!("`base_url`: {error}"))?;
        }
        if let Some(variable) = &config.key_variable {
            let key = environment.filled(variable).ok_or_else(|| format!("the variable {variable} is not set"))?;
            model = model.key(ApiKey::new(key));
        }
        Ok(Self::OfProvider(Box::new(model)))
    }

    /// What is missing, if something is.
    pub(super) fn missing(&self) -> Option<String> {
        match self {
            Self::OfProvider(model) if !model.has_key() => {
                let variables = model.provider().key_variables().join(" nor ");
                Some(format!("there is no key for {}: {variables} is not set", model.id()))
            }
            Self::OfProvider(_) | Self::Demo(_) => None,
        }
    }
}

impl ChatModel for NamedModel {
    fn name(&self) -> &str {
        match self {
            Self::Demo(model) => model.name(),
            Self::OfProvider(model) => model.name(),
        }
    }

    fn context_window(&self) -> Option<u64> {
        match self {
            Self::Demo(model) => model.context_window(),
            Self::OfProvider(model) => ChatModel::context_window(model.as_ref()),
        }
    }

    fn call<'a>(
        &'a self,
        messages: &'a [Msg],
        options: &'a CallOptions,
        reply: &'a mut Reply,
    ) -> BoxFuture<'a, CallOutcome> {
        match self {
            Self::Demo(model) => ChatModel::call(model, messages, options, reply),
            Self::OfProvider(model) => ChatModel::call(model.as_ref(), messages, options, reply),
        }
    }
}
