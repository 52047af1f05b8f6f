//! A session's run: the one task that works on a session, as long as there is something to do.

mod failing_agent;
mod hint;
mod inputs;
mod load;
mod orphans;
mod post;
mod rebuild;
mod run_event;
mod start;

pub use failing_agent::failing_agent;
pub(crate) use post::checked;
pub(crate) use start::go;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use recount_agent::{Agent, AgentBuilder, BackgroundCall, InputRejection, ReplyStream};
use recount_log::storage::StateChange;
use recount_log::{Appended, Error, Events, Lease, Reader, Session};
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

/// So long a reply waits at least before its time is over.
const SHORTEST_WAIT: Duration = Duration::from_millis(20);

/// Something for a session's run to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// See whether there is something to go on with.
    Wake,
    /// Take a message.
    Post {
        message: Box<Msg>,
        on_busy: OnBusy,
        /// Whom the reply is for, in the eyes of who traces it.
        asked: TraceContext,
        answer: oneshot::Sender<Result<Posted, PostError>>,
    },
    /// Take a hint.
    Hint { event: Box<AgentEvent>, answer: Option<oneshot::Sender<Result<Appended, crate::Error>>> },
    /// Have the conversation summarised.
    Compress { answer: oneshot::Sender<Result<(), crate::Error>> },
}

/// A session's run.
struct Run<'c> {
    host: Arc<Shared>,
    session: Session,
    lease: Lease,
    desk: Arc<SharedRunState>,
    outbox: AppendQueue,
    commands: &'c mut mpsc::Receiver<Command>,
    /// For those who watch agents whose reply is over.
    own: mpsc::WeakSender<Command>,
    draining: watch::Receiver<bool>,
    /// Reads along while a reply has not ended.
    reader: Option<Reader>,
    /// The agent that is at work.
    work: Option<Work>,
    /// The reply waits for somebody, and nobody is at it.
    is_waiting: bool,
    /// Until when it waits, if that is limited.
    expiry: Option<Instant>,
    /// That time is over.
    has_expired: bool,
    /// What the agent has is not what the log has: when it comes to rest it is loaded again.
    must_reload: bool,
    /// The inputs that agents were told of. One that none of them takes is not told for ever.
    told: HashSet<String>,
    /// An agent that was made to see whether it can be, and is to be used.
    prepared: Option<AgentBuilder>,
    /// Those who wait for tools in the background.
    watchers: JoinSet<()>,
    /// The tools in the background that they wait for, or have waited for.
    watched: Vec<BackgroundCall>,
    renewal: Interval,
    traces: RunTraces,
    counted: CountedRun,
}

/// An agent at work.
struct Work {
    agent: Agent,
    stream: ReplyStream,
    reply_id: String,
    /// Inputs on their way to it, each with its event's id.
    answers: JoinSet<(String, Result<(), InputRejection>)>,
    /// The inputs that were mended once already.
    mended: HashSet<String>,
}

/// Why a run ends.
#[derive(Debug)]
enum StopReason {
    /// There is nothing left to do.
    Idle,
    /// It is left as it stands.
    Left,
    /// Somebody else has the session.
    Taken,
    /// There is no such session any more, or no log.
    Gone,
    /// The log failed.
    Failed,
}

impl From<Error> for StopReason {
    fn from(error: Error) -> Self {
        match error {
            Error::LeaseLost { .. } | Error::LeaseHeld { .. } => Self::Taken,
            Error::UnknownSession(_) | Error::Closed => Self::Gone,
            Error::Broken(earlier) => Self::from((*earlier).clone()),
            _ => Self::Failed,
        }
    }
}

impl Run<'_> {
    /// Works until there is nothing left to do.
    async fn work(&mut self) -> StopReason {
        loop {
            if let Err(stop) = self.go_on().await {
                return stop;
            }
            self.counted.set(self.doing());
            if self.is_idle() {
                return self.outbox.committed().await.map_or_else(StopReason::from, |()| StopReason::Idle);
            }
            let happened = self.next().await;
            if let Err(stop) = self.take(happened).await {
                return stop;
            }
        }
    }

    /// Takes up the reply that has not ended, if nobody is at it and nothing is waited for. Where its agent does not take what
    /// the log says, it is taken up again at once, with what the log has made of it.
    async fn go_on(&mut self) -> Result<(), StopReason> {
        loop {
            let is_due = self.work.is_none() && !self.is_waiting && !*self.draining.borrow();
            if !is_due || self.desk.reply().is_none() {
                return Ok(());
            }
            self.take_up().await?;
            if !self.must_reload {
                return Ok(());
            }
        }
    }

    fn doing(&self) -> RunStatus {
        match (&self.work, self.is_waiting) {
            (Some(_), _) => RunStatus::Running,
            (None, true) => RunStatus::Waiting,
            (None, false) => RunStatus::Idle,
        }
    }

    fn is_idle(&self) -> bool {
        let has_reply = self.desk.reply().is_some() && !*self.draining.borrow();
        self.work.is_none() && !has_reply && self.watchers.is_empty() && self.commands.is_empty()
    }

    async fn take(&mut self, happened: RunEvent) -> Result<(), StopReason> {
        match happened {
            RunEvent::Failed(error) => return Err(error.into()),
            RunEvent::Draining | RunEvent::Unwatched | RunEvent::Said(true) | RunEvent::Told(Command::Wake) => {}
            RunEvent::Told(Command::Post { message, on_busy, asked, answer }) => {
                self.traces.asking(&asked);
                let outcome = self.post(*message, on_busy).await;
                if let Ok(posted) = &outcome {
                    self.traces.asked(&posted.reply_id, asked);
                }
                let is_taken = matches!(&outcome, Err(PostError::Host(error)) if error.is_taken());
                self.tell(Some(answer), outcome, is_taken)?;
            }
            RunEvent::Told(Command::Hint { event, answer }) => {
                let outcome = self.hint(*event).await;
                let is_taken = outcome.as_ref().is_err_and(crate::Error::is_taken);
                self.tell(answer, outcome, is_taken)?;
            }
            RunEvent::Told(Command::Compress { answer }) => {
                let outcome = self.compress().await;
                let is_taken = outcome.as_ref().is_err_and(crate::Error::is_taken);
                self.tell(Some(answer), outcome, is_taken)?;
            }
            RunEvent::Read(frame) => self.read(frame?).await?,
            RunEvent::Answered(id, outcome) => self.answered(&id, outcome),
            RunEvent::Said(false) => self.rest(),
            RunEvent::Expired => {
                self.is_waiting = false;
                self.has_expired = true;
            }
            RunEvent::Due => self.session.renew(&self.lease, self.host.options.lease_time).await?,
        }
        Ok(())
    }

    /// Tells somebody what became of what they asked. When the session was taken in that moment they ask again, and hear by
    /// whom.
    fn tell<T>(&self, answer: Option<oneshot::Sender<T>>, outcome: T, is_taken: bool) -> Result<(), StopReason> {
        if is_taken {
            return Err(StopReason::Taken);
        }
        if let Some(answer) = answer {
            // They may have gone.
            let _ = answer.send(outcome);
        }
        // What could not be written for them cannot be written for the agent either.
        self.outbox.failure().map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// The agent has come to the end of what it can do now: the reply has ended, or it waits.
    fn rest(&mut self) {
        let Some(work) = self.work.take() else { return };
        let is_open = self.desk.reply().is_some_and(|open| open.id == work.reply_id);
        if !is_open {
            self.reader = None;
            self.told.clear();
            self.traces.ended(&work.reply_id);
        } else if self.desk.lock().untaken.is_empty() && !self.must_reload {
            self.wait(work.agent.expires_at());
        }
        // What has come in the last moment is taken up with a new look at the log.
        self.watch(work);
    }

    /// The reply waits, until a time if that is limited.
    fn wait(&mut self, until: Option<Timestamp>) {
        self.is_waiting = true;
        self.expiry = until.map(|time| {
            let left = Duration::try_from(time.duration_since(Timestamp::now())).unwrap_or_default();
            // Clocks may differ a little about whether it is over.
            Instant::now() + left.max(SHORTEST_WAIT)
        });
    }

    /// Waits for what tools in the background come to. The agent is there as long as they run.
    fn watch(&mut self, work: Work) {
        let Work { agent, reply_id, .. } = work;
        self.watched.extend(agent.state().background);
        let known = self.desk.lock().known_hints();
        let own = self.own.clone();
        self.watchers.spawn(async move {
            while let Some(hint) = agent.next_hint().await {
                // It stands in the state that the next agent begins with.
                if known.contains(&hint.id) {
                    continue;
                }
                let Some(own) = own.upgrade() else { return };
                let event = Box::new(hint::event_of(hint, &reply_id));
                let _ = own.send(Command::Hint { event, answer: None }).await;
            }
        });
    }

    /// The end of the run.
    async fn end(mut self, stop: &StopReason) {
        if !matches!(stop, StopReason::Idle) {
            self.desk.lock().is_left = true;
            let was_working = self.work.take().is_some();
            self.watchers.abort_all();
            self.outbox.abandon(Error::Closed);
            if was_working && matches!(stop, StopReason::Left) && *self.draining.borrow() {
                // Without this note it is a reply whose process died.
                let _ = note_leaving(&self.session, &self.lease).await;
            }
        }
        self.outbox.close();
        // It may be lost already.
        let _ = self.session.release(self.lease).await;
    }
}

/// RunMetadata that a session's reply was left in good order, and where.
async fn note_leaving(session: &Session, lease: &Lease) -> Result<(), Error> {
    let appender = session.appender(Some(lease.clone()));
    let body = Some(appender.flush().await?.to_string());
    appender
        .append_with(Events::default(), vec![StateChange { name: DRAINED_DOCUMENT.to_owned(), body }])
        .await
        .map(drop)
}
