//! What a configuration says of agents.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use recount_agent::mcp::McpConfig;
use recount_agent::permission::Mode;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::names::{ModelName, Rule, ToolName};

/// The agents of a configuration, in its order: the table `agents`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentsConfig {
    /// Each with its name.
    pub agents: Vec<(String, AgentConfig)>,
}

/// What a configuration says of one agent: the table `agents.NAME`. Nothing has to be said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentConfig {
    /// The model, as `provider/name` or `demo`. Nothing is the first provider whose key is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    /// Where the model is found, in place of the provider's usual address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key, in place of the provider's usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// Models that are asked in turn when the one before has failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<ModelName>,
    /// How often a call that fails is made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// The longest answer, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How much chance there is in the answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Whether the model thinks: `true`, `false`, `"adaptive"`, or a number of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingConfig>,
    /// How hard it tries, in the provider's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is told before everything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The built-in tools that it has. Nothing is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<ToolName>>,
    /// Where its tools work. Nothing is where the program was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// Further directories in which its tools may work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<PathBuf>,
    /// How often the model is asked in one reply at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// How many tokens of a tool's result the model is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result_limit: Option<usize>,
    /// How many tokens the model can read, where that is not known. At four fifths of it the oldest part of a conversation
    /// is summed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// How many images the model is sent at most, the newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_images: Option<usize>,
    /// How many seconds the user has to answer for a call. Nothing is as long as they like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirm_within: Option<u64>,
    /// Whether a reply ends when the user refuses a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_on_reject: Option<bool>,
    /// What it may do.
    pub permissions: PermissionsConfig,
    /// MCP servers, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mcp: BTreeMap<String, McpConfig>,
    /// Tools that somebody else runs and gives the results of, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub external: BTreeMap<String, ExternalTool>,
    /// Other agents of the configuration that it may give tasks to. Each is a tool of the agent's name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub helpers: Vec<String>,
}

/// More often no call is made again.
const MOST_RETRIES: u32 = 100;

/// What is wrong with an agent.
pub(super) struct Problem {
    /// The key or the text by which its place in a file can be found.
    pub(super) written: String,
    pub(super) message: String,
}

/// What an agent may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionsConfig {
    /// What happens where no rule decides.
    pub mode: Mode,
    /// What may run without a question, each as `tool` or `tool(content)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Rule>,
    /// What may not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<Rule>,
    /// What is always asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<Rule>,
}

/// A tool that somebody else runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalTool {
    /// What the model is told of it.
    pub description: String,
    /// The JSON Schema of its arguments. Nothing is any object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<toml::Table>,
}

/// Whether a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingConfig {
    /// It does not.
    Off,
    /// It does.
    On,
    /// It does, for so many tokens.
    Budget(u64),
    /// It does where it finds it worth while.
    Adaptive,
}

impl AgentConfig {
    /// The names of the built-in tools.
    pub(super) fn builtin_names(&self) -> Vec<String> {
        match &self.tools {
            None => ToolName::ALL.map(str::to_owned).to_vec(),
            Some(tools) => tools.iter().map(ToString::to_string).collect(),
        }
    }

    /// What is wrong with it that can be seen without looking elsewhere.
    pub(super) fn problem(&self) -> Option<Problem> {
        let number = |key: &str, wrong: bool, what: &str| {
            wrong.then(|| Problem { written: key.to_owned(), message: format!("`{key}` {what}") })
        };
        number("max_iterations", self.max_iterations == Some(0), "has to be 1 at least")
            .or_else(|| number("max_tokens", self.max_tokens == Some(0), "has to be 1 at least"))
            .or_else(|| number("context_window", self.context_window == Some(0), "has to be 1 at least"))
            .or_else(|| number("confirm_within", self.confirm_within == Some(0), "has to be 1 second at least"))
            .or_else(|| {
                let too_often = self.retries.is_some_and(|times| times > MOST_RETRIES);
                number("retries", too_often, &format!("may be {MOST_RETRIES} at most"))
            })
            .or_else(|| self.stray_rule())
    }

    /// A rule about a tool that it does not have. One that is misspelt would be about none, and forbid nothing.
    fn stray_rule(&self) -> Option<Problem> {
        let names = self.tool_names();
        let of_server = |tool: &str| self.mcp.keys().any(|server| tool.starts_with(&format!("{server}__")));
        let is_stray = |rule: &&Rule| !names.iter().any(|name| name == rule.tool()) && !of_server(rule.tool());
        let said = &self.permissions;
        let rule = [&said.allow, &said.deny, &said.ask].into_iter().flatten().find(is_stray)?;
        let message = format!("the rule `{rule}` is about no tool that it has");
        Some(Problem { written: rule.to_string(), message })
    }

    /// The names of the built-in and external tools, and of those who help.
    pub(super) fn tool_names(&self) -> Vec<String> {
        let others = self.external.keys().chain(&self.helpers).cloned();
        self.builtin_names().into_iter().chain(others).collect()
    }
}

impl Serialize for AgentsConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.agents.iter().map(|(name, agent)| (name, agent)))
    }
}

/// In the order of the file, which a map would not keep.
impl<'de> Deserialize<'de> for AgentsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
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

        deserializer.deserialize_map(InOrder)
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
        struct Word;

        impl Visitor<'_> for Word {
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
                    .map_err(|_| E::custom("`thinking` cannot be negative"))
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

        deserializer.deserialize_any(Word)
    }
}
