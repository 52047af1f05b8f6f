//! A workspace for tests.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use recount_agent::builtin::{self, Workspace};
use recount_agent::permission::{Decision, Permissions};
use recount_agent::tool::{CallIds, Tool, ToolContext, ToolError, ToolEvent, ToolOutput};
use recount_message::{MediaBlock, Object, ToolResultState};
use recount_testkit::sandbox::confinement;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A directory with a workspace, `work`, and a directory outside of it, `outside`.
pub(crate) struct Bench {
    directory: TempDir,
    tools: Vec<Arc<dyn Tool>>,
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) struct Called {
    /// The streamed output.
    pub(crate) streamed: String,
    /// The returned output or error.
    pub(crate) result: Result<ToolOutput, ToolError>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|workspace| workspace)
    }

    pub(crate) fn with(change: impl FnOnce(Workspace) -> Workspace) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("work")).unwrap();
        fs::create_dir(directory.path().join("outside")).unwrap();
        let workspace = Workspace::new(directory.path().join("work")).unwrap().confine(confinement());
        let tools = builtin::all(change(workspace));
        Self { directory, tools }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.directory.path()).unwrap().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path("work").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path("work").join(name)).unwrap()
    }

    pub(crate) fn tool(&self, name: &str) -> &dyn Tool {
        &**self.tools.iter().find(|tool| tool.spec().name == name).unwrap()
    }

    pub(crate) async fn call(&self, name: &str, arguments: &str) -> Called {
        call(self.tool(name), arguments, CancellationToken::new()).await
    }

    /// Calls a tool that must succeed, and returns its complete output as text.
    pub(crate) async fn text(&self, name: &str, arguments: &str) -> String {
        let called = self.call(name, arguments).await;
        let output = called.result.unwrap_or_else(|error| unreachable!("{name} {arguments}: {error}"));
        assert_eq!(output.state(), ToolResultState::Success, "{output:?}");
        format!("{}{}", called.streamed, shown(&output))
    }

    pub(crate) async fn error(&self, name: &str, arguments: &str) -> String {
        self.call(name, arguments).await.result.unwrap_err().to_string()
    }

    pub(crate) async fn decide(&self, permissions: &Permissions, name: &str, arguments: &str) -> Decision {
        permissions.decide(self.tool(name), &Object::parse(arguments).unwrap()).await
    }
}

/// Calls a tool and collects its streamed output.
pub(crate) async fn call(tool: &dyn Tool, arguments: &str, cancel: CancellationToken) -> Called {
    let (sender, mut receiver) = mpsc::channel(4);
    let context = ToolContext::new(CallIds::new("s1", "r1", "c1"), "Friday", sender, cancel);
    let arguments = Object::parse(arguments).unwrap();
    let run = async {
        let result = tool.run(arguments, &context).await;
        drop(context);
        result
    };
    let receive = async {
        let mut streamed = String::new();
        while let Some((_, event)) = receiver.recv().await {
            if let ToolEvent::Text(text) = event {
                streamed.push_str(&text);
            }
        }
        streamed
    };
    let (result, streamed) = tokio::join!(run, receive);
    Called { streamed, result }
}

pub(crate) fn shown(output: &ToolOutput) -> String {
    let text = |block: &MediaBlock| match block {
        MediaBlock::Text(text) => text.text.clone(),
        MediaBlock::Data(data) => format!("<{}>", data.media_type()),
        other => format!("{other:?}"),
    };
    output.content.text().unwrap_or_else(|| output.content.blocks().iter().map(text).collect())
}
