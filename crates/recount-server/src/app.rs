//! What all requests share.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use recount_log::{Error, Log, Session, SessionKey};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::fanout::Feeds;
use crate::limits::{Limits, Rates};
use crate::metrics::Metrics;
use crate::news::News;
use crate::problem::Problem;
use crate::runs::Runs;
use crate::server::ServerOptions;
use crate::tickets::Tickets;
use crate::tokens::Tokens;
use crate::usage::Usages;

/// The service. It is a handle; clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    runs: Runs,
    tokens: Tokens,
    tickets: Tickets,
    hosts: Vec<String>,
    limits: Limits,
    bodies: Arc<Semaphore>,
    rates: Rates,
    feeds: Arc<Feeds>,
    news: Arc<News>,
    metrics: Metrics,
    usages: Usages,
    /// Sessions that are known to exist. They are removed by this process alone.
    existing: Mutex<HashSet<SessionKey>>,
    /// Held by who changes what is said about a session, from reading it to writing it.
    changing: tokio::sync::Mutex<()>,
    /// Changes whenever readers that hear nothing should hear something.
    heartbeat: watch::Sender<()>,
    /// Readers end when this is cancelled.
    closing: CancellationToken,
    is_draining: AtomicBool,
    /// How many sessions tenants have, as far as that was counted.
    counts: Mutex<HashMap<String, usize>>,
}

/// How many sessions are remembered to exist.
const EXISTING: usize = 65_536;

impl App {
    pub(crate) fn new(runs: Runs, tokens: Tokens, options: ServerOptions) -> Self {
        let ServerOptions { hosts, data, limits, commits, .. } = options;
        let feeds = Arc::new(Feeds::default());
        Self(Arc::new(Shared {
            metrics: Metrics::new(&feeds, &commits, data),
            news: Arc::default(),
            runs,
            tokens,
            tickets: Tickets::default(),
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            bodies: limits.room_for_bodies(),
            limits,
            rates: Rates::default(),
            feeds,
            usages: Usages::default(),
            existing: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            heartbeat: watch::Sender::new(()),
            closing: CancellationToken::new(),
            is_draining: AtomicBool::new(false),
            counts: Mutex::default(),
        }))
    }

    pub(crate) fn runs(&self) -> &Runs {
        &self.0.runs
    }

    pub(crate) fn log(&self) -> &Log {
        self.0.runs.log()
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    pub(crate) fn tickets(&self) -> &Tickets {
        &self.0.tickets
    }

    pub(crate) fn hosts(&self) -> &[String] {
        &self.0.hosts
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The room that bodies share.
    pub(crate) fn bodies(&self) -> &Arc<Semaphore> {
        &self.0.bodies
    }

    pub(crate) fn rates(&self) -> &Rates {
        &self.0.rates
    }

    pub(crate) fn feeds(&self) -> &Arc<Feeds> {
        &self.0.feeds
    }

    pub(crate) fn news(&self) -> &Arc<News> {
        &self.0.news
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn usages(&self) -> &Usages {
        &self.0.usages
    }

    pub(crate) fn changing(&self) -> &tokio::sync::Mutex<()> {
        &self.0.changing
    }

    pub(crate) fn heartbeat(&self) -> &watch::Sender<()> {
        &self.0.heartbeat
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// No more work is taken.
    pub(crate) fn start_draining(&self) {
        self.0.is_draining.store(true, Ordering::Release);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.0.is_draining.load(Ordering::Acquire)
    }

    /// How many sessions a tenant has, counted up to a limit. They are counted once, and then as they come and go.
    pub(crate) async fn sessions_of(&self, tenant: &str, limit: usize) -> Result<usize, Error> {
        if let Some(count) = self.counts().get(tenant) {
            return Ok(*count);
        }
        let (mut count, mut after) = (0, None);
        while count < limit {
            let page = self.log().sessions(Some(tenant), after.take(), 1_024.min(limit - count)).await?;
            let Some(last) = page.last() else { break };
            count += page.len();
            after = Some(last.key.clone());
        }
        self.counts().insert(tenant.to_owned(), count);
        Ok(count)
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, HashMap<String, usize>> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session, if there is one.
    pub(crate) async fn existing(&self, key: SessionKey) -> Result<Session, Problem> {
        let session = self.log().session(key.clone());
        if self.known().contains(&key) {
            return Ok(session);
        }
        session.info().await?;
        self.note(key);
        Ok(session)
    }

    /// A session was made.
    pub(crate) fn made(&self, key: SessionKey) {
        if let Some(count) = self.counts().get_mut(key.tenant()) {
            *count += 1;
        }
        self.note(key);
    }

    fn note(&self, key: SessionKey) {
        let mut known = self.known();
        if known.len() >= EXISTING {
            known.clear();
        }
        known.insert(key);
    }

    /// A session was removed.
    pub(crate) fn forget(&self, key: &SessionKey) {
        if let Some(count) = self.counts().get_mut(key.tenant()) {
            *count = count.saturating_sub(1);
        }
        self.known().remove(key);
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashSet<SessionKey>> {
        self.0.existing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
