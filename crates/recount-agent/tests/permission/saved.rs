//! Permissions as JSON.

use pretty_assertions::assert_eq;
use recount_agent::permission::{Mode, Permissions};
use recount_message::{PermissionBehavior, PermissionRule};

const SAVED: &str = concat!(
    r#"{"mode":"accept_edits","working_directories":{"/srv/src":{"path":"/srv/src","source":"project"}},"#,
    r#""allow_rules":{"Bash":[{"tool_name":"Bash","rule_content":"git commit:*","behavior":"allow","source":"suggested"}]},"#,
    r#""deny_rules":{"Write":[{"tool_name":"Write","rule_content":null,"behavior":"deny","source":"user","note":1.0}]},"#,
    r#""ask_rules":{},"later":true}"#
);

#[test]
fn agentscope_permissions_round_trip() {
    let permissions: Permissions = serde_json::from_str(SAVED).unwrap();
    assert_eq!(permissions.mode, Mode::AcceptEdits);
    assert_eq!(permissions.working_directories().next().unwrap().source, "project");
    let rule = PermissionRule::new("Bash", Some("git commit:*"), PermissionBehavior::Allow).with_source("suggested");
    assert_eq!(permissions.rules(PermissionBehavior::Allow)["Bash"], [rule]);
    assert_eq!(serde_json::to_string(&permissions).unwrap(), SAVED);
}

#[test]
fn missing_fields_and_null_are_defaults() {
    assert_eq!(serde_json::from_str::<Permissions>(r#"{"mode":null}"#).unwrap(), Permissions::default());
}

#[test]
fn invalid_json_is_rejected_with_location() {
    let check = |text: &str, expected: &str| {
        let error = serde_json::from_str::<Permissions>(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    };
    check(r#"{"mode":"yolo"}"#, "`mode`: ");
    check(r#"{"allow_rules":{"t":[{"behavior":"allow"}]}}"#, "`allow_rules.t[0]`: `tool_name` is missing");
    check(r#"{"deny_rules":{"t":[{"tool_name":"t"}]}}"#, "`deny_rules.t[0]`: `behavior` is missing");
    let misplaced = r#"{"allow_rules":{"t":[{"tool_name":"t","behavior":"deny"}]}}"#;
    check(misplaced, "`allow_rules.t[0]`: the rule has behavior deny and tool `t`");
    let foreign = r#"{"allow_rules":{"t":[{"tool_name":"shell","behavior":"allow"}]}}"#;
    check(foreign, "`allow_rules.t[0]`: the rule has behavior allow and tool `shell`");
}
