//! The tool `edit`.

use std::fmt::Write;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::file_tool::{FileAccess, FileTool};
use super::files::{failed, open_file, read_text, replace};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// The text to replace, exactly as in the file, without line numbers. It must occur once.
    old_text: String,
    /// The new text.
    new_text: String,
    /// Replace every occurrence.
    #[serde(default)]
    all: bool,
}

/// The maximum number of lines that the error about an ambiguous text lists.
const MAX_LISTED_LINES: usize = 5;

impl FileTool {
    /// Creates the tool that replaces a text in a file.
    pub fn edit(workspace: Arc<Workspace>) -> Self {
        let description = "Replaces a text in a file. The text must occur exactly once, unless `all` is set: \
                           include enough surrounding lines to make it unique.";
        Self::new(ToolSpec::new("edit", description), workspace, FileAccess::Change, edit)
    }
}

fn edit(workspace: &Workspace, arguments: &Arguments, _: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let target = workspace.resolve_recorded(&arguments.path)?;
    let shown = workspace.display(&target);
    open_file(&target).map_err(|error| failed(workspace, &target, &error))?;
    let (text, stamp) = read_text(&target)?;
    if workspace.seen_version(&target).is_some_and(|seen| seen != stamp) {
        return Err(ToolError::new(format!("`{shown}` was changed since you read it: `read` it again")));
    }
    let Arguments { old_text: old, new_text: new, .. } = arguments;
    if old.is_empty() {
        return Err(ToolError::new(
            "`old_text` is empty: use `write` for a new file, or include a line next to the change",
        ));
    }
    if old == new {
        return Err(ToolError::new("`old_text` and `new_text` are equal"));
    }
    let positions: Vec<usize> = text.match_indices(old.as_str()).map(|(at, _)| at).collect();
    let line_at = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    let first = match positions.as_slice() {
        [] => return Err(ToolError::new(not_found(&shown, &text, old))),
        [first] => *first,
        [first, ..] if arguments.all => *first,
        many => {
            let lines: Vec<_> = many.iter().take(MAX_LISTED_LINES).map(|at| line_at(*at).to_string()).collect();
            let more = if many.len() > MAX_LISTED_LINES { " and others" } else { "" };
            let message = format!(
                "`old_text` occurs {} times in `{shown}` (lines {}{more}): include more surrounding lines, or set `all`",
                many.len(),
                lines.join(", ")
            );
            return Err(ToolError::new(message));
        }
    };
    let changed = text.replace(old.as_str(), new);
    let stamp = replace(&target, changed.as_bytes()).map_err(|error| failed(workspace, &target, &error))?;
    workspace.record_seen(&target, stamp);
    let count = match positions.len() {
        1 => String::new(),
        count => format!(" in {count} places, the first one here"),
    };
    let mut output = format!("changed `{shown}`{count}:\n");
    let line = line_at(first);
    let around = (line.saturating_sub(3), line + new.matches('\n').count() + 2);
    for (index, content) in changed.lines().enumerate().skip(around.0).take((around.1 - around.0).min(60)) {
        let _ = writeln!(output, "{:>6}\t{content}", index + 1);
    }
    Ok(ToolOutput::new(workspace.truncate_output("edit", output)?))
}

/// Describes that a text does not occur in a file, with the most similar line.
fn not_found(shown: &str, text: &str, old: &str) -> String {
    if text.contains("\r\n") && text.replace("\r\n", "\n").contains(old) {
        return format!(
            "`old_text` does not occur in `{shown}`: its lines end in \\r\\n, which a text of several lines must have too"
        );
    }
    let wanted = old.lines().find(|line| !line.trim().is_empty()).unwrap_or(old).trim();
    let similarity = |line: &str| strsim::normalized_levenshtein(line.trim(), wanted);
    let candidates = text.lines().enumerate().take(20_000).filter(|(_, line)| line.len() < 400);
    let nearest = candidates
        .map(|(index, line)| (similarity(line), index + 1, line))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(similarity, ..)| *similarity > 0.5);
    match nearest {
        Some((_, number, line)) => format!(
            "`old_text` does not occur in `{shown}`; the line most similar to its beginning is line {number}: `{line}`. `read` the file and copy the text exactly"
        ),
        None => format!("`old_text` does not occur in `{shown}`, nor any similar text: `read` the file first"),
    }
}
