//! A conversation of several agents.

use std::sync::{Mutex, MutexGuard, PoisonError};

use recount_message::{CustomName, Json, Msg, Object};

use super::visible_message;
use crate::agent::Agent;
use crate::error::Error;
use crate::input::Input;

/// A conversation of several agents, which have unique names. Every agent receives the messages of the others.
///
/// Joining and leaving are reported to all members by the signal `recount.agent`. The models of the members should be
/// configured to send the names of the speakers: see `multi_agent` of the models and formatters in `recount_model`.
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

/// The error type of [`Hub`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// No member has this name.
    #[error("unknown agent `{name}`, the members are {members:?}")]
    UnknownAgent {
        /// The unknown name.
        name: String,
        /// The names of the members.
        members: Vec<String>,
    },
    /// Another member has this name.
    #[error("duplicate agent name `{name}`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The agent has failed or rejected the input.
    #[error(transparent)]
    Agent(#[from] Error),
}

impl Hub {
    /// Creates a hub without members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares that all members write to the same log, so that a message is recorded once instead of once per member.
    #[must_use]
    pub fn with_shared_log(mut self) -> Self {
        self.shares_log = true;
        self
    }

    /// Adds an agent. It receives messages from now on.
    ///
    /// # Errors
    ///
    /// Fails if another member has the same name.
    pub fn join(&self, agent: &Agent) -> Result<(), HubError> {
        let mut members = self.lock();
        if members.iter().any(|member| member.name() == agent.name()) {
            return Err(HubError::DuplicateName { name: agent.name().to_owned() });
        }
        members.push(agent.clone());
        self.signal_membership(&members, agent.name(), true);
        Ok(())
    }

    /// Removes an agent. Returns `false` if no member has this name.
    pub fn leave(&self, name: &str) -> bool {
        let mut members = self.lock();
        let Some(index) = members.iter().position(|member| member.name() == name) else { return false };
        // The leaving agent receives the signal as well.
        self.signal_membership(&members, name, false);
        members.remove(index);
        true
    }

    /// Returns the names of the members, in the order in which they joined.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().iter().map(|member| member.name().to_owned()).collect()
    }

    /// Sends messages to all members, without requesting a reply.
    ///
    /// # Errors
    ///
    /// Fails if a message is invalid as input. No member receives any message in this case.
    pub fn broadcast(&self, messages: impl IntoIterator<Item = Msg>) -> Result<(), HubError> {
        let messages: Vec<Msg> = messages.into_iter().collect();
        for (index, member) in self.lock().iter().enumerate() {
            // Validation does not depend on the member, so only the first call can fail.
            self.deliver(member, index > 0, messages.clone())?;
        }
        Ok(())
    }

    /// Requests a reply from a member. Once the reply is complete, the other members receive its message. The input is
    /// sent to this member only. The answer to a waiting reply is passed to this function as well.
    ///
    /// # Errors
    ///
    /// Fails if no member has this name, or if [`reply`](Agent::reply) fails.
    pub async fn reply(&self, name: &str, input: impl Into<Input>) -> Result<Msg, HubError> {
        let agent = self.member(name)?;
        let message = agent.reply(input).await?;
        if message.finished_at().is_some()
            && let Some(visible_message) = visible_message(&message)
        {
            for member in self.lock().iter().filter(|member| member.name() != name) {
                self.deliver(member, true, vec![visible_message.clone()])?;
            }
        }
        Ok(message)
    }

    /// Returns a member, for example to stream its events. The other members do not receive the messages of such
    /// replies; use [`broadcast`](Self::broadcast) for that.
    ///
    /// # Errors
    ///
    /// Fails if no member has this name.
    pub fn member(&self, name: &str) -> Result<Agent, HubError> {
        let members = self.lock();
        let found = members.iter().find(|member| member.name() == name).cloned();
        let names = || members.iter().map(|member| member.name().to_owned()).collect();
        found.ok_or_else(|| HubError::UnknownAgent { name: name.to_owned(), members: names() })
    }

    fn deliver(&self, member: &Agent, in_message: bool, messages: Vec<Msg>) -> Result<(), Error> {
        if self.shares_log && in_message { member.observe_recorded(messages) } else { member.observe(messages) }
    }

    fn signal_membership(&self, members: &[Agent], name: &str, joined: bool) {
        let mut fields = Object::from([("name", name)]);
        fields.insert("joined", Json::from(joined));
        // In a shared log the signal is written once.
        let receivers = if self.shares_log { 1 } else { members.len() };
        for member in members.iter().rev().take(receivers) {
            member.signal(CustomName::Agent.as_str(), fields.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Agent>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
