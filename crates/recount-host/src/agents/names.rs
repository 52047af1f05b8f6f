//! Names that a configuration gives, checked where they are read, so that an error can say where they stand.

use std::fmt;
use std::str::FromStr;

use recount_agent::demo::DemoModel;
use recount_message::{PermissionBehavior, PermissionRule};
use recount_model::client::{Model, ModelNameError};
use recount_sandbox::Access;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A model by its name: `provider/name`, or `demo`.
///
/// ```
/// use recount_host::agents::ModelName;
///
/// assert_eq!("openai/gpt-5".parse::<ModelName>()?.to_string(), "openai/gpt-5");
/// assert!("demo".parse::<ModelName>()?.is_demo());
/// assert!("gpt-5".parse::<ModelName>().is_err());
/// # Ok::<(), recount_host::agents::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName(String);

/// A built-in tool by its name.
///
/// ```
/// use recount_host::agents::ToolName;
///
/// let error = "shel".parse::<ToolName>().unwrap_err();
/// assert!(error.to_string().starts_with("there is no built-in tool `shel`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(String);

/// What a permission is about: all of a tool's calls, `read`, or some of them, `shell(git:*)`.
///
/// A rule that allows may grant access beyond what the mode grants. In a file it is a table then:
/// `{ rule = "shell(npm install:*)", access = ["write", "network"] }`.
///
/// ```
/// use recount_host::agents::Rule;
///
/// let rule: Rule = "shell(cargo test:*)".parse()?;
/// assert_eq!((rule.tool(), rule.content()), ("shell", Some("cargo test:*")));
/// # Ok::<(), recount_host::agents::NameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    tool: String,
    content: Option<String>,
    access: Access,
}

/// What is wrong with a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(String);

impl ModelName {
    /// The demo model.
    #[must_use]
    pub fn demo() -> Self {
        Self(DemoModel::new().id())
    }

    /// Whether it is the demo model.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        DemoModel::is_named(&self.0)
    }

    /// The name as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ToolName {
    /// All of them.
    pub const ALL: [&'static str; 7] = ["read", "write", "edit", "glob", "grep", "shell", "fetch"];
}

impl Rule {
    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Which of its calls, or all.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// The access that it grants beyond what the mode grants.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.access
    }

    pub(super) fn rule(&self, behavior: PermissionBehavior) -> PermissionRule {
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
                ModelNameError::UnknownProvider(_) => NameError(format!("{error}; `demo` is a model of its own")),
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
        Err(NameError(format!("there is no built-in tool `{name}`, expected one of {}", Self::ALL.join(", "))))
    }
}

impl FromStr for Rule {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let wrong = || NameError(format!("`{text}` is no rule: it has to be `tool` or `tool(content)`"));
        let (tool, content) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                (tool, Some(rest.strip_suffix(')').filter(|rest| !rest.is_empty()).ok_or_else(wrong)?))
            }
        };
        if tool.is_empty() || tool.contains(|char: char| char.is_whitespace() || char == ')') {
            return Err(wrong());
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

macro_rules! as_text {
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

as_text!(ModelName, ToolName);

/// A rule as a table of a file.
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
        struct TextOrTable;

        impl<'de> Visitor<'de> for TextOrTable {
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

        deserializer.deserialize_any(TextOrTable)
    }
}
