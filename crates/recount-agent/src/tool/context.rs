//! What a running tool knows and can say.

use std::sync::Arc;

use recount_message::{DataBlock, Object};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::agent::Shared;
use crate::permission::Permissions;

/// Where a tool runs: for which call, and the way to say something while it does.
#[derive(Debug, Clone)]
pub struct ToolContext {
    call: Arc<Call>,
    says: mpsc::Sender<(String, ToolSays)>,
    cancel: CancellationToken,
    host: Option<Host>,
    permissions: Arc<Permissions>,
}

/// The agent whose reply the call is a part of.
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

/// Which call it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallIds {
    /// The session.
    pub session_id: String,
    /// The reply in it.
    pub reply_id: String,
    /// The call in the reply.
    pub call_id: String,
}

impl CallIds {
    /// A call of a reply in a session.
    pub fn of(session_id: impl Into<String>, reply_id: impl Into<String>, call_id: impl Into<String>) -> Self {
        Self { session_id: session_id.into(), reply_id: reply_id.into(), call_id: call_id.into() }
    }
}

/// Something that a tool says while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSays {
    /// More of its output.
    Text(String),
    /// More of its output: an image, a file, or a piece of one that was begun under the same id.
    Data(Box<DataBlock>),
    /// A signal for the session.
    Signal {
        /// Its name.
        name: String,
        /// Its value.
        value: Object,
    },
    /// The reply shall end once the calls at hand are done.
    Stop {
        /// Why.
        reason: String,
    },
}

impl ToolContext {
    /// A context whose words go into a channel, each with the id of its call.
    ///
    /// The agent makes one for each call. A test of a tool makes its own:
    ///
    /// ```
    /// use recount_agent::tool::{ToolContext, ToolSays};
    /// use tokio_util::sync::CancellationToken;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let (says, mut said) = tokio::sync::mpsc::channel(8);
    /// let context = ToolContext::new(CallIds::of("s1", "r1", "c1"), "Friday", says, CancellationToken::new());
    /// context.say("compiling").await;
    /// assert_eq!(said.recv().await, Some(("c1".into(), ToolSays::Text("compiling".into()))));
    /// # });
    /// # use recount_agent::tool::CallIds;
    /// ```
    pub fn new(
        ids: CallIds,
        agent: impl Into<String>,
        says: mpsc::Sender<(String, ToolSays)>,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            call: Arc::new(Call { ids, agent: agent.into() }),
            says,
            cancel,
            host: None,
            permissions: Arc::default(),
        }
    }

    /// The same with the permissions of the agent. Without this they are empty.
    #[must_use]
    pub fn with_permissions(mut self, permissions: impl Into<Arc<Permissions>>) -> Self {
        self.permissions = permissions.into();
        self
    }

    /// The same in the reply of an agent, which others can then take part in.
    pub(crate) fn hosted_by(mut self, host: Arc<Shared>) -> Self {
        self.host = Some(Host(host));
        self
    }

    pub(crate) fn host(&self) -> Option<&Arc<Shared>> {
        self.host.as_ref().map(|Host(shared)| shared)
    }

    /// The session.
    pub fn session_id(&self) -> &str {
        &self.call.ids.session_id
    }

    /// The reply that the call is a part of.
    pub fn reply_id(&self) -> &str {
        &self.call.ids.reply_id
    }

    /// The call. It is the same one when the tool runs again after a crash, so it will do as an idempotency key.
    pub fn call_id(&self) -> &str {
        &self.call.ids.call_id
    }

    /// The name of the agent that calls.
    pub fn agent(&self) -> &str {
        &self.call.agent
    }

    /// The permissions of the agent when the tool was started.
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Becomes cancelled when the reply is interrupted.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Shows more of the output. Waits while the reply cannot keep up.
    pub async fn say(&self, text: impl Into<String>) {
        self.tell(ToolSays::Text(text.into())).await;
    }

    /// Shows an image or a file as a part of the output, or more of one under the same id.
    pub async fn show(&self, data: DataBlock) {
        self.tell(ToolSays::Data(Box::new(data))).await;
    }

    /// Sends a CUSTOM signal to whoever reads the session.
    pub async fn signal(&self, name: impl Into<String>, value: impl Into<Object>) {
        self.tell(ToolSays::Signal { name: name.into(), value: value.into() }).await;
    }

    /// Asks the reply to end once the calls at hand are done.
    pub async fn request_stop(&self, reason: impl Into<String>) {
        self.tell(ToolSays::Stop { reason: reason.into() }).await;
    }

    async fn tell(&self, says: ToolSays) {
        // Nobody listens any more when the reply has ended, and then there is nothing left to say it to.
        let _ = self.says.send((self.call.ids.call_id.clone(), says)).await;
    }
}
