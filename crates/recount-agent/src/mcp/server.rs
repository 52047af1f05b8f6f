//! A server, and whether it runs.

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
/// The server ends when this is dropped. Until then it is started again whenever it dies, with waits that grow; its tools
/// stay, and say what is the matter when they are called in the meantime.
pub struct McpServer {
    shared: Arc<Shared>,
    _shutdown: DropGuard,
}

/// A server that takes longer to start is told of.
const IS_LATE: Duration = Duration::from_secs(5);

/// What the tools of a server share.
pub(super) struct Shared {
    pub(super) name: Arc<str>,
    pub(super) config: McpConfig,
    pub(super) confinement: Confinement,
    /// The directory in which the server runs, unless its configuration names another.
    pub(super) workspace: PathBuf,
    begun: Instant,
    pub(super) state: watch::Sender<State>,
    tools: RwLock<Arc<[CompiledTool]>>,
    pub(super) progress: Arc<ProgressRoutes>,
    /// The server has other tools.
    pub(super) changed: Arc<Notify>,
    /// The server did not answer: somebody should see whether it is still there.
    pub(super) suspect: Notify,
    pub(super) shutdown: CancellationToken,
    pub(super) last_words: Arc<StderrTail>,
}

/// Whether a server runs.
#[derive(Debug, Clone)]
pub(super) enum State {
    Starting,
    Ready(Peer<RoleClient>),
    /// It died or did not start, and will be tried again.
    Down(Arc<str>),
    Closed,
}

impl McpServer {
    /// Starts or reaches a server, and waits until it has said which tools it has.
    ///
    /// # Errors
    ///
    /// When its name cannot be one, or it cannot be started. It is not tried again then; see [`start`](Self::start).
    pub async fn connect(name: &str, config: McpConfig) -> Result<Arc<Self>, McpError> {
        let server = Self::start(name, config)?;
        match server.wait_until_started().await {
            None => Ok(server),
            Some(why) => Err(McpError::Start { server: name.to_owned(), why }),
        }
    }

    /// Starts a server and does not wait for it: its tools are there as soon as it has said which it has.
    ///
    /// One that cannot be started is tried again and again, so that it does not keep an agent from its other tools. Has to
    /// be called within a Tokio runtime.
    ///
    /// # Errors
    ///
    /// When its name cannot be one.
    pub fn start(name: &str, config: McpConfig) -> Result<Arc<Self>, McpError> {
        Self::start_confined(name, config, &Confinement::default(), Path::new("."))
    }

    /// Starts a server as [`start`](Self::start) does, confined as `confinement` demands. It runs in `workspace` unless its
    /// configuration names another directory.
    ///
    /// # Errors
    ///
    /// The name is not valid.
    pub fn start_confined(
        name: &str,
        config: McpConfig,
        confinement: &Confinement,
        workspace: &Path,
    ) -> Result<Arc<Self>, McpError> {
        names::check_server(name)?;
        let shutdown = CancellationToken::new();
        let shared = Arc::new(Shared {
            name: name.into(),
            config,
            confinement: confinement.clone(),
            workspace: workspace.to_owned(),
            begun: Instant::now(),
            state: watch::Sender::new(State::Starting),
            tools: RwLock::new(Arc::new([])),
            progress: Arc::default(),
            changed: Arc::default(),
            suspect: Notify::new(),
            shutdown: shutdown.clone(),
            last_words: Arc::default(),
        });
        tokio::spawn(supervise::run(Arc::clone(&shared)));
        Ok(Arc::new(Self { shared, _shutdown: shutdown.drop_guard() }))
    }

    /// Waits until it is known whether the server runs, and says why not if it does not. It is tried again all the same.
    pub async fn wait_until_started(&self) -> Option<String> {
        let mut state = self.shared.state.subscribe();
        let _ = state.wait_for(|state| !matches!(state, State::Starting)).await;
        self.error()
    }

    /// Ends the server, which may do so in good order, and waits until it has. Its tools say that it was closed from then on.
    pub async fn close(&self) {
        self.shared.shutdown.cancel();
        let mut state = self.shared.state.subscribe();
        let _ = state.wait_for(|state| matches!(state, State::Closed)).await;
    }

    /// Whether it is not known yet whether the server runs.
    pub fn is_starting(&self) -> bool {
        matches!(&*self.shared.state.borrow(), State::Starting)
    }

    /// Why the server does not run, if it should and does not.
    pub fn error(&self) -> Option<String> {
        match &*self.shared.state.borrow() {
            State::Starting if self.shared.begun.elapsed() > IS_LATE => Some("it has not answered yet".to_owned()),
            State::Ready(_) | State::Starting => None,
            State::Down(why) => Some(why.to_string()),
            State::Closed => Some("it was closed".to_owned()),
        }
    }

    /// Waits until the server runs, however often it has to be started for that.
    ///
    /// It does not come back for one that was [closed](Self::close).
    pub async fn wait_until_ready(&self) {
        let mut state = self.shared.state.subscribe();
        let _ = state.wait_for(|state| matches!(state, State::Ready(peer) if !peer.is_transport_closed())).await;
    }

    /// Waits until the server has other tools than these.
    pub async fn wait_for_tools_change(&self, tools: &Arc<[CompiledTool]>) -> Arc<[CompiledTool]> {
        let mut state = self.shared.state.subscribe();
        loop {
            let now = self.tools();
            if !Arc::ptr_eq(&now, tools) || state.changed().await.is_err() {
                return now;
            }
        }
    }

    /// How the server wants to be used, in its own words, if it runs and has said so.
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
    /// The server, to be asked something. Waits while it is being started.
    pub(super) async fn peer(&self) -> Result<Peer<RoleClient>, String> {
        let mut state = self.state.subscribe();
        loop {
            match &*state.borrow_and_update() {
                State::Ready(peer) if !peer.is_transport_closed() => return Ok(peer.clone()),
                // It has just died, and nobody has noticed yet.
                State::Starting | State::Ready(_) => {}
                State::Down(why) => return Err(format!("the MCP server `{}` is not running: {why}", self.name)),
                State::Closed => return Err(format!("the MCP server `{}` was closed", self.name)),
            }
            if state.changed().await.is_err() {
                return Err(format!("the MCP server `{}` was closed", self.name));
            }
        }
    }

    /// Takes new tools, and wakes who waits for them.
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
