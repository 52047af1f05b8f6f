//! Streams of AgentScope Java events.
//!
//! In a Java stream, each model call has its own reply id, all blocks share the same ids, calls can have no results, and
//! a failed invocation just stops. [`JavaStream`] converts it to a valid native stream, in which every reply has one id
//! and an end, every block has an id of its own, and every call has exactly one result. The stream folds into the
//! messages that Java holds. `output` documents which events are forwarded and which are inserted.

mod agent_result;
mod blocks;
mod calls;
mod exact;
mod output;
mod reply;
mod results;
mod state;
#[cfg(test)]
mod tests;

use recount_message::{AgentEvent, CustomEvent, DecodeError, EventKind, Msg, ReplyStartEvent};

use super::event;
use super::frames::EXACT;
use exact::{ExactReply, carried_events, native_data};
use output::Output;
use reply::{CloseReason, Reply, implies_reply_start, text_field};

/// The number of ended replies whose ids are remembered, so that new replies get other ids.
const MAX_ENDED_IDS: usize = 16;

/// Converts the events of a Java stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JavaStream {
    /// The running agents: the main agent and its sub-agents.
    agents: Vec<Agent>,
    /// The open replies that were written by Recount.
    exact: Vec<ExactReply>,
    /// The ids of the last ended replies.
    ended: Vec<String>,
    /// The time of the last event.
    time: String,
}

/// An agent of the stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Agent {
    /// Java's path to the agent. Empty for the main agent.
    source: String,
    /// The open reply of the agent.
    reply: Option<Reply>,
}

impl Agent {
    fn is_idle(&self) -> bool {
        self.reply.is_none()
    }

    /// Returns whether `other` is a sub-agent of this agent.
    fn is_ancestor_of(&self, other: &str) -> bool {
        self.source != other
            && (self.source.is_empty()
                || other.strip_prefix(self.source.as_str()).is_some_and(|rest| rest.starts_with('/')))
    }
}

impl JavaStream {
    /// Creates a stream.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Returns whether no reply is open.
    pub(crate) fn is_idle(&self) -> bool {
        self.agents.is_empty() && self.exact.is_empty()
    }

    /// Parses the next event and returns the native events for it.
    ///
    /// # Errors
    ///
    /// Returns an error if the line is not a valid Java event. The stream is unchanged in this case.
    pub(crate) fn push(&mut self, line: &str) -> Result<Vec<AgentEvent>, DecodeError> {
        let native = native_data(line)?;
        let event = event::read(line)?.into_owned();
        let result = result_of(&event)?;
        let carried_events = carried_events(&native)?;

        self.time = event.created_at.to_string();
        let source = text_field(&output::marks(&event), "source");
        let index = self.agent(&source);
        let mut out = Output::for_event(&event);
        if let EventKind::ReplyStart(start) = &event.kind
            && native.contains_key(EXACT)
        {
            self.exact.push(ExactReply::begin(&start.reply_id));
            self.close(index, CloseReason::Truncated, &mut out);
        }
        match carried_events {
            Some(events) => events.into_iter().for_each(|event| out.forward(self.process_exact(event))),
            None if self.is_exact(&event) => out.forward(self.process_exact(event)),
            None => self.process(index, event, result.as_ref(), &mut out),
        }
        self.agents.retain(|agent| !agent.is_idle());
        Ok(out.events)
    }

    /// Returns whether an event needs no repair: it belongs to a reply that Recount wrote, or to no reply while one is
    /// open.
    fn is_exact(&self, event: &AgentEvent) -> bool {
        match exact::reply_id_of(event) {
            Some(id) => self.exact.iter().any(|reply| reply.id == id),
            None => !self.exact.is_empty(),
        }
    }

    fn process_exact(&mut self, event: AgentEvent) -> AgentEvent {
        let Some(id) = exact::reply_id_of(&event) else { return event };
        let Some(at) = self.exact.iter().position(|reply| reply.id == id) else { return event };
        if let EventKind::ReplyEnd(_) = event.kind {
            self.exact.remove(at);
            return event;
        }
        self.exact[at].process(event)
    }

    /// Handles a logged user message. Closes replies that wait, because the message does not answer them.
    pub(crate) fn user_turn(&mut self, time: &str) -> Vec<AgentEvent> {
        time.clone_into(&mut self.time);
        self.close_all(CloseReason::UserMessage, |reply| reply.waits)
    }

    /// Ends the stream. Closes replies that neither ended nor wait, because they were truncated.
    pub(crate) fn finish(&mut self) -> Vec<AgentEvent> {
        self.close_all(CloseReason::Truncated, |reply| !reply.waits)
    }

    fn close_all(&mut self, reason: CloseReason, is_affected: fn(&Reply) -> bool) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        for index in (0..self.agents.len()).rev() {
            if let Some(reply) = self.agents[index].reply.as_ref().filter(|reply| is_affected(reply)) {
                let mut out = Output::for_closed_reply(&reply.id, &self.time);
                self.close(index, reason, &mut out);
                events.append(&mut out.events);
            }
        }
        self.agents.retain(|agent| !agent.is_idle());
        events
    }

    fn agent(&mut self, source: &str) -> usize {
        if let Some(index) = self.agents.iter().position(|agent| agent.source == source) {
            return index;
        }
        self.agents.push(Agent { source: source.to_owned(), ..Agent::default() });
        self.agents.len() - 1
    }

    fn process(&mut self, index: usize, event: AgentEvent, result: Option<&Msg>, out: &mut Output) {
        match &event.kind {
            EventKind::ReplyStart(_) => self.start(index, event, out),
            EventKind::ReplyEnd(_) => self.end(index, event, out),
            EventKind::Custom(_) => self.signal(index, event, result, out),
            kind => {
                if self.agents[index].reply.is_none() && implies_reply_start(kind) {
                    self.start_implied_reply(index, event.reply_id().unwrap_or_default(), out);
                }
                if let Some(reply) = &mut self.agents[index].reply {
                    reply.process(event, out);
                }
            }
        }
    }

    /// Handles the start of an invocation, which continues a waiting reply or starts a new one.
    fn start(&mut self, index: usize, event: AgentEvent, out: &mut Output) {
        let EventKind::ReplyStart(start) = &event.kind else { return };
        let invocation = start.reply_id.to_string();
        if let Some(reply) = self.agents[index].reply.as_mut().filter(|reply| reply.waits) {
            return reply.resume(&invocation);
        }
        self.close(index, CloseReason::Truncated, out);
        let id = if invocation.is_empty() { &event.id } else { &start.reply_id };
        let reply = Reply {
            id: self.unused_id(id),
            session_id: start.session_id.to_string(),
            name: start.name.to_string(),
            invocation,
            ..Reply::default()
        };
        let event = self.with_parent(index, output::for_reply(event, &reply.id));
        out.forward(event);
        self.agents[index].reply = Some(reply);
    }

    /// Starts a reply for which Java sent no start.
    fn start_implied_reply(&mut self, index: usize, java_reply: &str, out: &mut Output) {
        let reply = Reply { id: self.unused_id(java_reply), ..Reply::default() };
        let start = ReplyStartEvent::new("", reply.id.clone(), "");
        let event = out.synthetic(start);
        let event = self.with_parent(index, event);
        out.forward(event);
        self.agents[index].reply = Some(reply);
    }

    /// Adds the id of the parent reply to the start of a sub-agent's reply.
    fn with_parent(&self, index: usize, event: AgentEvent) -> AgentEvent {
        let source = &self.agents[index].source;
        let above = self.agents.iter().filter(|agent| agent.is_ancestor_of(source));
        let nearest = above.filter_map(|agent| Some((&agent.source, agent.reply.as_ref()?)));
        match nearest.max_by_key(|(source, _)| source.len()) {
            Some((_, parent)) => event.with_extension("parent", parent.id.as_str()),
            None => event,
        }
    }

    /// Handles the end of an invocation. Ends the reply unless it waits.
    fn end(&mut self, index: usize, event: AgentEvent, out: &mut Output) {
        let Some(reply) = &mut self.agents[index].reply else { return };
        let given = event.reply_id().unwrap_or_default();
        if !given.is_empty() && !reply.invocation.is_empty() && given != reply.invocation {
            return;
        }
        if !reply.has_result && reply.calls.iter().any(|call| call.is_suspended && !call.is_submitted) {
            reply.submit_suspended(&[], out);
            reply.waits = true;
        }
        if reply.waits {
            return;
        }
        self.close_descendants(index, out);
        if let Some(reply) = self.agents[index].reply.take() {
            self.remember_ended(&reply.id);
            reply.end(event, out);
        }
    }

    /// Handles a signal or an event that only Java has.
    fn signal(&mut self, index: usize, event: AgentEvent, result: Option<&Msg>, out: &mut Output) {
        if let EventKind::Custom(custom) = &event.kind
            && let Some(reply) = &mut self.agents[index].reply
            && is_from_java(custom, &event)
        {
            match &*custom.name {
                "AGENT_RESULT" => result.into_iter().for_each(|result| reply.process_agent_result(result, out)),
                "REQUEST_STOP" => reply.waits = true,
                "ALL_TOOLS_DENIED" => reply.mark_denied(&custom.value),
                _ => {}
            }
        }
        out.forward(event);
    }

    /// Closes the reply of an agent and those of its sub-agents.
    fn close(&mut self, index: usize, reason: CloseReason, out: &mut Output) {
        if self.agents[index].reply.is_some() {
            self.close_descendants(index, out);
        }
        if let Some(reply) = self.agents[index].reply.take() {
            self.remember_ended(&reply.id);
            reply.close(reason, out);
        }
    }

    fn close_descendants(&mut self, index: usize, out: &mut Output) {
        for below in (0..self.agents.len()).rev() {
            let is_descendant = self.agents[index].is_ancestor_of(&self.agents[below].source);
            if is_descendant && let Some(reply) = self.agents[below].reply.take_if(|reply| !reply.waits) {
                self.remember_ended(&reply.id);
                reply.close(CloseReason::Truncated, out);
            }
        }
    }

    fn remember_ended(&mut self, reply_id: &str) {
        if self.ended.len() == MAX_ENDED_IDS {
            self.ended.remove(0);
        }
        self.ended.push(reply_id.to_owned());
    }

    /// Returns an unused id for a reply.
    fn unused_id(&self, preferred: &str) -> String {
        let preferred = if preferred.is_empty() { "reply" } else { preferred };
        let is_used = |id: &str| {
            let open = self.agents.iter().filter_map(|agent| agent.reply.as_ref());
            self.ended.iter().any(|ended| ended == id) || open.into_iter().any(|reply| reply.id == id)
        };
        let mut id = preferred.to_owned();
        let mut number = 1;
        while is_used(&id) {
            number += 1;
            id = format!("{preferred}.{number}");
        }
        id
    }
}

/// Returns whether a signal is an event that only Java has.
fn is_from_java(custom: &CustomEvent<'_>, event: &AgentEvent) -> bool {
    text_field(&output::marks(event), "type") == custom.name
}

/// Returns the message of an AGENT_RESULT.
fn result_of(event: &AgentEvent) -> Result<Option<Msg>, DecodeError> {
    let EventKind::Custom(custom) = &event.kind else { return Ok(None) };
    if custom.name != "AGENT_RESULT" || !is_from_java(custom, event) {
        return Ok(None);
    }
    let Some(result) = custom.value.get("result").filter(|result| !result.is_null()) else { return Ok(None) };
    super::read_message(result.as_raw()).map(Some).map_err(|error| error.within("result"))
}
