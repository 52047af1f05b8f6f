//! The OpenTelemetry context of a span. Without the feature `otel` it is empty, and setting a parent does nothing.

use tracing::Span;

/// The OpenTelemetry context of a span, for spans that become its children.
///
/// Parents are set in OpenTelemetry only. In `tracing`, a parent stays open as long as its children, but an HTTP request
/// completes long before the reply that it started.
#[derive(Debug, Clone, Default)]
pub(crate) struct TraceContext {
    #[cfg(feature = "otel")]
    context: opentelemetry::Context,
}

#[cfg(feature = "otel")]
impl TraceContext {
    /// Returns the context of the current span.
    pub(crate) fn current() -> Self {
        Self::of(&Span::current())
    }

    /// Returns the context of a span.
    pub(crate) fn of(span: &Span) -> Self {
        use tracing_opentelemetry::OpenTelemetrySpanExt as _;
        Self { context: span.context() }
    }

    /// Makes a span a child of this context.
    pub(crate) fn adopt(self, span: &Span) {
        use tracing_opentelemetry::OpenTelemetrySpanExt as _;
        let _ = span.set_parent(self.context);
    }
}

#[cfg(not(feature = "otel"))]
impl TraceContext {
    /// Returns the empty context.
    pub(crate) fn current() -> Self {
        Self {}
    }

    /// Returns the empty context.
    pub(crate) fn of(_span: &Span) -> Self {
        Self {}
    }

    /// Does nothing.
    #[allow(clippy::unused_self, reason = "the signature of the feature `otel`")]
    pub(crate) fn adopt(self, _span: &Span) {}
}
