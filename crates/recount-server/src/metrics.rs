//! Metrics for Prometheus.

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

/// The metrics of the service.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<ResponseLabels, Counter>,
    durations: Family<RequestLabels, Histogram, fn() -> Histogram>,
    readers: Family<TransportLabels, Gauge>,
    limited: Family<LimitLabels, Counter>,
    /// The number of open connections.
    pub(crate) connections: Gauge,
    failed_logins: Counter,
    written: Counter,
    duplicates: Counter,
    rejected: Counter,
    /// The number of accepted user messages.
    pub(crate) messages: Counter,
    sessions: Gauge,
    running: Gauge,
    waiting: Gauge,
    log_bytes: Gauge,
    /// The directory of the log, if it is on disk.
    data_dir: Option<PathBuf>,
}

/// The labels of a request.
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

/// Records the commits of a log for `/metrics`.
///
/// ```
/// use recount_log::Options;
/// use recount_server::{CommitMeter, ServerOptions};
///
/// let commits = CommitMeter::default();
/// let recorder = commits.clone();
/// let log_options = Options::default().on_commit(move |commit| recorder.record(commit));
/// let mut server_options = ServerOptions::default();
/// server_options.commits = commits;
/// # drop(log_options);
/// ```
#[derive(Debug, Clone)]
pub struct CommitMeter {
    entries: Counter,
    seconds: Histogram,
}

impl Default for CommitMeter {
    fn default() -> Self {
        // 0.1 ms to 3 s.
        Self { entries: Counter::default(), seconds: Histogram::new(exponential_buckets(0.000_1, 2.0, 16)) }
    }
}

impl CommitMeter {
    /// Records a commit.
    pub fn record(&self, commit: CommitInfo) {
        self.entries.inc_by(commit.entries as u64);
        self.seconds.observe(commit.duration.as_secs_f64());
    }
}

/// Collects the number of feeds.
#[derive(Debug)]
struct FeedCount(Arc<Feeds>);

impl Collector for FeedCount {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let gauge = ConstGauge::new(i64::try_from(self.0.count()).unwrap_or(i64::MAX));
        let help = "Feeds: pairs of a session and a stream format with subscribers";
        gauge.encode(encoder.encode_descriptor("feeds", help, None, gauge.metric_type())?)
    }
}

/// 0.5 ms to 8 s.
fn request_seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.000_5, 2.0, 15))
}

impl Metrics {
    pub(crate) fn new(feeds: &Arc<Feeds>, commits: &CommitMeter, data_dir: Option<PathBuf>) -> Self {
        let mut registry = Registry::with_prefix("recount");
        let metrics = Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(request_seconds),
            readers: Family::default(),
            limited: Family::default(),
            connections: Gauge::default(),
            failed_logins: Counter::default(),
            written: Counter::default(),
            duplicates: Counter::default(),
            rejected: Counter::default(),
            messages: Counter::default(),
            sessions: Gauge::default(),
            running: Gauge::default(),
            waiting: Gauge::default(),
            log_bytes: Gauge::default(),
            data_dir,
            registry: Registry::default(),
        };
        registry.register("http_requests", "Requests", metrics.requests.clone());
        let durations = metrics.durations.clone();
        let help = "Time from the head of a request to the head of its response";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, durations);
        registry.register("readers", "Readers of sessions, by transport", metrics.readers.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register("limited", "Requests and connections rejected because of a limit", metrics.limited.clone());
        registry.register("failed_logins", "Requests without a valid token", metrics.failed_logins.clone());
        registry.register("sessions", "Sessions", metrics.sessions.clone());
        registry.register("replies_running", "Replies in progress in this process", metrics.running.clone());
        registry.register("replies_waiting", "Replies of this process that wait for input", metrics.waiting.clone());
        registry.register("log_entries", "Committed entries", commits.entries.clone());
        registry.register_with_unit("log_commit", "Duration of commits", Unit::Seconds, commits.seconds.clone());
        registry.register("log_bytes", "Size of the database and its write-ahead log", metrics.log_bytes.clone());
        registry.register("events_written", "Posted events that were written", metrics.written.clone());
        registry.register("events_duplicate", "Posted events that were duplicates", metrics.duplicates.clone());
        registry.register(
            "inputs_refused",
            "Rejected inputs: late, duplicate or of another reply",
            metrics.rejected.clone(),
        );
        registry.register("messages_posted", "Accepted user messages", metrics.messages.clone());
        registry.register_collector(Box::new(FeedCount(Arc::clone(feeds))));
        Self { registry, ..metrics }
    }

    /// Records a request and its response.
    pub(crate) fn request_finished(&self, labels: RequestLabels, status: StatusCode, took: Duration) {
        self.durations.get_or_create(&labels).observe(took.as_secs_f64());
        let RequestLabels { method, route } = labels;
        self.requests.get_or_create(&ResponseLabels { method, route, status: status.as_u16() }).inc();
    }

    /// Records the result of posting events.
    pub(crate) fn events_posted(&self, result: Result<&Appended, &Problem>) {
        match result {
            Ok(appended) => {
                self.written.inc_by(appended.written as u64);
                self.duplicates.inc_by(appended.duplicates as u64);
            }
            Err(problem) if problem.is_input_rejected() => {
                self.rejected.inc();
            }
            Err(_) => {}
        }
    }

    /// Records a request without a valid token.
    pub(crate) fn login_failed(&self) {
        self.failed_logins.inc();
    }

    /// Records a request or connection that was rejected because of a limit.
    pub(crate) fn limit_reached(&self, limit: &'static str) {
        self.limited.get_or_create(&LimitLabels { limit }).inc();
    }

    /// Counts a reader until the guard is dropped.
    pub(crate) fn reader(&self, transport: &'static str) -> GaugeGuard {
        let gauge = self.readers.get_or_create_owned(&TransportLabels { transport });
        GaugeGuard::new(gauge)
    }

    /// Counts a connection until the guard is dropped.
    pub(crate) fn connection(&self) -> GaugeGuard {
        GaugeGuard::new(self.connections.clone())
    }

    /// Updates the gauges that are read on demand: sessions, replies and the size of the log.
    pub(crate) fn update(&self, sessions: usize, load: HostLoad) {
        for (gauge, count) in [(&self.sessions, sessions), (&self.running, load.running), (&self.waiting, load.waiting)]
        {
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        let dirs = self.data_dir.iter();
        let files = dirs.flat_map(|dir| ["log.sqlite", "log.sqlite-wal"].map(|name| dir.join(name)));
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

/// Increments a gauge until it is dropped.
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
