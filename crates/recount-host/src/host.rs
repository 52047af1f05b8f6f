//! The host, as programs use it.

use std::sync::Arc;
use std::time::Duration;

use recount_log::storage::{OpenReplyInfo, StateChange};
use recount_log::{Appended, Cursor, Events, Log, RefusalReason, SessionKey};
use recount_message::{AgentEvent, Event, Msg, UserInterruptEvent};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::batch::{Batch, RejectedEvent};
use crate::error::{Error, PostError};
use crate::find_duplicate::find_duplicate;
use crate::options::{HostOptions, OnBusy, Posted};
use crate::run::{self, Command};
use crate::run_counts::HostLoad;
use crate::scan::may_be_input;
use crate::shared::Shared;
use crate::source::{AgentInfo, AgentSource};
use crate::trace_context::TraceContext;

/// So often something is sent to a session's run that ends before it takes it. To send it twice is to send it once.
const ATTEMPTS: usize = 3;

/// Agents on a log. It is a handle; clones are the same host.
///
/// When the last handle is dropped, everything that is under way is left as it stands, as if the process had died: the next
/// host goes on with it. To stop in good order, [`drain`](Self::drain) first.
#[derive(Clone)]
pub struct Host {
    shared: Arc<Shared>,
    /// Ends with the last handle. The runs themselves hold none.
    _life: Arc<Life>,
}

struct Life(CancellationToken);

impl Drop for Life {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Host {
    /// Begins to host agents on a log, and goes on with what an earlier process has left: replies that were under way go on,
    /// those that waited wait on, and messages that were queued are answered.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub async fn start(log: Log, agents: Arc<dyn AgentSource>, options: HostOptions) -> Result<Self, Error> {
        let hosting = log.hosted_sessions().await?;
        let left = CancellationToken::new();
        let shared = Arc::new(Shared::new(log, agents, options, left.clone()));
        for session in hosting {
            shared.send(&session, Command::Wake).await;
        }
        Ok(Self { shared, _life: Arc::new(Life(left)) })
    }

    /// Writes a user's message, and has it answered by the session's agent: the one that it names as `agent`, else the
    /// default one. The answer comes when both the message and that it will be answered are kept.
    ///
    /// A message with an id that was posted before gets the first answer again.
    ///
    /// # Errors
    ///
    /// When a reply is under way and the message is not to be queued, when it cannot be said to an agent, when there is no
    /// agent, or when the log does not take it. Nothing is written then.
    pub async fn post(&self, session: &SessionKey, message: Msg, on_busy: OnBusy) -> Result<Posted, PostError> {
        if *self.shared.draining.borrow() {
            return Err(Error::Draining.into());
        }
        let message = run::checked(message)?;
        for _ in 0..ATTEMPTS {
            let (answer, answered) = oneshot::channel();
            let message = Box::new(message.clone());
            let asked = TraceContext::current();
            self.shared.send(session, Command::Post { message, on_busy, asked, answer }).await;
            if let Ok(answer) = answered.await {
                return answer;
            }
        }
        Err(self.unanswered().into())
    }

    /// Writes any other events: answers, interrupts, hints, signals, what an agent elsewhere says.
    ///
    /// What a run waits for reaches it through the log. A hint that is not of a reply elsewhere is told to the model before
    /// it is asked the next time, as a part of that reply; an idle session begins one for it. Such a hint is an entry when
    /// it is told, and kept until then. In a reply of an agent here only that agent speaks: what somebody else says in it is
    /// not written, and told as ignored (`hosted`).
    ///
    /// # Errors
    ///
    /// When an input is refused (nothing of the batch is written then), or when the log does not take it.
    pub async fn append(&self, session: &SessionKey, events: impl Into<Events>) -> Result<Appended, Error> {
        self.write(session, None, events.into(), Vec::new()).await
    }

    /// The same, if a cursor is still the head.
    ///
    /// # Errors
    ///
    /// [`recount_log::Error::Moved`] when it is not, and as [`append`](Self::append).
    pub async fn append_if(
        &self,
        session: &SessionKey,
        head: Cursor,
        events: impl Into<Events>,
    ) -> Result<Appended, Error> {
        self.write(session, Some(head), events.into(), Vec::new()).await
    }

    /// The same, with documents that are kept in the same commit. Hints for a run here are not a part of that commit; they
    /// come after it, and whoever sends them again sends them once.
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
        self.write(session, Some(head), events.into(), states).await
    }

    async fn write(
        &self,
        key: &SessionKey,
        after: Option<Cursor>,
        events: Events,
        states: Vec<StateChange>,
    ) -> Result<Appended, Error> {
        // Without a run there is no reply of an agent here, and without hints nobody to be told.
        let batch = match Batch::may_have_hints(&events) || self.shared.has_run(key) {
            true => Batch::of(&events, &self.open(key).await?),
            false => Batch::for_log(events),
        };
        let Batch { hints, strays, others, places } = batch;
        let session = self.shared.log.session(key.clone());
        let mut total = None;
        if !others.is_empty() || hints.is_empty() || !states.is_empty() {
            let concerns_run = others.texts().any(|text| may_be_input(text));
            let appended = match after {
                Some(head) => session.append_if_with(head, others, states).await,
                None => session.append(others).await,
            };
            let appended = places.of_outcome(appended)?;
            if concerns_run && !self.shared.has_run(key) && self.is_hosting(key).await? {
                self.shared.send(key, Command::Wake).await;
            }
            total = Some(self.with_strays(key, appended, strays).await?);
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

    /// What is told of events that are not their sender's to say: that they are there already, or that nobody heard them.
    async fn with_strays(
        &self,
        key: &SessionKey,
        mut appended: Appended,
        strays: Vec<RejectedEvent>,
    ) -> Result<Appended, Error> {
        if strays.is_empty() {
            return Ok(appended);
        }
        let session = self.shared.log.session(key.clone());
        for stray in strays {
            match find_duplicate(&session, appended.cursor, &stray.event).await? {
                Some(_) => appended.duplicates += 1,
                None => appended.ignored.push(stray.ignored()),
            }
        }
        appended.ignored.sort_by_key(|ignored| ignored.index);
        Ok(appended)
    }

    async fn hint(&self, key: &SessionKey, hint: AgentEvent) -> Result<Appended, Error> {
        for _ in 0..ATTEMPTS {
            let (answer, answered) = oneshot::channel();
            let event = Box::new(hint.clone());
            self.shared.send(key, Command::Hint { event, answer: Some(answer) }).await;
            if let Ok(answer) = answered.await {
                return answer;
            }
        }
        Err(self.unanswered())
    }

    /// Why nobody has answered.
    fn unanswered(&self) -> Error {
        if self.shared.left.is_cancelled() { Error::Draining } else { recount_log::Error::Closed.into() }
    }

    /// Stops the reply that is under way or waits, and says where; nothing when there is none. Messages that are queued are
    /// answered next. A reply of an agent elsewhere is told to stop when there is none here.
    ///
    /// # Errors
    ///
    /// When the session does not exist or the log does not take it.
    pub async fn interrupt(&self, session: &SessionKey) -> Result<Option<Cursor>, Error> {
        self.interrupt_once(session, None).await
    }

    /// The same under an id. Asking again with it, because the answer got lost, does not stop the reply after that one.
    ///
    /// # Errors
    ///
    /// As [`interrupt`](Self::interrupt).
    pub async fn interrupt_once(&self, session: &SessionKey, id: Option<String>) -> Result<Option<Cursor>, Error> {
        let mut open: Vec<OpenReplyInfo> = self.open(session).await?;
        open.retain(|reply| !reply.nested);
        let reply = open.iter().find(|reply| reply.hosted).or_else(|| open.last());
        let mut interrupt =
            Event::new(UserInterruptEvent::new(reply.map(|reply| reply.id.clone()).unwrap_or_default()));
        if let Some(id) = id {
            interrupt.id = id.into();
            let session = self.shared.log.session(session.clone());
            let head = Cursor { epoch: session.info().await?.epoch, seq: 0 };
            if let Some(first) = find_duplicate(&session, head, &interrupt).await? {
                return Ok(Some(first.cursor));
            }
        }
        if reply.is_none() {
            return Ok(None);
        }
        match self.append(session, [&interrupt]).await {
            Ok(appended) => Ok(Some(appended.cursor)),
            Err(Error::Log(recount_log::Error::Refused(refusal))) => match refusal.reason {
                // Somebody was first.
                RefusalReason::Duplicate => {
                    let row = self.shared.log.session(session.clone()).info().await?;
                    Ok(Some(Cursor { epoch: row.epoch, seq: row.head }))
                }
                _ => Ok(None),
            },
            Err(error) => Err(error),
        }
    }

    /// Has a session's conversation summarised before its model is asked the next time, in the reply that is under way or in the
    /// next one. The log tells of it by `recount.compressed`.
    ///
    /// # Errors
    ///
    /// When the log does not take it.
    pub async fn compress(&self, session: &SessionKey) -> Result<(), Error> {
        for _ in 0..ATTEMPTS {
            let (answer, answered) = oneshot::channel();
            self.shared.send(session, Command::Compress { answer }).await;
            if let Ok(answer) = answered.await {
                return answer;
            }
        }
        Err(self.unanswered())
    }

    /// Every agent, in the order in which people are shown them.
    pub fn agents(&self) -> Vec<AgentInfo> {
        self.shared.agents.agents()
    }

    /// The name of the agent of sessions that name none.
    pub fn default_agent(&self) -> &str {
        self.shared.agents.default_agent()
    }

    /// A session was removed from the log: what its agents have put aside goes too.
    pub fn forget(&self, session: &SessionKey) {
        self.shared.agents.forget(session);
    }

    /// Stops in good order: nothing new is begun, and what is under way gets this long to come to its end or to wait for
    /// somebody. What is not there yet then is left as it stands, and the next host goes on with it.
    pub async fn drain(&self, within: Duration) {
        self.shared.draining.send_replace(true);
        let _ = tokio::time::timeout(within, self.shared.all_ended()).await;
        self.shared.left.cancel();
        self.shared.all_ended().await;
    }

    /// What it is doing right now.
    pub fn load(&self) -> HostLoad {
        self.shared.tally.load()
    }

    /// The log.
    pub fn log(&self) -> &Log {
        &self.shared.log
    }

    async fn open(&self, key: &SessionKey) -> Result<Vec<OpenReplyInfo>, Error> {
        let key = key.clone();
        let open = self.shared.log.read(move |view| {
            view.session(&key)?.ok_or_else(|| recount_log::Error::UnknownSession(key.clone()))?;
            Ok(view.open_reply_infos(&key)?)
        });
        Ok(open.await?)
    }

    async fn is_hosting(&self, key: &SessionKey) -> Result<bool, Error> {
        Ok(self.open(key).await?.iter().any(|open| open.hosted))
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("options", &self.shared.options).finish_non_exhaustive()
    }
}
