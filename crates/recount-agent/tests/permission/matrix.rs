//! Decisions in every mode, for every tool permission and combination of rules, compared with AgentScope 2.0.10.

use pretty_assertions::assert_eq;
use recount_agent::permission::{Behavior, Coverage, Mode, Permissions, ToolPermission};
use recount_message::{Object, PermissionBehavior, PermissionRule};
use serde::Deserialize;

use super::common::ScriptedTool;

const MATRIX: &str = include_str!("../data/permission-matrix.jsonl");

#[derive(Debug, Deserialize)]
struct Row {
    mode: Mode,
    tool: String,
    read_only: bool,
    rules: String,
    behavior: String,
    reason: Option<String>,
    suggested: Option<usize>,
}

impl Row {
    fn tool(&self) -> ScriptedTool {
        let permission = match self.tool.as_str() {
            "allow" => ToolPermission::Allow,
            "deny" => ToolPermission::Deny("policy says no".to_owned()),
            "ask" => ToolPermission::Ask("m".to_owned()),
            "ask+immune" => ToolPermission::AskForSafety("m".to_owned()),
            "passthrough" => ToolPermission::Passthrough,
            other => unreachable!("no such permission: {other}"),
        };
        ScriptedTool::new(permission).read_only(self.read_only)
    }

    fn permissions(&self) -> Permissions {
        let rules = self.rules.split('+').filter(|word| *word != "none");
        let rules = rules.filter_map(PermissionBehavior::from_name);
        rules.fold(Permissions::new(self.mode), |all, behavior| all.with_rule(PermissionRule::new("t", None, behavior)))
    }

    /// The heading in `conformance/DEVIATIONS.md`: "A tool's own denial also applies to read-only tools".
    fn differs(&self) -> bool {
        self.read_only && self.tool == "deny" && ["none", "allow"].contains(&self.rules.as_str())
    }
}

#[tokio::test]
async fn matrix_agrees_with_agentscope_except_listed_deviations() {
    let mut differing = 0;
    for line in MATRIX.lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let decision = row.permissions().decide(&row.tool(), &Object::new()).await;
        let behavior = match decision.behavior {
            Behavior::Allow => "allow",
            Behavior::Deny => "deny",
            Behavior::Ask => "ask",
        };
        assert!(!decision.message.is_empty() && !decision.reason.is_empty(), "{line}");
        if row.differs() {
            assert_eq!((row.behavior.as_str(), behavior), ("allow", "deny"), "{line}");
            assert_eq!(decision.reason, "policy says no", "{line}");
            differing += 1;
            continue;
        }
        assert_eq!(behavior, row.behavior, "{line}");
        assert_eq!(decision.suggested_rules.len(), row.suggested.unwrap_or_default(), "{line}");
        let for_safety = row.reason.as_deref().is_some_and(|reason| reason == "r" || reason.ends_with(": r"));
        assert_eq!(decision.for_safety, for_safety && behavior != "allow", "{line}");
    }
    assert_eq!((MATRIX.lines().count(), differing), (400, 10));
}

#[tokio::test]
async fn question_contains_reason() {
    let ask = ScriptedTool::new(ToolPermission::Ask("it sends mail".to_owned()));
    let decision = Permissions::default().decide(&ask, &Object::new()).await;
    assert_eq!(decision.reason, "it sends mail");

    let rule = PermissionRule::new("t", None, PermissionBehavior::Ask);
    let decision = Permissions::default().with_rule(rule).decide(&ask, &Object::new()).await;
    assert_eq!(decision.reason, "a rule asks about every call of `t`");
}

#[tokio::test]
async fn denial_message_contains_reason() {
    let tool = ScriptedTool::new(ToolPermission::Passthrough).covered(Coverage::Yes);
    let rule = PermissionRule::new("t", Some("rm:*"), PermissionBehavior::Deny);
    let decision = Permissions::default().with_rule(rule).decide(&tool, &Object::new()).await;
    assert_eq!(
        decision.message,
        "`t` was not run: a rule forbids `rm:*`. Continue without it, or ask the user what to do instead."
    );
}

#[tokio::test]
async fn unclear_deny_rule_asks_and_unclear_allow_rule_is_ignored() {
    let tool = ScriptedTool::new(ToolPermission::Passthrough).covered(Coverage::Unclear);
    let with = |mode, behavior| Permissions::new(mode).with_rule(PermissionRule::new("t", Some("x"), behavior));
    let check = async |mode, behavior, expected| {
        let decision = with(mode, behavior).decide(&tool, &Object::new()).await;
        assert_eq!(decision.behavior, expected, "{mode:?} {behavior}: {}", decision.reason);
    };
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::Explore, Mode::Bypass] {
        check(mode, PermissionBehavior::Deny, Behavior::Ask).await;
        check(mode, PermissionBehavior::Ask, Behavior::Ask).await;
    }
    check(Mode::DontAsk, PermissionBehavior::Deny, Behavior::Deny).await;
    check(Mode::DontAsk, PermissionBehavior::Ask, Behavior::Deny).await;
    check(Mode::DontAsk, PermissionBehavior::Allow, Behavior::Deny).await;
    check(Mode::Default, PermissionBehavior::Allow, Behavior::Ask).await;
}
