//! Writing a file.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::Workspace;
use super::file_tool::{Access, FileTool};
use super::files::{Stamp, failed, open_file, replace};
use crate::tool::{ToolError, ToolOutput, ToolSpec};

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The file, absolute or relative to the working directory. Directories that are missing are made.
    path: String,
    /// All that shall be in the file.
    content: String,
}

impl FileTool {
    /// Writes a whole file.
    pub fn write(workspace: Arc<Workspace>) -> Self {
        let description = "Writes a file, or replaces all of it. A file that is there has to be read first. \
                           To change a part of a file, use `edit`.";
        Self::new(ToolSpec::new("write", description).idempotent(), workspace, Access::Changes, write)
    }
}

fn write(workspace: &Workspace, arguments: &Arguments, _: &CancellationToken) -> Result<ToolOutput, ToolError> {
    let target = workspace.target(&arguments.path)?;
    let shown = workspace.shown(&target);
    let old = match open_file(&target) {
        Ok(file) => Some(Stamp::of(&file)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(workspace, &target, &error)),
    };
    match (old, workspace.seen(&target)) {
        (Some(_), None) => {
            let message = format!("`{shown}` is there already: `read` it first, so that nothing in it is lost unseen");
            return Err(ToolError::new(message));
        }
        (Some(now), Some(then)) if now != then => {
            return Err(ToolError::new(format!("`{shown}` was changed since you read it: `read` it again")));
        }
        (Some(_), Some(_)) | (None, _) => {}
    }
    let stamp = replace(&target, arguments.content.as_bytes()).map_err(|error| failed(workspace, &target, &error))?;
    workspace.note_seen(&target, stamp);
    let did = if old.is_some() { "replaced" } else { "written" };
    Ok(ToolOutput::new(format!("{did} `{shown}`: {} bytes", arguments.content.len())))
}
