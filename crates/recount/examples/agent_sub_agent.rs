//! A sub-agent: its events are part of the parent's stream, including its requests for confirmation.
//!
//! ```text
//! cargo run -p recount --features agent --example agent_sub_agent
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::agent::multi_agent::SubAgent;
use recount::agent::scripted::ScriptedModel;
use recount::agent::tool::{FunctionTool, NoArguments};
use recount::agent::{Agent, Input};
use recount::{ConfirmResult, EventKind, UserConfirmResultEvent};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock()).await
}

pub(crate) async fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let thermometer = ScriptedModel::new().calls("measure", "{}").then().says("It has 25 degrees.");
    let gardener = SubAgent::new("gardener", "Knows the garden.", move || {
        let measure = FunctionTool::new("measure", "Goes out and measures.", |_: NoArguments| async { Ok("25") });
        Agent::builder("Gardener").model(thermometer.clone()).tool(measure).runtime_state(None)
    });
    let model = ScriptedModel::new()
        .calls("gardener", r#"{"task": "How warm is it outside?"}"#)
        .then()
        .says("Warm enough for a walk.");
    let agent = Agent::builder("Friday").model(model).tool(gardener).runtime_state(None).build()?;

    let mut next: Option<Input> = Some("Can I go out?".into());
    while let Some(input) = next.take() {
        let mut stream = agent.reply_stream(input)?;
        while let Some(event) = stream.next().await {
            match &event.kind {
                EventKind::ReplyStart(start) => {
                    let parent = event.carried("parent").is_some();
                    writeln!(out, "{} begins{}", start.name, if parent { ", for the one before" } else { "" })?;
                }
                EventKind::RequireUserConfirm(asked) => {
                    for call in &asked.tool_calls {
                        writeln!(out, "{}? yes", call.name)?;
                    }
                    // The answer names the waiting reply, which may be the sub-agent's.
                    let answers = asked.tool_calls.iter().cloned().map(ConfirmResult::allow);
                    next = Some(UserConfirmResultEvent::new(asked.reply_id.to_string(), answers).into());
                }
                EventKind::TextBlockDelta(text) => writeln!(out, "\"{}\"", text.delta)?,
                EventKind::ReplyEnd(end) => writeln!(out, "{}", end.finished_reason)?,
                _ => {}
            }
        }
    }
    Ok(())
}
