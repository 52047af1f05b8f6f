//! Test tools and functions to run them.

use recount_agent::tool::{
    CallIds, CompiledTool, FunctionTool, Tool, ToolContext, ToolError, ToolEvent, ToolOutput, ToolSpec,
};
use recount_message::{Json, Object};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Creates a tool that returns its arguments.
pub(crate) fn echo(schema: &str) -> CompiledTool {
    let spec = ToolSpec::new("echo", "Returns its arguments.").parameters(Json::parse(schema).unwrap());
    CompiledTool::new(FunctionTool::dynamic(spec, |arguments, _| async move { Ok(arguments) })).unwrap()
}

pub(crate) fn context() -> (ToolContext, mpsc::Receiver<(String, ToolEvent)>) {
    let (sender, receiver) = mpsc::channel(16);
    (ToolContext::new(CallIds::new("s1", "r1", "c1"), "Friday", sender, CancellationToken::new()), receiver)
}

pub(crate) async fn run(tool: &dyn Tool, arguments: &str) -> Result<ToolOutput, ToolError> {
    let (context, _receiver) = context();
    tool.run(Object::parse(arguments).unwrap(), &context).await
}

pub(crate) fn text(output: &ToolOutput) -> String {
    output.content.text().unwrap_or_default()
}
