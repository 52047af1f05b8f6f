//! Persisting the events of an agent.

use recount_message::AgentEvent;

use crate::{AgentState, BoxFuture};

/// Persists the events and the state of an agent.
///
/// The agent writes each event before it acts on it. It [commits](Self::commit) before tools run, before it waits for
/// an answer, and at the end of a reply. After a crash, the log therefore contains every action of the agent.
///
/// ```
/// use recount_agent::{AgentState, BoxFuture, Sink, SinkError};
/// use recount_message::AgentEvent;
///
/// /// Writes events and states to a file, one per line.
/// struct Lines(std::fs::File);
///
/// impl Sink for Lines {
///     fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError> {
///         use std::io::Write;
///         writeln!(self.0, "{}", event.to_json()).map_err(|error| SinkError::new(error.to_string()))?;
///         if let Some(state) = state {
///             writeln!(self.0, "{}", state.to_json()).map_err(|error| SinkError::new(error.to_string()))?;
///         }
///         Ok(())
///     }
///
///     fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
///         let synced = self.0.sync_data().map_err(|error| SinkError::new(error.to_string()));
///         Box::pin(async { synced })
///     }
/// }
/// ```
pub trait Sink: Send + 'static {
    /// Appends an event. Must not block: move slow work to [`commit`](Self::commit).
    ///
    /// `state` is the agent's state if it has changed with this event. The event and the state must be persisted
    /// atomically.
    ///
    /// # Errors
    ///
    /// Fails if nothing can be written any more, for example because another process has taken over the session. The
    /// agent stops in this case.
    fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError>;

    /// Waits until all appended events are persisted.
    ///
    /// # Errors
    ///
    /// Fails if an event was not persisted. The agent stops in this case.
    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>>;
}

/// The error type of [`Sink`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SinkError {
    message: String,
}

impl SinkError {
    /// Creates an error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Discards all events and states.
pub(crate) struct NullSink;

impl Sink for NullSink {
    fn append(&mut self, _event: &AgentEvent, _state: Option<&AgentState>) -> Result<(), SinkError> {
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        Box::pin(async { Ok(()) })
    }
}
