//! The host of the agents, with its errors as problems and its commits traced.

use std::fmt;
use std::time::Duration;

use http::StatusCode;
use recount_host::{AgentInfo, Error as HostError, Host, HostLoad, OnBusy, PostError, Posted};
use recount_log::storage::StateChange;
use recount_log::{Appended, Cursor, Events, Log, SessionKey};
use recount_message::Msg;
use tracing::Instrument as _;

use crate::problem::Problem;
use crate::telemetry::commit_span;

/// A [`Host`] as the routes use it.
#[derive(Clone)]
pub(crate) struct HostAdapter {
    host: Host,
}

impl HostAdapter {
    pub(crate) fn new(host: Host) -> Self {
        Self { host }
    }

    pub(crate) fn log(&self) -> &Log {
        self.host.log()
    }

    /// Drops the host's state of a deleted session.
    pub(crate) fn forget(&self, key: &SessionKey) {
        self.host.forget(key);
    }

    /// Posts a user's message to the agent of a session.
    pub(crate) async fn post(&self, key: &SessionKey, message: Msg, on_busy: OnBusy) -> Result<Posted, Problem> {
        self.host.post(key, message, on_busy).await.map_err(|error| match error {
            PostError::Busy { reply_id } => {
                let detail = format!("the reply `{reply_id}` is in progress; hint: on_busy=queue or on_busy=interrupt");
                Problem::conflict("busy", detail).with("reason", "busy").with("reply_id", reply_id)
            }
            PostError::IdConflict { id } => {
                let detail = format!("the message `{id}` already exists with different content");
                Problem::conflict("different", detail).with("field", "id").with("reason", "different")
            }
            PostError::IdInUse { id } => {
                let detail = format!("the id `{id}` is already used by another item of the session");
                Problem::conflict("different", detail).with("field", "id").with("reason", "different")
            }
            PostError::InvalidMessage { .. } => Problem::bad_field("content", error.to_string()),
            PostError::Host(error) => Problem::of_host(&error, &[]),
            _ => Problem::unavailable(error.to_string()),
        })
    }

    /// Appends events. With `after`, only if the session's head is still at that cursor.
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

    /// Appends events and stores a state in the same commit, if the session's head is still at `head`.
    pub(crate) async fn append_with_state(
        &self,
        key: &SessionKey,
        head: Cursor,
        events: Events,
        state: StateChange,
    ) -> Result<Appended, HostError> {
        let span = commit_span(events.len());
        self.host.append_if_with(key, head, events, vec![state]).instrument(span).await
    }

    /// Interrupts the reply in progress and returns the cursor of the interrupt; `None` if the session is idle. A request that
    /// is repeated with the same id interrupts nothing else.
    pub(crate) async fn interrupt(&self, key: &SessionKey, id: Option<String>) -> Result<Option<Cursor>, Problem> {
        self.host.interrupt_once(key, id).await.map_err(|error| Problem::of_host(&error, &[]))
    }

    pub(crate) fn load(&self) -> HostLoad {
        self.host.load()
    }

    pub(crate) fn agents(&self) -> Vec<AgentInfo> {
        self.host.agents()
    }

    pub(crate) fn default_agent(&self) -> &str {
        self.host.default_agent()
    }

    /// Rejects new replies and gives those in progress some time to reach a checkpoint.
    pub(crate) async fn drain(&self, within: Duration) {
        self.host.drain(within).await;
    }
}

impl fmt::Debug for HostAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostAdapter").field("agents", &self.agents()).finish()
    }
}

impl Problem {
    /// Converts an error of the host. `lines` has the line of the request body for each event of the batch.
    pub(crate) fn of_host(error: &HostError, lines: &[usize]) -> Self {
        match error {
            HostError::Log(error) => Self::of_log(error, lines),
            HostError::Draining => Self::unavailable("the service is shutting down and accepts no new work"),
            HostError::LeaseHeld { .. } => Self::conflict("taken", error.to_string()),
            HostError::Agent(source) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "no_agent", source.to_string()).with("field", "agent")
            }
            _ => Self::unavailable(error.to_string()),
        }
    }
}
