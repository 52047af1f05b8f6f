//! What `recount serve` tells of itself: lines on standard error, and spans for OpenTelemetry where somebody collects them.

use std::future::Future;
use std::io::IsTerminal as _;
use std::pin::Pin;

use anyhow::{Context as _, Result};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use recount_host::SPAN_TARGET;
use recount_server::{LogFormat, TelemetryConfig};
use tokio::runtime::Handle;
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{EnvFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The variables that say where spans are sent; the first one for spans alone.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Where the environment says that spans are sent to, as `otlp` would have it.
pub(crate) fn endpoint() -> Option<String> {
    let named = ENDPOINTS.into_iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))?;
    Some(named.trim_end_matches("/v1/traces").to_owned())
}

/// Whether one can log as a configuration wants it.
pub(crate) fn check(config: &TelemetryConfig) -> Result<()> {
    filter(config).map(drop)
}

fn filter(config: &TelemetryConfig) -> Result<EnvFilter> {
    EnvFilter::try_new(&config.log).with_context(|| format!("cannot use `log` of `[telemetry]`: {:?}", config.log))
}

/// What a process tells of itself, for as long as it runs.
pub(crate) struct Telemetry {
    spans: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Begins to log, and to send spans if there is somewhere to send them to.
    pub(crate) fn start(config: &TelemetryConfig, runtime: &Handle) -> Result<Self> {
        let spans = spans(config, runtime)?;
        let layer = spans.as_ref().map(|spans| {
            opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
            let layer = tracing_opentelemetry::layer().with_tracer(spans.tracer("recount"));
            let layer =
                layer.with_location(false).with_threads(false).with_target(false).with_tracked_inactivity(false);
            layer.with_filter(Targets::new().with_target(SPAN_TARGET, LevelFilter::INFO))
        });
        tracing_subscriber::registry().with(lines(config)?).with(layer).try_init().context("cannot log")?;
        Ok(Self { spans })
    }

    /// Sends what has not been sent.
    pub(crate) fn end(self) {
        if let Some(spans) = self.spans
            && let Err(error) = spans.shutdown()
        {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}

/// Lines on standard error. Spans are for others.
fn lines<S: Subscriber + for<'s> LookupSpan<'s>>(config: &TelemetryConfig) -> Result<Box<dyn Layer<S> + Send + Sync>> {
    let filter = filter(config)?.add_directive(format!("{SPAN_TARGET}=off").parse()?);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    Ok(match config.format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).with_filter(filter).boxed(),
        LogFormat::Json => lines.json().with_filter(filter).boxed(),
    })
}

/// Who sends spans, if there is somewhere to send them to.
fn spans(config: &TelemetryConfig, runtime: &Handle) -> Result<Option<SdkTracerProvider>> {
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let has_endpoint = endpoint().is_some();
    if !has_endpoint && config.otlp.is_none() {
        return Ok(None);
    }
    // Somebody else may have been first, which is as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().build().context("cannot make connections")?;
    let client = Client { http, runtime: runtime.clone() };
    let mut exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpBinary).with_http_client(client);
    if let Some(endpoint) = config.otlp.as_deref().filter(|_| !has_endpoint) {
        exporter = exporter.with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')));
    }
    let exporter = exporter.build().context("cannot send spans")?;
    let mut resource = Resource::builder();
    if !is_set("OTEL_SERVICE_NAME") {
        resource = resource.with_service_name(config.service_name.clone());
    }
    Ok(Some(SdkTracerProvider::builder().with_resource(resource.build()).with_batch_exporter(exporter).build()))
}

/// Sends spans with the HTTP client and on the runtime that are there already. Who asks it has a thread without a runtime.
#[derive(Debug)]
struct Client {
    http: reqwest::Client,
    runtime: Handle,
}

impl HttpClient for Client {
    fn send_bytes<'c, 'f>(
        &'c self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        'c: 'f,
        Self: 'f,
    {
        let http = self.http.clone();
        let sending = self.runtime.spawn(async move {
            let request: reqwest::Request = request.try_into()?;
            let answer = http.execute(request).await?;
            let mut response = Response::builder().status(answer.status());
            if let Some(headers) = response.headers_mut() {
                headers.clone_from(answer.headers());
            }
            Ok::<_, HttpError>(response.body(answer.bytes().await?)?)
        });
        Box::pin(async move { sending.await? })
    }
}
