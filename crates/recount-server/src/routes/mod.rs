//! The routes, one file for each subject.

mod agents;
mod blobs;
mod events;
mod forks;
mod health;
mod interrupts;
mod messages;
mod page;
mod posted;
pub(crate) mod sessions;
pub(crate) mod stream;
mod tickets;
pub(crate) mod ws;

use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};

use crate::app::App;
use crate::guard;
use crate::openapi;
use crate::problem::Problem;

/// The cursor of an answer.
pub(crate) const CURSOR: HeaderName = HeaderName::from_static("recount-cursor");

/// What a route answers.
pub(crate) type Answer = Result<Response, Problem>;

pub(crate) fn router(app: &App) -> Router {
    let router = Router::new()
        .route("/v1/sessions", get(sessions::list).post(sessions::create))
        .route(
            "/v1/sessions/{id}",
            get(sessions::get).put(sessions::put).patch(sessions::patch).delete(sessions::delete),
        )
        .route("/v1/sessions/{id}/messages", get(messages::list).post(messages::post))
        .route("/v1/sessions/{id}/events", get(events::list).post(events::post))
        .route("/v1/sessions/{id}/stream", get(stream::get))
        .route("/v1/sessions/{id}/ws", get(ws::one))
        .route("/v1/sessions/{id}/interrupt", post(interrupts::post))
        .route("/v1/sessions/{id}/fork", post(forks::post))
        .route("/v1/sessions/{id}/blobs", post(blobs::post))
        .route("/v1/sessions/{id}/blobs/{digest}", get(blobs::get))
        .route("/v1/ws", get(ws::many))
        .route("/v1/agents", get(agents::list))
        .route("/v1/tickets", post(tickets::post))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(openapi::get))
        .route("/", get(page::get))
        .route("/s/{id}", get(page::get))
        .fallback(page::get)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone());
    router.layer(axum::middleware::from_fn_with_state(app.clone(), guard::guard))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let detail = format!("{method} is not for {}", uri.path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}

/// A JSON answer.
pub(crate) fn json(status: StatusCode, body: String) -> Response {
    let mut response = (status, body).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
