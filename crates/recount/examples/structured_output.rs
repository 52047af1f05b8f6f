//! Structured data in messages: structured output and metadata.
//!
//! ```text
//! cargo run -p recount --example structured_output
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::{Fold, Json, Msg, Object, ReplyEnd, ReplyWriter, Stamps};
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct TaskPlan {
    goal: String,
    steps: Vec<String>,
    estimated_hours: u32,
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}

pub(crate) fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let plan = TaskPlan {
        goal: "Release version 1".to_owned(),
        steps: ["test", "tag", "publish"].map(str::to_owned).into(),
        estimated_hours: 3,
    };

    // The output is sent with the end of the reply, so every reader has it.
    let mut fold = Fold::new();
    let sink = |event| assert_eq!(fold.apply(&event).reason(), None);
    let mut reply = ReplyWriter::start(sink, Stamps::repeatable(), "session-1", "Planner");
    reply.text("Here is the plan.");
    let output = Json::from_serialize(&plan)?.to_object().unwrap_or_default();
    reply.end(ReplyEnd::completed().with_structured_output(output));

    let message = fold.into_messages().next().ok_or("a reply has begun")?;
    if message.has_structured() {
        let plan: TaskPlan = message.structured()?;
        writeln!(out, "Goal: {}", plan.goal)?;
        writeln!(out, "Steps: {}", plan.steps.join(", "))?;
        writeln!(out, "Hours: {}", plan.estimated_hours)?;
    }

    // Errors name the path.
    let wrong = Msg::assistant("Planner", "").with_structured_output(Object::parse(r#"{"goal": 1}"#)?);
    if let Err(error) = wrong.structured::<TaskPlan>() {
        writeln!(out, "Error: {error}")?;
    }

    // Without structured output, `structured` deserializes the metadata.
    let message = Msg::assistant("Assistant", "Task completed").with_metadata([
        ("task_id", Json::from("12345")),
        ("priority", Json::from(3)),
        ("tags", Json::from(["important", "urgent"])),
    ]);
    if message.has_structured() {
        writeln!(out, "Metadata: {}", message.metadata().to_json())?;
    }
    Ok(())
}
