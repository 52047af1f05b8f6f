//! Pipelines of agents.

use recount_message::Msg;
use tokio::task::JoinSet;

use super::visible_message;
use crate::agent::Agent;
use crate::error::Error;
use crate::input::Input;

/// Runs agents one after another: the output of each is the input of the next. Returns the message of the last one.
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::scripted::ScriptedModel;
/// use recount_agent::multi_agent::sequential_pipeline;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let writer = Agent::builder("Writer").model(ScriptedModel::new().says("Es regnet.")).build()?;
/// let translator = Agent::builder("Translator").model(ScriptedModel::new().says("It rains.")).build()?;
/// let message = sequential_pipeline(&[writer, translator], "How is the weather?").await?;
/// assert_eq!((message.name(), message.text_or_empty().as_str()), ("Translator", "It rains."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Stops at the first agent that fails, and with [`Error::Waiting`] at the first one that waits for an answer. After
/// answering it, the caller passes its message to the remaining agents. Fails if there is no agent.
pub async fn sequential_pipeline(agents: &[Agent], input: impl Into<Input>) -> Result<Msg, Error> {
    let mut input = input.into();
    let mut last = None;
    for agent in agents {
        let message = agent.reply(input).await?;
        if message.finished_at().is_none() {
            return Err(Error::Waiting { message: Box::new(message) });
        }
        input = visible_message(&message).map_or_else(|| ().into(), Input::from);
        last = Some(message);
    }
    last.ok_or(Error::Rejected(crate::InputRejection::NothingWaiting))
}

/// Sends the same input to all agents concurrently. Returns their results in the order of the agents.
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::scripted::ScriptedModel;
/// use recount_agent::multi_agent::fanout_pipeline;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let yes = Agent::builder("Optimist").model(ScriptedModel::new().says("Yes.")).build()?;
/// let no = Agent::builder("Pessimist").model(ScriptedModel::new().fails("gone")).build()?;
/// let answers = fanout_pipeline(&[yes, no], "Will it work?").await;
/// assert_eq!(answers[0].as_ref().unwrap().text_or_empty(), "Yes.");
/// assert!(answers[1].is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn fanout_pipeline(agents: &[Agent], input: impl Into<Input>) -> Vec<Result<Msg, Error>> {
    let input = input.into();
    let mut asked = JoinSet::new();
    for (index, agent) in agents.iter().enumerate() {
        let (agent, input) = (agent.clone(), input.clone());
        asked.spawn(async move { (index, agent.reply(input).await) });
    }
    let mut answers: Vec<(usize, Result<Msg, Error>)> = Vec::with_capacity(agents.len());
    while let Some(answered) = asked.join_next().await {
        match answered {
            Ok(answer) => answers.push(answer),
            // Propagate panics. A panic in a tool or a model is already turned into an error by the agent.
            Err(error) => std::panic::resume_unwind(Box::new(error.to_string())),
        }
    }
    answers.sort_by_key(|(index, _)| *index);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
