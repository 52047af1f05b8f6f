//! What a server says without being asked.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{NotificationContext, Peer, PeerRequestOptions, RequestHandle};
use rmcp::{ClientHandler, RoleClient, ServiceError};
use tokio::sync::{Notify, mpsc};

/// So much progress waits to be told. More than that is dropped: only the newest is of interest.
const WAITING: usize = 16;
/// So much progress is kept that no call is known for yet.
const EARLY: usize = 64;

/// Takes what a server says without being asked.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    pub(super) server: Arc<str>,
    pub(super) progress: Arc<ProgressRoutes>,
    /// Told when the server has other tools.
    pub(super) changed: Arc<Notify>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("recount", env!("CARGO_PKG_VERSION")))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.take(progress);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    #[expect(deprecated, reason = "servers still send it")]
    async fn on_logging_message(
        &self,
        said: rmcp::model::LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let text: String = said.data.to_string().chars().take(2_000).collect();
        tracing::info!(server = &*self.server, level = ?said.level, "{text}");
    }
}

/// Which call the progress belongs to that a server tells of.
#[derive(Debug, Default)]
pub(super) struct ProgressRoutes(Mutex<Routes>);

#[derive(Debug, Default)]
struct Routes {
    known: HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>,
    /// A server may be faster than the call that is just being noted.
    early: VecDeque<ProgressNotificationParam>,
}

/// The way of a call's progress, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Route {
    routes: Arc<ProgressRoutes>,
    token: ProgressToken,
}

impl ProgressRoutes {
    /// Sends a request, and follows its progress.
    pub(super) async fn send(
        self: &Arc<Self>,
        peer: &Peer<RoleClient>,
        request: ClientRequest,
        options: PeerRequestOptions,
    ) -> Result<(RequestHandle<RoleClient>, Route, mpsc::Receiver<ProgressNotificationParam>), ServiceError> {
        let handle = peer.send_request_with_option(request, options).await?;
        let (sender, told) = mpsc::channel(WAITING);
        let token = handle.progress_token.clone();
        let mut routes = self.lock();
        for progress in routes.early.iter().filter(|early| early.progress_token == token) {
            let _ = sender.try_send(progress.clone());
        }
        routes.early.retain(|early| early.progress_token != token);
        routes.known.insert(token.clone(), sender);
        drop(routes);
        Ok((handle, Route { routes: Arc::clone(self), token }, told))
    }

    fn take(&self, progress: ProgressNotificationParam) {
        let mut routes = self.lock();
        if let Some(sender) = routes.known.get(&progress.progress_token) {
            let _ = sender.try_send(progress);
            return;
        }
        if routes.early.len() == EARLY {
            routes.early.pop_front();
        }
        routes.early.push_back(progress);
    }

    fn lock(&self) -> MutexGuard<'_, Routes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        self.routes.lock().known.remove(&self.token);
    }
}
