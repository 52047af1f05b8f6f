//! Finding text in files.

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
use super::file_tool::{Access, FileTool};
use super::files::{failed, open_file};
use super::glob::{is_file, matcher, walk};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The regular expression, in the syntax of ripgrep.
    pattern: String,
    /// The file or directory to look in, the working directory if left out.
    #[serde(default)]
    path: Option<String>,
    /// Only files whose names have this form, such as `*.rs`.
    #[serde(default)]
    glob: Option<String>,
    /// Upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
    /// How many lines around each match to show.
    #[serde(default)]
    context: usize,
    /// How many matches to show at most, 200 if left out.
    #[serde(default)]
    limit: Option<usize>,
}

const MATCHES: usize = 200;
const LINE_BYTES: usize = 500;

impl FileTool {
    /// Finds text in files by a regular expression.
    pub fn grep(workspace: Arc<Workspace>) -> Self {
        let description = "Finds text in files by a regular expression. A match is shown as `file:line:text`. \
                           Binary files and what Git ignores are left out.";
        Self::new(ToolSpec::new("grep", description), workspace, Access::Reads, grep)
    }
}

fn grep(workspace: &Workspace, arguments: &Arguments, cancel: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let target = workspace.target(arguments.path.as_deref().unwrap_or_default())?;
    let expression = RegexMatcherBuilder::new()
        .case_insensitive(arguments.ignore_case)
        .line_terminator(Some(b'\n'))
        .size_limit(10 << 20)
        .build(&arguments.pattern)
        .map_err(|error| ToolError::new(format!("the pattern is no regular expression: {error}")))?;
    let wanted = arguments.glob.as_deref().map(matcher).transpose()?;
    let mut found = Found {
        workspace,
        cancel,
        file: String::new(),
        shown: String::new(),
        matches: 0,
        most: arguments.limit.unwrap_or(MATCHES).clamp(1, MATCHES),
    };
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_terminator(LineTerminator::byte(b'\n'))
        .line_number(true)
        .before_context(arguments.context.min(20))
        .after_context(arguments.context.min(20))
        // A line that never ends is not read into memory.
        .heap_limit(Some(16 << 20))
        .build();
    if target.is_dir() {
        for entry in walk(workspace, &target).filter(is_file) {
            let relative = entry.path().strip_prefix(&target).unwrap_or(entry.path());
            if wanted.as_ref().is_none_or(|wanted| wanted(relative)) {
                // A file that went away or may not be read is none of those that were asked for.
                let _ = found.look(&mut searcher, &expression, entry.path());
            }
            if found.is_done() {
                break;
            }
        }
    } else {
        found.look(&mut searcher, &expression, &target).map_err(|error| failed(workspace, &target, &error))?;
    }
    if cancel.is_cancelled() {
        return Err(ToolError::new("interrupted"));
    }
    let mut answer = found.shown;
    if answer.is_empty() {
        answer = format!("nothing in `{}` matches `{}`", workspace.shown(&target), arguments.pattern);
    } else if found.matches >= found.most {
        answer.push_str("[there may be more: use a narrower pattern, `glob` or `path`]");
    }
    Ok(ToolOutput::new(workspace.shorten("grep", answer)?))
}

/// What was found so far.
struct Found<'a> {
    workspace: &'a Workspace,
    cancel: &'a CancellationToken,
    file: String,
    shown: String,
    matches: usize,
    most: usize,
}

impl Found<'_> {
    fn look(&mut self, searcher: &mut Searcher, expression: &RegexMatcher, path: &Path) -> std::io::Result<()> {
        self.file = self.workspace.shown(path);
        searcher.search_file(expression, &open_file(path)?, self)
    }

    fn is_done(&self) -> bool {
        self.matches >= self.most || self.cancel.is_cancelled()
    }

    fn show(&mut self, mark: char, number: Option<u64>, line: &[u8]) {
        let cut = line.len() > LINE_BYTES;
        let line = String::from_utf8_lossy(line.get(..LINE_BYTES).unwrap_or(line));
        let more = if cut { " [line cut]" } else { "" };
        let _ = writeln!(
            self.shown,
            "{}{mark}{}{mark}{}{more}",
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
        self.show(':', found.line_number(), found.bytes());
        Ok(!self.is_done())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.show('-', context.line_number(), context.bytes());
        Ok(true)
    }
}
