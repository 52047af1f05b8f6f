//! The access of a shell command: requested by the model, granted by mode and rules, and effective when it runs.

use std::collections::BTreeSet;

use recount_message::{Json, Object, PermissionBehavior, PermissionRule};
use recount_sandbox::Access;

use super::text;
use crate::permission::path::PathResolver;
use crate::permission::{Coverage, Mode, PermissionContext, contents, shell};
use crate::tool::ToolError;

/// The maximum length of a reason that is shown to the user, in characters.
const MAX_REASON: usize = 300;

/// Returns the access that a call requests beyond reading.
///
/// # Errors
///
/// A word is not an access, or its path is not the one that the file system resolves it to.
pub(super) fn requested(arguments: &Object) -> Result<Access, ToolError> {
    let access = arguments.get("access").map_or_else(|| Ok(Access::read_only()), parse);
    access.map_err(|error| ToolError::new(format!("invalid `access`: {error}")))
}

/// Returns the access that a rule grants, which is none beyond the mode without the field `access`. Returns `None` if the
/// field is invalid: such a rule grants nothing and matches no call.
pub(super) fn of_rule(rule: &PermissionRule) -> Option<Access> {
    rule.extra.get("access").map_or_else(|| Some(Access::read_only()), |access| parse(access).ok())
}

/// Returns the access that a call has without a question: that of the mode, and that of matching allow rules.
///
/// Each single access is granted if the rules that grant it match the command together. In explore mode, rules grant nothing.
pub(super) fn granted(arguments: &Object, context: &PermissionContext) -> Access {
    let base = context.mode.access();
    if context.mode == Mode::Explore {
        return base;
    }
    let rules: Vec<(&PermissionRule, Access)> =
        context.allow_rules.iter().filter_map(|rule| Some((rule, of_rule(rule)?))).collect();
    let words: BTreeSet<String> = rules.iter().flat_map(|(_, access)| access.words()).collect();
    let single = words.iter().filter_map(|word| word.parse::<Access>().ok());
    let granted = single.filter(|single| {
        let granting: Vec<&PermissionRule> =
            rules.iter().filter(|(_, access)| single.is_within(access)).map(|(rule, _)| *rule).collect();
        matches(&granting, PermissionBehavior::Allow, arguments) == Coverage::Yes
    });
    granted.fold(base, |access, single| access.union(&single))
}

/// Returns the access with which a call runs once it is permitted: what it requests and what is granted.
///
/// # Errors
///
/// As [`requested`].
pub(crate) fn effective(arguments: &Object, context: &PermissionContext) -> Result<Access, ToolError> {
    Ok(granted(arguments, context).union(&requested(arguments)?))
}

/// Returns whether rules match the command text, whatever access they grant.
pub(super) fn matches(rules: &[&PermissionRule], behavior: PermissionBehavior, arguments: &Object) -> Coverage {
    let command = text(arguments, "command").unwrap_or_default();
    contents(rules).map_or(Coverage::Yes, |contents| shell::coverage(&command, &contents, behavior))
}

/// Returns the question to the user about a request.
pub(super) fn question(requested: &Access, arguments: &Object) -> String {
    let reason: String = text(arguments, "reason").unwrap_or_default().chars().take(MAX_REASON).collect();
    // Line breaks could imitate other parts of the question.
    let reason = reason.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let reason = reason.collect::<Vec<_>>().join(" ");
    let separator = if reason.is_empty() { "" } else { ": " };
    format!("it requests to {requested}{separator}{reason}")
}

fn parse(access: &Json) -> Result<Access, String> {
    if access.is_null() {
        return Ok(Access::read_only());
    }
    let words: Vec<String> = access.deserialize_as().map_err(|_| "expected a list of words".to_owned())?;
    let access = Access::parse(words).map_err(|error| error.to_string())?;
    for path in access.read_paths.iter().chain(&access.write_paths) {
        // A link or `..` could lead out of a path that is granted.
        let resolved = PathResolver::default().resolve(path).map_err(|error| error.to_string())?;
        if resolved != *path {
            return Err(format!("`{}` leads to `{}`: use that path", path.display(), resolved.display()));
        }
    }
    Ok(access)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::permission::Permissions;

    fn call(command: &str, access: &[&str]) -> Object {
        let mut arguments = Object::from([("command", command)]);
        arguments.insert("access", access.to_vec());
        arguments
    }

    fn rule(content: Option<&str>, access: &[&str]) -> PermissionRule {
        let mut rule = PermissionRule::new("shell", content, PermissionBehavior::Allow);
        rule.extra.insert("access", access.to_vec());
        rule
    }

    fn context(mode: Mode, rules: &[PermissionRule]) -> PermissionContext {
        let permissions = rules.iter().cloned().fold(Permissions::new(mode), Permissions::with_rule);
        permissions.context("shell")
    }

    #[test]
    fn request_is_validated() {
        let check = |access: &[&str], expected: &str| {
            let error = requested(&call("ls", access)).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{access:?}: {error}");
        };
        check(&["write", "sudo"], "invalid `access`: unknown access `sudo`");
        check(&["read:etc"], "invalid `access`: unknown access `read:etc`");
        check(&["write:/srv/../etc"], "invalid `access`: `/srv/../etc` leads to `/etc`");
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().canonicalize().unwrap().join("link");
        std::os::unix::fs::symlink("/etc", &link).unwrap();
        check(
            &[&format!("write:{}", link.display())],
            &format!("invalid `access`: `{}` leads to `/etc`", link.display()),
        );

        assert_eq!(requested(&Object::from([("command", "ls")])).unwrap(), Access::read_only());
        assert_eq!(requested(&call("ls", &[])).unwrap(), Access::read_only());
        assert_eq!(requested(&call("ls", &["write"])).unwrap(), Access::workspace());
        let mut null = call("ls", &[]);
        null.insert("access", Json::null());
        assert_eq!(requested(&null).unwrap(), Access::read_only());
        null.insert("access", "write");
        assert_eq!(requested(&null).unwrap_err().to_string(), "invalid `access`: expected a list of words");
    }

    #[test]
    fn modes_grant_access() {
        for (mode, expected) in [
            (Mode::Default, Access::read_only()),
            (Mode::Explore, Access::read_only()),
            (Mode::DontAsk, Access::read_only()),
            (Mode::AcceptEdits, Access::workspace()),
            (Mode::Bypass, Access::workspace()),
        ] {
            assert_eq!(granted(&call("ls", &["network"]), &context(mode, &[])), expected, "{mode:?}");
        }
    }

    #[test]
    fn matching_rules_grant_access() {
        let check = |rules: &[PermissionRule], command: &str, expected: &[&str]| {
            let expected = Access::parse(expected).unwrap();
            assert_eq!(granted(&call(command, &[]), &context(Mode::Default, rules)), expected, "{rules:?}: {command}");
            let in_explore = granted(&call(command, &[]), &context(Mode::Explore, rules));
            assert_eq!(in_explore, Access::read_only(), "{rules:?}: {command}");
        };
        let push = || rule(Some("git push:*"), &["network"]);
        check(&[push()], "git push", &["network"]);
        check(&[push()], "git pull", &[]);
        check(&[push()], "git push; ls", &[]);
        check(&[push()], "git push $(ls)", &[]);
        check(&[rule(None, &["write"])], "anything $(ls)", &["write"]);
        check(&[PermissionRule::new("shell", None, PermissionBehavior::Allow)], "ls", &[]);
        check(&[PermissionRule::new("shell", Some("ls"), PermissionBehavior::Allow)], "ls", &[]);
        // All commands of a list need the access.
        let test = || rule(Some("cargo test:*"), &["network", "write"]);
        check(&[push(), test()], "cargo test && git push", &["network"]);
        check(&[push(), test()], "cargo test && cargo test", &["write", "network"]);
        check(&[push(), rule(Some("cargo test:*"), &["unsandboxed"])], "cargo test && git push", &["network"]);
        check(&[push(), rule(Some("cargo test:*"), &[])], "cargo test && git push", &[]);
        check(&[push(), rule(Some("git *"), &["write"])], "git push", &["write", "network"]);
        check(&[rule(Some("ls"), &["read:/srv", "write:/opt"])], "ls", &["read:/srv", "write:/opt"]);
        // An invalid rule grants nothing.
        check(&[rule(Some("ls"), &["write", "everything"])], "ls", &[]);
        check(&[rule(Some("ls"), &["write:/srv/../etc"])], "ls", &[]);
    }

    #[test]
    fn effective_access_is_union_of_requested_and_granted() {
        let rules = [rule(Some("cargo test:*"), &["network"])];
        let effective =
            |mode, command, access: &[&str]| effective(&call(command, access), &context(mode, &rules)).unwrap();
        assert_eq!(effective(Mode::Default, "ls", &[]), Access::read_only());
        assert_eq!(effective(Mode::Default, "ls", &["write"]), Access::workspace());
        assert_eq!(
            effective(Mode::AcceptEdits, "cargo test", &["read:/srv"]).words(),
            ["write", "network", "read:/srv"]
        );
        assert_eq!(effective(Mode::Explore, "cargo test", &[]), Access::read_only());
    }

    #[test]
    fn question_contains_request_and_reason() {
        let mut arguments = call("git push", &["write", "network"]);
        let access = requested(&arguments).unwrap();
        assert_eq!(question(&access, &arguments), "it requests to write to the workspace, use the network");
        arguments.insert("reason", " to publish\n\n\u{1b}[2J the  branch");
        let expected = "it requests to write to the workspace, use the network: to publish [2J the branch";
        assert_eq!(question(&access, &arguments), expected);
        arguments.insert("reason", "a".repeat(1_000));
        assert!(question(&access, &arguments).len() < 400);
    }
}
