//! An agent that works for another one, as that one sees it: its events pass through, and what it knows is kept along.

use std::sync::{Arc, Weak};

use recount_message::{AgentEvent, EventKind, Msg, ReplyFold, Stamps};

use super::shared::{Inner, OpenReply, Shared};
use super::{Agent, Saved};
use crate::BoxFuture;
use crate::input::Input;
use crate::several;
use crate::sink::{Sink, SinkError};
use crate::state::{AgentState, HelperMemory, HelperOutcome, HelperState};
use crate::tool::{ToolContext, ToolOutput};

/// The place of an agent that works on a call of another one.
pub(crate) struct Helper {
    host: Arc<Shared>,
    reply_id: String,
    call_id: String,
}

impl Helper {
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
        let helper = inner.state.helpers.get(&self.call_id)?;
        let HelperOutcome { text, failed, .. } = helper.outcome.clone()?;
        let output = if failed { ToolOutput::failed(text) } else { ToolOutput::new(text) };
        Some(output.with_metadata([("reply_id", helper.reply_id.as_str())]))
    }

    /// The agent as it was left in the middle, with those who work for it; nothing if it has not begun.
    pub(crate) fn left(&self, task: Msg) -> Option<Saved> {
        let inner = self.host.lock();
        let helper = inner.state.helpers.get(&self.call_id)?;
        let reply = inner.helpers.get(&helper.reply_id)?.clone();
        let mut others = inner.helpers.clone();
        others.retain(|id, _| *id != helper.reply_id && inner.call_of_helper(id).as_ref() == Some(&self.call_id));
        let open = OpenReply { fold: reply, place: 1 };
        Some(Saved::of(helper.state.clone(), vec![task], Some(open), &others))
    }

    /// What the user has said to it when it was called before, if anything.
    pub(crate) fn memory(&self, tool: &str) -> Option<HelperMemory> {
        self.host.lock().state.helper_memories.get(tool).cloned()
    }

    /// Keeps what the user has said to it for the next time, where that is more than it knew at first.
    pub(crate) fn remember(&self, tool: &str, at_first: &HelperMemory, now: HelperMemory) {
        if now != *at_first {
            self.host.change(|state| state.helper_memories.insert(tool.to_owned(), now));
        }
    }

    /// The answer that it was waiting for.
    pub(crate) fn take_answer(&self) -> Option<Input> {
        self.host.lock().helper_answers.remove(&self.call_id)
    }

    /// It has taken an answer that stands in the log already, and that therefore does not pass here.
    pub(crate) fn note(&self, answer: Option<&AgentEvent>) {
        if let Some(answer) = answer {
            self.host.lock().note_of_helpers(answer);
        }
    }

    /// It runs: as long as what comes back is kept, answers reach it.
    pub(crate) fn runs(&self, agent: &Agent) -> RunningHelper {
        self.host.lock().running_helpers.insert(self.call_id.clone(), Arc::downgrade(&agent.shared));
        RunningHelper { host: Arc::downgrade(&self.host), call_id: self.call_id.clone() }
    }

    /// Where its events go.
    pub(crate) fn sink(&self) -> impl Sink + use<> {
        Through { host: Arc::clone(&self.host), reply_id: self.reply_id.clone(), call_id: self.call_id.clone() }
    }
}

pub(crate) struct RunningHelper {
    host: Weak<Shared>,
    call_id: String,
}

impl Drop for RunningHelper {
    fn drop(&mut self) {
        if let Some(host) = self.host.upgrade() {
            host.lock().running_helpers.remove(&self.call_id);
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
        inner.publish_of_helper(&self.call_id, event.clone(), state);
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        let host = Arc::clone(&self.host);
        Box::pin(async move { host.commit().await })
    }
}

impl Inner {
    /// Writes an event of a helper, or of one of its own helpers.
    fn publish_of_helper(&mut self, call_id: &str, event: AgentEvent, state: Option<&AgentState>) {
        if let EventKind::ReplyStart(start) = &event.kind {
            let reply_id = start.reply_id.to_string();
            // A helper of a helper is for its own to know.
            self.state.helpers.entry(call_id.to_owned()).or_insert_with(|| HelperState::new(reply_id.clone()));
            if let Some(fold) = ReplyFold::start(&event) {
                self.helpers.insert(reply_id, fold);
            }
        } else {
            self.note_of_helpers(&event);
        }
        let ended = match &event.kind {
            EventKind::ReplyEnd(end) => self.helpers.remove(end.reply_id.as_ref()).map(ReplyFold::into_message),
            _ => None,
        };
        if let Some(helper) = self.state.helpers.get_mut(call_id) {
            if let Some(state) = state {
                helper.state = state.clone();
            }
            if let Some(ended) = ended.filter(|message| message.id() == helper.reply_id) {
                helper.outcome = Some(several::outcome(&ended));
            }
        }
        self.mark_changed();
        self.publish(event);
        self.wake();
    }

    /// Notes an event in the replies of helpers that it is about.
    pub(crate) fn note_of_helpers(&mut self, event: &AgentEvent) {
        for fold in self.helpers.values_mut() {
            // One that is about another reply changes nothing.
            let _ = fold.apply(event);
        }
    }

    /// The call whose helper, or one of whose helper's helpers, has this reply.
    pub(crate) fn call_of_helper(&self, reply_id: &str) -> Option<String> {
        let mut id = reply_id.to_owned();
        // No chain of parents is longer than there are helpers.
        for _ in 0..=self.helpers.len() {
            if let Some((call_id, _)) = self.state.helpers.iter().find(|(_, helper)| helper.reply_id == id) {
                return Some(call_id.clone());
            }
            id = self.helpers.get(&id)?.message().parent()?;
        }
        None
    }
}
