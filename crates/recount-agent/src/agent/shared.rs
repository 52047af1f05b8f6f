//! The data that the handles of an agent and its reply in progress share.

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

/// The configuration of an agent, and its mutable state behind a lock.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) stamps: SharedStamps,
    /// The background tools. Dropping the agent stops them.
    pub(crate) background: BackgroundTools,
    reports: Mutex<Option<mpsc::UnboundedReceiver<BackgroundEvent>>>,
    /// The number of background tools whose result is not yet queued as a hint.
    pub(crate) pending_background: watch::Sender<usize>,
    inner: Mutex<Inner>,
}

pub(crate) struct Inner {
    /// The complete messages, ordered by their start.
    pub(crate) conversation: Vec<Msg>,
    pub(crate) state: AgentState,
    /// The reply that waits or was cut off by a crash.
    pub(crate) open: Option<OpenReply>,
    /// The reply in progress.
    pub(crate) running: Option<RunningReply>,
    /// The unfinished replies of sub-agents, by reply id.
    pub(crate) sub_agents: BTreeMap<String, ReplyFold>,
    /// The running sub-agents, by the id of the call that started them.
    pub(crate) running_sub_agents: BTreeMap<String, Weak<Shared>>,
    /// Answers to waiting sub-agents, by call id.
    pub(crate) sub_agent_answers: BTreeMap<String, Input>,
    /// The reply is being closed: sub-agents must not write any more.
    pub(crate) is_closing: bool,
    sink: Box<dyn Sink>,
    /// The state has changed since it was last passed to the sink.
    is_state_dirty: bool,
    sink_error: Option<SinkError>,
    /// Events that the stream has not read yet.
    queue: VecDeque<AgentEvent>,
    has_reader: bool,
    waker: Option<Waker>,
}

/// An unfinished reply that is not in progress.
#[derive(Debug, Clone)]
pub(crate) struct OpenReply {
    pub(crate) fold: ReplyFold,
    /// The index of its message in the conversation.
    pub(crate) position: usize,
}

/// The handle to the reply in progress.
pub(crate) struct RunningReply {
    pub(crate) reply_id: String,
    pub(crate) cancel: CancellationToken,
    pub(crate) inbox: mpsc::UnboundedSender<QueuedAnswer>,
}

/// An answer that is queued for the reply in progress.
pub(crate) struct QueuedAnswer {
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
            is_state_dirty: true,
            sink_error: None,
            queue: VecDeque::new(),
            has_reader: false,
            waker: None,
        };
        let (background, reports) = BackgroundTools::new();
        let (reports, pending_background) = (Mutex::new(Some(reports)), watch::Sender::new(0));
        Self { config, stamps, background, reports, pending_background, inner: Mutex::new(inner) }
    }

    /// Returns the receiver of the background tools' events. `None` if it was taken before.
    pub(crate) fn take_background_reports(&self) -> Option<mpsc::UnboundedReceiver<BackgroundEvent>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an event to the sink, together with a changed state, and to the stream.
    pub(crate) fn publish(&self, event: AgentEvent) {
        self.lock().publish(event);
    }

    /// Writes an event to the sink, but not to the stream. For input, which the reader of the stream already has.
    pub(crate) fn append_unstreamed(&self, event: AgentEvent) {
        let mut inner = self.lock();
        let has_reader = std::mem::take(&mut inner.has_reader);
        inner.publish(event);
        inner.has_reader = has_reader;
    }

    /// Returns the sink for the reply's writer.
    pub(crate) fn writer_sink(self: &Arc<Self>) -> Box<dyn FnMut(AgentEvent) + Send> {
        let shared = Arc::clone(self);
        Box::new(move |event| shared.publish(event))
    }

    /// Changes the state. The change is persisted with the next event.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut AgentState) -> T) -> T {
        let mut inner = self.lock();
        inner.is_state_dirty = true;
        change(&mut inner.state)
    }

    /// Writes a signal of the session. Allowed at any time.
    pub(crate) fn signal(&self, name: impl Into<String>, value: impl Into<Object>) {
        let kind = CustomEvent::signal(name.into(), value);
        let event = Event::stamped(self.stamps.id(), self.stamps.time_text(), kind);
        let mut inner = self.lock();
        inner.publish(event);
        inner.wake();
    }

    /// Waits until all written events are persisted.
    pub(crate) async fn commit(&self) -> Result<(), SinkError> {
        let committed = {
            let mut inner = self.lock();
            if let Some(sink_error) = &inner.sink_error {
                return Err(sink_error.clone());
            }
            inner.sink.commit()
        };
        let outcome = committed.await;
        if let Err(error) = &outcome {
            self.lock().sink_error.get_or_insert_with(|| error.clone());
        }
        outcome
    }

    /// Takes the error of the sink, so that the next reply tries to write again.
    pub(crate) fn take_sink_error(&self) -> Option<SinkError> {
        self.lock().sink_error.take()
    }
}

impl Inner {
    pub(super) fn mark_state_dirty(&mut self) {
        self.is_state_dirty = true;
    }

    /// Wakes the reader of the stream.
    pub(super) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    pub(super) fn publish(&mut self, event: AgentEvent) {
        self.track_model_call(&event);
        let state = std::mem::take(&mut self.is_state_dirty).then_some(&self.state);
        if self.sink_error.is_none()
            && let Err(error) = self.sink.append(&event, state)
        {
            self.sink_error = Some(error);
            if let Some(running) = &self.running {
                running.cancel.cancel();
            }
        }
        if self.has_reader {
            self.queue.push_back(event);
        }
    }

    // Called before the event is persisted, so that the phase in the state always matches the events.
    fn track_model_call(&mut self, event: &AgentEvent) {
        let phase = match &event.kind {
            EventKind::ModelCallStart(_) => Phase::Asking,
            EventKind::ModelCallEnd(end) if end.finished_reason == ModelFinishedReason::Completed => Phase::Answered,
            EventKind::ModelCallEnd(_) => Phase::Idle,
            _ => return,
        };
        // Ignore the model calls of sub-agents.
        if let Some(reply) = self.state.reply.as_mut().filter(|reply| event.reply_id() == Some(reply.id.as_str())) {
            reply.phase = phase;
            self.is_state_dirty = true;
        }
    }

    /// Sets whether events are queued for a stream.
    pub(crate) fn set_has_reader(&mut self, has_reader: bool) {
        self.has_reader = has_reader;
        if !has_reader {
            self.queue.clear();
            self.waker = None;
        }
    }

    /// Returns the next event for the stream.
    pub(crate) fn next_event(&mut self) -> Option<AgentEvent> {
        self.queue.pop_front()
    }

    /// Sets the waker for events that are written by other tasks.
    pub(crate) fn set_waker(&mut self, waker: &Waker) {
        if !self.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            self.waker = Some(waker.clone());
        }
    }
}
