//! A conversation in which each hears what the others say.

use std::sync::{Mutex, MutexGuard, PoisonError};

use recount_message::{CustomName, Json, Msg, Object};

use super::visible_message;
use crate::agent::Agent;
use crate::error::Error;
use crate::input::Input;

/// A conversation of several agents, each known by its name: what one says, the others observe.
///
/// Who joins and who leaves is told to all of them by the signal `recount.agent`. A model of a conversation like this should
/// be told who said what: see `multi_agent` of `recount_model`'s models and formatters.
///
/// ```
/// use recount_agent::Agent;
/// use recount_agent::scripted::ScriptedModel;
/// use recount_agent::multi_agent::Hub;
/// use recount_message::Msg;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let a = Agent::builder("AgentA").model(ScriptedModel::new().says("I think we should.")).build()?;
/// let b = Agent::builder("AgentB").model(ScriptedModel::new().says("I disagree.")).build()?;
/// let hub = Hub::new();
/// hub.join(&a)?;
/// hub.join(&b)?;
/// hub.broadcast([Msg::user("Alice", "Shall we?")])?;
///
/// hub.reply("AgentA", ()).await?;
/// hub.reply("AgentB", ()).await?;
/// let names: Vec<String> = a.messages().iter().map(|message| message.name().to_owned()).collect();
/// assert_eq!(names, ["Alice", "AgentA", "AgentB"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Hub {
    members: Mutex<Vec<Agent>>,
    shares_log: bool,
}

/// Why a hub does not do what it is asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// Nobody of that name is there.
    #[error("nobody in the conversation is called {name:?}, only {members:?}")]
    UnknownAgent {
        /// The name.
        name: String,
        /// Those who are there.
        members: Vec<String>,
    },
    /// Somebody of that name is there already: names are what tells agents apart.
    #[error("somebody in the conversation is called {name:?} already")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The agent has no answer.
    #[error(transparent)]
    Agent(#[from] Error),
}

impl Hub {
    /// A conversation of nobody yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same for agents that write to one log: what one has said stands in it, so the others do not write it again.
    #[must_use]
    pub fn with_shared_log(mut self) -> Self {
        self.shares_log = true;
        self
    }

    /// An agent joins. It hears what is said from now on.
    ///
    /// # Errors
    ///
    /// When somebody of its name is there.
    pub fn join(&self, agent: &Agent) -> Result<(), HubError> {
        let mut members = self.lock();
        if members.iter().any(|member| member.name() == agent.name()) {
            return Err(HubError::DuplicateName { name: agent.name().to_owned() });
        }
        members.push(agent.clone());
        self.tell(&members, agent.name(), true);
        Ok(())
    }

    /// An agent leaves. Says whether it was there.
    pub fn leave(&self, name: &str) -> bool {
        let mut members = self.lock();
        let Some(index) = members.iter().position(|member| member.name() == name) else { return false };
        // It is told as well.
        self.tell(&members, name, false);
        members.remove(index);
        true
    }

    /// The names of those who are there, in the order in which they joined.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().iter().map(|member| member.name().to_owned()).collect()
    }

    /// Says something to all, without asking anybody.
    ///
    /// # Errors
    ///
    /// When one of the messages cannot be said to an agent. Nobody has heard any of them then.
    pub fn broadcast(&self, messages: impl IntoIterator<Item = Msg>) -> Result<(), HubError> {
        let messages: Vec<Msg> = messages.into_iter().collect();
        for (index, member) in self.lock().iter().enumerate() {
            // All take the same messages or none, so the first one speaks for all.
            self.let_hear(member, index > 0, messages.clone())?;
        }
        Ok(())
    }

    /// Asks one of them. What it says, once it is complete, the others observe; what it was asked with is for itself alone.
    /// The answer to a reply that waits goes here too.
    ///
    /// # Errors
    ///
    /// When nobody of that name is there, or [`reply`](Agent::reply) fails.
    pub async fn reply(&self, name: &str, input: impl Into<Input>) -> Result<Msg, HubError> {
        let agent = self.member(name)?;
        let message = agent.reply(input).await?;
        if message.finished_at().is_some()
            && let Some(visible_message) = visible_message(&message)
        {
            for member in self.lock().iter().filter(|member| member.name() != name) {
                self.let_hear(member, true, vec![visible_message.clone()])?;
            }
        }
        Ok(message)
    }

    /// The agent of a name, to be asked for its events. What it says in a stream of its own the others do not hear; they are
    /// told by [`broadcast`](Self::broadcast).
    ///
    /// # Errors
    ///
    /// When nobody of that name is there.
    pub fn member(&self, name: &str) -> Result<Agent, HubError> {
        let members = self.lock();
        let found = members.iter().find(|member| member.name() == name).cloned();
        let names = || members.iter().map(|member| member.name().to_owned()).collect();
        found.ok_or_else(|| HubError::UnknownAgent { name: name.to_owned(), members: names() })
    }

    fn let_hear(&self, member: &Agent, in_message: bool, messages: Vec<Msg>) -> Result<(), Error> {
        if self.shares_log && in_message { member.observe_recorded(messages) } else { member.observe(messages) }
    }

    fn tell(&self, members: &[Agent], name: &str, joined: bool) {
        let mut told = Object::from([("name", name)]);
        told.insert("joined", Json::from(joined));
        // In one log it stands once.
        let listeners = if self.shares_log { 1 } else { members.len() };
        for member in members.iter().rev().take(listeners) {
            member.signal(CustomName::Agent.as_str(), told.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Agent>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
