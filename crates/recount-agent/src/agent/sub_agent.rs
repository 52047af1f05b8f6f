//! The connection of a sub-agent to its parent agent, which writes the sub-agent's events and persists its state.

use std::sync::{Arc, Weak};

use recount_message::{AgentEvent, EventKind, Msg, ReplyFold, Stamps};

use super::shared::{Inner, OpenReply, Shared};
use super::{Agent, SavedAgent};
use crate::BoxFuture;
use crate::input::Input;
use crate::multi_agent;
use crate::sink::{Sink, SinkError};
use crate::state::{AgentState, SubAgentMemory, SubAgentOutcome, SubAgentState};
use crate::tool::{ToolContext, ToolOutput};

/// A call of the parent agent that a sub-agent works on.
pub(crate) struct SubAgentContext {
    parent: Arc<Shared>,
    reply_id: String,
    call_id: String,
}

impl SubAgentContext {
    /// Creates the context from the context of a tool call. `None` if the call does not belong to a reply in progress.
    pub(crate) fn of(context: &ToolContext) -> Option<Self> {
        let parent = Arc::clone(context.host()?);
        Some(Self { parent, reply_id: context.reply_id().to_owned(), call_id: context.call_id().to_owned() })
    }

    pub(crate) fn stamps(&self) -> Stamps {
        self.parent.stamps.stamps()
    }

    /// Returns the result of a sub-agent that had finished before the process died.
    pub(crate) fn saved_outcome(&self) -> Option<ToolOutput> {
        let inner = self.parent.lock();
        let sub_agent = inner.state.sub_agents.get(&self.call_id)?;
        let SubAgentOutcome { text, failed, .. } = sub_agent.outcome.clone()?;
        let output = if failed { ToolOutput::failed(text) } else { ToolOutput::new(text) };
        Some(output.with_metadata([("reply_id", sub_agent.reply_id.as_str())]))
    }

    /// Returns the sub-agent as it was interrupted, including its own sub-agents. `None` if it has not started.
    pub(crate) fn saved_agent(&self, task: Msg) -> Option<SavedAgent> {
        let inner = self.parent.lock();
        let sub_agent = inner.state.sub_agents.get(&self.call_id)?;
        let reply = inner.sub_agents.get(&sub_agent.reply_id)?.clone();
        let mut others = inner.sub_agents.clone();
        others.retain(|id, _| *id != sub_agent.reply_id && inner.sub_agent_call(id).as_ref() == Some(&self.call_id));
        let open = OpenReply { fold: reply, position: 1 };
        Some(SavedAgent::capture(sub_agent.state.clone(), vec![task], Some(open), &others))
    }

    /// Returns the permissions that the user granted to this sub-agent in earlier calls.
    pub(crate) fn memory(&self, tool: &str) -> Option<SubAgentMemory> {
        self.parent.lock().state.sub_agent_memories.get(tool).cloned()
    }

    /// Stores the permissions that the user has granted, for the next call. Does nothing if they are unchanged.
    pub(crate) fn store_memory(&self, tool: &str, at_first: &SubAgentMemory, now: SubAgentMemory) {
        if now != *at_first {
            self.parent.change(|state| state.sub_agent_memories.insert(tool.to_owned(), now));
        }
    }

    /// Takes the queued answer to the sub-agent.
    pub(crate) fn take_answer(&self) -> Option<Input> {
        self.parent.lock().sub_agent_answers.remove(&self.call_id)
    }

    /// Applies an answer that the log already contains, and that the sub-agent therefore does not write.
    pub(crate) fn record_answer(&self, answer: Option<&AgentEvent>) {
        if let Some(answer) = answer {
            self.parent.lock().record_for_sub_agents(answer);
        }
    }

    /// Registers the running sub-agent, so that answers reach it until the guard is dropped.
    pub(crate) fn register(&self, agent: &Agent) -> SubAgentGuard {
        self.parent.lock().running_sub_agents.insert(self.call_id.clone(), Arc::downgrade(&agent.shared));
        SubAgentGuard { parent: Arc::downgrade(&self.parent), call_id: self.call_id.clone() }
    }

    /// Returns the sink for the sub-agent's events.
    pub(crate) fn sink(&self) -> impl Sink + use<> {
        ParentSink { parent: Arc::clone(&self.parent), reply_id: self.reply_id.clone(), call_id: self.call_id.clone() }
    }
}

pub(crate) struct SubAgentGuard {
    parent: Weak<Shared>,
    call_id: String,
}

impl Drop for SubAgentGuard {
    fn drop(&mut self) {
        if let Some(parent) = self.parent.upgrade() {
            parent.lock().running_sub_agents.remove(&self.call_id);
        }
    }
}

/// A sink that writes the events of a sub-agent to its parent.
struct ParentSink {
    parent: Arc<Shared>,
    reply_id: String,
    call_id: String,
}

impl Sink for ParentSink {
    fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError> {
        let mut inner = self.parent.lock();
        let is_open = inner.state.reply.as_ref().is_some_and(|reply| reply.id == self.reply_id);
        if !is_open || inner.is_closing {
            // The parent has closed this reply together with its own. Stop the sub-agent, because nothing it does now
            // would be recorded.
            return Err(SinkError::new("the parent reply has ended"));
        }
        inner.publish_for_sub_agent(&self.call_id, event.clone(), state);
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        let parent = Arc::clone(&self.parent);
        Box::pin(async move { parent.commit().await })
    }
}

impl Inner {
    /// Writes an event of a sub-agent, or of one of its own sub-agents.
    fn publish_for_sub_agent(&mut self, call_id: &str, event: AgentEvent, state: Option<&AgentState>) {
        if let EventKind::ReplyStart(start) = &event.kind {
            let reply_id = start.reply_id.to_string();
            // Only direct sub-agents get an entry in this agent's state. Deeper ones are part of their parent's state.
            self.state.sub_agents.entry(call_id.to_owned()).or_insert_with(|| SubAgentState::new(reply_id.clone()));
            if let Some(fold) = ReplyFold::start(&event) {
                self.sub_agents.insert(reply_id, fold);
            }
        } else {
            self.record_for_sub_agents(&event);
        }
        let ended = match &event.kind {
            EventKind::ReplyEnd(end) => self.sub_agents.remove(end.reply_id.as_ref()).map(ReplyFold::into_message),
            _ => None,
        };
        if let Some(sub_agent) = self.state.sub_agents.get_mut(call_id) {
            if let Some(state) = state {
                sub_agent.state = state.clone();
            }
            if let Some(ended) = ended.filter(|message| message.id() == sub_agent.reply_id) {
                sub_agent.outcome = Some(multi_agent::outcome(&ended));
            }
        }
        self.mark_state_dirty();
        self.publish(event);
        self.wake();
    }

    /// Applies an event to the replies of sub-agents.
    pub(crate) fn record_for_sub_agents(&mut self, event: &AgentEvent) {
        for fold in self.sub_agents.values_mut() {
            // A fold ignores events of other replies.
            let _ = fold.apply(event);
        }
    }

    /// Returns the call whose sub-agent, or a sub-agent below it, writes this reply.
    pub(crate) fn sub_agent_call(&self, reply_id: &str) -> Option<String> {
        let mut id = reply_id.to_owned();
        // Bounded, because saved data may contain a cycle of parents.
        for _ in 0..=self.sub_agents.len() {
            if let Some((call_id, _)) = self.state.sub_agents.iter().find(|(_, sub_agent)| sub_agent.reply_id == id) {
                return Some(call_id.clone());
            }
            id = self.sub_agents.get(&id)?.message().parent()?;
        }
        None
    }
}
