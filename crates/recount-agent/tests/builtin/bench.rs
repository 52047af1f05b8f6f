//! A workspace to try tools in.

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

/// A directory with a workspace in it, and a place outside of that.
pub(crate) struct Bench {
    directory: TempDir,
    tools: Vec<Arc<dyn Tool>>,
}

/// What a call came to.
#[derive(Debug)]
pub(crate) struct Called {
    /// What it said while it ran.
    pub(crate) said: String,
    /// What it returned, or its error.
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

    /// The text that came of a call that went well.
    pub(crate) async fn text(&self, name: &str, arguments: &str) -> String {
        let called = self.call(name, arguments).await;
        let output = called.result.unwrap_or_else(|error| unreachable!("{name} {arguments}: {error}"));
        assert_eq!(output.state(), ToolResultState::Success, "{output:?}");
        format!("{}{}", called.said, shown(&output))
    }

    pub(crate) async fn error(&self, name: &str, arguments: &str) -> String {
        self.call(name, arguments).await.result.unwrap_err().to_string()
    }

    pub(crate) async fn decide(&self, permissions: &Permissions, name: &str, arguments: &str) -> Decision {
        permissions.decide(self.tool(name), &Object::parse(arguments).unwrap()).await
    }
}

/// Calls a tool and gathers what it says.
pub(crate) async fn call(tool: &dyn Tool, arguments: &str, cancel: CancellationToken) -> Called {
    let (says, mut saying) = mpsc::channel(4);
    let context = ToolContext::new(CallIds::new("s1", "r1", "c1"), "Friday", says, cancel);
    let arguments = Object::parse(arguments).unwrap();
    let run = async {
        let result = tool.run(arguments, &context).await;
        drop(context);
        result
    };
    let listen = async {
        let mut said = String::new();
        while let Some((_, says)) = saying.recv().await {
            if let ToolEvent::Text(text) = says {
                said.push_str(&text);
            }
        }
        said
    };
    let (result, said) = tokio::join!(run, listen);
    Called { said, result }
}

pub(crate) fn shown(output: &ToolOutput) -> String {
    let text = |block: &MediaBlock| match block {
        MediaBlock::Text(text) => text.text.clone(),
        MediaBlock::Data(data) => format!("<{}>", data.media_type()),
        other => format!("{other:?}"),
    };
    output.content.text().unwrap_or_else(|| output.content.blocks().iter().map(text).collect())
}
