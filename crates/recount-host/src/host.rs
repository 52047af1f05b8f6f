//! The handle of a host.

use std::sync::Arc;
use std::time::Duration;

use recount_log::storage::{OpenReplyInfo, StateChange};
use recount_log::{Appended, Cursor, Events, Log, RefusalReason, SessionKey};
use recount_message::{AgentEvent, Event, Msg, UserInterruptEvent};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, PostError};
use crate::options::{HostOptions, OnBusy, Posted};
use crate::routing::{RejectedEvent, RoutedEvents};
use crate::run::{self, Command};
use crate::run_counts::HostLoad;
use crate::shared::Shared;
use crate::source::{AgentInfo, AgentSource};
use crate::trace_context::TraceContext;

/// How many times a command is sent if the run ends before it handles it. All commands are idempotent.
const ATTEMPTS: usize = 3;

/// Hosts agents on a log. Clones share the host.
///
/// Dropping the last handle stops all runs at once, as if the process had crashed. The next host resumes their replies. Call
/// [`drain`](Self::drain) for a graceful shutdown.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
    /// Stops the runs when the last handle is dropped. The runs hold no handle.
    _shutdown_on_drop: Arc<ShutdownOnDrop>,
}

struct ShutdownOnDrop(CancellationToken);

impl Drop for ShutdownOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Host {
    /// Starts a host on a log. Resumes the replies that an earlier process left open, and answers the messages that it left
    /// queued.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub async fn start(log: Log, agents: Arc<dyn AgentSource>, options: HostOptions) -> Result<Self, Error> {
        let sessions = log.hosted_sessions().await?;
        let shutdown = CancellationToken::new();
        let shared = Arc::new(Shared::new(log, agents, options, shutdown.clone()));
        for session in sessions {
            shared.send(&session, Command::Wake).await;
        }
        Ok(Self { shared, _shutdown_on_drop: Arc::new(ShutdownOnDrop(shutdown)) })
    }

    /// Appends a user's message, to be answered by the session's agent: the one in its property `agent`, or else the default
    /// agent. Returns when the message is committed together with the start of its reply or its place in the queue.
    ///
    /// Posting a message with the id of an earlier one returns the earlier result.
    ///
    /// # Errors
    ///
    /// When a reply is in progress and `on_busy` is [`OnBusy::Reject`], when the message is invalid, when the agent cannot be
    /// built, or when the log fails. Nothing is appended then.
    pub async fn post(&self, session: &SessionKey, message: Msg, on_busy: OnBusy) -> Result<Posted, PostError> {
        if *self.shared.draining.borrow() {
            return Err(Error::Draining.into());
        }
        let message = run::validate(message)?;
        for _ in 0..ATTEMPTS {
            let (response, result) = oneshot::channel();
            let message = Box::new(message.clone());
            let caller = TraceContext::current();
            self.shared.send(session, Command::Post { message, on_busy, caller, response }).await;
            if let Ok(result) = result.await {
                return result;
            }
        }
        Err(self.run_unavailable().into())
    }

    /// Appends any other events: confirmations, tool results, interrupts, hints, signals, and the events of remote agents.
    ///
    /// Inputs reach the run through the log. A hint that is not part of a remote agent's reply goes to the hosted agent: it is
    /// passed to the model with its next call, or starts a reply if the session is idle. It is stored at once, and becomes
    /// an entry when the model receives it. Only the hosted agent may append to its reply. Other events in that reply are not
    /// appended, and reported as ignored with the reason `hosted`.
    ///
    /// # Errors
    ///
    /// When an input is rejected (nothing of the batch is appended then), or when the log fails.
    pub async fn append(&self, session: &SessionKey, events: impl Into<Events>) -> Result<Appended, Error> {
        self.append_routed(session, None, events.into(), Vec::new()).await
    }

    /// Appends events if a cursor is still the head of the session.
    ///
    /// # Errors
    ///
    /// [`recount_log::Error::Moved`] if the cursor is not the head, and as [`append`](Self::append).
    pub async fn append_if(
        &self,
        session: &SessionKey,
        head: Cursor,
        events: impl Into<Events>,
    ) -> Result<Appended, Error> {
        self.append_routed(session, Some(head), events.into(), Vec::new()).await
    }

    /// Appends events and state changes in one commit if a cursor is still the head of the session.
    ///
    /// Hints for the hosted agent are stored after that commit. If that fails, the call can be repeated with the same events.
    ///
    /// # Errors
    ///
    /// As [`append_if`](Self::append_if).
    pub async fn append_if_with(
        &self,
        session: &SessionKey,
        head: Cursor,
        events: impl Into<Events>,
        states: Vec<StateChange>,
    ) -> Result<Appended, Error> {
        self.append_routed(session, Some(head), events.into(), states).await
    }

    async fn append_routed(
        &self,
        key: &SessionKey,
        head: Option<Cursor>,
        events: Events,
        states: Vec<StateChange>,
    ) -> Result<Appended, Error> {
        // Without a run there is no hosted reply to protect, so events without hints need no routing.
        let routed = match RoutedEvents::may_have_hints(&events) || self.shared.has_run(key) {
            true => RoutedEvents::new(&events, &self.open_replies(key).await?),
            false => RoutedEvents::all_to_log(events),
        };
        let RoutedEvents { hints, rejected, for_log, positions } = routed;
        let session = self.shared.log.session(key.clone());
        let mut total = None;
        if !for_log.is_empty() || hints.is_empty() || !states.is_empty() {
            let may_concern_run = RoutedEvents::may_have_inputs(&for_log);
            let appended = match head {
                Some(head) => session.append_if_with(head, for_log, states).await,
                None => session.append(for_log).await,
            };
            let appended = positions.map_result(appended)?;
            if may_concern_run && !self.shared.has_run(key) && self.has_hosted_reply(key).await? {
                self.shared.send(key, Command::Wake).await;
            }
            total = Some(self.add_rejected(key, appended, rejected).await?);
        }
        for hint in hints {
            if *self.shared.draining.borrow() {
                return Err(Error::Draining);
            }
            let appended = self.hint(key, hint).await?;
            total = Some(match total {
                None => appended,
                Some(before) => Appended {
                    written: before.written + appended.written,
                    duplicates: before.duplicates + appended.duplicates,
                    cursor: appended.cursor,
                    ignored: before.ignored,
                },
            });
        }
        total.ok_or_else(|| recount_log::Error::Closed.into())
    }

    /// Adds rejected events to a result: as duplicates if the agent has appended them itself, else as ignored.
    async fn add_rejected(
        &self,
        key: &SessionKey,
        mut appended: Appended,
        rejected: Vec<RejectedEvent>,
    ) -> Result<Appended, Error> {
        if rejected.is_empty() {
            return Ok(appended);
        }
        let session = self.shared.log.session(key.clone());
        for event in rejected {
            match session.find_event(&event.event.id).await? {
                Some(_) => appended.duplicates += 1,
                None => appended.ignored.push(event.to_ignored()),
            }
        }
        appended.ignored.sort_by_key(|ignored| ignored.index);
        Ok(appended)
    }

    async fn hint(&self, key: &SessionKey, hint: AgentEvent) -> Result<Appended, Error> {
        for _ in 0..ATTEMPTS {
            let (response, result) = oneshot::channel();
            let event = Box::new(hint.clone());
            self.shared.send(key, Command::Hint { event, response: Some(response) }).await;
            if let Ok(result) = result.await {
                return result;
            }
        }
        Err(self.run_unavailable())
    }

    /// The error when the run ends before it handles a command.
    fn run_unavailable(&self) -> Error {
        if self.shared.shutdown.is_cancelled() { Error::Draining } else { recount_log::Error::Closed.into() }
    }

    /// Interrupts the open reply, and returns the cursor of the interrupt. `None` if no reply is open. Queued messages are
    /// answered next. If several replies are open, a hosted one is preferred to that of a remote agent.
    ///
    /// # Errors
    ///
    /// When the session does not exist or the log fails.
    pub async fn interrupt(&self, session: &SessionKey) -> Result<Option<Cursor>, Error> {
        self.interrupt_once(session, None).await
    }

    /// Interrupts the open reply, with an idempotency key. A retry with the same `id` does not interrupt the following reply.
    ///
    /// # Errors
    ///
    /// As [`interrupt`](Self::interrupt).
    pub async fn interrupt_once(&self, session: &SessionKey, id: Option<String>) -> Result<Option<Cursor>, Error> {
        let mut open: Vec<OpenReplyInfo> = self.open_replies(session).await?;
        open.retain(|reply| !reply.nested);
        let reply = open.iter().find(|reply| reply.hosted).or_else(|| open.last());
        let mut interrupt =
            Event::new(UserInterruptEvent::new(reply.map(|reply| reply.id.clone()).unwrap_or_default()));
        if let Some(id) = id {
            if let Some(cursor) = self.shared.log.session(session.clone()).find_event(&id).await? {
                return Ok(Some(cursor));
            }
            interrupt.id = id.into();
        }
        if reply.is_none() {
            return Ok(None);
        }
        match self.append(session, [&interrupt]).await {
            Ok(appended) => Ok(Some(appended.cursor)),
            Err(Error::Log(recount_log::Error::Refused(refusal))) => match refusal.reason {
                // The reply was interrupted concurrently.
                RefusalReason::Duplicate => {
                    let row = self.shared.log.session(session.clone()).info().await?;
                    Ok(Some(Cursor { epoch: row.epoch, seq: row.head }))
                }
                _ => Ok(None),
            },
            Err(error) => Err(error),
        }
    }

    /// Requests a summary of the conversation before the next model call, in the open reply or in the next one. The log then
    /// has a signal `recount.compressed`.
    ///
    /// # Errors
    ///
    /// When the log fails.
    pub async fn compress(&self, session: &SessionKey) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let (response, result) = oneshot::channel();
            self.shared.send(session, Command::Compress { response }).await;
            if let Ok(result) = result.await {
                return result;
            }
        }
        Err(self.run_unavailable())
    }

    /// Returns all agents, in display order.
    pub fn agents(&self) -> Vec<AgentInfo> {
        self.shared.agents.agents()
    }

    /// The name of the agent for sessions that name none.
    pub fn default_agent(&self) -> &str {
        self.shared.agents.default_agent()
    }

    /// Deletes the files that agents stored for a session. Call it after removing the session from the log.
    pub fn forget(&self, session: &SessionKey) {
        self.shared.agents.forget(session);
    }

    /// Shuts down gracefully: starts nothing new, and waits up to `timeout` for open replies to end or to wait for input. Then
    /// stops the remaining runs. The next host resumes their replies.
    pub async fn drain(&self, timeout: Duration) {
        self.shared.draining.send_replace(true);
        let _ = tokio::time::timeout(timeout, self.shared.wait_for_runs()).await;
        self.shared.shutdown.cancel();
        self.shared.wait_for_runs().await;
    }

    /// Returns the current load.
    pub fn load(&self) -> HostLoad {
        self.shared.counts.load()
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.shared.log
    }

    async fn open_replies(&self, key: &SessionKey) -> Result<Vec<OpenReplyInfo>, Error> {
        let key = key.clone();
        let open = self.shared.log.read(move |view| {
            view.session(&key)?.ok_or_else(|| recount_log::Error::UnknownSession(key.clone()))?;
            Ok(view.open_reply_infos(&key)?)
        });
        Ok(open.await?)
    }

    async fn has_hosted_reply(&self, key: &SessionKey) -> Result<bool, Error> {
        Ok(self.open_replies(key).await?.iter().any(|open| open.hosted))
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("options", &self.shared.options).finish_non_exhaustive()
    }
}
