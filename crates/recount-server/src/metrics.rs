//! What the service counts, for Prometheus.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use recount_host::HostLoad;
use recount_log::{Appended, CommitInfo};

use crate::fanout::Feeds;
use crate::problem::Problem;
use crate::telemetry::method_label;

/// What the service counts.
pub(crate) struct Metrics {
    registry: Registry,
    answers: Family<ResponseLabels, Counter>,
    durations: Family<RequestLabels, Histogram, fn() -> Histogram>,
    readers: Family<TransportLabels, Gauge>,
    limited: Family<LimitLabels, Counter>,
    /// Connections that are open.
    pub(crate) connections: Gauge,
    failed_logins: Counter,
    written: Counter,
    duplicates: Counter,
    refused: Counter,
    /// User messages that were taken.
    pub(crate) messages: Counter,
    sessions: Gauge,
    running: Gauge,
    waiting: Gauge,
    log_bytes: Gauge,
    /// Where the log is, if it is on disk.
    data: Option<PathBuf>,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    pub(crate) method: &'static str,
    route: String,
}

impl RequestLabels {
    pub(crate) fn new(method: &Method, route: &str) -> Self {
        Self { method: method_label(method), route: route.to_owned() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResponseLabels {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TransportLabels {
    transport: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: &'static str,
}

/// Measures the commits of a log.
///
/// ```
/// use recount_log::Options;
/// use recount_server::{CommitMeter, ServerOptions};
///
/// let commits = CommitMeter::default();
/// let metered = commits.clone();
/// let log = Options::default().on_commit(move |commit| metered.record(commit));
/// let mut service = ServerOptions::default();
/// service.commits = commits;
/// # drop(log);
/// ```
#[derive(Debug, Clone)]
pub struct CommitMeter {
    entries: Counter,
    seconds: Histogram,
}

impl Default for CommitMeter {
    fn default() -> Self {
        // From a tenth of a millisecond to three seconds.
        Self { entries: Counter::default(), seconds: Histogram::new(exponential_buckets(0.000_1, 2.0, 16)) }
    }
}

impl CommitMeter {
    /// Notes a commit.
    pub fn record(&self, commit: CommitInfo) {
        self.entries.inc_by(commit.entries as u64);
        self.seconds.observe(commit.duration.as_secs_f64());
    }
}

/// How many sessions are encoded for readers right now.
#[derive(Debug)]
struct FeedCount(Arc<Feeds>);

impl Collector for FeedCount {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let gauge = ConstGauge::new(i64::try_from(self.0.count()).unwrap_or(i64::MAX));
        let help = "Sessions, each in one style, that are encoded for readers";
        gauge.encode(encoder.encode_descriptor("feeds", help, None, gauge.metric_type())?)
    }
}

/// From half a millisecond to eight seconds.
fn request_seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.000_5, 2.0, 15))
}

impl Metrics {
    pub(crate) fn new(feeds: &Arc<Feeds>, commits: &CommitMeter, data: Option<PathBuf>) -> Self {
        let mut registry = Registry::with_prefix("recount");
        let metrics = Self {
            answers: Family::default(),
            durations: Family::new_with_constructor(request_seconds),
            readers: Family::default(),
            limited: Family::default(),
            connections: Gauge::default(),
            failed_logins: Counter::default(),
            written: Counter::default(),
            duplicates: Counter::default(),
            refused: Counter::default(),
            messages: Counter::default(),
            sessions: Gauge::default(),
            running: Gauge::default(),
            waiting: Gauge::default(),
            log_bytes: Gauge::default(),
            data,
            registry: Registry::default(),
        };
        registry.register("http_requests", "Requests that were answered", metrics.answers.clone());
        let durations = metrics.durations.clone();
        let help = "From the head of a request to the head of its answer";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, durations);
        registry.register("readers", "Readers of sessions, by how they read", metrics.readers.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register("limited", "What was refused because of a limit", metrics.limited.clone());
        registry.register("failed_logins", "Requests without a token that is known", metrics.failed_logins.clone());
        registry.register("sessions", "Sessions", metrics.sessions.clone());
        registry.register("replies_running", "Replies that an agent here is at work on", metrics.running.clone());
        registry.register("replies_waiting", "Replies of agents here that wait", metrics.waiting.clone());
        registry.register("log_entries", "Entries that were committed", commits.entries.clone());
        registry.register_with_unit("log_commit", "How long commits take", Unit::Seconds, commits.seconds.clone());
        registry.register("log_bytes", "Size of the database and its write-ahead log", metrics.log_bytes.clone());
        registry.register("events_written", "Events that were posted and written", metrics.written.clone());
        registry.register("events_duplicate", "Events that were posted again", metrics.duplicates.clone());
        registry.register("inputs_refused", "Inputs that were late, doubled or foreign", metrics.refused.clone());
        registry.register("messages_posted", "User messages that were taken", metrics.messages.clone());
        registry.register_collector(Box::new(FeedCount(Arc::clone(feeds))));
        Self { registry, ..metrics }
    }

    /// A request was answered.
    pub(crate) fn request_finished(&self, asked: RequestLabels, status: StatusCode, took: Duration) {
        self.durations.get_or_create(&asked).observe(took.as_secs_f64());
        let RequestLabels { method, route } = asked;
        self.answers.get_or_create(&ResponseLabels { method, route, status: status.as_u16() }).inc();
    }

    /// Events were posted, and this has become of them.
    pub(crate) fn posted(&self, outcome: Result<&Appended, &Problem>) {
        match outcome {
            Ok(appended) => {
                self.written.inc_by(appended.written as u64);
                self.duplicates.inc_by(appended.duplicates as u64);
            }
            Err(problem) if problem.is_about_input() => {
                self.refused.inc();
            }
            Err(_) => {}
        }
    }

    /// Somebody came without a token that is known.
    pub(crate) fn login_failed(&self) {
        self.failed_logins.inc();
    }

    /// Something was refused because of a limit.
    pub(crate) fn limit_reached(&self, limit: &'static str) {
        self.limited.get_or_create(&LimitLabels { limit }).inc();
    }

    /// Counts a reader for as long as what this gives lives.
    pub(crate) fn reader(&self, transport: &'static str) -> GaugeGuard {
        let gauge = self.readers.get_or_create_owned(&TransportLabels { transport });
        GaugeGuard::new(gauge)
    }

    /// Counts a connection for as long as what this gives lives.
    pub(crate) fn connection(&self) -> GaugeGuard {
        GaugeGuard::new(self.connections.clone())
    }

    /// Notes what is only known by looking: how many sessions there are, what the agents do, and how large the log is.
    pub(crate) fn look(&self, sessions: usize, load: HostLoad) {
        for (gauge, count) in [(&self.sessions, sessions), (&self.running, load.running), (&self.waiting, load.waiting)]
        {
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let data = self.data.iter();
        let files = data.flat_map(|data| ["log.sqlite", "log.sqlite-wal"].map(|name| data.join(name)));
        let bytes = files.filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum::<u64>();
        self.log_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// One more, until it is dropped.
#[derive(Debug)]
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn new(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}
