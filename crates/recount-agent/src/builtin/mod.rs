//! The built-in tools: files, search, shell and web.
//!
//! All of them operate in a [`Workspace`]. Reading in its directories needs no permission, changes do. Long output is
//! truncated and offloaded to a file that the model can read.
//!
//! ```no_run
//! use recount_agent::builtin::{self, Workspace};
//! use recount_agent::tool::Toolkit;
//!
//! let workspace = Workspace::new("/home/me/project")?;
//! let mut toolkit = Toolkit::new();
//! for tool in builtin::all(workspace) {
//!     toolkit = toolkit.with_shared(tool)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod edit;
mod fetch;
mod file_rules;
mod file_tool;
mod files;
mod glob;
mod grep;
mod html;
mod offloaded;
mod process;
mod read;
mod shell;
mod shell_access;
mod workspace;
mod write;

use std::sync::Arc;

use recount_message::{Json, Object};
use serde::de::DeserializeOwned;

pub use fetch::Fetch;
pub use file_tool::FileTool;
pub use shell::Shell;
pub use workspace::Workspace;

use crate::tool::{Tool, ToolError};

/// Creates all built-in tools for one workspace.
pub fn all(workspace: Workspace) -> Vec<Arc<dyn Tool>> {
    let workspace = Arc::new(workspace);
    vec![
        Arc::new(FileTool::read(workspace.clone())),
        Arc::new(FileTool::write(workspace.clone())),
        Arc::new(FileTool::edit(workspace.clone())),
        Arc::new(FileTool::glob(workspace.clone())),
        Arc::new(FileTool::grep(workspace.clone())),
        Arc::new(Shell::new(workspace.clone())),
        Arc::new(Fetch::new(workspace)),
    ]
}

/// Deserializes arguments.
fn deserialize<T: DeserializeOwned>(arguments: Object) -> Result<T, ToolError> {
    Ok(Json::from(arguments).deserialize_as()?)
}

/// Returns a string argument. `None` if it is missing or not a string.
fn text(arguments: &Object, name: &str) -> Option<String> {
    arguments.get(name).and_then(Json::as_str).map(str::to_owned)
}

/// Runs blocking work, such as disk access, on a thread for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await?
}
