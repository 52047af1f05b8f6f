//! The HTTP API as axum routes.

use axum::Router;
use axum::routing::MethodRouter;
use recount_host::{Host, HostLoad};

use crate::app::App;
use crate::auth::Auth;
use crate::routes;
use crate::server::ServerOptions;
use crate::{heartbeat, maintenance, session_events};

/// The HTTP API of a [`Host`] as axum routes, to nest into an axum application.
///
/// [`Server`](crate::Server) serves the same routes on a listener of its own. `Api` is for programs that already have an axum
/// server: they choose the path prefix, the authentication and the listener. It is a cheap handle; clones share one state.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
///
/// use axum::Router;
/// use axum::routing::get;
/// use recount_agent::{Agent, scripted::ScriptedModel};
/// use recount_host::{Host, HostOptions, SingleAgent};
/// use recount_log::Log;
/// use recount_server::{Api, Auth, ServerOptions, Tokens};
///
/// let model = ScriptedModel::new().says("Hello, Alice.");
/// let friday = SingleAgent::new("friday", move || Agent::builder("Friday").model(model.clone()));
/// let host = Host::start(Log::in_memory(), Arc::new(friday), HostOptions::default()).await?;
///
/// let api = Api::start(host, Auth::Tokens(Tokens::none()), ServerOptions::default());
/// let app: Router = Router::new()
///     .route("/", get(async || "The application's own page."))
///     .nest("/agents", api.router())
///     .route("/chat/{id}/events", api.stream_route());
/// # drop(app);
/// // With a listener: `axum::serve(listener, app).with_graceful_shutdown(async move { api.shutdown().await })`.
/// api.shutdown().await;
/// # Ok(()) }
/// ```
///
/// # Requests
///
/// - The `Host` header must be `localhost`, a loopback address or one of [`ServerOptions::hosts`], and requests that change
///   something must have an `Origin` of the same host or of `hosts`. This protects against DNS rebinding and cross-site
///   requests.
/// - If the application is served with [`into_make_service_with_connect_info::<SocketAddr>`](Router::into_make_service_with_connect_info),
///   requests without a token are rate-limited by their remote address. Without it, they are not rate-limited.
/// - The limits `connections` and `head_time` apply to [`Server`](crate::Server) only, because the application's own server accepts
///   the connections. `write_time` applies to WebSockets, but not to event streams.
#[derive(Debug, Clone)]
pub struct Api {
    app: App,
}

impl Api {
    /// Creates the API of a host and spawns its background tasks (heartbeats, session events, expiry and compaction) on the
    /// current Tokio runtime. They run until [`shutdown`](Self::shutdown).
    ///
    /// # Panics
    ///
    /// Panics if called outside a Tokio runtime.
    pub fn start(host: Host, auth: Auth, options: ServerOptions) -> Self {
        let api = Self::new(App::new(host, auth, options));
        api.spawn_background_tasks();
        api
    }

    pub(crate) fn new(app: App) -> Self {
        Self { app }
    }

    pub(crate) fn spawn_background_tasks(&self) {
        let closing = self.app.closing();
        tokio::spawn(closing.clone().run_until_cancelled_owned(heartbeat::run(self.app.clone())));
        tokio::spawn(closing.clone().run_until_cancelled_owned(session_events::run(self.app.clone())));
        tokio::spawn(closing.clone().run_until_cancelled_owned(maintenance::run(self.app.clone())));
    }

    /// Returns all routes of the API: `/v1/…`, `/healthz`, `/readyz`, `/metrics` and `/openapi.json`.
    ///
    /// The router has no fallback and does not include the web page. It can be nested under any prefix or merged into another
    /// router; `Location` headers include the prefix. The paths in `/openapi.json` do not.
    pub fn router(&self) -> Router {
        routes::api_router(&self.app)
    }

    /// Returns a router with `GET /v1/sessions/{id}/stream` alone: one session as server-sent events.
    pub fn stream_router(&self) -> Router {
        Router::new().route(routes::stream::PATH, self.stream_route())
    }

    /// Returns the handler of [`stream_router`](Self::stream_router), to mount at a path of your own.
    ///
    /// The path must contain the parameter `{id}`, the name of the session. The query parameters and the header
    /// `Last-Event-ID` are those of `GET /v1/sessions/{id}/stream`.
    pub fn stream_route(&self) -> MethodRouter {
        routes::stream_route(&self.app)
    }

    /// Drains the host, closes all streams and stops the background tasks.
    ///
    /// New replies are rejected with 503 from the start. Replies in progress have [`ServerOptions::drain`] to reach a
    /// checkpoint from which they can be resumed.
    pub async fn shutdown(&self) {
        let HostLoad { running, waiting, .. } = self.app.host().load();
        tracing::info!(running, waiting, "shutting down");
        self.app.start_draining();
        self.app.host().drain(self.app.drain_timeout()).await;
        self.app.closing().cancel();
    }
}
