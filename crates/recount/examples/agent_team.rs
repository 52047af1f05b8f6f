//! Two agents in one conversation. Each receives the messages of the other, with the name of the sender.
//!
//! ```text
//! cargo run -p recount --features agent --example agent_team
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::agent::Agent;
use recount::agent::scripted::ScriptedModel;
use recount::{HintBlock, Msg};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock()).await
}

pub(crate) async fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let of_a = ScriptedModel::new().says("I think we should rewrite it.").then().says("Tests first, then.");
    let of_b = ScriptedModel::new().says("I disagree: it has no tests.");
    let agent_a = Agent::builder("AgentA").model(of_a.clone()).runtime_state(None).build()?;
    let agent_b = Agent::builder("AgentB").model(of_b).runtime_state(None).build()?;

    let question = Msg::user("Alice", "What do we do with the old parser?");
    agent_b.observe([question.clone()])?;
    let opinion = agent_a.reply(question).await?;
    writeln!(out, "[{}]: {}", opinion.name(), opinion.text_or_empty())?;

    let objection = agent_b.reply(opinion).await?;
    writeln!(out, "[{}]: {}", objection.name(), objection.text_or_empty())?;

    // A hint is sent to the model with its next call.
    agent_a.hint(HintBlock::reminder("The release is on Friday.").with_source("calendar"));
    let conclusion = agent_a.reply(objection).await?;
    writeln!(out, "[{}]: {}", conclusion.name(), conclusion.text_or_empty())?;

    let asked = of_a.requests().pop().map(|asked| asked.messages).unwrap_or_default();
    writeln!(out, "AgentA was shown: {}", asked.iter().map(Msg::name).collect::<Vec<_>>().join(", "))?;
    Ok(())
}
