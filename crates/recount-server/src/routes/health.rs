//! Health checks and metrics.

use axum::response::IntoResponse as _;
use http::{StatusCode, header};

use super::{RouteResult, json};
use crate::call::Call;
use crate::problem::Problem;

/// `GET /healthz`: liveness.
pub(super) async fn healthz() -> RouteResult {
    Ok(json(StatusCode::OK, r#"{"status":"ok"}"#.to_owned()))
}

/// `GET /readyz`: readiness. Fails while the service shuts down, or if the log cannot be read.
pub(super) async fn readyz(call: Call) -> RouteResult {
    if call.app.closing().is_cancelled() || call.app.is_draining() {
        return Err(Problem::unavailable("the service is shutting down"));
    }
    call.app.log().sessions(None, None, 1).await?;
    Ok(json(StatusCode::OK, r#"{"status":"ready"}"#.to_owned()))
}

/// `GET /metrics`
pub(super) async fn metrics(call: Call) -> RouteResult {
    let sessions = call.app.log().read(|view| Ok(view.session_count()?)).await?;
    call.app.metrics().update(sessions, call.app.host().load());
    let text = call.app.metrics().to_text();
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, media_type)], text).into_response())
}
