//! The tables of a configuration that describe agents.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use recount_agent::mcp::McpConfig;
use recount_agent::permission::Mode;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::names::{ModelName, Rule, ToolName};

/// The table `agents`, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentsConfig {
    /// The names and configurations of the agents.
    pub agents: Vec<(String, AgentConfig)>,
}

/// The table `agents.NAME`. All keys are optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentConfig {
    /// The model, as `provider/name` or `demo`. `None` selects a model of the first provider whose key is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    /// The base URL of the API, in place of the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the API key, in place of the provider's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// The models that are called in turn when the previous one failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<ModelName>,
    /// How many times a failed call is retried. At most 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// The maximum length of a response, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Whether the model thinks: `true`, `false`, `"adaptive"`, or a budget in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingConfig>,
    /// The reasoning effort, as a value of the provider's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The purpose of the agent, for users and for the models of parent agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The names of its built-in tools. `None` is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolName>>,
    /// The directory in which its tools work. `None` is the base directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Additional directories that its tools may access.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<PathBuf>,
    /// The maximum number of model calls in one reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// The maximum length of a tool result that is sent to the model, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result_limit: Option<usize>,
    /// The size of the context window in tokens, for models whose size is unknown. When a conversation fills 80 % of it, the
    /// oldest messages are replaced by a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The maximum number of images that are sent to the model. The newest are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_images: Option<usize>,
    /// The time to confirm a tool call, in seconds. `None` is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm_within: Option<u64>,
    /// Whether a reply ends when the user rejects a tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_on_reject: Option<bool>,
    /// The permissions of its tools.
    pub permissions: PermissionsConfig,
    /// MCP servers, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp: BTreeMap<String, McpConfig>,
    /// External tools, by name. Clients execute them and send the results.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub external: BTreeMap<String, ExternalTool>,
    /// The names of its sub-agents, which are agents of the same configuration. Each is available as a tool with the
    /// agent's name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub helpers: Vec<String>,
}

/// The upper limit of `retries`.
const MAX_RETRIES: u32 = 100;

/// An invalid setting of an agent.
pub(crate) struct InvalidSetting {
    /// The key or the value by which the line in the file can be found.
    pub(crate) text: String,
    pub(crate) message: String,
}

/// The table `agents.NAME.permissions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionsConfig {
    /// The decision for tool calls that no rule matches.
    pub mode: Mode,
    /// Tool calls that run without confirmation, as `tool` or `tool(content)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Rule>,
    /// Tool calls that are denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<Rule>,
    /// Tool calls that always require confirmation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<Rule>,
}

/// An external tool, which clients execute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalTool {
    /// The description for the model.
    pub description: String,
    /// The JSON Schema of the arguments. `None` accepts any object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<toml::Table>,
}

/// The thinking mode of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingConfig {
    /// Thinking is off.
    Off,
    /// Thinking is on, with the default budget.
    On,
    /// Thinking is on, with a budget in tokens.
    Budget(u64),
    /// The model decides for each request.
    Adaptive,
}

impl AgentConfig {
    /// Returns the names of the built-in tools.
    pub(crate) fn builtin_names(&self) -> Vec<String> {
        match &self.tools {
            None => ToolName::ALL.map(str::to_owned).to_vec(),
            Some(tools) => tools.iter().map(ToString::to_string).collect(),
        }
    }

    /// Returns the first invalid setting that can be found without other tables or files.
    pub(crate) fn validate(&self) -> Option<InvalidSetting> {
        let number = |key: &str, is_invalid: bool, expected: &str| {
            is_invalid.then(|| InvalidSetting { text: key.to_owned(), message: format!("`{key}` must be {expected}") })
        };
        number("max_iterations", self.max_iterations == Some(0), "at least 1")
            .or_else(|| number("max_tokens", self.max_tokens == Some(0), "at least 1"))
            .or_else(|| number("context_window", self.context_window == Some(0), "at least 1"))
            .or_else(|| number("confirm_within", self.confirm_within == Some(0), "at least 1 second"))
            .or_else(|| {
                let is_too_high = self.retries.is_some_and(|retries| retries > MAX_RETRIES);
                number("retries", is_too_high, &format!("at most {MAX_RETRIES}"))
            })
            .or_else(|| self.unmatched_rule())
    }

    /// Returns a permission rule for a tool that the agent does not have. A misspelled rule would deny nothing.
    fn unmatched_rule(&self) -> Option<InvalidSetting> {
        let names = self.tool_names();
        let of_server = |tool: &str| self.mcp.keys().any(|server| tool.starts_with(&format!("{server}__")));
        let is_unmatched = |rule: &&Rule| !names.iter().any(|name| name == rule.tool()) && !of_server(rule.tool());
        let PermissionsConfig { allow, deny, ask, .. } = &self.permissions;
        let rule = [allow, deny, ask].into_iter().flatten().find(is_unmatched)?;
        let message = format!("the rule `{rule}` matches none of its tools");
        Some(InvalidSetting { text: rule.to_string(), message })
    }

    /// Returns the names of the built-in tools, external tools and sub-agents.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        let others = self.external.keys().chain(&self.helpers).cloned();
        self.builtin_names().into_iter().chain(others).collect()
    }
}

impl Serialize for AgentsConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.agents.iter().map(|(name, agent)| (name, agent)))
    }
}

/// Keeps the order of the file.
impl<'de> Deserialize<'de> for AgentsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AgentsVisitor;

        impl<'de> Visitor<'de> for AgentsVisitor {
            type Value = AgentsConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of agents by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AgentsConfig, A::Error> {
                let mut agents = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    agents.push(entry);
                }
                Ok(AgentsConfig { agents })
            }
        }

        deserializer.deserialize_map(AgentsVisitor)
    }
}

impl Serialize for ThinkingConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::On => serializer.serialize_bool(true),
            Self::Budget(tokens) => serializer.serialize_u64(*tokens),
            Self::Adaptive => serializer.serialize_str("adaptive"),
        }
    }
}

impl<'de> Deserialize<'de> for ThinkingConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ThinkingVisitor;

        impl Visitor<'_> for ThinkingVisitor {
            type Value = ThinkingConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`true`, `false`, `\"adaptive\"` or a number of tokens")
            }

            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<ThinkingConfig, E> {
                Ok(if on { ThinkingConfig::On } else { ThinkingConfig::Off })
            }

            fn visit_i64<E: serde::de::Error>(self, tokens: i64) -> Result<ThinkingConfig, E> {
                u64::try_from(tokens)
                    .map(ThinkingConfig::Budget)
                    .map_err(|_| E::custom("`thinking` must not be negative"))
            }

            fn visit_u64<E: serde::de::Error>(self, tokens: u64) -> Result<ThinkingConfig, E> {
                Ok(ThinkingConfig::Budget(tokens))
            }

            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<ThinkingConfig, E> {
                if word == "adaptive" {
                    return Ok(ThinkingConfig::Adaptive);
                }
                Err(E::invalid_value(serde::de::Unexpected::Str(word), &self))
            }
        }

        deserializer.deserialize_any(ThinkingVisitor)
    }
}
