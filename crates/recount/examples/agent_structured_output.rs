//! An agent whose reply is deserialized as a Rust type.
//!
//! ```text
//! cargo run -p recount --features agent --example agent_structured_output
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::agent::Agent;
use recount::agent::scripted::ScriptedModel;
use recount::agent::tool::STRUCTURED_OUTPUT;
use schemars::JsonSchema;
use serde::Deserialize;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock()).await
}

/// A plan. Its schema is sent to the model, and validation errors are sent back.
#[derive(Deserialize, JsonSchema)]
struct TaskPlan {
    /// The goal.
    goal: String,
    /// The steps, in order.
    steps: Vec<String>,
    /// The duration in days.
    days: u32,
}

pub(crate) async fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let model = ScriptedModel::new()
        .says("Let me think of a plan.")
        .then()
        .calls(STRUCTURED_OUTPUT, r#"{"goal": "a shed", "steps": ["draw", "saw", "nail"], "days": "soon"}"#)
        .then()
        .calls(STRUCTURED_OUTPUT, r#"{"goal": "a shed", "steps": ["draw", "saw", "nail"], "days": 3}"#);
    let agent = Agent::builder("Planner").model(model).build()?;

    let plan: TaskPlan = agent.reply_as("How do I build a shed?").await?;
    writeln!(out, "{} in {} days: {}", plan.goal, plan.days, plan.steps.join(", "))?;
    Ok(())
}
