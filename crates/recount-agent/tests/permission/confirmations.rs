//! Rules and arguments in confirmations.

use pretty_assertions::assert_eq;
use recount_agent::permission::{AcceptError, Behavior, Coverage, Mode, Permissions, ToolPermission};
use recount_message::{Object, PermissionBehavior, PermissionRule};

use super::common::ScriptedTool;

fn allow(tool: &str, content: Option<&str>) -> PermissionRule {
    PermissionRule::new(tool, content, PermissionBehavior::Allow)
}

#[test]
fn accept_rejects_rules_for_another_tool() {
    let mut permissions = Permissions::default();
    let rules = [allow("read", None), allow("shell", None)];
    let error = permissions.accept(rules, "read").unwrap_err();
    assert_eq!(error, AcceptError::OtherTool { index: 1, named: "shell".to_owned(), tool: "read".to_owned() });
    assert_eq!(error.to_string(), "rule 1 is for `shell`, but the confirmed call is of `read`");
    assert_eq!(permissions, Permissions::default());
}

#[test]
fn accept_rejects_rule_without_effect() {
    let rule = PermissionRule::new("read", None, PermissionBehavior::Passthrough);
    let error = Permissions::default().accept([rule], "read").unwrap_err();
    assert_eq!(error, AcceptError::NoEffect { index: 0, tool: "read".to_owned() });
}

#[test]
fn duplicate_rules_are_ignored() {
    let mut permissions = Permissions::default().with_rule(allow("shell", Some("ls:*")));
    let rules = [allow("shell", Some("ls:*")).with_source("suggested"), allow("shell", None), allow("shell", Some(""))];
    assert_eq!(permissions.accept(rules.clone(), "shell"), Ok(vec![allow("shell", None)]));
    assert_eq!(permissions.accept(rules, "shell"), Ok(vec![]));
    assert_eq!(permissions.rules(PermissionBehavior::Allow)["shell"].len(), 2);
}

#[test]
fn rules_that_grant_different_access_are_different() {
    let with_access = |access: Option<&[&str]>| {
        let mut rule = allow("shell", Some("ls:*"));
        rule.extra.insert("access", access.map(<[&str]>::to_vec));
        rule
    };
    let mut permissions = Permissions::default().with_rule(allow("shell", Some("ls:*")));
    assert!(permissions.add(with_access(Some(&["network"]))));
    assert!(permissions.add(with_access(Some(&["write"]))));
    assert!(!permissions.add(with_access(Some(&["write"]))));
    assert!(!permissions.add(with_access(None)), "`null` is no access");
}

#[tokio::test]
async fn approval_does_not_override_deny() {
    let deny = PermissionRule::new("t", Some("x"), PermissionBehavior::Deny);
    let permissions = Permissions::default().with_rule(deny);
    let denied = ScriptedTool::new(ToolPermission::Passthrough).covered(Coverage::Yes);
    let free = ScriptedTool::new(ToolPermission::AskForSafety("harmful".to_owned()));
    let forbidden = ScriptedTool::new(ToolPermission::Deny("never".to_owned()));
    let arguments = Object::new();
    assert_eq!(permissions.decide_confirmed(&free, &arguments).await.behavior, Behavior::Allow);
    assert_eq!(permissions.decide_confirmed(&denied, &arguments).await.behavior, Behavior::Deny);
    assert_eq!(permissions.decide_confirmed(&forbidden, &arguments).await.behavior, Behavior::Deny);
    let explore = Permissions::new(Mode::Explore);
    assert_eq!(explore.decide_confirmed(&free, &arguments).await.behavior, Behavior::Deny);
}
