//! The decision: who is heard in which order.

use recount_message::{Object, PermissionBehavior, PermissionRule};

use super::{Behavior, Coverage, Decision, Mode, Permissions, ToolPermission, contents};
use crate::tool::Tool;

impl Permissions {
    /// Decides about one call. The module says in which order rules, tool and mode are heard.
    ///
    /// The arguments are the ones that the tool will run with: if a user edits them, the call has to be decided anew.
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
        if let Some(decision) = self.by_rule_against(tool, arguments) {
            return decision;
        }
        let context = self.context(name);
        let permission = tool.check_permission(arguments, &context).await;
        if let ToolPermission::Deny(reason) = permission {
            return Decision::deny(name, reason);
        }
        if tool.is_read_only(arguments, &context) {
            return Decision::allow(name, "it only reads");
        }
        if self.mode == Mode::Explore {
            return Decision::deny(name, "in explore mode nothing may be changed");
        }
        let mut why = None;
        match permission {
            ToolPermission::Allow => return Decision::allow(name, "the tool itself says so"),
            ToolPermission::AskForSafety(reason) if self.mode != Mode::Bypass => {
                let decision = self.asked(tool, arguments, reason);
                return Decision { for_safety: true, ..decision };
            }
            ToolPermission::Ask(reason) => why = Some(reason),
            ToolPermission::Deny(_) | ToolPermission::AskForSafety(_) | ToolPermission::Passthrough => {}
        }
        if let Some(reason) = self.allowing(tool, arguments) {
            return Decision::allow(name, reason);
        }
        let why = why.unwrap_or_else(|| "no rule says that it may run".to_owned());
        match self.mode {
            Mode::Bypass => Decision::allow(name, "in bypass mode everything may run"),
            Mode::DontAsk => Decision { suggested_rules: Vec::new(), ..self.asked(tool, arguments, why) },
            Mode::Default | Mode::AcceptEdits | Mode::Explore => self.asked(tool, arguments, why),
        }
    }

    /// Decides about a call that the user has agreed to with exactly these arguments, which they may have edited.
    ///
    /// Their yes answers every question. It does not lift what is denied.
    pub async fn decide_confirmed(&self, tool: &dyn Tool, arguments: &Object) -> Decision {
        let decision = self.decide(tool, arguments).await;
        match decision.behavior {
            Behavior::Ask => Decision::allow(&tool.spec().name, "the user agreed"),
            Behavior::Allow | Behavior::Deny => decision,
        }
    }

    /// What a rule says that denies or asks.
    fn by_rule_against(&self, tool: &dyn Tool, arguments: &Object) -> Option<Decision> {
        let name = tool.spec().name.as_str();
        if let Some(rule) = self.covering(tool, PermissionBehavior::Deny, arguments, &[Coverage::Yes]) {
            return Some(Decision::deny(name, told(rule)));
        }
        if let Some(rule) = self.covering(tool, PermissionBehavior::Deny, arguments, &[Coverage::Unclear]) {
            let reason = format!("it cannot be told whether {} about this", told(rule));
            return Some(Decision { for_safety: true, ..self.asked(tool, arguments, reason) });
        }
        let may_ask = [Coverage::Yes, Coverage::Unclear];
        let rule = self.covering(tool, PermissionBehavior::Ask, arguments, &may_ask)?;
        Some(self.asked(tool, arguments, told(rule)))
    }

    /// The user is asked, or, if they are not there, it is denied.
    fn asked(&self, tool: &dyn Tool, arguments: &Object, reason: String) -> Decision {
        let name = tool.spec().name.as_str();
        let decision = match self.mode {
            Mode::DontAsk => Decision::deny(name, format!("{reason}, and nobody is there to be asked")),
            Mode::Default | Mode::AcceptEdits | Mode::Explore | Mode::Bypass => Decision::ask(name, reason),
        };
        Decision { suggested_rules: tool.suggested_rules(arguments), ..decision }
    }

    /// The rules that allow a call, as a reason. One may cover a part of it and another one the rest.
    fn allowing(&self, tool: &dyn Tool, arguments: &Object) -> Option<String> {
        let allow = PermissionBehavior::Allow;
        if let Some(rule) = self.covering(tool, allow, arguments, &[Coverage::Yes]) {
            return Some(told(rule));
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

/// A rule as a reason.
fn told(rule: &PermissionRule) -> String {
    let verb = match rule.behavior {
        PermissionBehavior::Allow => "allows",
        PermissionBehavior::Deny => "forbids",
        PermissionBehavior::Ask => "asks about",
        _ => "mentions",
    };
    match rule.rule_content.as_deref() {
        None | Some("") => format!("a rule {verb} every call of `{}`", rule.tool_name),
        Some(content) => format!("a rule {verb} `{content}`"),
    }
}
