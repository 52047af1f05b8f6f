//! What the handles of an agent and its reply share.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;

use recount_message::{AgentEvent, CustomEvent, Event, EventKind, ModelFinishedReason, Msg, Object, ReplyFold};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::config::Config;
use crate::input::{Input, InputRejection};
use crate::sink::{Sink, SinkError};
use crate::stamps::SharedStamps;
use crate::state::{AgentState, Phase};
use crate::tool::{BackgroundEvent, BackgroundTools};

/// What never changes, and what does.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) stamps: SharedStamps,
    /// The tools that run in the background. They are stopped when the agent is gone.
    pub(crate) background: BackgroundTools,
    reports: Mutex<Option<mpsc::UnboundedReceiver<BackgroundEvent>>>,
    /// How many tools run in the background whose outcome nobody was told yet.
    pub(crate) untold: watch::Sender<usize>,
    inner: Mutex<Inner>,
}

pub(crate) struct Inner {
    /// The messages that are complete, in the order in which they began.
    pub(crate) conversation: Vec<Msg>,
    pub(crate) state: AgentState,
    /// The reply that waits, or that broke off.
    pub(crate) open: Option<OpenReply>,
    /// The reply that is under way.
    pub(crate) running: Option<Running>,
    /// The replies of agents that work for this one and have not ended, by their ids.
    pub(crate) sub_agents: BTreeMap<String, ReplyFold>,
    /// Those agents as far as they run, by the calls that they work on.
    pub(crate) running_sub_agents: BTreeMap<String, Weak<Shared>>,
    /// Answers that they have been waiting for.
    pub(crate) sub_agent_answers: BTreeMap<String, Input>,
    /// The reply is being closed: nobody adds to it any more.
    pub(crate) is_closing: bool,
    sink: Box<dyn Sink>,
    /// The state has changed since it was last kept.
    is_changed: bool,
    failure: Option<SinkError>,
    /// What the stream has not taken yet.
    queue: VecDeque<AgentEvent>,
    has_reader: bool,
    waker: Option<Waker>,
}

/// A reply that has not ended and that nobody is at.
#[derive(Debug, Clone)]
pub(crate) struct OpenReply {
    pub(crate) fold: ReplyFold,
    /// Where its message belongs in the conversation.
    pub(crate) place: usize,
}

/// How a reply that is under way is reached.
pub(crate) struct Running {
    pub(crate) reply_id: String,
    pub(crate) cancel: CancellationToken,
    pub(crate) inbox: mpsc::UnboundedSender<Delivery>,
}

/// An answer on its way to a reply that is under way.
pub(crate) struct Delivery {
    pub(crate) event: AgentEvent,
    pub(crate) is_recorded: bool,
    pub(crate) answer: oneshot::Sender<Result<(), InputRejection>>,
}

impl Shared {
    pub(crate) fn new(
        config: Config,
        stamps: SharedStamps,
        sink: Box<dyn Sink>,
        state: AgentState,
        conversation: Vec<Msg>,
        open: Option<OpenReply>,
        sub_agents: BTreeMap<String, ReplyFold>,
    ) -> Self {
        let inner = Inner {
            conversation,
            state,
            open,
            running: None,
            sub_agents,
            running_sub_agents: BTreeMap::new(),
            sub_agent_answers: BTreeMap::new(),
            is_closing: false,
            sink,
            is_changed: true,
            failure: None,
            queue: VecDeque::new(),
            has_reader: false,
            waker: None,
        };
        let (background, reports) = BackgroundTools::new();
        let (reports, untold) = (Mutex::new(Some(reports)), watch::Sender::new(0));
        Self { config, stamps, background, reports, untold, inner: Mutex::new(inner) }
    }

    /// What the tools in the background report, for the one who passes it on.
    pub(crate) fn take_reports(&self) -> Option<mpsc::UnboundedReceiver<BackgroundEvent>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an event: to the sink, with the state where that has changed, and to whoever reads the stream.
    pub(crate) fn publish(&self, event: AgentEvent) {
        self.lock().publish(event);
    }

    /// Writes an event to the sink alone: those who read the reply said it themselves.
    pub(crate) fn keep(&self, event: AgentEvent) {
        let mut inner = self.lock();
        let has_reader = std::mem::take(&mut inner.has_reader);
        inner.publish(event);
        inner.has_reader = has_reader;
    }

    /// The sink of a reply's writer.
    pub(crate) fn writer_sink(self: &Arc<Self>) -> Box<dyn FnMut(AgentEvent) + Send> {
        let shared = Arc::clone(self);
        Box::new(move |event| shared.publish(event))
    }

    /// Changes the state. It is kept together with the next event.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut AgentState) -> T) -> T {
        let mut inner = self.lock();
        inner.is_changed = true;
        change(&mut inner.state)
    }

    /// Writes a signal of the session, from wherever.
    pub(crate) fn signal(&self, name: impl Into<String>, value: impl Into<Object>) {
        let kind = CustomEvent::signal(name.into(), value);
        let event = Event::stamped(self.stamps.id(), self.stamps.time_text(), kind);
        let mut inner = self.lock();
        inner.publish(event);
        inner.wake();
    }

    /// Waits until all that was written is kept.
    pub(crate) async fn commit(&self) -> Result<(), SinkError> {
        let committed = {
            let mut inner = self.lock();
            if let Some(failure) = &inner.failure {
                return Err(failure.clone());
            }
            inner.sink.commit()
        };
        let outcome = committed.await;
        if let Err(error) = &outcome {
            self.lock().failure.get_or_insert_with(|| error.clone());
        }
        outcome
    }

    /// What has gone wrong with the sink, once: the next reply tries anew.
    pub(crate) fn take_failure(&self) -> Option<SinkError> {
        self.lock().failure.take()
    }
}

impl Inner {
    pub(super) fn mark_changed(&mut self) {
        self.is_changed = true;
    }

    /// Wakes whoever reads the stream.
    pub(super) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    pub(super) fn publish(&mut self, event: AgentEvent) {
        self.note(&event);
        let state = std::mem::take(&mut self.is_changed).then_some(&self.state);
        if self.failure.is_none()
            && let Err(error) = self.sink.append(&event, state)
        {
            self.failure = Some(error);
            if let Some(running) = &self.running {
                running.cancel.cancel();
            }
        }
        if self.has_reader {
            self.queue.push_back(event);
        }
    }

    /// Where a model call stands is told by its events, so it is noted as they pass, in the moment in which they are kept.
    fn note(&mut self, event: &AgentEvent) {
        let phase = match &event.kind {
            EventKind::ModelCallStart(_) => Phase::Asking,
            EventKind::ModelCallEnd(end) if end.finished_reason == ModelFinishedReason::Completed => Phase::Answered,
            EventKind::ModelCallEnd(_) => Phase::Idle,
            _ => return,
        };
        // The calls of those who work for this agent pass here too.
        if let Some(reply) = self.state.reply.as_mut().filter(|reply| event.reply_id() == Some(reply.id.as_str())) {
            reply.phase = phase;
            self.is_changed = true;
        }
    }

    /// Somebody reads the stream from now on, or nobody does.
    pub(crate) fn set_reader(&mut self, has_reader: bool) {
        self.has_reader = has_reader;
        if !has_reader {
            self.queue.clear();
            self.waker = None;
        }
    }

    /// The next event for whoever reads.
    pub(crate) fn next_event(&mut self) -> Option<AgentEvent> {
        self.queue.pop_front()
    }

    /// Who shall be woken when something is written from outside.
    pub(crate) fn set_waker(&mut self, waker: &Waker) {
        if !self.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            self.waker = Some(waker.clone());
        }
    }
}
