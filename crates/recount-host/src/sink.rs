//! The sink of an agent: appends its events to the log, with state changes in the same commit.

use std::sync::Arc;

use recount_agent::{AgentState, BoxFuture, Sink, SinkError};
use recount_log::Events;
use recount_message::{AgentEvent, EventKind};
use tokio_util::sync::CancellationToken;

use crate::append_queue::AppendQueue;
use crate::run_metadata::CurrentReply;
use crate::run_state::SharedRunState;

/// The sink of an agent at work on one reply.
#[derive(Debug)]
pub(crate) struct LogSink {
    state: Arc<SharedRunState>,
    queue: AppendQueue,
    /// Cancelled when the host stops at once.
    shutdown: CancellationToken,
    session_id: String,
    /// The name by which sessions select the agent.
    agent: String,
    reply_id: String,
    generation: u64,
    /// Whether the reply has ended or another agent has taken over. Events of background tools are still appended, but no
    /// longer the agent's state.
    is_outdated: bool,
}

impl LogSink {
    /// Creates a sink for the open reply, and starts a new generation.
    pub(crate) fn new(
        state: Arc<SharedRunState>,
        queue: AppendQueue,
        shutdown: CancellationToken,
        session_id: String,
        reply: CurrentReply,
    ) -> Self {
        let CurrentReply { id: reply_id, agent, .. } = reply;
        let generation = state.lock().next_generation();
        Self { state, queue, shutdown, session_id, agent, reply_id, generation, is_outdated: false }
    }
}

impl Sink for LogSink {
    fn append(&mut self, event: &AgentEvent, agent_state: Option<&AgentState>) -> Result<(), SinkError> {
        let mut state = self.state.lock();
        if state.is_stopped || self.shutdown.is_cancelled() {
            return Err(SinkError::new("the run was stopped"));
        }
        if let Some(error) = self.queue.failure() {
            return Err(SinkError::new(error.to_string()));
        }
        self.is_outdated |= !state.is_current(self.generation, &self.reply_id);
        if self.is_outdated {
            self.queue.push(Events::of([event]), Vec::new());
            return Ok(());
        }
        if let Some(agent_state) = agent_state {
            state.set_agent_state(&self.agent, agent_state);
        }
        // An input is in the log already. That it was accepted is stored with the next event.
        if state.consume_input(&event.id) {
            return Ok(());
        }
        state.track_sub_reply(event);
        let events = match &event.kind {
            EventKind::HintBlock(hint) => match state.consume_hint(&hint.block_id) {
                Some(id) => Events::of([&event.clone().with_id(id)]),
                None => Events::of([event]),
            },
            // The agent summarises before the call, if there is something to summarise.
            EventKind::ModelCallStart(_) if state.metadata.compress => {
                state.update_metadata(|metadata| metadata.compress = false);
                Events::of([event])
            }
            EventKind::ReplyEnd(end) if end.reply_id == self.reply_id => {
                let next_start = state.end_reply(&self.session_id, agent_state);
                Events::of([event].into_iter().chain(&next_start))
            }
            _ => Events::of([event]),
        };
        let changes = state.take_state_changes();
        self.queue.push(events, changes);
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        let is_stopped = self.state.lock().is_stopped || self.shutdown.is_cancelled();
        let flushed = self.queue.flush();
        Box::pin(async move {
            if is_stopped {
                return Err(SinkError::new("the run was stopped"));
            }
            flushed.await.map_err(|error| SinkError::new(error.to_string()))
        })
    }
}
