//! A server and its state.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use recount_sandbox::Confinement;
use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::config::McpConfig;
use super::error::McpError;
use super::handler::ProgressRoutes;
use super::names;
use super::stderr::StderrTail;
use super::supervise;
use crate::tool::{CompiledTool, ToolSource};

/// An MCP server and its tools.
///
/// A server that exits is restarted, with exponential backoff. Its tools stay in the toolkit, and their calls fail with the
/// reason while the server is down. Dropping this value stops the server.
pub struct McpServer {
    shared: Arc<Shared>,
    _shutdown: DropGuard,
}

/// The time after which a server that is still starting is reported as an error.
const START_WARNING: Duration = Duration::from_secs(5);

/// The state that a server shares with its tools.
pub(super) struct Shared {
    pub(super) name: Arc<str>,
    pub(super) config: McpConfig,
    pub(super) confinement: Confinement,
    /// The directory in which the server runs, unless its configuration names another.
    pub(super) workspace: PathBuf,
    started_at: Instant,
    pub(super) state: watch::Sender<State>,
    tools: RwLock<Arc<[CompiledTool]>>,
    pub(super) progress: Arc<ProgressRoutes>,
    /// Notified when the tools of the server have changed.
    pub(super) changed: Arc<Notify>,
    /// Notified when a request failed or timed out, to ping the server.
    pub(super) suspect: Notify,
    pub(super) shutdown: CancellationToken,
    pub(super) stderr_tail: Arc<StderrTail>,
}

/// The state of a server.
#[derive(Debug, Clone)]
pub(super) enum State {
    Starting,
    Ready(Peer<RoleClient>),
    /// It exited or did not start, for this reason, and will be restarted.
    Down(Arc<str>),
    Closed,
}

impl McpServer {
    /// Starts or connects to a server, and waits until it has listed its tools.
    ///
    /// # Errors
    ///
    /// The name is invalid, or the server cannot be started. It is not retried; use [`start`](Self::start) for that.
    pub async fn connect(name: &str, config: McpConfig) -> Result<Arc<Self>, McpError> {
        let server = Self::start(name, config)?;
        match server.wait_until_started().await {
            None => Ok(server),
            Some(reason) => Err(McpError::Start { server: name.to_owned(), reason }),
        }
    }

    /// Starts a server without waiting for it. Its tools become available when it has listed them.
    ///
    /// A failed start is retried until it succeeds, so an agent can use its other tools in the meantime.
    ///
    /// # Errors
    ///
    /// The name is invalid.
    ///
    /// # Panics
    ///
    /// If called outside of a Tokio runtime.
    pub fn start(name: &str, config: McpConfig) -> Result<Arc<Self>, McpError> {
        Self::start_confined(name, config, &Confinement::default(), Path::new("."))
    }

    /// Like [`start`](Self::start), with the confinement and the directory of a workspace. The configuration can set another
    /// directory.
    ///
    /// # Errors
    ///
    /// The name is invalid.
    ///
    /// # Panics
    ///
    /// If called outside of a Tokio runtime.
    pub fn start_confined(
        name: &str,
        config: McpConfig,
        confinement: &Confinement,
        workspace: &Path,
    ) -> Result<Arc<Self>, McpError> {
        names::validate_server_name(name)?;
        let shutdown = CancellationToken::new();
        let shared = Arc::new(Shared {
            name: name.into(),
            config,
            confinement: confinement.clone(),
            workspace: workspace.to_owned(),
            started_at: Instant::now(),
            state: watch::Sender::new(State::Starting),
            tools: RwLock::new(Arc::new([])),
            progress: Arc::default(),
            changed: Arc::default(),
            suspect: Notify::new(),
            shutdown: shutdown.clone(),
            stderr_tail: Arc::default(),
        });
        tokio::spawn(supervise::run(Arc::clone(&shared)));
        Ok(Arc::new(Self { shared, _shutdown: shutdown.drop_guard() }))
    }

    /// Waits for the result of the first start. Returns the error if it failed; the server is retried nevertheless.
    pub async fn wait_until_started(&self) -> Option<String> {
        let mut state = self.shared.state.subscribe();
        let _ = state.wait_for(|state| !matches!(state, State::Starting)).await;
        self.error()
    }

    /// Stops the server gracefully and waits for its exit. Later calls of its tools fail.
    pub async fn close(&self) {
        self.shared.shutdown.cancel();
        let mut state = self.shared.state.subscribe();
        let _ = state.wait_for(|state| matches!(state, State::Closed)).await;
    }

    /// Returns whether the server is starting.
    pub fn is_starting(&self) -> bool {
        matches!(&*self.shared.state.borrow(), State::Starting)
    }

    /// Returns the reason why the server is not running. `None` if it runs, or has just been started.
    pub fn error(&self) -> Option<String> {
        match &*self.shared.state.borrow() {
            State::Starting if self.shared.started_at.elapsed() > START_WARNING => {
                Some("it has not responded yet".to_owned())
            }
            State::Ready(_) | State::Starting => None,
            State::Down(reason) => Some(reason.to_string()),
            State::Closed => Some("it was closed".to_owned()),
        }
    }

    /// Waits until the server runs, through any number of restarts.
    ///
    /// Never returns for a server that was [closed](Self::close).
    pub async fn wait_until_ready(&self) {
        let mut state = self.shared.state.subscribe();
        let _ = state.wait_for(|state| matches!(state, State::Ready(peer) if !peer.is_transport_closed())).await;
    }

    /// Waits until the tools differ from the given ones, and returns them.
    pub async fn wait_for_tools_change(&self, tools: &Arc<[CompiledTool]>) -> Arc<[CompiledTool]> {
        let mut state = self.shared.state.subscribe();
        loop {
            let now = self.tools();
            if !Arc::ptr_eq(&now, tools) || state.changed().await.is_err() {
                return now;
            }
        }
    }

    /// Returns the instructions of the server. `None` if it is not running or has none.
    pub fn instructions(&self) -> Option<String> {
        match &*self.shared.state.borrow() {
            State::Ready(peer) => peer.peer_info()?.instructions.clone(),
            State::Starting | State::Down(_) | State::Closed => None,
        }
    }
}

impl ToolSource for McpServer {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn tools(&self) -> Arc<[CompiledTool]> {
        self.shared.tools.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shared {
    /// Returns the connection to the server. Waits while it is starting.
    pub(super) async fn peer(&self) -> Result<Peer<RoleClient>, String> {
        let mut state = self.state.subscribe();
        loop {
            match &*state.borrow_and_update() {
                State::Ready(peer) if !peer.is_transport_closed() => return Ok(peer.clone()),
                // A closed transport will be detected and the state updated.
                State::Starting | State::Ready(_) => {}
                State::Down(reason) => return Err(format!("the MCP server `{}` is not running: {reason}", self.name)),
                State::Closed => return Err(format!("the MCP server `{}` was closed", self.name)),
            }
            if state.changed().await.is_err() {
                return Err(format!("the MCP server `{}` was closed", self.name));
            }
        }
    }

    /// Sets the tools and wakes waiters.
    pub(super) fn set_tools(&self, tools: Vec<CompiledTool>) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools.into();
        self.state.send_modify(|_| {});
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("name", &self.shared.name)
            .field("config", &self.shared.config)
            .finish_non_exhaustive()
    }
}
