//! The permissions of an agent: mode, working directories and rules.

use std::collections::BTreeMap;

use recount_message::{Json, Object, PermissionBehavior, PermissionRule};
use serde::{Deserialize, Serialize};

use super::{Mode, PermissionContext};

/// The permissions of an agent: a mode, the working directories, and rules by tool.
///
/// Its JSON is the `permission_context` of AgentScope's agent state.
///
/// ```
/// use recount_agent::permission::{Mode, Permissions};
/// use recount_message::{PermissionBehavior, PermissionRule};
///
/// let permissions = Permissions::new(Mode::AcceptEdits)
///     .with_working_directory("/home/me/project")
///     .with_rule(PermissionRule::new("shell", Some("cargo test:*"), PermissionBehavior::Allow))
///     .with_rule(PermissionRule::new("shell", Some("curl:*"), PermissionBehavior::Deny));
///
/// let text = serde_json::to_string(&permissions)?;
/// assert_eq!(serde_json::from_str::<Permissions>(&text)?, permissions);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The handling of calls that no rule decides.
    pub mode: Mode,
    pub(super) working_directories: BTreeMap<String, WorkingDirectory>,
    pub(super) allow_rules: Rules,
    pub(super) deny_rules: Rules,
    pub(super) ask_rules: Rules,
    pub(super) extra: Object,
}

/// Rules by tool name.
pub(super) type Rules = BTreeMap<String, Vec<PermissionRule>>;

/// A working directory of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingDirectory {
    /// The path.
    pub path: String,
    /// The origin of the entry, `user` by default.
    #[serde(default = "user")]
    pub source: String,
}

fn user() -> String {
    "user".to_owned()
}

/// An invalid rule in a confirmation. None of its rules was added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// A rule is for another tool than the confirmed call.
    #[error("rule {index} is for `{named}`, but the confirmed call is of `{tool}`")]
    OtherTool {
        /// The index of the rule.
        index: usize,
        /// The tool of the rule.
        named: String,
        /// The tool of the confirmed call.
        tool: String,
    },
    /// A rule has the behavior `passthrough`.
    #[error("rule {index} for `{tool}` has no effect: its behavior is `passthrough`")]
    NoEffect {
        /// The index of the rule.
        index: usize,
        /// The tool of the rule.
        tool: String,
    },
}

impl Permissions {
    /// Creates permissions with a mode, without rules and directories.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Adds a working directory.
    #[must_use]
    pub fn with_working_directory(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        self.working_directories.insert(path.clone(), WorkingDirectory { path, source: user() });
        self
    }

    /// Adds a rule. Duplicates and rules without effect are ignored, see [`add`](Self::add).
    #[must_use]
    pub fn with_rule(mut self, rule: PermissionRule) -> Self {
        self.add(rule);
        self
    }

    /// The working directories.
    pub fn working_directories(&self) -> impl Iterator<Item = &WorkingDirectory> {
        self.working_directories.values()
    }

    /// Returns the rules with a behavior, by tool. `Passthrough` has none.
    pub fn rules(&self, behavior: PermissionBehavior) -> &BTreeMap<String, Vec<PermissionRule>> {
        static EMPTY: Rules = Rules::new();
        match behavior {
            PermissionBehavior::Allow => &self.allow_rules,
            PermissionBehavior::Deny => &self.deny_rules,
            PermissionBehavior::Ask => &self.ask_rules,
            _ => &EMPTY,
        }
    }

    /// Adds a rule and returns `true`, unless an equal rule exists. Rules are equal if their tool, behavior, content and the
    /// `access` that they grant are equal.
    pub fn add(&mut self, rule: PermissionRule) -> bool {
        let rules = match rule.behavior {
            PermissionBehavior::Allow => &mut self.allow_rules,
            PermissionBehavior::Deny => &mut self.deny_rules,
            PermissionBehavior::Ask => &mut self.ask_rules,
            _ => return false,
        };
        let rules = rules.entry(rule.tool_name.clone()).or_default();
        let is_equal = |other: &PermissionRule| content(other) == content(&rule) && access(other) == access(&rule);
        let is_new = !rules.iter().any(is_equal);
        if is_new {
            rules.push(rule);
        }
        is_new
    }

    /// Adds the rules that a user accepted together with a call of `tool`. Returns the new ones.
    ///
    /// # Errors
    ///
    /// A rule is for another tool, or has no effect. In this case no rule is added.
    pub fn accept(
        &mut self,
        rules: impl IntoIterator<Item = PermissionRule>,
        tool: &str,
    ) -> Result<Vec<PermissionRule>, AcceptError> {
        let rules: Vec<_> = rules.into_iter().collect();
        for (index, rule) in rules.iter().enumerate() {
            let tool = tool.to_owned();
            if rule.tool_name != tool {
                return Err(AcceptError::OtherTool { index, named: rule.tool_name.clone(), tool });
            }
            if rule.behavior == PermissionBehavior::Passthrough {
                return Err(AcceptError::NoEffect { index, tool });
            }
        }
        Ok(rules.into_iter().filter(|rule| self.add(rule.clone())).collect())
    }

    /// Returns the part of the permissions that a tool, given by its name, may base its own permission on.
    pub fn context(&self, tool: &str) -> PermissionContext {
        let directories = self.working_directories().map(|directory| directory.path.clone().into());
        PermissionContext {
            mode: self.mode,
            working_directories: directories.collect(),
            allow_rules: self.allow_rules.get(tool).cloned().unwrap_or_default(),
        }
    }
}

/// Returns the contents of rules, or `None` if one of them has no content and so matches every call.
pub(crate) fn contents<'a>(rules: &[&'a PermissionRule]) -> Option<Vec<&'a str>> {
    rules.iter().map(|rule| Some(content(rule)).filter(|content| !content.is_empty())).collect()
}

/// Returns the content of a rule. No content and empty content are the same.
fn content(rule: &PermissionRule) -> &str {
    rule.rule_content.as_deref().unwrap_or_default()
}

/// Returns the `access` that a rule grants, such as that of a shell rule. `null` is the same as a missing field.
fn access(rule: &PermissionRule) -> Option<&Json> {
    rule.extra.get("access").filter(|access| !access.is_null())
}
