//! The tool `read`.

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
use super::file_tool::{FileAccess, FileTool};
use super::files::{FileVersion, failed, open_file};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The file, absolute or relative to the working directory.
    path: String,
    /// The first line to read, counted from 1. Default: 1.
    #[serde(default)]
    offset: Option<usize>,
    /// The maximum number of lines. Default and maximum: 2000.
    #[serde(default)]
    limit: Option<usize>,
}

/// The maximum number of lines in one call.
const MAX_LINES: usize = 2_000;
/// The maximum length of a line in the output, in bytes.
const MAX_LINE_BYTES: usize = 2_000;
/// The maximum size of an image, in bytes.
const MAX_IMAGE_BYTES: u64 = 10 << 20;

impl FileTool {
    /// Creates the tool that reads a file: text with line numbers, or an image.
    pub fn read(workspace: Arc<Workspace>) -> Self {
        let description = "Reads a file. Text is returned with line numbers, up to 2000 lines; images are shown. \
                           Use `offset` and `limit` for a part of a long file.";
        Self::new(ToolSpec::new("read", description), workspace, FileAccess::Read, read)
    }
}

fn read(workspace: &Workspace, arguments: &Arguments, cancel: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let target = workspace.resolve_recorded(&arguments.path)?;
    let mut file = open_file(&target).map_err(|error| failed(workspace, &target, &error))?;
    let stamp = FileVersion::of(&file)?;
    let mut start = Vec::new();
    file.by_ref().take(8_192).read_to_end(&mut start)?;
    file.rewind()?;
    if let Some(image) = image(&mut file, &start, &target)? {
        workspace.record_seen(&target, stamp);
        return Ok(ToolOutput::new(image));
    }
    if start.contains(&0) {
        let bytes = file.metadata()?.len();
        let shown = workspace.display(&target);
        let message = format!("`{shown}` is not text ({bytes} bytes): use `shell` with `file` or `od` to inspect it");
        return Err(ToolError::new(message));
    }
    let text = lines(workspace, file, arguments, cancel)?;
    workspace.record_seen(&target, stamp);
    Ok(ToolOutput::new(text))
}

/// Reads a file as an image. Returns `None` if it is not one.
fn image(file: &mut File, start: &[u8], target: &Path) -> Result<Option<DataBlock>, ToolError> {
    if !DataBlock::from_bytes(start).is_image() {
        return Ok(None);
    }
    let length = file.metadata()?.len();
    if length > MAX_IMAGE_BYTES {
        let message = format!("the image has {length} bytes, the maximum is {MAX_IMAGE_BYTES}: reduce its size first");
        return Err(ToolError::new(message));
    }
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE_BYTES).read_to_end(&mut bytes)?;
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
    let last = first.saturating_add(arguments.limit.unwrap_or(MAX_LINES).clamp(1, MAX_LINES)) - 1;
    let mut reader = BufReader::new(file);
    let mut output = String::new();
    let mut number = 0_usize;
    loop {
        if number.is_multiple_of(1_024) && cancel.is_cancelled() {
            return Err(ToolError::new("interrupted"));
        }
        let Some((line, omitted)) = next_line(&mut reader)? else { break };
        number += 1;
        if number < first {
            continue;
        }
        if number > last || output.len() + line.len() > workspace.output_limit() {
            let _ = write!(output, "[there are more lines: continue with `offset` {number}]");
            return Ok(output);
        }
        let line = String::from_utf8_lossy(&line);
        let _ = write!(output, "{number:>6}\t{line}");
        let _ = if omitted > 0 { writeln!(output, " [{omitted} more bytes in this line]") } else { writeln!(output) };
    }
    match (number, output.is_empty()) {
        (0, _) => Ok("[the file is empty]".to_owned()),
        (_, true) => Err(ToolError::new(format!("the file has only {number} lines: use a smaller `offset`"))),
        (_, false) => Ok(output),
    }
}

/// Reads a line without its end. Returns it with the number of omitted bytes, or `None` at the end of the file.
fn next_line(reader: &mut impl BufRead) -> std::io::Result<Option<(Vec<u8>, usize)>> {
    let mut line = Vec::new();
    let mut omitted = 0;
    let mut any = false;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let piece = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
        let kept = piece.len().min(MAX_LINE_BYTES.saturating_sub(line.len()));
        line.extend_from_slice(piece.get(..kept).unwrap_or_default());
        omitted += piece.len() - kept;
        let used = end.map_or(chunk.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') && omitted == 0 {
        line.pop();
    }
    Ok(any.then_some((line, omitted)))
}
