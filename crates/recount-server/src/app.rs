//! The state that all requests share.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use recount_host::Host;
use recount_log::{Error, Log, Session, SessionKey};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::auth::Auth;
use crate::fanout::Feeds;
use crate::host_adapter::HostAdapter;
use crate::limits::{Limits, RateLimiter};
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::server::ServerOptions;
use crate::session_events::SessionEvents;
use crate::tickets::Tickets;
use crate::tokens::Tokens;
use crate::usage::UsageCache;

/// A handle to the state of the service. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<AppState>);

#[derive(Debug)]
struct AppState {
    host: HostAdapter,
    tokens: Tokens,
    /// Whether the embedding program inserts the caller of each request.
    is_caller_external: bool,
    tickets: Tickets,
    hosts: Vec<String>,
    limits: Limits,
    drain: Duration,
    compact_after: Option<Duration>,
    body_memory: Arc<Semaphore>,
    rate_limiter: RateLimiter,
    feeds: Arc<Feeds>,
    session_events: SessionEvents,
    metrics: Metrics,
    usages: UsageCache,
    /// Sessions known to exist. Only this process deletes them.
    existing: Mutex<HashSet<SessionKey>>,
    /// Serializes read-modify-write changes of session properties.
    properties: tokio::sync::Mutex<()>,
    /// Changes when idle readers are due for a heartbeat.
    heartbeat: watch::Sender<()>,
    /// Cancelled when readers must end.
    closing: CancellationToken,
    is_draining: AtomicBool,
    /// The number of sessions per tenant, for the tenants counted so far.
    session_counts: Mutex<HashMap<String, usize>>,
}

/// The maximum number of sessions in the cache of existing ones.
const MAX_EXISTING: usize = 65_536;
/// The number of sessions read at once while counting them.
const COUNT_PAGE: usize = 1_024;

impl App {
    pub(crate) fn new(host: Host, auth: Auth, options: ServerOptions) -> Self {
        let ServerOptions { hosts, data_dir, limits, drain, compact_after, commits } = options;
        let (tokens, is_caller_external) = match auth {
            Auth::Tokens(tokens) => (tokens, false),
            Auth::Extension => (Tokens::none(), true),
        };
        let feeds = Arc::new(Feeds::default());
        Self(Arc::new(AppState {
            metrics: Metrics::new(&feeds, &commits, data_dir),
            session_events: SessionEvents::default(),
            host: HostAdapter::new(host),
            tokens,
            is_caller_external,
            tickets: Tickets::default(),
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            body_memory: limits.body_memory(),
            limits,
            drain,
            compact_after,
            rate_limiter: RateLimiter::default(),
            feeds,
            usages: UsageCache::default(),
            existing: Mutex::default(),
            properties: tokio::sync::Mutex::default(),
            heartbeat: watch::Sender::new(()),
            closing: CancellationToken::new(),
            is_draining: AtomicBool::new(false),
            session_counts: Mutex::default(),
        }))
    }

    pub(crate) fn host(&self) -> &HostAdapter {
        &self.0.host
    }

    pub(crate) fn log(&self) -> &Log {
        self.0.host.log()
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    pub(crate) fn is_caller_external(&self) -> bool {
        self.0.is_caller_external
    }

    pub(crate) fn tickets(&self) -> &Tickets {
        &self.0.tickets
    }

    /// The allowed host names, in lower case.
    pub(crate) fn allowed_hosts(&self) -> &[String] {
        &self.0.hosts
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub(crate) fn drain_timeout(&self) -> Duration {
        self.0.drain
    }

    pub(crate) fn compact_after(&self) -> Option<Duration> {
        self.0.compact_after
    }

    /// The bytes of memory that request bodies share, one permit each.
    pub(crate) fn body_memory(&self) -> &Arc<Semaphore> {
        &self.0.body_memory
    }

    pub(crate) fn rate_limiter(&self) -> &RateLimiter {
        &self.0.rate_limiter
    }

    pub(crate) fn feeds(&self) -> &Arc<Feeds> {
        &self.0.feeds
    }

    pub(crate) fn session_events(&self) -> &SessionEvents {
        &self.0.session_events
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn usages(&self) -> &UsageCache {
        &self.0.usages
    }

    pub(crate) fn properties_lock(&self) -> &tokio::sync::Mutex<()> {
        &self.0.properties
    }

    pub(crate) fn heartbeat(&self) -> &watch::Sender<()> {
        &self.0.heartbeat
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// Marks the service as not ready. Readers continue until [`closing`](Self::closing) is cancelled.
    pub(crate) fn start_draining(&self) {
        self.0.is_draining.store(true, Ordering::Release);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.0.is_draining.load(Ordering::Acquire)
    }

    /// Returns the number of sessions of a tenant, counted up to `limit`. The log is read once per tenant; afterwards the
    /// count is updated as sessions are created and deleted.
    pub(crate) async fn session_count(&self, tenant: &str, limit: usize) -> Result<usize, Error> {
        if let Some(count) = self.session_counts().get(tenant) {
            return Ok(*count);
        }
        let (mut count, mut after) = (0, None);
        while count < limit {
            let page = self.log().sessions(Some(tenant), after.take(), COUNT_PAGE.min(limit - count)).await?;
            let Some(last) = page.last() else { break };
            count += page.len();
            after = Some(last.key.clone());
        }
        self.session_counts().insert(tenant.to_owned(), count);
        Ok(count)
    }

    fn session_counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.session_counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a session, or the problem that it does not exist.
    pub(crate) async fn existing_session(&self, key: SessionKey) -> Result<Session, Problem> {
        let session = self.log().session(key.clone());
        if self.existing().contains(&key) {
            return Ok(session);
        }
        session.info().await?;
        self.remember(key);
        Ok(session)
    }

    pub(crate) fn session_created(&self, key: SessionKey) {
        if let Some(count) = self.session_counts().get_mut(key.tenant()) {
            *count += 1;
        }
        self.remember(key);
    }

    pub(crate) fn session_deleted(&self, key: &SessionKey) {
        if let Some(count) = self.session_counts().get_mut(key.tenant()) {
            *count = count.saturating_sub(1);
        }
        self.existing().remove(key);
    }

    fn remember(&self, key: SessionKey) {
        let mut existing = self.existing();
        if existing.len() >= MAX_EXISTING {
            existing.clear();
        }
        existing.insert(key);
    }

    fn existing(&self) -> MutexGuard<'_, HashSet<SessionKey>> {
        self.0.existing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
