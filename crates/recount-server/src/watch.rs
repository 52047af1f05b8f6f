//! What is told of each request to who watches the service: it is counted, logged and traced.
//!
//! The query of a request is never told: it may hold a ticket.

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
use crate::guard::Ends;
use crate::metrics::Asked;

/// What takes longer is worth a line in the log.
const SLOW: Duration = Duration::from_secs(1);
/// The route of what has none.
const OTHER: &str = "other";

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Watched {
    asked: Asked,
    path: String,
    remote: Option<IpAddr>,
    began: Instant,
    span: Span,
}

/// What is wrong, as a response carries it to whoever watches.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    /// The word for it.
    pub(crate) kind: &'static str,
    pub(crate) detail: String,
}

impl Watched {
    /// A request that was routed.
    pub(crate) fn begin(parts: &Parts) -> Self {
        let route = parts.extensions.get::<MatchedPath>().map_or(OTHER, MatchedPath::as_str);
        Self::on_route(parts, route)
    }

    pub(crate) fn on_route(parts: &Parts, route: &str) -> Self {
        let (asked, path) = (Asked::new(&parts.method, route), parts.uri.path().to_owned());
        let span = info_span!(
            target: SPAN_TARGET, parent: None, "request",
            otel.name = format!("{} {route}", asked.method),
            otel.kind = "server",
            http.request.method = asked.method,
            http.route = route,
            url.path = path,
            http.response.status_code = Empty,
            "error.type" = Empty,
            otel.status_code = Empty,
        );
        if !span.is_disabled() {
            let parent =
                opentelemetry::global::get_text_map_propagator(|known| known.extract(&Headers(&parts.headers)));
            let _ = span.set_parent(parent);
        }
        let remote = parts.extensions.get::<Ends>().map(|ends| ends.remote.ip());
        Self { asked, path, remote, began: Instant::now(), span }
    }

    /// What everything is a part of that is done for the request.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    /// The head of the answer is there.
    pub(crate) fn end(self, app: &App, status: StatusCode, wrong: Option<&Wrong>) {
        let Self { asked, path, remote, began, span } = self;
        let took = began.elapsed();
        let method = asked.method;
        app.metrics().answered(asked, status, took);
        span.record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            span.record("error.type", status.as_str());
            span.record("otel.status_code", "ERROR");
        }
        let (kind, detail) = wrong.map_or(("", ""), |wrong| (wrong.kind, &*wrong.detail));
        match kind {
            "unauthorized" => app.metrics().login_failed(),
            "too_large" => app.metrics().limited("size"),
            "too_many_requests" => app.metrics().limited("rate"),
            "too_many_sessions" => app.metrics().limited("sessions"),
            _ => {}
        }
        let (status, took_ms) = (status.as_u16(), u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        let remote = remote.map(tracing::field::display);
        // Who asks whether it is ready is told no for as long as it is not, and that is no failure.
        if status >= 500 && path != "/readyz" {
            tracing::error!(method, path, status, problem = kind, detail, took_ms, remote, "a request has failed");
        } else if kind == "unauthorized" {
            tracing::warn!(method, path, detail, remote, "a login has failed");
        } else if took > SLOW {
            tracing::info!(method, path, status, took_ms, remote, "a slow request");
        } else {
            tracing::debug!(method, path, status, took_ms, remote, "a request");
        }
    }
}

/// The span of a commit that is a part of a request.
pub(crate) fn commit_span(entries: usize) -> Span {
    let span = info_span!(target: SPAN_TARGET, parent: None, "log commit", otel.kind = "internal", recount.log.entries = entries);
    if !span.is_disabled() {
        let _ = span.set_parent(Span::current().context());
    }
    span
}

/// A method by its name, of which there are only so many.
pub(crate) fn name_of(method: &Method) -> &'static str {
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

/// Headers, as those see them who look for the trace that a request belongs to.
struct Headers<'h>(&'h HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
