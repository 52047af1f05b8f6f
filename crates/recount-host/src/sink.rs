//! Where an agent's events go: to the log, with what belongs to them in the same commit.

use std::sync::Arc;

use recount_agent::{AgentState, BoxFuture, Sink, SinkError};
use recount_log::Events;
use recount_message::{AgentEvent, EventKind};
use tokio_util::sync::CancellationToken;

use crate::append_queue::AppendQueue;
use crate::run_metadata::OpenReply;
use crate::run_state::SharedRunState;

/// The sink of one run.
#[derive(Debug)]
pub(crate) struct LogSink {
    desk: Arc<SharedRunState>,
    outbox: AppendQueue,
    /// Cancelled when the host leaves everything as it stands.
    left: CancellationToken,
    session_id: String,
    /// The agent, by the name that sessions name.
    agent: String,
    reply_id: String,
    /// Which run of the session it is of.
    run: u64,
    /// The run is over. What a tool in the background says is still written, and what the agent knows is not: another
    /// one may be at the next reply.
    is_over: bool,
}

impl LogSink {
    /// The sink of a new run, at the reply that has not ended.
    pub(crate) fn new(
        desk: Arc<SharedRunState>,
        outbox: AppendQueue,
        left: CancellationToken,
        session_id: String,
        reply: OpenReply,
    ) -> Self {
        let OpenReply { id: reply_id, agent, .. } = reply;
        let run = desk.lock().begin_run();
        Self { desk, outbox, left, session_id, agent, reply_id, run, is_over: false }
    }
}

impl Sink for LogSink {
    fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError> {
        let mut desk = self.desk.lock();
        if desk.is_left || self.left.is_cancelled() {
            return Err(SinkError::new("the run was left"));
        }
        if let Some(error) = self.outbox.failure() {
            return Err(SinkError::new(error.to_string()));
        }
        self.is_over |= !desk.is_current(self.run, &self.reply_id);
        if self.is_over {
            self.outbox.push(Events::of([event]), Vec::new());
            return Ok(());
        }
        if let Some(state) = state {
            desk.keep(&self.agent, state);
        }
        // What the agent takes note of here stands in the log. That it did is kept with what follows from it.
        if desk.take_input(&event.id) {
            return Ok(());
        }
        desk.note_part(event);
        let events = match &event.kind {
            EventKind::HintBlock(hint) => match desk.take_hint(&hint.block_id) {
                Some(id) => Events::of([&AgentEvent { id: id.into(), ..event.clone() }]),
                None => Events::of([event]),
            },
            // By now it was done, if there was something to summarise.
            EventKind::ModelCallStart(_) if desk.notes.compress => {
                desk.note(|notes| notes.compress = false);
                Events::of([event])
            }
            EventKind::ReplyEnd(end) if end.reply_id == self.reply_id => {
                let next = desk.end_reply(&self.session_id, state);
                Events::of([event].into_iter().chain(&next))
            }
            _ => Events::of([event]),
        };
        let states = desk.changes();
        self.outbox.push(events, states);
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        let is_left = self.desk.lock().is_left || self.left.is_cancelled();
        let committed = self.outbox.committed();
        Box::pin(async move {
            if is_left {
                return Err(SinkError::new("the run was left"));
            }
            committed.await.map_err(|error| SinkError::new(error.to_string()))
        })
    }
}
