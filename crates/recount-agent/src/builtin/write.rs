//! The tool `write`.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::file_tool::{FileAccess, FileTool};
use super::files::{FileVersion, failed, open_file, replace};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The file, absolute or relative to the working directory. Missing directories are created.
    path: String,
    /// The complete new content of the file.
    content: String,
}

impl FileTool {
    /// Creates the tool that writes a whole file.
    pub fn write(workspace: Arc<Workspace>) -> Self {
        let description = "Creates a file, or replaces its complete content. An existing file must be read first. \
                           To change a part of a file, use `edit`.";
        Self::new(ToolSpec::new("write", description).idempotent(), workspace, FileAccess::Change, write)
    }
}

fn write(workspace: &Workspace, arguments: &Arguments, _: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let target = workspace.resolve_recorded(&arguments.path)?;
    let shown = workspace.display(&target);
    let old = match open_file(&target) {
        Ok(file) => Some(FileVersion::of(&file)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(workspace, &target, &error)),
    };
    match (old, workspace.seen_version(&target)) {
        (Some(_), None) => {
            let message = format!("`{shown}` already exists: `read` it before you replace it");
            return Err(ToolError::new(message));
        }
        (Some(now), Some(then)) if now != then => {
            return Err(ToolError::new(format!("`{shown}` was changed since you read it: `read` it again")));
        }
        (Some(_), Some(_)) | (None, _) => {}
    }
    let stamp = replace(&target, arguments.content.as_bytes()).map_err(|error| failed(workspace, &target, &error))?;
    workspace.record_seen(&target, stamp);
    let action = if old.is_some() { "replaced" } else { "created" };
    Ok(ToolOutput::new(format!("{action} `{shown}`: {} bytes", arguments.content.len())))
}
