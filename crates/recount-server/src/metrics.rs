//! What the service counts, for Prometheus.

use std::fmt;
use std::sync::Arc;

use http::StatusCode;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

use crate::fanout::Feeds;

/// What the service counts.
pub(crate) struct Metrics {
    registry: Registry,
    answers: Family<Answer, Counter>,
    readers: Family<Kind, Gauge>,
    /// Connections that are open.
    pub(crate) connections: Gauge,
    /// Connections that were turned away because there were too many.
    pub(crate) turned_away: Counter,
    /// Events that were posted and written.
    pub(crate) written: Counter,
    /// Events that were posted and known already.
    pub(crate) duplicates: Counter,
    /// Inputs that were refused.
    pub(crate) refused: Counter,
    /// User messages that were taken.
    pub(crate) messages: Counter,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answer {
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
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

impl Metrics {
    pub(crate) fn new(feeds: &Arc<Feeds>) -> Self {
        let mut registry = Registry::with_prefix("recount");
        let metrics = Self {
            answers: Family::default(),
            readers: Family::default(),
            connections: Gauge::default(),
            turned_away: Counter::default(),
            written: Counter::default(),
            duplicates: Counter::default(),
            refused: Counter::default(),
            messages: Counter::default(),
            registry: Registry::default(),
        };
        registry.register("http_requests", "Requests, by the status of their answer", metrics.answers.clone());
        registry.register("readers", "Readers of sessions, by how they read", metrics.readers.clone());
        registry.register("connections", "Open connections", metrics.connections.clone());
        registry.register("connections_turned_away", "Connections above the limit", metrics.turned_away.clone());
        registry.register("events_written", "Events that were posted and written", metrics.written.clone());
        registry.register("events_duplicate", "Events that were posted again", metrics.duplicates.clone());
        registry.register("inputs_refused", "Inputs that were late, doubled or foreign", metrics.refused.clone());
        registry.register("messages_posted", "User messages that were taken", metrics.messages.clone());
        registry.register_collector(Box::new(FeedCount(Arc::clone(feeds))));
        Self { registry, ..metrics }
    }

    pub(crate) fn answered(&self, status: StatusCode) {
        self.answers.get_or_create(&Answer { status: status.as_u16() }).inc();
    }

    /// Counts a reader for as long as what this gives lives.
    pub(crate) fn reader(&self, kind: &'static str) -> Counted {
        let gauge = self.readers.get_or_create_owned(&Kind { kind });
        Counted::new(gauge)
    }

    /// Counts a connection for as long as what this gives lives.
    pub(crate) fn connection(&self) -> Counted {
        Counted::new(self.connections.clone())
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
pub(crate) struct Counted(Gauge);

impl Counted {
    fn new(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}
