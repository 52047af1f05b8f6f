//! The tools that work on files. They differ in what they do, and share whom they ask and which rules are about them.

use std::sync::Arc;

use recount_message::{Object, PermissionBehavior, PermissionRule};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::{Workspace, blocking, file_rules, taken};
use crate::BoxFuture;
use crate::permission::{Coverage, Opinion, Surroundings};
use crate::tool::derive::schema_of;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// A tool that works on files: [`read`](Self::read), [`write`](Self::write), [`edit`](Self::edit), [`glob`](Self::glob) or
/// [`grep`](Self::grep).
///
/// What lies in the workspace is read without a question. Everything else is asked, unless a rule allows it.
pub struct FileTool {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    access: Access,
    work: Box<Work>,
}

type Work = dyn Fn(Arc<Workspace>, Object, CancellationToken) -> BoxFuture<'static, Result<ToolOutput, ToolError>>
    + Send
    + Sync;

/// What a tool does to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Reads,
    Changes,
}

impl FileTool {
    /// A tool whose arguments are of a type, and which may wait for the disk.
    pub(super) fn new<A: DeserializeOwned + JsonSchema + Send + 'static>(
        spec: ToolSpec,
        workspace: Arc<Workspace>,
        access: Access,
        work: fn(&Workspace, &A, &CancellationToken) -> Result<ToolOutput, ToolError>,
    ) -> Self {
        let spec = spec.parameters(schema_of::<A>());
        let spec = match access {
            Access::Reads => spec.read_only().idempotent().concurrency_safe(),
            Access::Changes => spec,
        };
        let work = move |workspace: Arc<Workspace>, arguments: Object, cancel: CancellationToken| {
            let done = async move {
                let arguments: A = taken(arguments)?;
                blocking(move || work(&workspace, &arguments, &cancel)).await
            };
            Box::pin(done) as BoxFuture<'static, Result<ToolOutput, ToolError>>
        };
        Self { spec, workspace, access, work: Box::new(work) }
    }
}

impl Tool for FileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        (self.work)(Arc::clone(&self.workspace), arguments, context.cancelled().clone())
    }

    fn is_read_only(&self, arguments: &Object) -> bool {
        match self.access {
            Access::Reads => file_rules::reads_inside(&self.workspace, arguments),
            Access::Changes => false,
        }
    }

    fn opinion<'a>(&'a self, arguments: &'a Object, surroundings: &'a Surroundings) -> BoxFuture<'a, Opinion> {
        let opinion = match self.access {
            Access::Reads => file_rules::opinion_of_reading,
            Access::Changes => file_rules::opinion_of_changing,
        };
        Box::pin(async move { opinion(&self.workspace, arguments, surroundings) })
    }

    fn is_covered(&self, contents: &[&str], behavior: PermissionBehavior, arguments: &Object) -> Coverage {
        file_rules::covered(&self.workspace, contents, behavior, arguments)
    }

    fn suggested_rules(&self, arguments: &Object) -> Vec<PermissionRule> {
        file_rules::suggested(&self.workspace, &self.spec.name, arguments)
    }
}

impl std::fmt::Debug for FileTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileTool")
            .field("name", &self.spec.name)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}
