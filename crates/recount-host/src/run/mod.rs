//! The run of a session: the task that handles its commands and drives its agent while there is work to do.

mod failing_agent;
mod hint;
mod inputs;
mod load;
mod orphans;
mod post;
mod run_event;
mod start;

pub use failing_agent::failing_agent;
pub(crate) use post::validate;
pub(crate) use start::run_session;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use recount_agent::{Agent, AgentBuilder, BackgroundCall, InputRejection, ReplyStream};
use recount_log::storage::StateChange;
use recount_log::{Appended, Error, Events, InputReader, Lease, Session};
use recount_message::jiff::Timestamp;
use recount_message::{AgentEvent, Msg};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval};

use run_event::RunEvent;

use crate::append_queue::AppendQueue;
use crate::error::PostError;
use crate::options::{OnBusy, Posted};
use crate::run_counts::{CountedRun, RunStatus};
use crate::run_metadata::DRAINED_DOCUMENT;
use crate::run_state::SharedRunState;
use crate::shared::Shared;
use crate::telemetry::RunTraces;
use crate::trace_context::TraceContext;

/// The minimum time between the start of waiting and its expiry.
const MIN_WAIT: Duration = Duration::from_millis(20);

/// A command for a session's run.
#[derive(Debug)]
pub(crate) enum Command {
    /// Resume the open reply, if there is one.
    Wake,
    /// Append a user's message.
    Post {
        message: Box<Msg>,
        on_busy: OnBusy,
        /// The trace context of the caller, which becomes the parent of the reply's span.
        caller: TraceContext,
        response: oneshot::Sender<Result<Posted, PostError>>,
    },
    /// Pass a hint to the model. Hints of background tools have no response channel.
    Hint { event: Box<AgentEvent>, response: Option<oneshot::Sender<Result<Appended, crate::Error>>> },
    /// Summarise the conversation before the next model call.
    Compress { response: oneshot::Sender<Result<(), crate::Error>> },
}

/// The run of a session.
struct Run<'c> {
    host: Arc<Shared>,
    session: Session,
    lease: Lease,
    state: Arc<SharedRunState>,
    queue: AppendQueue,
    commands: &'c mut mpsc::Receiver<Command>,
    /// The run's own command channel, for watchers of background tools.
    own_sender: mpsc::WeakSender<Command>,
    draining: watch::Receiver<bool>,
    /// Reads the inputs of the session while a reply is open.
    reader: Option<InputReader>,
    /// The agent that is working on the open reply.
    active: Option<ActiveAgent>,
    /// Whether the open reply waits for input, without an active agent.
    is_waiting: bool,
    /// When the wait expires. `None` if it is unlimited.
    wait_deadline: Option<Instant>,
    /// Whether the wait has expired.
    has_expired: bool,
    /// Whether the agent's view of the reply differs from the log. The agent is loaded again when it stops.
    must_reload: bool,
    /// The ids of the inputs that were passed to an agent. An input that no agent accepts is not passed on forever.
    offered_inputs: HashSet<String>,
    /// A builder that was created to check that the agent is available. The next agent uses it.
    prepared: Option<AgentBuilder>,
    /// Tasks that wait for the results of background tools.
    watchers: JoinSet<()>,
    /// The background tool calls that have or had a watcher.
    watched_calls: Vec<BackgroundCall>,
    renewal: Interval,
    traces: RunTraces,
    counted: CountedRun,
}

/// An agent that is working on a reply.
struct ActiveAgent {
    agent: Agent,
    stream: ReplyStream,
    reply_id: String,
    /// Tasks that pass inputs to the agent. Each returns the id of the input's event.
    inputs: JoinSet<(String, Result<(), InputRejection>)>,
    /// The ids of the inputs that were repaired once.
    repaired_inputs: HashSet<String>,
}

/// The reason why a run stops.
#[derive(Debug)]
enum StopReason {
    /// There is nothing left to do.
    Idle,
    /// The host stops at once.
    Shutdown,
    /// Another host holds the lease.
    LeaseLost,
    /// The session was removed, or the log is closed.
    Closed,
    /// The log failed. The run is restarted after a delay.
    Failed,
}

impl From<Error> for StopReason {
    fn from(error: Error) -> Self {
        match error {
            Error::LeaseLost { .. } | Error::LeaseHeld { .. } => Self::LeaseLost,
            Error::UnknownSession(_) | Error::Closed => Self::Closed,
            Error::Broken(earlier) => Self::from((*earlier).clone()),
            _ => Self::Failed,
        }
    }
}

impl Run<'_> {
    /// Handles events until there is nothing left to do.
    async fn run(&mut self) -> StopReason {
        loop {
            if let Err(stop) = self.resume_if_due().await {
                return stop;
            }
            self.counted.set(self.status());
            if self.is_idle() {
                return self.queue.flush().await.map_or_else(StopReason::from, |()| StopReason::Idle);
            }
            let event = self.next_event().await;
            if let Err(stop) = self.handle(event).await {
                return stop;
            }
        }
    }

    /// Resumes the open reply unless it is active or waiting. If the agent rejects an input of the log, the reply is resumed
    /// again, from the log's view of it.
    async fn resume_if_due(&mut self) -> Result<(), StopReason> {
        loop {
            let is_due = self.active.is_none() && !self.is_waiting && !*self.draining.borrow();
            if !is_due || self.state.reply().is_none() {
                return Ok(());
            }
            self.resume().await?;
            if !self.must_reload {
                return Ok(());
            }
        }
    }

    fn status(&self) -> RunStatus {
        match (&self.active, self.is_waiting) {
            (Some(_), _) => RunStatus::Running,
            (None, true) => RunStatus::Waiting,
            (None, false) => RunStatus::Idle,
        }
    }

    fn is_idle(&self) -> bool {
        let has_reply = self.state.reply().is_some() && !*self.draining.borrow();
        self.active.is_none() && !has_reply && self.watchers.is_empty() && self.commands.is_empty()
    }

    async fn handle(&mut self, event: RunEvent) -> Result<(), StopReason> {
        match event {
            RunEvent::AppendFailed(error) => return Err(error.into()),
            RunEvent::Draining
            | RunEvent::WatcherEnded
            | RunEvent::AgentProgressed
            | RunEvent::Command(Command::Wake) => {}
            RunEvent::Command(Command::Post { message, on_busy, caller, response }) => {
                self.traces.enter_request(&caller);
                let result = self.post(*message, on_busy).await;
                if let Ok(posted) = &result {
                    self.traces.reply_requested(&posted.reply_id, caller);
                }
                let is_lease_lost = matches!(&result, Err(PostError::Host(error)) if error.is_lease_lost());
                self.respond(Some(response), result, is_lease_lost)?;
            }
            RunEvent::Command(Command::Hint { event, response }) => {
                let result = self.hint(*event).await;
                let is_lease_lost = result.as_ref().is_err_and(crate::Error::is_lease_lost);
                self.respond(response, result, is_lease_lost)?;
            }
            RunEvent::Command(Command::Compress { response }) => {
                let result = self.compress().await;
                let is_lease_lost = result.as_ref().is_err_and(crate::Error::is_lease_lost);
                self.respond(Some(response), result, is_lease_lost)?;
            }
            RunEvent::Input(input) => self.handle_input(input?).await?,
            RunEvent::InputHandled(id, result) => self.input_handled(&id, result),
            RunEvent::AgentStopped => self.agent_stopped(),
            RunEvent::WaitExpired => {
                self.is_waiting = false;
                self.has_expired = true;
            }
            RunEvent::RenewalDue => self.session.renew(&self.lease, self.host.options.lease_time).await?,
        }
        Ok(())
    }

    /// Sends the result of a command. If the lease was lost meanwhile, drops the response channel instead: the caller sends the
    /// command again, and then gets an error with the name of the new holder.
    fn respond<T>(
        &self,
        response: Option<oneshot::Sender<T>>,
        result: T,
        is_lease_lost: bool,
    ) -> Result<(), StopReason> {
        if is_lease_lost {
            return Err(StopReason::LeaseLost);
        }
        if let Some(response) = response {
            // The caller may have been cancelled.
            let _ = response.send(result);
        }
        // If appending failed for the caller, it fails for the agent too.
        self.queue.failure().map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// Handles an agent that has stopped because the reply has ended or waits for input.
    fn agent_stopped(&mut self) {
        let Some(active) = self.active.take() else { return };
        let is_open = self.state.reply().is_some_and(|open| open.id == active.reply_id);
        if !is_open {
            self.reader = None;
            self.offered_inputs.clear();
            self.traces.reply_ended(&active.reply_id);
        } else if self.state.lock().pending_inputs.is_empty() && !self.must_reload {
            self.start_waiting(active.agent.expires_at());
        }
        // Otherwise an input arrived while the agent stopped. The reply is resumed from the log, which has the input.
        self.watch_background_calls(active);
    }

    /// Marks the open reply as waiting, with an optional expiry.
    fn start_waiting(&mut self, expires_at: Option<Timestamp>) {
        self.is_waiting = true;
        self.wait_deadline = expires_at.map(|time| {
            let remaining = Duration::try_from(time.duration_since(Timestamp::now())).unwrap_or_default();
            // The wall clock and the timer may disagree slightly about the expiry.
            Instant::now() + remaining.max(MIN_WAIT)
        });
    }

    /// Spawns a watcher that keeps the agent alive while its background tools run, and sends their results as hints.
    fn watch_background_calls(&mut self, active: ActiveAgent) {
        let ActiveAgent { agent, reply_id, .. } = active;
        self.watched_calls.extend(agent.state().background);
        let stored_hints = self.state.lock().stored_hint_ids();
        let own_sender = self.own_sender.clone();
        self.watchers.spawn(async move {
            while let Some(hint) = agent.next_hint().await {
                // A stored hint is in the state with which the next agent starts.
                if stored_hints.contains(&hint.id) {
                    continue;
                }
                let Some(sender) = own_sender.upgrade() else { return };
                let event = Box::new(hint::background_hint_event(hint, &reply_id));
                let _ = sender.send(Command::Hint { event, response: None }).await;
            }
        });
    }

    /// Stops the run and releases the lease.
    async fn stop(mut self, reason: &StopReason) {
        if !matches!(reason, StopReason::Idle) {
            self.state.lock().is_stopped = true;
            let was_active = self.active.take().is_some();
            self.watchers.abort_all();
            self.queue.abort(Error::Closed);
            if was_active && matches!(reason, StopReason::Shutdown) && *self.draining.borrow() {
                // Without this document, the next host treats the reply as interrupted by a crash.
                let _ = write_drained_document(&self.session, &self.lease).await;
            }
        }
        self.queue.close();
        // The lease may be lost already.
        let _ = self.session.release(self.lease).await;
    }
}

/// Records that the host stopped gracefully during a reply, with the cursor of the last entry.
async fn write_drained_document(session: &Session, lease: &Lease) -> Result<(), Error> {
    let appender = session.appender(Some(lease.clone()));
    let body = Some(appender.flush().await?.to_string());
    let change = StateChange { name: DRAINED_DOCUMENT.to_owned(), body };
    appender.append_with(Events::default(), vec![change]).await.map(drop)
}
