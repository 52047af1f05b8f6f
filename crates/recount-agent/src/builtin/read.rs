//! Reading a file.

use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek};
use std::path::Path;
use std::sync::Arc;

use recount_message::DataBlock;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::file_tool::{Access, FileTool};
use super::files::{Stamp, failed, open_file};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// The first line to read, counted from 1. Left out, it begins at the beginning.
    #[serde(default)]
    offset: Option<usize>,
    /// How many lines to read at most, 2000 if left out.
    #[serde(default)]
    limit: Option<usize>,
}

const LINES: usize = 2_000;
/// The rest of a longer line is left out.
const LINE_BYTES: usize = 2_000;
const LARGEST_IMAGE: u64 = 10 << 20;

impl FileTool {
    /// Reads a file: text with line numbers, or an image.
    pub fn read(workspace: Arc<Workspace>) -> Self {
        let description = "Reads a file. Text comes with line numbers, 2000 lines at a time; images are shown. \
                           Use `offset` and `limit` for a part of a long file.";
        Self::new(ToolSpec::new("read", description), workspace, Access::Reads, read)
    }
}

fn read(workspace: &Workspace, arguments: &Arguments, cancel: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let target = workspace.target(&arguments.path)?;
    let mut file = open_file(&target).map_err(|error| failed(workspace, &target, &error))?;
    let stamp = Stamp::of(&file)?;
    let mut start = Vec::new();
    file.by_ref().take(8_192).read_to_end(&mut start)?;
    file.rewind()?;
    if let Some(image) = image(&mut file, &start, &target)? {
        workspace.note_seen(&target, stamp);
        return Ok(ToolOutput::new(image));
    }
    if start.contains(&0) {
        let bytes = file.metadata()?.len();
        let shown = workspace.shown(&target);
        let message = format!("`{shown}` is no text ({bytes} bytes): use `shell` with `file` or `od` to look into it");
        return Err(ToolError::new(message));
    }
    let text = lines(workspace, file, arguments, cancel)?;
    workspace.note_seen(&target, stamp);
    Ok(ToolOutput::new(text))
}

/// The file as an image, if it is one.
fn image(file: &mut File, start: &[u8], target: &Path) -> Result<Option<DataBlock>, ToolError> {
    if !DataBlock::from_bytes(start).is_image() {
        return Ok(None);
    }
    let length = file.metadata()?.len();
    if length > LARGEST_IMAGE {
        let message =
            format!("the image has {length} bytes, and at most {LARGEST_IMAGE} can be shown: make it smaller first");
        return Err(ToolError::new(message));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_IMAGE).read_to_end(&mut bytes)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    Ok(Some(DataBlock::from_bytes(bytes).with_name(name)))
}

fn lines(
    workspace: &Workspace,
    file: File,
    arguments: &Arguments,
    cancel: &CancellationToken,
) -> Result<String, ToolError> {
    let first = arguments.offset.unwrap_or(1).max(1);
    let last = first.saturating_add(arguments.limit.unwrap_or(LINES).clamp(1, LINES)) - 1;
    let mut reader = BufReader::new(file);
    let mut shown = String::new();
    let mut number = 0_usize;
    loop {
        if number.is_multiple_of(1_024) && cancel.is_cancelled() {
            return Err(ToolError::new("interrupted"));
        }
        let Some((line, left_out)) = next_line(&mut reader)? else { break };
        number += 1;
        if number < first {
            continue;
        }
        if number > last || shown.len() + line.len() > workspace.shown_bytes() {
            let _ = write!(shown, "[there is more: go on with `offset` {number}]");
            return Ok(shown);
        }
        let line = String::from_utf8_lossy(&line);
        let _ = write!(shown, "{number:>6}\t{line}");
        let _ = if left_out > 0 { writeln!(shown, " [{left_out} more bytes in this line]") } else { writeln!(shown) };
    }
    match (number, shown.is_empty()) {
        (0, _) => Ok("[the file is empty]".to_owned()),
        (_, true) => Err(ToolError::new(format!("the file has only {number} lines: use a smaller `offset`"))),
        (_, false) => Ok(shown),
    }
}

/// A line without its end, and how much of it was left out.
fn next_line(reader: &mut impl BufRead) -> std::io::Result<Option<(Vec<u8>, usize)>> {
    let mut line = Vec::new();
    let mut left_out = 0;
    let mut any = false;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let piece = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        let kept = piece.len().min(LINE_BYTES.saturating_sub(line.len()));
        line.extend_from_slice(piece.get(..kept).unwrap_or_default());
        left_out += piece.len() - kept;
        let used = end.map_or(chunk.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') && left_out == 0 {
        line.pop();
    }
    Ok(any.then_some((line, left_out)))
}
