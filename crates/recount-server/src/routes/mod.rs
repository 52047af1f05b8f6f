//! The routes of the API, one file per subject.

mod agents;
mod blobs;
mod events;
mod forks;
mod health;
mod interrupts;
mod messages;
mod new_message;
mod page;
pub(crate) mod sessions;
pub(crate) mod stream;
mod tickets;
pub(crate) mod ws;

use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header};

use crate::app::App;
use crate::guard::{ApiPath, guard};
use crate::openapi;
use crate::problem::Problem;

/// The response header with a cursor.
pub(crate) const CURSOR: HeaderName = HeaderName::from_static("recount-cursor");

/// The result of a route.
pub(crate) type RouteResult = Result<Response, Problem>;

/// Returns the routes of the API and the web page, which is also the fallback.
pub(crate) fn service_router(app: &App) -> Router {
    let routes = routes().route("/", get(page::get)).route("/s/{id}", get(page::get)).fallback(page::get);
    guarded(routes, app)
}

/// Returns the routes of the API without the web page and without a fallback.
pub(crate) fn api_router(app: &App) -> Router {
    guarded(routes(), app)
}

/// Returns the route of [`stream::PATH`], to be mounted at any path with the parameter `{id}`.
pub(crate) fn stream_route(app: &App) -> MethodRouter {
    get(stream::get)
        .fallback(method_not_allowed)
        .with_state(app.clone())
        .layer((Extension(ApiPath(stream::PATH)), from_fn_with_state(app.clone(), guard)))
}

fn routes() -> Router<App> {
    Router::new()
        .route("/v1/sessions", get(sessions::list).post(sessions::create))
        .route(
            "/v1/sessions/{id}",
            get(sessions::get).put(sessions::put).patch(sessions::patch).delete(sessions::delete),
        )
        .route("/v1/sessions/{id}/messages", get(messages::list).post(messages::post))
        .route("/v1/sessions/{id}/events", get(events::list).post(events::post))
        .route(stream::PATH, get(stream::get))
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
}

fn guarded(routes: Router<App>, app: &App) -> Router {
    routes
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone())
        .layer(from_fn_with_state(app.clone(), guard))
}

async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    let detail = format!("{method} is not allowed on {}", uri.path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
}

/// Returns a JSON response that must not be cached.
pub(crate) fn json(status: StatusCode, body: String) -> Response {
    let mut response = (status, body).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
