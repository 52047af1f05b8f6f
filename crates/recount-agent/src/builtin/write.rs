//! Writing a file.

use std::sync::Arc;

use recount_message::{Object, PermissionBehavior, PermissionRule};
use schemars::JsonSchema;
use serde::Deserialize;

use super::files::{Stamp, failed, open_file, replace};
use super::{Workspace, blocking, file_rules, taken};
use crate::BoxFuture;
use crate::permission::{Coverage, Opinion, Surroundings};
use crate::tool::derive::schema_of;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// Writes a whole file.
#[derive(Debug)]
pub struct Write {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The file, absolute or relative to the working directory. Directories that are missing are made.
    path: String,
    /// All that shall be in the file.
    content: String,
}

impl Write {
    /// The tool on a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let description = "Writes a file, or replaces all of it. A file that is there has to be read first. \
                           To change a part of a file, use `edit`.";
        let spec = ToolSpec::new("write", description).parameters(schema_of::<Arguments>());
        Self { spec: spec.idempotent(), workspace }
    }
}

impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let workspace = self.workspace.clone();
        Box::pin(async move {
            let arguments: Arguments = taken(arguments)?;
            blocking(move || write(&workspace, &arguments)).await
        })
    }

    fn opinion<'a>(&'a self, arguments: &'a Object, surroundings: &'a Surroundings) -> BoxFuture<'a, Opinion> {
        Box::pin(async { file_rules::opinion_of_changing(&self.workspace, arguments, surroundings) })
    }

    fn is_covered(&self, contents: &[&str], behavior: PermissionBehavior, arguments: &Object) -> Coverage {
        file_rules::covered(&self.workspace, contents, behavior, arguments)
    }

    fn suggested_rules(&self, arguments: &Object) -> Vec<PermissionRule> {
        file_rules::suggested(&self.workspace, &self.spec.name, arguments)
    }
}

fn write(workspace: &Workspace, arguments: &Arguments) -> Result<ToolOutput, ToolError> {
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
