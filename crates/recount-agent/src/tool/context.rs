//! The context of a running tool.

use std::sync::Arc;

use recount_message::{DataBlock, Object};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent::Shared;
use crate::permission::Permissions;

/// The context of a tool call: its ids, the channel for its output, and the permissions.
#[derive(Debug, Clone)]
pub struct ToolContext {
    call: Arc<Call>,
    events: mpsc::Sender<(String, ToolEvent)>,
    cancel: CancellationToken,
    host: Option<Host>,
    permissions: Arc<Permissions>,
}

/// The agent whose reply contains the call.
#[derive(Clone)]
struct Host(Arc<Shared>);

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.config.name)
    }
}

#[derive(Debug)]
struct Call {
    ids: CallIds,
    agent: String,
}

/// The ids of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallIds {
    /// The session.
    pub session_id: String,
    /// The reply in the session.
    pub reply_id: String,
    /// The call in the reply.
    pub call_id: String,
}

impl CallIds {
    /// Creates the ids of a call.
    pub fn new(session_id: impl Into<String>, reply_id: impl Into<String>, call_id: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), reply_id: reply_id.into(), call_id: call_id.into() }
    }
}

/// An event of a running tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolEvent {
    /// More text of the output.
    Text(String),
    /// More output: an image, a file, or the continuation of one with the same id.
    Data(Box<DataBlock>),
    /// A CUSTOM event for the session.
    Signal {
        /// The name of the event.
        name: String,
        /// The value of the event.
        value: Object,
    },
    /// A request to end the reply after the current calls.
    Stop {
        /// The reason.
        reason: String,
    },
}

impl ToolContext {
    /// Creates a context that sends events to a channel, each with the id of its call.
    ///
    /// The agent creates one for each call. The test of a tool creates its own:
    ///
    /// ```
    /// use recount_agent::tool::{CallIds, ToolContext, ToolEvent};
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let (sender, mut events) = tokio::sync::mpsc::channel(8);
    /// let context = ToolContext::new(CallIds::new("s1", "r1", "c1"), "Friday", sender, CancellationToken::new());
    /// context.write_text("compiling").await;
    /// assert_eq!(events.recv().await, Some(("c1".into(), ToolEvent::Text("compiling".into()))));
    /// # });
    /// ```
    pub fn new(
        ids: CallIds,
        agent: impl Into<String>,
        events: mpsc::Sender<(String, ToolEvent)>,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            call: Arc::new(Call { ids, agent: agent.into() }),
            events,
            cancel,
            host: None,
            permissions: Arc::default(),
        }
    }

    /// Sets the permissions of the agent. By default they are empty.
    #[must_use]
    pub fn with_permissions(mut self, permissions: impl Into<Arc<Permissions>>) -> Self {
        self.permissions = permissions.into();
        self
    }

    /// Sets the agent whose reply contains the call. A sub-agent requires it.
    pub(crate) fn hosted_by(mut self, host: Arc<Shared>) -> Self {
        self.host = Some(Host(host));
        self
    }

    pub(crate) fn host(&self) -> Option<&Arc<Shared>> {
        self.host.as_ref().map(|Host(shared)| shared)
    }

    /// The id of the session.
    pub fn session_id(&self) -> &str {
        &self.call.ids.session_id
    }

    /// The id of the reply that contains the call.
    pub fn reply_id(&self) -> &str {
        &self.call.ids.reply_id
    }

    /// The id of the call. It stays the same when the tool runs again after a crash, so it can be used as an idempotency
    /// key.
    pub fn call_id(&self) -> &str {
        &self.call.ids.call_id
    }

    /// The name of the calling agent.
    pub fn agent(&self) -> &str {
        &self.call.agent
    }

    /// The permissions of the agent at the start of the tool.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Returns the token that is cancelled when the reply is interrupted.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Writes text to the output. Waits while the channel is full.
    pub async fn write_text(&self, text: impl Into<String>) {
        self.send(ToolEvent::Text(text.into())).await;
    }

    /// Writes an image or a file to the output, or continues the one with the same id.
    pub async fn write_data(&self, data: DataBlock) {
        self.send(ToolEvent::Data(Box::new(data))).await;
    }

    /// Emits a CUSTOM event to the readers of the session.
    pub async fn signal(&self, name: impl Into<String>, value: impl Into<Object>) {
        self.send(ToolEvent::Signal { name: name.into(), value: value.into() }).await;
    }

    /// Requests the end of the reply after the current calls.
    pub async fn request_stop(&self, reason: impl Into<String>) {
        self.send(ToolEvent::Stop { reason: reason.into() }).await;
    }

    async fn send(&self, event: ToolEvent) {
        // The channel is closed after the reply has ended.
        let _ = self.events.send((self.call.ids.call_id.clone(), event)).await;
    }
}
