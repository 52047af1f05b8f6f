//! The service on a listener of its own.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recount_host::Host;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::app::App;
use crate::auth::Auth;
use crate::limits::Limits;
use crate::metrics::CommitMeter;
use crate::tokens::Tokens;
use crate::{listen, routes};

/// Options of a [`Server`] or an [`Api`].
///
/// ```
/// use recount_server::ServerOptions;
///
/// let mut options = ServerOptions::default();
/// options.hosts.push("recount.example.com".to_owned());
/// options.limits.rate = 100;
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Host names that requests may be addressed to, in addition to `localhost` and the addresses that the server listens on.
    pub hosts: Vec<String>,
    /// The data directory. A [`Server`] reads its tokens from it, and `/metrics` reports the size of its log. `None`: no
    /// tokens.
    pub data_dir: Option<PathBuf>,
    /// Limits on requests and connections.
    pub limits: Limits,
    /// Time that running replies have at shutdown to reach a checkpoint from which they can be resumed. Default: 10 s.
    pub drain: Duration,
    /// Age at which the deltas of complete replies are compacted. `None` (default): never.
    pub compact_after: Option<Duration>,
    /// Records the commits of the log for `/metrics`.
    pub commits: CommitMeter,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            data_dir: None,
            limits: Limits::default(),
            drain: Duration::from_secs(10),
            compact_after: None,
            commits: CommitMeter::default(),
        }
    }
}

/// An error at the start of a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address is not a loopback address, and the data directory has no tokens.
    #[error("cannot listen on {0} without tokens: the address is reachable from other machines")]
    TokensRequired(SocketAddr),
    /// Binding the address failed.
    #[error("cannot listen on {0}: {1}")]
    Bind(String, io::Error),
    /// Any other network error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A bound listener whose connections wait until a [`Server`] accepts them.
///
/// Binding first allows a program to fail before it opens its log.
#[derive(Debug)]
pub struct BoundListener {
    listener: TcpListener,
    tokens: Tokens,
}

impl BoundListener {
    /// Binds an address for a service whose tokens are in a data directory. The directory need not exist yet.
    ///
    /// # Errors
    ///
    /// Returns [`ServerError::Bind`] if the address cannot be bound, and [`ServerError::TokensRequired`] if it is reachable
    /// from other machines and there are no tokens.
    pub async fn bind(listen: &str, data_dir: Option<&Path>) -> Result<Self, ServerError> {
        let listener = TcpListener::bind(listen).await.map_err(|error| ServerError::Bind(listen.to_owned(), error))?;
        let address = listener.local_addr()?;
        let tokens = data_dir.map_or_else(Tokens::none, Tokens::in_directory);
        if !address.ip().to_canonical().is_loopback() && !tokens.are_required() {
            return Err(ServerError::TokensRequired(address));
        }
        Ok(Self { listener, tokens })
    }
}

/// A service on a listener of its own: the API, the web page, and the connections of readers.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
///
/// use recount_agent::{Agent, scripted::ScriptedModel};
/// use recount_host::{Host, HostOptions, SingleAgent};
/// use recount_log::Log;
/// use recount_server::{Server, ServerOptions};
/// use tokio_util::sync::CancellationToken;
///
/// let model = ScriptedModel::new().says("Hello, Alice.");
/// let friday = SingleAgent::new("friday", move || Agent::builder("Friday").model(model.clone()));
/// let host = Host::start(Log::in_memory(), Arc::new(friday), HostOptions::default()).await?;
/// let server = Server::bind(host, "127.0.0.1:0", ServerOptions::default()).await?;
/// println!("listening on http://{}", server.local_addr()?);
///
/// let stop = CancellationToken::new();
/// # stop.cancel(); // In a program: on Ctrl-C.
/// server.run(stop).await;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Server {
    app: App,
    listener: TcpListener,
}

impl Server {
    /// Binds an address. The server accepts connections once it [runs](Self::run).
    ///
    /// # Errors
    ///
    /// As [`BoundListener::bind`].
    pub async fn bind(host: Host, listen: &str, options: ServerOptions) -> Result<Self, ServerError> {
        let listener = BoundListener::bind(listen, options.data_dir.as_deref()).await?;
        Ok(Self::with_listener(listener, host, options))
    }

    /// Creates a server on a listener that is bound already.
    pub fn with_listener(listener: BoundListener, host: Host, options: ServerOptions) -> Self {
        let BoundListener { listener, tokens } = listener;
        Self { app: App::new(host, Auth::Tokens(tokens), options), listener }
    }

    /// Returns the address that the server listens on.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if it does not report the address.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` is cancelled. Then the server rejects new work, gives running replies the
    /// [drain time](ServerOptions::drain) to reach a checkpoint, and closes all connections.
    pub async fn run(self, stop: CancellationToken) {
        let Self { app, listener } = self;
        let address = listener.local_addr().map(tracing::field::display).ok();
        tracing::info!(address, version = env!("CARGO_PKG_VERSION"), "listening");
        let api = Api::new(app.clone());
        api.spawn_background_tasks();
        let router = routes::service_router(&app);
        let drained = CancellationToken::new();
        let shutdown = async {
            stop.cancelled().await;
            api.shutdown().await;
            drained.cancel();
        };
        tokio::join!(listen::serve(app, router, listener, drained.clone()), shutdown);
        tracing::info!("stopped");
    }
}
