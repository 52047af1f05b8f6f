//! An agent whose answer is a Rust type.
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

/// A plan. The model is shown its schema, and what does not fit is given back to it.
#[derive(Deserialize, JsonSchema)]
struct TaskPlan {
    /// What shall be reached.
    goal: String,
    /// What is to be done, in this order.
    steps: Vec<String>,
    /// Days that it will take.
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
