//! Changing a part of a file.

use std::fmt::Write;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::file_tool::{Access, FileTool};
use super::files::{failed, open_file, read_text, replace};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// The text to be replaced, exactly as it stands in the file, without line numbers. It has to occur once.
    old_text: String,
    /// The text to put in its place.
    new_text: String,
    /// Replace every occurrence.
    #[serde(default)]
    all: bool,
}

/// How many places are named at most.
const PLACES: usize = 5;

impl FileTool {
    /// Changes a part of a file.
    pub fn edit(workspace: Arc<Workspace>) -> Self {
        let description = "Replaces a text in a file. The text has to occur exactly once, unless `all` is set: \
                           take enough lines around the change to make it so.";
        Self::new(ToolSpec::new("edit", description), workspace, Access::Changes, edit)
    }
}

fn edit(workspace: &Workspace, arguments: &Arguments, _: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let target = workspace.target(&arguments.path)?;
    let shown = workspace.shown(&target);
    open_file(&target).map_err(|error| failed(workspace, &target, &error))?;
    let (text, stamp) = read_text(&target)?;
    if workspace.seen(&target).is_some_and(|seen| seen != stamp) {
        return Err(ToolError::new(format!("`{shown}` was changed since you read it: `read` it again")));
    }
    let Arguments { old_text: old, new_text: new, .. } = arguments;
    if old.is_empty() {
        return Err(ToolError::new(
            "`old_text` is empty: use `write` for a new file, or take a line next to the change",
        ));
    }
    if old == new {
        return Err(ToolError::new("`old_text` and `new_text` are the same: nothing would change"));
    }
    let places: Vec<usize> = text.match_indices(old.as_str()).map(|(at, _)| at).collect();
    let line_at = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    let first = match places.as_slice() {
        [] => return Err(ToolError::new(absent(&shown, &text, old))),
        [first] => *first,
        [first, ..] if arguments.all => *first,
        many => {
            let lines: Vec<_> = many.iter().take(PLACES).map(|at| line_at(*at).to_string()).collect();
            let more = if many.len() > PLACES { " and others" } else { "" };
            let message = format!(
                "`old_text` occurs {} times in `{shown}` (lines {}{more}): take more lines around the one you mean, or set `all`",
                many.len(),
                lines.join(", ")
            );
            return Err(ToolError::new(message));
        }
    };
    let changed = text.replace(old.as_str(), new);
    let stamp = replace(&target, changed.as_bytes()).map_err(|error| failed(workspace, &target, &error))?;
    workspace.note_seen(&target, stamp);
    let times =
        if places.len() == 1 { String::new() } else { format!(" in {} places, the first of them here", places.len()) };
    let mut answer = format!("changed `{shown}`{times}:\n");
    let line = line_at(first);
    let around = (line.saturating_sub(3), line + new.matches('\n').count() + 2);
    for (index, content) in changed.lines().enumerate().skip(around.0).take((around.1 - around.0).min(60)) {
        let _ = writeln!(answer, "{:>6}\t{content}", index + 1);
    }
    Ok(ToolOutput::new(workspace.shorten("edit", answer)?))
}

/// The text is not there. Says what comes nearest.
fn absent(shown: &str, text: &str, old: &str) -> String {
    if text.contains("\r\n") && text.replace("\r\n", "\n").contains(old) {
        return format!(
            "`old_text` does not occur in `{shown}`: its lines end in \\r\\n, so a text of several lines needs them too"
        );
    }
    let wanted = old.lines().find(|line| !line.trim().is_empty()).unwrap_or(old).trim();
    let likeness = |line: &str| strsim::normalized_levenshtein(line.trim(), wanted);
    let candidates = text.lines().enumerate().take(20_000).filter(|(_, line)| line.len() < 400);
    let nearest = candidates
        .map(|(index, line)| (likeness(line), index + 1, line))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(likeness, ..)| *likeness > 0.5);
    match nearest {
        Some((_, number, line)) => format!(
            "`old_text` does not occur in `{shown}`; what comes nearest to its beginning is line {number}: `{line}`. `read` the file and take the text exactly as it stands"
        ),
        None => format!("`old_text` does not occur in `{shown}`, nor anything like it: `read` the file first"),
    }
}
