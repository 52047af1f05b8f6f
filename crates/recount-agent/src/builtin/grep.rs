//! The tool `grep`.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::file_tool::{FileAccess, FileTool};
use super::files::{failed, open_file};
use super::glob::{is_file, matcher, walk};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The regular expression, in the syntax of ripgrep.
    pattern: String,
    /// The file or directory to search. Default: the working directory.
    #[serde(default)]
    path: Option<String>,
    /// Search only files that match this pattern, such as `*.rs`.
    #[serde(default)]
    glob: Option<String>,
    /// Ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// The number of lines to show around each match.
    #[serde(default)]
    context: usize,
    /// The maximum number of matches. Default and maximum: 200.
    #[serde(default)]
    limit: Option<usize>,
}

/// The maximum number of matches in the output.
const MAX_MATCHES: usize = 200;
/// The maximum length of a line in the output, in bytes.
const MAX_LINE_BYTES: usize = 500;

impl FileTool {
    /// Creates the tool that finds text in files by a regular expression.
    pub fn grep(workspace: Arc<Workspace>) -> Self {
        let description = "Finds text in files by a regular expression. Matches are shown as `file:line:text`. \
                           Binary files and files that Git ignores are excluded.";
        Self::new(ToolSpec::new("grep", description), workspace, FileAccess::Read, grep)
    }
}

fn grep(workspace: &Workspace, arguments: &Arguments, cancel: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let target = workspace.resolve_recorded(arguments.path.as_deref().unwrap_or_default())?;
    let expression = RegexMatcherBuilder::new()
        .case_insensitive(arguments.ignore_case)
        .line_terminator(Some(b'\n'))
        .size_limit(10 << 20)
        .build(&arguments.pattern)
        .map_err(|error| ToolError::new(format!("invalid regular expression: {error}")))?;
    let wanted = arguments.glob.as_deref().map(matcher).transpose()?;
    let mut found = Found {
        workspace,
        cancel,
        file: String::new(),
        output: String::new(),
        matches: 0,
        limit: arguments.limit.unwrap_or(MAX_MATCHES).clamp(1, MAX_MATCHES),
    };
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_terminator(LineTerminator::byte(b'\n'))
        .line_number(true)
        .before_context(arguments.context.min(20))
        .after_context(arguments.context.min(20))
        // Limits the memory for one line.
        .heap_limit(Some(16 << 20))
        .build();
    if target.is_dir() {
        for entry in walk(workspace, &target).filter(is_file) {
            let relative = entry.path().strip_prefix(&target).unwrap_or(entry.path());
            if wanted.as_ref().is_none_or(|wanted| wanted(relative)) {
                // Skips files that were deleted or are not readable.
                let _ = found.search(&mut searcher, &expression, entry.path());
            }
            if found.is_done() {
                break;
            }
        }
    } else {
        found.search(&mut searcher, &expression, &target).map_err(|error| failed(workspace, &target, &error))?;
    }
    if cancel.is_cancelled() {
        return Err(ToolError::new("interrupted"));
    }
    let mut output = found.output;
    if output.is_empty() {
        output = format!("no text in `{}` matches `{}`", workspace.display(&target), arguments.pattern);
    } else if found.matches >= found.limit {
        output.push_str("[there may be more: use a narrower pattern, `glob` or `path`]");
    }
    Ok(ToolOutput::new(workspace.truncate_output("grep", output)?))
}

/// The matches so far.
struct Found<'a> {
    workspace: &'a Workspace,
    cancel: &'a CancellationToken,
    file: String,
    output: String,
    matches: usize,
    limit: usize,
}

impl Found<'_> {
    fn search(&mut self, searcher: &mut Searcher, expression: &RegexMatcher, path: &Path) -> std::io::Result<()> {
        self.file = self.workspace.display(path);
        searcher.search_file(expression, &open_file(path)?, self)
    }

    fn is_done(&self) -> bool {
        self.matches >= self.limit || self.cancel.is_cancelled()
    }

    fn write_line(&mut self, separator: char, number: Option<u64>, line: &[u8]) {
        let is_truncated = line.len() > MAX_LINE_BYTES;
        let line = String::from_utf8_lossy(line.get(..MAX_LINE_BYTES).unwrap_or(line));
        let note = if is_truncated { " [line truncated]" } else { "" };
        let _ = writeln!(
            self.output,
            "{}{separator}{}{separator}{}{note}",
            self.file,
            number.unwrap_or(0),
            line.trim_end_matches(['\n', '\r'])
        );
    }
}

impl Sink for &mut Found<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.matches += 1;
        self.write_line(':', found.line_number(), found.bytes());
        Ok(!self.is_done())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.write_line('-', context.line_number(), context.bytes());
        Ok(true)
    }
}
