//! Names and rules in a configuration. They are validated while parsing, so that errors have a line number.

use std::fmt;
use std::str::FromStr;

use recount_agent::demo::DemoModel;
use recount_message::{PermissionBehavior, PermissionRule};
use recount_model::client::{Model, ModelNameError};
use recount_sandbox::Access;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a model: `provider/name`, or `demo`.
///
/// ```
/// use recount_agent_config::ModelName;
///
/// assert_eq!("openai/gpt-5".parse::<ModelName>()?.to_string(), "openai/gpt-5");
/// assert!("demo".parse::<ModelName>()?.is_demo());
/// assert!("gpt-5".parse::<ModelName>().is_err());
/// # Ok::<(), recount_agent_config::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName(String);

/// The name of a built-in tool.
///
/// ```
/// use recount_agent_config::ToolName;
///
/// let error = "shel".parse::<ToolName>().unwrap_err();
/// assert!(error.to_string().contains("`shel`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

/// A permission rule that matches all calls of a tool, such as `read`, or some of them, such as `shell(git:*)`.
///
/// An `allow` rule can grant more access than the mode does. It is written as a table then:
/// `{ rule = "shell(npm install:*)", access = ["write", "network"] }`.
///
/// ```
/// use recount_agent_config::Rule;
///
/// let rule: Rule = "shell(cargo test:*)".parse()?;
/// assert_eq!((rule.tool(), rule.content()), ("shell", Some("cargo test:*")));
/// # Ok::<(), recount_agent_config::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    tool: String,
    content: Option<String>,
    access: Access,
}

/// An invalid name or rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(String);

impl ModelName {
    /// Returns the name of the demo model.
    #[must_use]
    pub fn demo() -> Self {
        Self(DemoModel::new().id())
    }

    /// Whether this is the demo model.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        DemoModel::is_named(&self.0)
    }

    /// The name as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ToolName {
    /// The names of all built-in tools.
    pub const ALL: [&'static str; 7] = ["read", "write", "edit", "glob", "grep", "shell", "fetch"];
}

impl Rule {
    /// The name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The pattern that calls must match. `None` matches all calls.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// The access that the rule grants in addition to the mode.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Converts the rule into one of the agent.
    pub(crate) fn to_permission_rule(&self, behavior: PermissionBehavior) -> PermissionRule {
        let mut rule = PermissionRule::new(&self.tool, self.content(), behavior).with_source("config");
        if !self.access.is_read_only() {
            rule.extra.insert("access", self.access.words());
        }
        rule
    }
}

impl FromStr for ModelName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        if DemoModel::is_named(name) {
            name.parse::<DemoModel>().map_err(|error| NameError(error.to_string()))?;
        } else {
            name.parse::<Model>().map_err(|error| match error {
                ModelNameError::NoProvider(_) => NameError(format!("`{name}` is neither `provider/name` nor `demo`")),
                ModelNameError::UnknownProvider(_) => NameError(format!("{error}, or the model `demo`")),
                other => NameError(other.to_string()),
            })?;
        }
        Ok(Self(name.to_owned()))
    }
}

impl FromStr for ToolName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        if Self::ALL.contains(&name) {
            return Ok(Self(name.to_owned()));
        }
        Err(NameError(format!("unknown built-in tool `{name}`, expected one of {}", Self::ALL.join(", "))))
    }
}

impl FromStr for Rule {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let invalid = || NameError(format!("invalid rule `{text}`, expected `tool` or `tool(content)`"));
        let (tool, content) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                (tool, Some(rest.strip_suffix(')').filter(|rest| !rest.is_empty()).ok_or_else(invalid)?))
            }
        };
        if tool.is_empty() || tool.contains(|char: char| char.is_whitespace() || char == ')') {
            return Err(invalid());
        }
        Ok(Self { tool: tool.to_owned(), content: content.map(str::to_owned), access: Access::default() })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Some(content) => write!(f, "{}({content})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

macro_rules! convert_via_text {
    ($($name:ty),*) => {
        $(
            impl TryFrom<String> for $name {
                type Error = NameError;

                fn try_from(text: String) -> Result<Self, NameError> {
                    text.parse()
                }
            }

            impl From<$name> for String {
                fn from(name: $name) -> Self {
                    name.to_string()
                }
            }
        )*
    };
}

convert_via_text!(ModelName, ToolName);

/// A rule in table form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    rule: String,
    #[serde(default)]
    access: Access,
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.access.is_read_only() {
            return serializer.collect_str(self);
        }
        RuleTable { rule: self.to_string(), access: self.access.clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RuleVisitor;

        impl<'de> Visitor<'de> for RuleVisitor {
            type Value = Rule;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rule such as `\"shell(git:*)\"`, or a table with `rule` and `access`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Rule, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rule, A::Error> {
                let RuleTable { rule, access } = RuleTable::deserialize(MapAccessDeserializer::new(map))?;
                let rule: Rule = rule.parse().map_err(serde::de::Error::custom)?;
                Ok(Rule { access, ..rule })
            }
        }

        deserializer.deserialize_any(RuleVisitor)
    }
}
