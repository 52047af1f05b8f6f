//! Multiple agents: a discussion in which every agent receives the messages of the others, a pipeline, and a vote.
//!
//! ```text
//! cargo run -p recount --features agent --example agent_hub
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::Msg;
use recount::agent::multi_agent::{Hub, fanout_pipeline, sequential_pipeline};
use recount::agent::scripted::ScriptedModel;
use recount::agent::{Agent, BuildError};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock()).await
}

/// Creates an agent with scripted replies. For an agent with a real model, use `model.multi_agent(MultiAgent::History)`, which
/// adds the names of the senders to the request.
fn agent(name: &str, says: &[&str]) -> Result<Agent, BuildError> {
    let model = says.iter().fold(ScriptedModel::new(), |model, text| model.says(*text).then());
    Agent::builder(name).model(model).runtime_state(None).build()
}

pub(crate) async fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let agent_a = agent("AgentA", &["I think we should do this...", "Tests first, then.", "yes"])?;
    let agent_b = agent("AgentB", &["I disagree because...", "no"])?;

    let hub = Hub::new();
    hub.join(&agent_a)?;
    hub.join(&agent_b)?;
    hub.broadcast([Msg::user("Alice", "What do we do with the old parser?")])?;
    for name in ["AgentA", "AgentB", "AgentA"] {
        let message = hub.reply(name, ()).await?;
        writeln!(out, "[{}]: {}", message.name(), message.text_or_empty())?;
    }
    writeln!(out, "AgentB has heard {} messages.", agent_b.messages().len())?;

    for vote in fanout_pipeline(&[agent_a, agent_b], "Shall we rewrite it?").await {
        let vote = vote?;
        writeln!(out, "{} votes {}", vote.name(), vote.text_or_empty())?;
    }

    let line = [agent("Writer", &["Es regnet."])?, agent("Translator", &["It rains."])?];
    writeln!(out, "{}", sequential_pipeline(&line, "How is the weather?").await?.text_or_empty())?;
    Ok(())
}
