//! The decision about one call.

use recount_message::{Object, PermissionBehavior, PermissionRule};

use super::{Behavior, Coverage, Decision, Mode, Permissions, ToolPermission, contents};
use crate::tool::Tool;

impl Permissions {
    /// Decides whether a call may run. The [module](super) describes the order of rules, tool and mode.
    ///
    /// The decision holds only for these arguments. If a user edits them, decide again.
    ///
    /// ```
    /// use recount_agent::permission::{Permissions, Behavior};
    /// # use recount_agent::{BoxFuture, tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec}};
    /// # use recount_message::{Object, PermissionBehavior, PermissionRule};
    /// # struct Deploy(ToolSpec);
    /// # impl Tool for Deploy {
    /// #     fn spec(&self) -> &ToolSpec { &self.0 }
    /// #     fn run<'a>(&'a self, _: Object, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
    /// #         Box::pin(async { Ok("done".into()) })
    /// #     }
    /// # }
    /// # let deploy = Deploy(ToolSpec::new("deploy", "Deploys."));
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let mut permissions = Permissions::default();
    /// let first = permissions.decide(&deploy, &Object::new()).await;
    /// assert_eq!(first.behavior, Behavior::Ask);
    ///
    /// permissions.accept(first.suggested_rules, "deploy")?;
    /// assert_eq!(permissions.decide(&deploy, &Object::new()).await.behavior, Behavior::Allow);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn decide(&self, tool: &dyn Tool, arguments: &Object) -> Decision {
        let name = tool.spec().name.as_str();
        if let Some(decision) = self.denied_or_asked_by_rule(tool, arguments) {
            return decision;
        }
        let context = self.context(name);
        let permission = tool.check_permission(arguments, &context).await;
        if let ToolPermission::Deny(reason) = permission {
            return Decision::deny(name, reason);
        }
        if tool.is_read_only(arguments, &context) {
            return Decision::allow(name, "the tool is read-only");
        }
        if self.mode == Mode::Explore {
            return Decision::deny(name, "changes are denied in explore mode");
        }
        let mut reason_to_ask = None;
        match permission {
            ToolPermission::Allow => return Decision::allow(name, "the tool itself allows it"),
            ToolPermission::AskForSafety(reason) if self.mode != Mode::Bypass => {
                let decision = self.ask_or_deny(tool, arguments, reason);
                return Decision { for_safety: true, ..decision };
            }
            ToolPermission::Ask(reason) => reason_to_ask = Some(reason),
            ToolPermission::Deny(_) | ToolPermission::AskForSafety(_) | ToolPermission::Passthrough => {}
        }
        if let Some(reason) = self.allowed_by_rule(tool, arguments) {
            return Decision::allow(name, reason);
        }
        let reason = reason_to_ask.unwrap_or_else(|| "no rule allows it".to_owned());
        match self.mode {
            Mode::Bypass => Decision::allow(name, "all calls are allowed in bypass mode"),
            Mode::DontAsk => Decision { suggested_rules: Vec::new(), ..self.ask_or_deny(tool, arguments, reason) },
            Mode::Default | Mode::AcceptEdits | Mode::Explore => self.ask_or_deny(tool, arguments, reason),
        }
    }

    /// Decides whether a call may run that the user has approved with these arguments.
    ///
    /// The approval replaces `Ask` by `Allow`. It does not override `Deny`.
    pub async fn decide_confirmed(&self, tool: &dyn Tool, arguments: &Object) -> Decision {
        let decision = self.decide(tool, arguments).await;
        match decision.behavior {
            Behavior::Ask => Decision::allow(&tool.spec().name, "the user approved it"),
            Behavior::Allow | Behavior::Deny => decision,
        }
    }

    /// Returns the decision of deny and ask rules, or `None` if they do not match.
    fn denied_or_asked_by_rule(&self, tool: &dyn Tool, arguments: &Object) -> Option<Decision> {
        let name = tool.spec().name.as_str();
        if let Some(rule) = self.covering(tool, PermissionBehavior::Deny, arguments, &[Coverage::Yes]) {
            return Some(Decision::deny(name, describe(rule)));
        }
        if let Some(rule) = self.covering(tool, PermissionBehavior::Deny, arguments, &[Coverage::Unclear]) {
            let reason = format!("{}, which may match this call", describe(rule));
            return Some(Decision { for_safety: true, ..self.ask_or_deny(tool, arguments, reason) });
        }
        let may_ask = [Coverage::Yes, Coverage::Unclear];
        let rule = self.covering(tool, PermissionBehavior::Ask, arguments, &may_ask)?;
        Some(self.ask_or_deny(tool, arguments, describe(rule)))
    }

    /// Returns `Ask`, or `Deny` in the mode without a user.
    fn ask_or_deny(&self, tool: &dyn Tool, arguments: &Object, reason: String) -> Decision {
        let name = tool.spec().name.as_str();
        let decision = match self.mode {
            Mode::DontAsk => Decision::deny(name, format!("{reason}, and no user can be asked")),
            Mode::Default | Mode::AcceptEdits | Mode::Explore | Mode::Bypass => Decision::ask(name, reason),
        };
        Decision { suggested_rules: tool.suggested_rules(arguments), ..decision }
    }

    /// Describes the rules that allow a call. Returns `None` if they do not. Several rules may allow a call together.
    fn allowed_by_rule(&self, tool: &dyn Tool, arguments: &Object) -> Option<String> {
        let allow = PermissionBehavior::Allow;
        if let Some(rule) = self.covering(tool, allow, arguments, &[Coverage::Yes]) {
            return Some(describe(rule));
        }
        let rules = self.rules(allow).get(&tool.spec().name)?;
        let rules: Vec<&PermissionRule> = rules.iter().collect();
        let together = rules.len() > 1 && tool.rule_coverage(&rules, allow, arguments) == Coverage::Yes;
        together.then(|| "several rules allow it together".to_owned())
    }

    fn covering<'a>(
        &'a self,
        tool: &dyn Tool,
        behavior: PermissionBehavior,
        arguments: &Object,
        wanted: &[Coverage],
    ) -> Option<&'a PermissionRule> {
        let rules = self.rules(behavior).get(&tool.spec().name)?;
        rules.iter().find(|rule| {
            // The tool decides whether a rule without content allows a call. Such a rule denies or asks about every call.
            let matches_all = behavior != PermissionBehavior::Allow && contents(&[rule]).is_none();
            wanted.contains(&if matches_all { Coverage::Yes } else { tool.rule_coverage(&[rule], behavior, arguments) })
        })
    }
}

/// Describes a rule as a reason.
fn describe(rule: &PermissionRule) -> String {
    let verb = match rule.behavior {
        PermissionBehavior::Allow => "allows",
        PermissionBehavior::Deny => "forbids",
        PermissionBehavior::Ask => "asks about",
        _ => "concerns",
    };
    match rule.rule_content.as_deref() {
        None | Some("") => format!("a rule {verb} every call of `{}`", rule.tool_name),
        Some(content) => format!("a rule {verb} `{content}`"),
    }
}
