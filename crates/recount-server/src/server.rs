//! The service, as programs start it.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use recount_host::{Host, HostLoad};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::limits::Limits;
use crate::metrics::CommitMeter;
use crate::runs::Runs;
use crate::tokens::Tokens;
use crate::{listen, news, routes, upkeep};

/// How a service is started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The names by which it is known, beside `localhost` and its own addresses.
    pub hosts: Vec<String>,
    /// The data directory, where its tokens are.
    pub data: Option<PathBuf>,
    /// How much anybody may ask for.
    pub limits: Limits,
    /// How long running replies have to come to a point where they can go on later, when the service ends.
    pub drain: Duration,
    /// After how long the deltas of what is complete are joined; nothing means never.
    pub compact_after: Option<Duration>,
    /// Who measures the commits of the log, for `/metrics`.
    pub commits: CommitMeter,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            data: None,
            limits: Limits::default(),
            drain: Duration::from_secs(10),
            compact_after: None,
            commits: CommitMeter::default(),
        }
    }
}

/// Why a service could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// It would be open to everybody.
    #[error("{0} can be reached from other machines, and there are no tokens")]
    Unguarded(SocketAddr),
    /// The address cannot be used.
    #[error("cannot listen on {0}: {1}")]
    Address(String, io::Error),
    /// The network failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// An address that is listened on, before there is anything to serve. Whoever comes already waits.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    tokens: Tokens,
}

impl Listening {
    /// Begins to listen for a service whose tokens are in a data directory, which need not be there yet.
    ///
    /// # Errors
    ///
    /// When the address cannot be used, or when others could reach it and there are no tokens.
    pub async fn begin(listen: &str, data: Option<&Path>) -> Result<Self, ServerError> {
        let listener =
            TcpListener::bind(listen).await.map_err(|error| ServerError::Address(listen.to_owned(), error))?;
        let address = listener.local_addr()?;
        let tokens = data.map_or_else(Tokens::none, Tokens::in_directory);
        if !address.ip().to_canonical().is_loopback() && !tokens.are_required() {
            return Err(ServerError::Unguarded(address));
        }
        Ok(Self { listener, tokens })
    }
}

/// A service that listens.
#[derive(Debug)]
pub struct Server {
    app: App,
    router: Router,
    listener: TcpListener,
    drain: Duration,
    compact_after: Option<Duration>,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// When the address cannot be used, or when others could reach it and there are no tokens.
    pub async fn bind(host: Host, listen: &str, options: ServerOptions) -> Result<Self, ServerError> {
        let listening = Listening::begin(listen, options.data.as_deref()).await?;
        Ok(Self::on(listening, host, options))
    }

    /// Serves where somebody listens already.
    pub fn on(listening: Listening, host: Host, options: ServerOptions) -> Self {
        let Listening { listener, tokens } = listening;
        let (drain, compact_after) = (options.drain, options.compact_after);
        let app = App::new(Runs::new(host), tokens, options);
        let router = routes::router(&app);
        Self { app, router, listener, drain, compact_after }
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is told to stop. Then it takes no more work, lets replies come to a point where they can go on
    /// later, and ends all connections.
    pub async fn run(self, stop: CancellationToken) {
        let Self { app, router, listener, drain, compact_after } = self;
        let address = listener.local_addr().map(tracing::field::display).ok();
        tracing::info!(address, version = env!("CARGO_PKG_VERSION"), "the service begins");
        let news = tokio::spawn(news::watch(app.clone()));
        let keeping = tokio::spawn(upkeep::keep_house(app.clone(), compact_after));
        let done = CancellationToken::new();
        let ending = {
            let (app, done) = (app.clone(), done.clone());
            async move {
                stop.cancelled().await;
                let HostLoad { running, waiting, .. } = app.runs().load();
                tracing::info!(running, waiting, "the service is to end");
                app.start_draining();
                app.runs().drain(drain).await;
                app.closing().cancel();
                done.cancel();
            }
        };
        tokio::join!(listen::serve(app, router, listener, done), ending);
        news.abort();
        keeping.abort();
        tracing::info!("the service has ended");
    }
}
