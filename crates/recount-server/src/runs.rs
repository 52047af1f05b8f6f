//! What runs: the agents of the sessions.

use std::fmt;
use std::time::Duration;

use http::StatusCode;
use recount_host::{AgentInfo, Error as HostError, Host, HostLoad, OnBusy, PostError, Posted};
use recount_log::storage::StateChange;
use recount_log::{Appended, Cursor, Events, Log, SessionKey};
use recount_message::Msg;
use tracing::Instrument as _;

use crate::problem::Problem;
use crate::watch::commit_span;

/// The agents of the sessions.
#[derive(Clone)]
pub(crate) struct Runs {
    host: Host,
}

impl Runs {
    pub(crate) fn new(host: Host) -> Self {
        Self { host }
    }

    pub(crate) fn log(&self) -> &Log {
        self.host.log()
    }

    /// A session was removed.
    pub(crate) fn forget(&self, key: &SessionKey) {
        self.host.forget(key);
    }

    /// Says something to a session's agent.
    pub(crate) async fn post(&self, key: &SessionKey, message: Msg, on_busy: OnBusy) -> Result<Posted, Problem> {
        self.host.post(key, message, on_busy).await.map_err(|error| match error {
            PostError::Busy { reply_id } => {
                let detail = format!("the reply `{reply_id}` is under way; hint: on_busy=queue or on_busy=interrupt");
                Problem::conflict("busy", detail).with("reason", "busy").with("reply_id", reply_id)
            }
            PostError::IdConflict { id } => {
                let detail = format!("there is a message `{id}` already, and it says something else");
                Problem::conflict("different", detail).with("field", "id").with("reason", "different")
            }
            PostError::IdInUse { id } => {
                let detail = format!("the id `{id}` is that of something else in the session");
                Problem::conflict("different", detail).with("field", "id").with("reason", "different")
            }
            PostError::InvalidMessage { .. } => Problem::bad_field("content", error.to_string()),
            PostError::Host(error) => Problem::of_host(&error, &[]),
            _ => Problem::unavailable(error.to_string()),
        })
    }

    /// Writes events, if the head is where it should be.
    pub(crate) async fn append(
        &self,
        key: &SessionKey,
        after: Option<Cursor>,
        events: Events,
    ) -> Result<Appended, HostError> {
        let span = commit_span(events.len());
        match after {
            None => self.host.append(key, events).instrument(span).await,
            Some(cursor) => self.host.append_if(key, cursor, events).instrument(span).await,
        }
    }

    /// Appends a part of a stream, and what has to be remembered of it.
    pub(crate) async fn append_with(
        &self,
        key: &SessionKey,
        head: Cursor,
        events: Events,
        state: StateChange,
    ) -> Result<Appended, HostError> {
        let span = commit_span(events.len());
        self.host.append_if_with(key, head, events, vec![state]).instrument(span).await
    }

    /// Stops what is under way, and says where.
    pub(crate) async fn interrupt(&self, key: &SessionKey, id: Option<String>) -> Result<Option<Cursor>, Problem> {
        self.host.interrupt_once(key, id).await.map_err(|error| Problem::of_host(&error, &[]))
    }

    /// What the agents are doing.
    pub(crate) fn load(&self) -> HostLoad {
        self.host.load()
    }

    pub(crate) fn agents(&self) -> Vec<AgentInfo> {
        self.host.agents()
    }

    pub(crate) fn default_agent(&self) -> &str {
        self.host.default_agent()
    }

    /// Lets what is under way come to a point where it can go on later.
    pub(crate) async fn drain(&self, within: Duration) {
        self.host.drain(within).await;
    }
}

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("agents", &self.agents()).finish()
    }
}

impl Problem {
    /// What the host refused, where each event of a batch came from a line.
    pub(crate) fn of_host(error: &HostError, lines: &[usize]) -> Self {
        match error {
            HostError::Log(error) => Self::of_log(error, lines),
            HostError::Draining => Self::unavailable("the service is shutting down and begins nothing new"),
            HostError::LeaseHeld { .. } => Self::conflict("taken", error.to_string()),
            HostError::Agent(source) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "no_agent", source.to_string()).with("field", "agent")
            }
            _ => Self::unavailable(error.to_string()),
        }
    }
}
