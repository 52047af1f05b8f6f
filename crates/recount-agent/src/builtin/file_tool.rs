//! The tools that work on files. They differ in what they do, and share whom they ask and which rules are about them.

use std::sync::Arc;
use std::time::Duration;

use recount_message::{Object, PermissionBehavior, PermissionRule};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{Workspace, blocking, file_rules, taken};
use crate::BoxFuture;
use crate::permission::{Coverage, PermissionContext, ToolPermission, contents};
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
    longest: Duration,
}

/// So long one may look. A directory can have more in it than anybody wants to wait for.
const LONGEST: Duration = Duration::from_secs(60);

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
        Self { spec, workspace, access, work: Box::new(work), longest: LONGEST }
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
            // What was begun is done: nobody could tell how far it came.
            Access::Changes => work,
            Access::Reads => Box::pin(async move {
                timeout(self.longest, work).await.unwrap_or_else(|_| {
                    stop.cancel();
                    let longest = self.longest;
                    Err(ToolError::new(format!("it took longer than {longest:?}: use a narrower `path` or pattern")))
                })
            }),
        }
    }

    fn is_read_only(&self, arguments: &Object, _: &PermissionContext) -> bool {
        match self.access {
            Access::Reads => file_rules::reads_inside(&self.workspace, arguments),
            Access::Changes => false,
        }
    }

    fn check_permission<'a>(
        &'a self,
        arguments: &'a Object,
        context: &'a PermissionContext,
    ) -> BoxFuture<'a, ToolPermission> {
        let check = match self.access {
            Access::Reads => file_rules::permission_to_read,
            Access::Changes => file_rules::permission_to_change,
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

    /// Looks on until it is told to stop.
    fn endless(_: &Workspace, _: &NoArguments, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        while !stop.is_cancelled() {
            std::thread::yield_now();
        }
        Err(ToolError::new("stopped"))
    }

    #[tokio::test]
    async fn looking_comes_to_an_end() {
        let directory = tempfile::tempdir().unwrap();
        let workspace = Arc::new(Workspace::new(directory.path()).unwrap());
        let mut tool = FileTool::new(ToolSpec::new("look", "Looks."), workspace, Access::Reads, endless);
        tool.longest = Duration::from_millis(10);
        let (says, _said) = mpsc::channel(1);
        let context = ToolContext::new(CallIds::new("s1", "r1", "c1"), "Friday", says, CancellationToken::new());
        // The runtime waits for the thread that looks, so this ends only if that one does.
        let error = tool.run(Object::new(), &context).await.unwrap_err().to_string();
        assert_eq!(error, "it took longer than 10ms: use a narrower `path` or pattern");
    }
}
