//! Finding files by their names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::GlobBuilder;
use ignore::{DirEntry, WalkBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::file_tool::{Access, FileTool};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The pattern, such as `**/*.rs` or `src/*.{ts,tsx}`. Without a slash it is about names in every directory.
    pattern: String,
    /// The directory to look in, the working directory if left out.
    #[serde(default)]
    path: Option<String>,
}

/// How many files are named at most.
const MOST: usize = 1_000;

impl FileTool {
    /// Finds files by a pattern.
    pub fn glob(workspace: Arc<Workspace>) -> Self {
        let description = "Finds files by a pattern, in the order of their names. What Git ignores is left out.";
        Self::new(ToolSpec::new("glob", description), workspace, Access::Reads, glob)
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
            found.push(workspace.shown(entry.path()));
        }
    }
    found.sort();
    let all = found.len();
    found.truncate(MOST);
    let mut answer = found.join("\n");
    if all == 0 {
        answer = format!("no file in `{}` matches `{}`", workspace.shown(&directory), arguments.pattern);
    } else if all > MOST {
        answer.push_str(&format!("\n[{} more: use a narrower pattern or another `path`]", all - MOST));
    }
    Ok(ToolOutput::new(workspace.shorten("glob", answer)?))
}

/// The directory that a search is about.
fn directory(workspace: &Workspace, path: Option<&str>) -> Result<PathBuf, ToolError> {
    let path = path.unwrap_or_default();
    let target = workspace.target(path)?;
    if target.is_dir() { Ok(target) } else { Err(ToolError::new(format!("`{path}` is no directory"))) }
}

/// Whether a path below the directory has the form of a pattern.
pub(super) fn matcher(pattern: &str) -> Result<impl Fn(&Path) -> bool + use<>, ToolError> {
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err(ToolError::new("the pattern leads out of the directory: give the directory as `path`"));
    }
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(anywhere.trim_start_matches("./")).literal_separator(true).build()?.compile_matcher();
    Ok(move |path: &Path| glob.is_match(path))
}

/// All files below a directory that are neither ignored nor hidden. Links are not followed, so that nothing else is reached.
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
