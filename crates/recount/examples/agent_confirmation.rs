//! An agent asks for permission before a dangerous call. Its state is saved while it waits, and another process resumes it.
//!
//! ```text
//! cargo run -p recount --features agent --example agent_confirmation
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::agent::scripted::ScriptedModel;
use recount::agent::tool::FunctionTool;
use recount::agent::{Agent, AgentBuilder, SavedAgent};
use recount::{ConfirmResult, ToolCallBlock, UserConfirmResultEvent};
use schemars::JsonSchema;
use serde::Deserialize;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock()).await
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    /// The file to delete.
    path: String,
}

/// Creates the agent in each process. Tools ask for permission unless a rule allows the call.
fn janitor(model: ScriptedModel) -> AgentBuilder {
    let delete = |delete: Delete| async move { Ok(format!("{} is gone", delete.path)) };
    Agent::builder("Janitor").model(model).tool(FunctionTool::new("delete_file", "Deletes a file.", delete))
}

pub(crate) async fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let model = ScriptedModel::new()
        .calls("delete_file", r#"{"path": "old.log"}"#)
        .calls("delete_file", r#"{"path": "thesis.tex"}"#)
        .then()
        .says("I deleted the log and left your thesis alone.");

    let agent = janitor(model.clone()).build()?;
    let message = agent.reply("Tidy up.").await?;
    let asked: Vec<&ToolCallBlock> = message.blocks().collect();
    writeln!(out, "finished: {}", message.finished_at().is_some())?;
    let file = agent.save()?.to_json();

    // Another process resumes the agent. The calls run one after the other, so their confirmations are requested in order.
    let agent = janitor(model).resume(SavedAgent::from_json(&file)?).build()?;
    let [log, thesis] = asked.as_slice() else { return Err("two calls were expected".into()) };
    let mut message = message.clone();
    for (call, allows) in [(*log, true), (*thesis, false)] {
        let asked = call.clone();
        writeln!(out, "{} {}? {}", call.name, call.input, if allows { "yes" } else { "no" })?;
        let answer = if allows { ConfirmResult::allow(asked) } else { ConfirmResult::deny(asked) };
        message = agent.reply(UserConfirmResultEvent::new(message.id().to_owned(), [answer])).await?;
    }
    for (call, result) in message.tool_pairs() {
        let state = result.map(|result| result.state.to_string()).unwrap_or_default();
        writeln!(out, "{}: {state}", call.input)?;
    }
    writeln!(out, "{}", message.text_or_empty())?;
    Ok(())
}
