//! Telemetry of `recount serve`: log lines on standard error, and OpenTelemetry spans if a collector is configured.

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

/// The environment variables for the collector's URL. The first one applies to spans only and takes precedence.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Returns the collector's URL from the environment, in the form of the setting `otlp`: without `/v1/traces`.
pub(crate) fn endpoint() -> Option<String> {
    let url = ENDPOINTS.into_iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))?;
    Some(url.trim_end_matches("/v1/traces").to_owned())
}

/// Validates the log filter of a configuration.
pub(crate) fn check(config: &TelemetryConfig) -> Result<()> {
    filter(config).map(drop)
}

fn filter(config: &TelemetryConfig) -> Result<EnvFilter> {
    EnvFilter::try_new(&config.log).with_context(|| format!("cannot use `log` of `[telemetry]`: {:?}", config.log))
}

/// The telemetry of the process.
pub(crate) struct Telemetry {
    provider: Option<SdkTracerProvider>,
}

impl Telemetry {
    /// Installs the logger, and the span exporter if a collector is configured.
    pub(crate) fn start(config: &TelemetryConfig, runtime: &Handle) -> Result<Self> {
        let provider = tracer_provider(config, runtime)?;
        let layer = provider.as_ref().map(|provider| {
            opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
            let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("recount"));
            let layer =
                layer.with_location(false).with_threads(false).with_target(false).with_tracked_inactivity(false);
            layer.with_filter(Targets::new().with_target(SPAN_TARGET, LevelFilter::INFO))
        });
        tracing_subscriber::registry().with(log_layer(config)?).with(layer).try_init().context("cannot log")?;
        Ok(Self { provider })
    }

    /// Exports the remaining spans.
    pub(crate) fn shutdown(self) {
        if let Some(provider) = self.provider
            && let Err(error) = provider.shutdown()
        {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}

/// Returns the layer that logs to standard error. Spans are excluded: the exporter handles them.
fn log_layer<S: Subscriber + for<'s> LookupSpan<'s>>(
    config: &TelemetryConfig,
) -> Result<Box<dyn Layer<S> + Send + Sync>> {
    let filter = filter(config)?.add_directive(format!("{SPAN_TARGET}=off").parse()?);
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    Ok(match config.format {
        LogFormat::Text => layer.with_ansi(std::io::stderr().is_terminal()).with_filter(filter).boxed(),
        LogFormat::Json => layer.json().with_filter(filter).boxed(),
    })
}

/// Creates the span exporter. `None` if no collector is configured.
fn tracer_provider(config: &TelemetryConfig, runtime: &Handle) -> Result<Option<SdkTracerProvider>> {
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let has_endpoint = endpoint().is_some();
    if !has_endpoint && config.otlp.is_none() {
        return Ok(None);
    }
    // Fails if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().build().context("cannot make connections")?;
    let client = SpanClient { http, runtime: runtime.clone() };
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

/// Sends spans with `reqwest` on the existing runtime. The exporter calls it from a thread without a runtime.
#[derive(Debug)]
struct SpanClient {
    http: reqwest::Client,
    runtime: Handle,
}

impl HttpClient for SpanClient {
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
            let reply = http.execute(request).await?;
            let mut response = Response::builder().status(reply.status());
            if let Some(headers) = response.headers_mut() {
                headers.clone_from(reply.headers());
            }
            Ok::<_, HttpError>(response.body(reply.bytes().await?)?)
        });
        Box::pin(async move { sending.await? })
    }
}
