//! The tool `glob`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobBuilder;
use ignore::{DirEntry, WalkBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::file_tool::{FileAccess, FileTool};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The pattern, such as `**/*.rs` or `src/*.{ts,tsx}`. A pattern without a slash matches names in all directories.
    pattern: String,
    /// The directory to search. Default: the working directory.
    #[serde(default)]
    path: Option<String>,
}

/// The maximum number of files in the output.
const MAX_FILES: usize = 1_000;

impl FileTool {
    /// Creates the tool that finds files by a pattern.
    pub fn glob(workspace: Arc<Workspace>) -> Self {
        let description = "Finds files by a pattern, sorted by name. Files that Git ignores are excluded.";
        Self::new(ToolSpec::new("glob", description), workspace, FileAccess::Read, glob)
    }
}

fn glob(workspace: &Workspace, arguments: &Arguments, cancel: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let directory = directory(workspace, arguments.path.as_deref())?;
    let matches = matcher(&arguments.pattern)?;
    let mut found = Vec::new();
    for entry in walk(workspace, &directory) {
        if cancel.is_cancelled() {
            return Err(ToolError::new("interrupted"));
        }
        let relative = entry.path().strip_prefix(&directory).unwrap_or(entry.path());
        if is_file(&entry) && matches(relative) {
            found.push(workspace.display(entry.path()));
        }
    }
    found.sort();
    let all = found.len();
    found.truncate(MAX_FILES);
    let mut output = found.join("\n");
    if all == 0 {
        output = format!("no file in `{}` matches `{}`", workspace.display(&directory), arguments.pattern);
    } else if all > MAX_FILES {
        output.push_str(&format!("\n[{} more: use a narrower pattern or another `path`]", all - MAX_FILES));
    }
    Ok(ToolOutput::new(workspace.truncate_output("glob", output)?))
}

/// Returns the directory of a search.
fn directory(workspace: &Workspace, path: Option<&str>) -> Result<PathBuf, ToolError> {
    let path = path.unwrap_or_default();
    let target = workspace.resolve_recorded(path)?;
    if target.is_dir() { Ok(target) } else { Err(ToolError::new(format!("`{path}` is not a directory"))) }
}

/// Compiles a pattern for paths relative to the directory of a search.
pub(super) fn matcher(pattern: &str) -> Result<impl Fn(&Path) -> bool + use<>, ToolError> {
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err(ToolError::new("the pattern leads out of the directory: pass the directory as `path`"));
    }
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(anywhere.trim_start_matches("./")).literal_separator(true).build()?.compile_matcher();
    Ok(move |path: &Path| glob.is_match(path))
}

/// Returns all entries below a directory that are neither ignored nor hidden. Links are not followed.
pub(super) fn walk(workspace: &Workspace, directory: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    let hidden = workspace.confinement().hidden_paths();
    let is_shown =
        move |entry: &DirEntry| entry.file_name() != ".git" && !hidden.iter().any(|hidden| entry.path() == hidden);
    let mut walk = WalkBuilder::new(directory);
    walk.sort_by_file_name(Ord::cmp).hidden(false).follow_links(false).require_git(false).filter_entry(is_shown);
    walk.build().flatten()
}

pub(super) fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}
