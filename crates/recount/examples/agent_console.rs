//! An agent with a tool on the console. The reply is printed while it is streamed.
//!
//! Without arguments, a scripted model replies. With a model and a question, the request goes to a provider.
//!
//! ```text
//! cargo run -p recount --features agent --example agent_console
//! cargo run -p recount --features agent --example agent_console -- anthropic/claude-opus-4-5 'Is it warm in Beijing?'
//! ```

use std::error::Error;
use std::io::{self, Write};

use recount::agent::permission::{Mode, Permissions};
use recount::agent::scripted::ScriptedModel;
use recount::agent::tool::FunctionTool;
use recount::agent::{Agent, AgentBuilder};
use recount::model::client::Model;
use recount::{EventKind, Msg};
use schemars::JsonSchema;
use serde::Deserialize;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (agent, question) = match arguments.as_slice() {
        [] => (built_in()?, "How is the weather in Beijing?"),
        [model, question] => (friday().model(model.parse::<Model>()?).build()?, question.as_str()),
        _ => return Err("give a model and a question, or nothing".into()),
    };
    run(&mut io::stdout().lock(), &agent, question).await?;
    Ok(())
}

/// The arguments of the tool. The model sees these comments.
#[derive(Deserialize, JsonSchema)]
struct Weather {
    /// The city, in English.
    city: String,
}

fn friday() -> AgentBuilder {
    let weather = |weather: Weather| async move { Ok(format!("Sunny in {}, 25°C", weather.city)) };
    Agent::builder("Friday")
        .system_prompt("Be brief.")
        .tool(FunctionTool::new("get_weather", "The weather in a city.", weather).read_only())
        .permissions(Permissions::new(Mode::Explore))
        .runtime_state(None)
}

/// Creates an agent with a scripted model.
pub(crate) fn built_in() -> Result<Agent, Box<dyn Error>> {
    let model = ScriptedModel::new()
        .streams(["Let me ", "look."])
        .calls("get_weather", r#"{"city": "Beijing"}"#)
        .then()
        .streams(["It is sunny ", "in Beijing."]);
    Ok(friday().model(model).build()?)
}

/// Sends the question, prints the reply while it is streamed, and returns its message.
pub(crate) async fn run(out: &mut impl Write, agent: &Agent, question: &str) -> Result<Msg, Box<dyn Error>> {
    let mut stream = agent.reply_stream(Msg::user("Alice", question))?;
    while let Some(event) = stream.next().await {
        match &event.kind {
            EventKind::TextBlockDelta(text) => {
                write!(out, "{}", text.delta)?;
                out.flush()?;
            }
            EventKind::ToolCallStart(call) => writeln!(out, "\n[Calling {}...]", call.tool_call_name)?,
            EventKind::ToolResultEnd(result) => writeln!(out, "[Tool finished: {}]", result.state)?,
            EventKind::ReplyEnd(_) => writeln!(out, "\n[Done]")?,
            // Other events are not printed. The message contains all of them.
            _ => {}
        }
    }
    Ok(stream.into_msg().await?)
}
