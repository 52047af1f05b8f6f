//! An agent that works for another one, as that one sees it: its events pass through, and what it knows is kept along.

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

/// The place of an agent that works on a call of another one.
pub(crate) struct SubAgentContext {
    host: Arc<Shared>,
    reply_id: String,
    call_id: String,
}

impl SubAgentContext {
    /// The place of whoever runs in a context. Nothing where nobody's reply is under way.
    pub(crate) fn of(context: &ToolContext) -> Option<Self> {
        let host = Arc::clone(context.host()?);
        Some(Self { host, reply_id: context.reply_id().to_owned(), call_id: context.call_id().to_owned() })
    }

    pub(crate) fn stamps(&self) -> Stamps {
        self.host.stamps.stamps()
    }

    /// What it came to, if it had come to its end when the process died.
    pub(crate) fn outcome(&self) -> Option<ToolOutput> {
        let inner = self.host.lock();
        let sub_agent = inner.state.sub_agents.get(&self.call_id)?;
        let SubAgentOutcome { text, failed, .. } = sub_agent.outcome.clone()?;
        let output = if failed { ToolOutput::failed(text) } else { ToolOutput::new(text) };
        Some(output.with_metadata([("reply_id", sub_agent.reply_id.as_str())]))
    }

    /// The agent as it was left in the middle, with those who work for it; nothing if it has not begun.
    pub(crate) fn left(&self, task: Msg) -> Option<SavedAgent> {
        let inner = self.host.lock();
        let sub_agent = inner.state.sub_agents.get(&self.call_id)?;
        let reply = inner.sub_agents.get(&sub_agent.reply_id)?.clone();
        let mut others = inner.sub_agents.clone();
        others.retain(|id, _| *id != sub_agent.reply_id && inner.sub_agent_call(id).as_ref() == Some(&self.call_id));
        let open = OpenReply { fold: reply, place: 1 };
        Some(SavedAgent::of(sub_agent.state.clone(), vec![task], Some(open), &others))
    }

    /// What the user has said to it when it was called before, if anything.
    pub(crate) fn memory(&self, tool: &str) -> Option<SubAgentMemory> {
        self.host.lock().state.sub_agent_memories.get(tool).cloned()
    }

    /// Keeps what the user has said to it for the next time, where that is more than it knew at first.
    pub(crate) fn remember(&self, tool: &str, at_first: &SubAgentMemory, now: SubAgentMemory) {
        if now != *at_first {
            self.host.change(|state| state.sub_agent_memories.insert(tool.to_owned(), now));
        }
    }

    /// The answer that it was waiting for.
    pub(crate) fn take_answer(&self) -> Option<Input> {
        self.host.lock().sub_agent_answers.remove(&self.call_id)
    }

    /// It has taken an answer that stands in the log already, and that therefore does not pass here.
    pub(crate) fn note(&self, answer: Option<&AgentEvent>) {
        if let Some(answer) = answer {
            self.host.lock().record_for_sub_agents(answer);
        }
    }

    /// It runs: as long as what comes back is kept, answers reach it.
    pub(crate) fn runs(&self, agent: &Agent) -> SubAgentGuard {
        self.host.lock().running_sub_agents.insert(self.call_id.clone(), Arc::downgrade(&agent.shared));
        SubAgentGuard { host: Arc::downgrade(&self.host), call_id: self.call_id.clone() }
    }

    /// Where its events go.
    pub(crate) fn sink(&self) -> impl Sink + use<> {
        Through { host: Arc::clone(&self.host), reply_id: self.reply_id.clone(), call_id: self.call_id.clone() }
    }
}

pub(crate) struct SubAgentGuard {
    host: Weak<Shared>,
    call_id: String,
}

impl Drop for SubAgentGuard {
    fn drop(&mut self) {
        if let Some(host) = self.host.upgrade() {
            host.lock().running_sub_agents.remove(&self.call_id);
        }
    }
}

/// A sink that passes events on to the agent that is worked for.
struct Through {
    host: Arc<Shared>,
    reply_id: String,
    call_id: String,
}

impl Sink for Through {
    fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError> {
        let mut inner = self.host.lock();
        let is_open = inner.state.reply.as_ref().is_some_and(|reply| reply.id == self.reply_id);
        if !is_open || inner.is_closing {
            // Its reply was closed together with the one that it works for. It has to stop: what it does now, nobody would
            // know of.
            return Err(SinkError::new("the reply that this one is a part of has ended"));
        }
        inner.publish_for_sub_agent(&self.call_id, event.clone(), state);
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        let host = Arc::clone(&self.host);
        Box::pin(async move { host.commit().await })
    }
}

impl Inner {
    /// Writes an event of a helper, or of one of its own helpers.
    fn publish_for_sub_agent(&mut self, call_id: &str, event: AgentEvent, state: Option<&AgentState>) {
        if let EventKind::ReplyStart(start) = &event.kind {
            let reply_id = start.reply_id.to_string();
            // A helper of a helper is for its own to know.
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
        self.mark_changed();
        self.publish(event);
        self.wake();
    }

    /// Notes an event in the replies of helpers that it is about.
    pub(crate) fn record_for_sub_agents(&mut self, event: &AgentEvent) {
        for fold in self.sub_agents.values_mut() {
            // One that is about another reply changes nothing.
            let _ = fold.apply(event);
        }
    }

    /// The call whose helper, or one of whose helper's helpers, has this reply.
    pub(crate) fn sub_agent_call(&self, reply_id: &str) -> Option<String> {
        let mut id = reply_id.to_owned();
        // No chain of parents is longer than there are helpers.
        for _ in 0..=self.sub_agents.len() {
            if let Some((call_id, _)) = self.state.sub_agents.iter().find(|(_, sub_agent)| sub_agent.reply_id == id) {
                return Some(call_id.clone());
            }
            id = self.sub_agents.get(&id)?.message().parent()?;
        }
        None
    }
}
