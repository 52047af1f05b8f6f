//! Metrics, log lines and spans of requests.
//!
//! The query of a request is never recorded: it may contain a ticket.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use axum::extract::MatchedPath;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use opentelemetry::propagation::Extractor;
use recount_host::SPAN_TARGET;
use tracing::field::Empty;
use tracing::{Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::app::App;
use crate::guard::ConnInfo;
use crate::metrics::RequestLabels;

/// Requests that take longer are logged at level `info`.
const SLOW: Duration = Duration::from_secs(1);
/// The `route` label of requests that match no route.
const NO_ROUTE: &str = "other";

/// The telemetry of a request in progress.
#[derive(Debug)]
pub(crate) struct RequestTelemetry {
    labels: RequestLabels,
    path: String,
    remote: Option<IpAddr>,
    started: Instant,
    span: Span,
}

/// The problem of a response, as an extension of that response.
#[derive(Debug, Clone)]
pub(crate) struct ErrorSummary {
    /// The problem code.
    pub(crate) code: &'static str,
    pub(crate) detail: String,
}

impl RequestTelemetry {
    /// Starts recording a request that was routed by axum.
    pub(crate) fn start(parts: &Parts) -> Self {
        let route = parts.extensions.get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str);
        Self::on_route(parts, route)
    }

    pub(crate) fn on_route(parts: &Parts, route: &str) -> Self {
        let (labels, path) = (RequestLabels::new(&parts.method, route), parts.uri.path().to_owned());
        let span = info_span!(
            target: SPAN_TARGET, parent: None, "request",
            otel.name = format!("{} {route}", labels.method),
            otel.kind = "server",
            http.request.method = labels.method,
            http.route = route,
            url.path = path,
            http.response.status_code = Empty,
            "error.type" = Empty,
            otel.status_code = Empty,
        );
        if !span.is_disabled() {
            let parent = opentelemetry::global::get_text_map_propagator(|propagator| {
                propagator.extract(&HeaderExtractor(&parts.headers))
            });
            let _ = span.set_parent(parent);
        }
        let remote = ConnInfo::of(parts).map(|conn| conn.remote.ip());
        Self { labels, path, remote, started: Instant::now(), span }
    }

    /// Returns the span in which the request is handled.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// Records the response, as soon as its head is known.
    pub(crate) fn finish(self, app: &App, status: StatusCode, error: Option<&ErrorSummary>) {
        let Self { labels, path, remote, started, span } = self;
        let took = started.elapsed();
        let method = labels.method;
        app.metrics().request_finished(labels, status, took);
        span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            span.record("error.type", status.as_str());
            span.record("otel.status_code", "ERROR");
        }
        let (code, detail) = error.map_or(("", ""), |error| (error.code, &*error.detail));
        match code {
            "unauthorized" => app.metrics().login_failed(),
            "too_large" => app.metrics().limit_reached("size"),
            "too_many_requests" => app.metrics().limit_reached("rate"),
            "too_many_sessions" => app.metrics().limit_reached("sessions"),
            _ => {}
        }
        let (status, took_ms) = (status.as_u16(), u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let remote = remote.map(tracing::field::display);
        // A readiness probe that fails is not an error of the service.
        if status >= 500 && path != "/readyz" {
            tracing::error!(method, path, status, problem = code, detail, took_ms, remote, "request failed");
        } else if code == "unauthorized" {
            tracing::warn!(method, path, detail, remote, "login failed");
        } else if took > SLOW {
            tracing::info!(method, path, status, took_ms, remote, "slow request");
        } else {
            tracing::debug!(method, path, status, took_ms, remote, "request");
        }
    }
}

/// Returns the span of a commit, as a child of the current one.
pub(crate) fn commit_span(entries: usize) -> Span {
    let span = info_span!(target: SPAN_TARGET, parent: None, "log commit", otel.kind = "internal", recount.log.entries = entries);
    if !span.is_disabled() {
        let _ = span.set_parent(Span::current().context());
    }
    span
}

/// Returns the method as a label with a bounded number of values.
pub(crate) fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "_OTHER",
    }
}

/// Reads trace context from request headers.
struct HeaderExtractor<'h>(&'h HeaderMap);

impl Extractor for HeaderExtractor<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
