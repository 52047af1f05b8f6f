//! The common part of the file tools: permissions, rules and cancellation.

use std::sync::Arc;
use std::time::Duration;

use recount_message::{Object, PermissionBehavior, PermissionRule};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::{Workspace, blocking, deserialize, file_rules};
use crate::BoxFuture;
use crate::permission::{Coverage, PermissionContext, ToolPermission, contents};
use crate::tool::derive::schema_of;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// A tool that works on files: [`read`](Self::read), [`write`](Self::write), [`edit`](Self::edit), [`glob`](Self::glob) or
/// [`grep`](Self::grep).
///
/// Reading in the workspace needs no permission. Otherwise the user is asked, unless a rule allows the call.
pub struct FileTool {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    access: FileAccess,
    work: Box<Work>,
    timeout: Duration,
}

/// The timeout of reading tools. A search in a large directory could run for a long time.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

type Work = dyn Fn(Arc<Workspace>, Object, CancellationToken) -> BoxFuture<'static, Result<ToolOutput, ToolError>>
    + Send
    + Sync;

/// Whether a tool reads or changes files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAccess {
    Read,
    Change,
}

impl FileTool {
    /// Creates a tool from a blocking function of its arguments.
    pub(super) fn new<A: DeserializeOwned + JsonSchema + Send + 'static>(
        spec: ToolSpec,
        workspace: Arc<Workspace>,
        access: FileAccess,
        work: fn(&Workspace, &A, &CancellationToken) -> Result<ToolOutput, ToolError>,
    ) -> Self {
        let spec = spec.parameters(schema_of::<A>());
        let spec = match access {
            FileAccess::Read => spec.read_only().idempotent().concurrency_safe(),
            FileAccess::Change => spec,
        };
        let work = move |workspace: Arc<Workspace>, arguments: Object, cancel: CancellationToken| {
            let done = async move {
                let arguments: A = deserialize(arguments)?;
                blocking(move || work(&workspace, &arguments, &cancel)).await
            };
            Box::pin(done) as BoxFuture<'static, Result<ToolOutput, ToolError>>
        };
        Self { spec, workspace, access, work: Box::new(work), timeout: READ_TIMEOUT }
    }
}

impl Tool for FileTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let stop = context.cancelled().child_token();
        let work = (self.work)(Arc::clone(&self.workspace), arguments, stop.clone());
        match self.access {
            // A change is never aborted halfway.
            FileAccess::Change => work,
            FileAccess::Read => Box::pin(async move {
                tokio::time::timeout(self.timeout, work).await.unwrap_or_else(|_| {
                    stop.cancel();
                    let timeout = self.timeout;
                    Err(ToolError::new(format!("timed out after {timeout:?}: use a narrower `path` or pattern")))
                })
            }),
        }
    }

    fn is_read_only(&self, arguments: &Object, _: &PermissionContext) -> bool {
        match self.access {
            FileAccess::Read => file_rules::reads_inside(&self.workspace, arguments),
            FileAccess::Change => false,
        }
    }

    fn check_permission<'a>(
        &'a self,
        arguments: &'a Object,
        context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        let check = match self.access {
            FileAccess::Read => file_rules::permission_to_read,
            FileAccess::Change => file_rules::permission_to_change,
        };
        Box::pin(async move { check(&self.workspace, arguments, context) })
    }

    fn rule_coverage(&self, rules: &[&PermissionRule], behavior: PermissionBehavior, arguments: &Object) -> Coverage {
        contents(rules)
            .map_or(Coverage::Yes, |contents| file_rules::coverage(&self.workspace, &contents, behavior, arguments))
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::tool::{CallIds, NoArguments};

    /// Runs until it is cancelled.
    fn endless(_: &Workspace, _: &NoArguments, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        while !stop.is_cancelled() {
            std::thread::yield_now();
        }
        Err(ToolError::new("stopped"))
    }

    #[tokio::test]
    async fn reading_tool_times_out() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Arc::new(Workspace::new(directory.path()).unwrap());
        let mut tool = FileTool::new(ToolSpec::new("look", "Looks."), workspace, FileAccess::Read, endless);
        tool.timeout = Duration::from_millis(10);
        let (sender, _receiver) = mpsc::channel(1);
        let context = ToolContext::new(CallIds::new("s1", "r1", "c1"), "Friday", sender, CancellationToken::new());
        // The runtime waits for its blocking threads, so this test also covers the end of the thread.
        let error = tool.run(Object::new(), &context).await.unwrap_err().to_string();
        assert_eq!(error, "timed out after 10ms: use a narrower `path` or pattern");
    }
}
