//! Permissions and rules of the file tools.

use std::path::Path;

use recount_message::{Object, PermissionBehavior, PermissionRule};

use super::{text, workspace::Workspace};
use crate::permission::path::{PathResolver, is_in_git_directory};
use crate::permission::wildcard::escape_path;
use crate::permission::{Coverage, PermissionContext, ToolPermission};

/// The path argument of a call. Empty for the working directory.
fn path(arguments: &Object) -> String {
    text(arguments, "path").unwrap_or_default()
}

/// Returns whether a call reads only files that need no permission.
pub(super) fn reads_inside(workspace: &Workspace, arguments: &Object) -> bool {
    workspace.resolve_and_record(&path(arguments)).is_ok_and(|target| workspace.may_read(&target))
}

pub(super) fn permission_to_read(
    workspace: &Workspace,
    arguments: &Object,
    context: &PermissionContext,
) -> ToolPermission {
    match workspace.resolve_and_record(&path(arguments)) {
        Ok(target) if workspace.hides(&target) => ToolPermission::Deny(hidden(&target)),
        Ok(target) if workspace.may_read(&target) || paths(workspace, context).contains(&target) => {
            ToolPermission::Allow
        }
        Ok(target) => ToolPermission::Ask(outside(&target)),
        Err(error) => ToolPermission::Deny(error.to_string()),
    }
}

pub(super) fn permission_to_change(
    workspace: &Workspace,
    arguments: &Object,
    context: &PermissionContext,
) -> ToolPermission {
    let target = match workspace.resolve_and_record(&path(arguments)) {
        Ok(target) => target,
        Err(error) => return ToolPermission::Deny(error.to_string()),
    };
    let paths = paths(workspace, context);
    if workspace.hides(&target) {
        return ToolPermission::Deny(hidden(&target));
    }
    if workspace.confinement().protects(&target) {
        return ToolPermission::AskForSafety(format!("`{}` configures agents and their permissions", target.display()));
    }
    if is_in_git_directory(&target) {
        return ToolPermission::AskForSafety(format!(
            "`{}` is in a `.git` directory, whose files Git executes",
            target.display()
        ));
    }
    if !paths.contains(&target) {
        return ToolPermission::Ask(outside(&target));
    }
    if context.mode.accepts_edits() && paths.contains_editable(&target) {
        return ToolPermission::Allow;
    }
    ToolPermission::Ask(format!("it changes `{}`", workspace.display(&target)))
}

pub(super) fn coverage(
    workspace: &Workspace,
    contents: &[&str],
    behavior: PermissionBehavior,
    arguments: &Object,
) -> Coverage {
    workspace.paths().coverage(&path(arguments), contents, behavior)
}

/// Returns rules that allow everything below the directory of the file, or below the path if it is a directory itself.
///
/// Returns none if the path is not UTF-8: its text would also stand for other paths.
pub(super) fn suggested(workspace: &Workspace, tool: &str, arguments: &Object) -> Vec<PermissionRule> {
    let Ok(target) = workspace.paths().resolve(path(arguments)) else { return Vec::new() };
    let is_directory = target.is_dir();
    let directory = if is_directory { target.as_path() } else { target.parent().unwrap_or(Path::new("/")) };
    let Some(directory) = directory.to_str() else { return Vec::new() };
    let directory = escape_path(directory.trim_end_matches('/'));
    let rule =
        |content: &str| PermissionRule::new(tool, Some(content), PermissionBehavior::Allow).with_source("suggested");
    let below = rule(&format!("{directory}/**"));
    // The pattern for everything below a directory does not match the directory, unless it is the root.
    if is_directory && !directory.is_empty() { vec![rule(&directory), below] } else { vec![below] }
}

fn paths(workspace: &Workspace, context: &PermissionContext) -> PathResolver {
    workspace.paths().clone().with_directories(&context.working_directories)
}

fn hidden(target: &Path) -> String {
    format!("`{}` is hidden from tools: it belongs to the program that runs the agent", target.display())
}

fn outside(target: &Path) -> String {
    format!("`{}` is outside of the working directories", target.display())
}
