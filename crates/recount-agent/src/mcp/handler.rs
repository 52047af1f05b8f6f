//! Notifications of a server.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{NotificationContext, Peer, PeerRequestOptions, RequestHandle};
use rmcp::{ClientHandler, RoleClient, ServiceError};
use tokio::sync::{Notify, mpsc};

/// The capacity of the channel of a call's progress. Progress is dropped while it is full.
const PROGRESS_CAPACITY: usize = 16;
/// The maximum number of progress notifications that are kept before their call is registered.
const MAX_EARLY: usize = 64;

/// The handler of notifications.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    pub(super) server: Arc<str>,
    pub(super) progress: Arc<ProgressRoutes>,
    /// Notified when the tools of the server have changed.
    pub(super) changed: Arc<Notify>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(ClientCapabilities::default(), Implementation::new("recount", env!("CARGO_PKG_VERSION")))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.route(progress);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    #[expect(deprecated, reason = "servers still send it")]
    async fn on_logging_message(
        &self,
        message: rmcp::model::LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let text: String = message.data.to_string().chars().take(2_000).collect();
        tracing::info!(server = &*self.server, level = ?message.level, "{text}");
    }
}

/// The routing of progress notifications to their calls.
#[derive(Debug, Default)]
pub(super) struct ProgressRoutes(Mutex<Routes>);

#[derive(Debug, Default)]
struct Routes {
    registered: HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>,
    /// Progress that arrived before its call was registered.
    early: VecDeque<ProgressNotificationParam>,
}

/// The registration of a call. Dropping it removes the route.
#[derive(Debug)]
pub(super) struct Route {
    routes: Arc<ProgressRoutes>,
    token: ProgressToken,
}

impl ProgressRoutes {
    /// Sends a request and registers its progress.
    pub(super) async fn send(
        self: &Arc<Self>,
        peer: &Peer<RoleClient>,
        request: ClientRequest,
        options: PeerRequestOptions,
    ) -> Result<(RequestHandle<RoleClient>, Route, mpsc::Receiver<ProgressNotificationParam>), ServiceError> {
        let handle = peer.send_request_with_option(request, options).await?;
        let (sender, receiver) = mpsc::channel(PROGRESS_CAPACITY);
        let token = handle.progress_token.clone();
        let mut routes = self.lock();
        for progress in routes.early.iter().filter(|early| early.progress_token == token) {
            let _ = sender.try_send(progress.clone());
        }
        routes.early.retain(|early| early.progress_token != token);
        routes.registered.insert(token.clone(), sender);
        drop(routes);
        Ok((handle, Route { routes: Arc::clone(self), token }, receiver))
    }

    fn route(&self, progress: ProgressNotificationParam) {
        let mut routes = self.lock();
        if let Some(sender) = routes.registered.get(&progress.progress_token) {
            let _ = sender.try_send(progress);
            return;
        }
        if routes.early.len() == MAX_EARLY {
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
        self.routes.lock().registered.remove(&self.token);
    }
}
