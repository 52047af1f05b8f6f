//! Where an agent's events go to be kept.

use recount_message::AgentEvent;

use crate::{AgentState, BoxFuture};

/// Keeps what an agent says, together with what it knows.
///
/// The agent writes each event before it acts on it. Where more than itself depends on it, it waits until what it has written
/// is [kept](Self::commit): before a tool runs, before it waits for somebody, and before a reply counts as ended. A process
/// that dies in between has therefore done nothing that its log does not tell of.
///
/// ```
/// use recount_agent::{AgentState, BoxFuture, Sink, SinkError};
/// use recount_message::AgentEvent;
///
/// /// Writes lines to a file, and the state beside it.
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
    /// Takes the next event. It must not block: what takes time belongs to [`commit`](Self::commit).
    ///
    /// Where the state has changed with the event, it comes along, and both have to be kept together or not at all.
    ///
    /// # Errors
    ///
    /// When nothing can be written any more, such as by a run that another one has taken over from. The agent stops then.
    fn append(&mut self, event: &AgentEvent, state: Option<&AgentState>) -> Result<(), SinkError>;

    /// Waits until all that was appended is kept.
    ///
    /// # Errors
    ///
    /// When it was not. The agent stops then.
    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>>;
}

/// Why a sink did not keep an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SinkError {
    message: String,
}

impl SinkError {
    /// An error with its message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Keeps nothing: the agent itself has the conversation.
pub(crate) struct NullSink;

impl Sink for NullSink {
    fn append(&mut self, _event: &AgentEvent, _state: Option<&AgentState>) -> Result<(), SinkError> {
        Ok(())
    }

    fn commit(&mut self) -> BoxFuture<'static, Result<(), SinkError>> {
        Box::pin(async { Ok(()) })
    }
}
