//! Permission questions as text: the rules that a call suggests, and the access that it requests.

use std::borrow::Cow;

use recount_message::{Json, Object, PermissionBehavior, PermissionRule, ToolCallBlock};

use crate::visible::visible_line;

/// The tool whose arguments can request access.
const SHELL: &str = "shell";

/// Returns the rules that "always" accepts. Without any, "always" is not offered.
///
/// They are about the arguments that the model wrote, so they must not be sent along with edited ones.
pub(crate) fn rules_to_offer(call: &ToolCallBlock) -> Vec<PermissionRule> {
    call.suggested_rules.iter().filter(|rule| rule.behavior == PermissionBehavior::Allow).cloned().collect()
}

/// Returns rules in one line, each with the access that it grants: `shell(npm install:*) with write, network`.
pub(crate) fn rules_line(rules: &[PermissionRule]) -> String {
    let line = |rule: &PermissionRule| {
        let subject = match rule.rule_content.as_deref() {
            None | Some("") => format!("{} (every call)", rule.tool_name),
            Some(content) => format!("{}({content})", rule.tool_name),
        };
        let access = access_list(rule.extra.get("access"));
        if access.is_empty() { subject } else { format!("{subject} with {}", access.join(", ")) }
    };
    visible_line(&rules.iter().map(line).collect::<Vec<_>>().join("; ")).into_owned()
}

/// Returns the access that a call of the shell requests, and its reason, in one line:
/// `requests: write to the workspace, network — reason: …`. `None` if it has neither.
pub(crate) fn request_line(tool: &str, input: &str) -> Option<String> {
    // The arguments of other tools may use these names for something else.
    if tool != SHELL {
        return None;
    }
    let arguments = Object::parse(input).ok()?;
    let access = access_list(arguments.get("access"));
    let access: Vec<Cow<'_, str>> = access.iter().map(|item| access_phrase(item)).collect();
    let access = (!access.is_empty()).then(|| format!("requests: {}", access.join(", ")));
    let reason = arguments.get("reason").and_then(Json::as_str).map(str::to_owned);
    let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    let reason = reason.map(|reason| format!("reason: {reason}"));
    let parts: Vec<String> = [access, reason].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| visible_line(&parts.join(" — ")).into_owned())
}

/// Returns the [`request_line`] of a call, unless the agent's reason for the question states the request already.
pub(crate) fn unstated_request(call: &ToolCallBlock, reason: Option<&str>) -> Option<String> {
    let is_stated = reason.is_some_and(|reason| reason.starts_with("it requests to "));
    if is_stated { None } else { request_line(&call.name, &call.input) }
}

/// Returns the items of an `access` field. A value of another type is one item, so that it is shown and not dropped.
fn access_list(access: Option<&Json>) -> Vec<String> {
    let Some(access) = access.filter(|access| !access.is_null()) else { return Vec::new() };
    let items = access.to_array().unwrap_or_else(|| vec![access.clone()]);
    items.iter().map(|item| item.as_str().unwrap_or_else(|| item.as_raw()).to_owned()).collect()
}

fn access_phrase(access: &str) -> Cow<'_, str> {
    let path = |prefix| access.strip_prefix(prefix).filter(|path| !path.is_empty());
    match access {
        "write" => "write to the workspace".into(),
        "unsandboxed" => "run outside the sandbox".into(),
        _ => match (path("read:"), path("write:")) {
            (Some(path), _) => format!("read {path}").into(),
            (None, Some(path)) => format!("write to {path}").into(),
            (None, None) => access.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn rule(content: Option<&str>, access: Option<&str>) -> PermissionRule {
        let mut rule = PermissionRule::new(SHELL, content, PermissionBehavior::Allow);
        if let Some(access) = access {
            rule.extra.insert("access", Json::parse(access).unwrap());
        }
        rule
    }

    #[test]
    fn only_suggested_allow_rules_are_offered() {
        let mut asking = ToolCallBlock::new("call_1", SHELL, "{}");
        assert_eq!(rules_to_offer(&asking), []);
        let suggested = rule(Some("ls:*"), Some(r#"["write"]"#));
        let denied = PermissionRule::new(SHELL, Some("rm:*"), PermissionBehavior::Deny);
        asking.suggested_rules = vec![denied, suggested.clone()];
        assert_eq!(rules_to_offer(&asking), [suggested]);
    }

    #[test]
    fn rules_are_shown_with_their_access() {
        let check = |rules: &[PermissionRule], expected: &str| assert_eq!(rules_line(rules), expected);
        check(&[rule(Some("ls:*"), None)], "shell(ls:*)");
        check(&[rule(None, Some("[]"))], "shell (every call)");
        let install = rule(Some("npm install:*"), Some(r#"["write","network"]"#));
        check(&[install, rule(Some("ls:*"), None)], "shell(npm install:*) with write, network; shell(ls:*)");
        // A malformed access is shown too.
        check(&[rule(Some("a"), Some(r#""write""#))], "shell(a) with write");
        check(&[rule(Some("a"), Some(r#"[{"x":1}]"#))], r#"shell(a) with {"x":1}"#);
        check(&[rule(Some("a\u{1b}"), Some(r#"["read:/a\u001b"]"#))], r"shell(a\u{1b}) with read:/a\u{1b}");
    }

    #[test]
    fn requests_are_not_repeated_after_a_reason_that_states_them() {
        let asking = ToolCallBlock::new("call_1", SHELL, r#"{"access":["network"]}"#);
        let check = |reason: Option<&str>, expected: Option<&str>| {
            assert_eq!(unstated_request(&asking, reason).as_deref(), expected, "{reason:?}");
        };
        check(Some("it requests to use the network"), None);
        check(Some("a rule asks about `curl:*`"), Some("requests: network"));
        check(None, Some("requests: network"));
    }

    #[test]
    fn requests_are_shown_with_their_reason() {
        let check = |input: &str, expected: Option<&str>| {
            assert_eq!(request_line(SHELL, input).as_deref(), expected, "{input}");
        };
        check(
            r#"{"command":"x","access":["write","network","unsandboxed"],"reason":" to install\u001b\nit "}"#,
            Some(r"requests: write to the workspace, network, run outside the sandbox — reason: to install\u{1b}\nit"),
        );
        check(
            r#"{"access":["read:/a b","write:/c","read:","other"]}"#,
            Some("requests: read /a b, write to /c, read:, other"),
        );
        check(r#"{"reason":"why not"}"#, Some("reason: why not"));
        for input in [r#"{"command":"x"}"#, r#"{"access":[],"reason":" "}"#, r#"{"access":null}"#, "[]", "{"] {
            check(input, None);
        }
        assert_eq!(request_line("share", r#"{"access":["write"],"reason":"x"}"#), None);
    }
}
