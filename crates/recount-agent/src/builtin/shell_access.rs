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

/// Returns what the user is asked about a request.
pub(super) fn question(requested: &Access, arguments: &Object) -> String {
    let reason: String = text(arguments, "reason").unwrap_or_default().chars().take(MAX_REASON).collect();
    // Line breaks could make it look like more than a reason.
    let reason = reason.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let reason = reason.collect::<Vec<_>>().join(" ");
    let separator = if reason.is_empty() { "" } else { ": " };
    format!("it requests to {requested}{separator}{reason}")
}

fn parse(access: &Json) -> Result<Access, String> {
    if access.is_null() {
        return Ok(Access::read_only());
    }
    let words: Vec<String> = access.to().map_err(|_| "expected a list of words".to_owned())?;
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
