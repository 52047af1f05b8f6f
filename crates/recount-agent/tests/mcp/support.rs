//! Test servers and functions to call their tools.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use recount_agent::mcp::{McpConfig, McpServer};
use recount_agent::tool::{
    CallIds, CompiledTool, ToolContext, ToolError, ToolEvent, ToolOutput, ToolSource, Toolkit, arguments,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The configuration of the server that misbehaves in a mode.
pub(crate) fn hostile(mode: &[&str]) -> McpConfig {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/hostile.mjs");
    let script = script.to_str().unwrap();
    McpConfig::command("node", [script].into_iter().chain(mode.iter().copied()))
}

/// The script of the published server that covers the whole protocol.
pub(crate) fn everything() -> PathBuf {
    let installed = "../../conformance/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(installed);
    assert!(
        script.exists(),
        "{} does not exist: run `make conformance/mcp/node_modules/installed` first",
        script.display()
    );
    script
}

pub(crate) fn tool(server: &Arc<McpServer>, name: &str) -> CompiledTool {
    let toolkit = Toolkit::new().with_source(server.clone()).unwrap();
    toolkit.find(&format!("{}__{name}", server.name()), &BTreeSet::new()).unwrap()
}

pub(crate) struct Call {
    pub(crate) context: ToolContext,
    pub(crate) events: mpsc::Receiver<(String, ToolEvent)>,
    pub(crate) cancel: CancellationToken,
}

impl Call {
    pub(crate) fn new() -> Self {
        let (sender, events) = mpsc::channel(64);
        let cancel = CancellationToken::new();
        Self {
            context: ToolContext::new(CallIds::new("s1", "r1", "c1"), "Friday", sender, cancel.clone()),
            events,
            cancel,
        }
    }
}

/// Calls a tool with the input of a model.
pub(crate) async fn call(server: &Arc<McpServer>, name: &str, input: &str) -> Result<ToolOutput, ToolError> {
    let tool = tool(server, name);
    let arguments = arguments::parse(input, &tool).unwrap();
    tool.run(arguments.object, &Call::new().context).await
}

pub(crate) async fn text(server: &Arc<McpServer>, name: &str, input: &str) -> String {
    call(server, name, input).await.unwrap().content.text().unwrap()
}

pub(crate) async fn error(server: &Arc<McpServer>, name: &str) -> String {
    call(server, name, "{}").await.unwrap_err().to_string()
}

/// Returns the signals of a call as JSON.
pub(crate) fn signals(events: &mut mpsc::Receiver<(String, ToolEvent)>) -> Vec<String> {
    let mut signals = Vec::new();
    while let Ok((_, event)) = events.try_recv() {
        match event {
            ToolEvent::Signal { name, value } => signals.push(format!("{name} {value}")),
            other => panic!("{other:?}"),
        }
    }
    signals
}
