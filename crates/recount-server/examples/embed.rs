//! The Recount API as a part of another axum application, with the authentication of that application.
//!
//! The agent's replies go to a log. So they survive a closed browser tab, and any number of clients can follow them from any
//! cursor.
//!
//! ```text
//! cargo run -p recount-server --example embed
//! curl -H 'x-api-key: alice-key' -X PUT http://127.0.0.1:3000/agents/v1/sessions/hello
//! curl -H 'x-api-key: alice-key' -d '{"content":"Hello"}' -H 'content-type: application/json' \
//!     http://127.0.0.1:3000/agents/v1/sessions/hello/messages
//! curl -H 'x-api-key: alice-key' -N http://127.0.0.1:3000/chats/hello/events
//! ```

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::StatusCode;
use recount_agent::Agent;
use recount_agent::demo::DemoModel;
use recount_host::{Host, HostOptions, SingleAgent};
use recount_log::{Log, Options};
use recount_server::{Api, Auth, Caller, Scope, ServerOptions};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let log = Log::open("recount-data", Options::default())?;
    let friday = SingleAgent::new("friday", || Agent::builder("Friday").model(DemoModel::new()));
    let host = Host::start(log.clone(), Arc::new(friday), HostOptions::default()).await?;
    let api = Api::start(host, Auth::Extension, ServerOptions::default());

    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    let shutdown = {
        let api = api.clone();
        async move {
            let _ = tokio::signal::ctrl_c().await;
            // Closes the event streams, without which the server would wait for their clients.
            api.shutdown().await;
        }
    };
    axum::serve(listener, app(&api)).with_graceful_shutdown(shutdown).await?;
    log.close().await?;
    Ok(())
}

/// The application: a page of its own, the whole API under `/agents`, and the event stream of a session at another path.
pub(crate) fn app(api: &Api) -> Router {
    let authenticated = Router::new()
        .nest("/agents", api.router())
        .route("/chats/{id}/events", api.stream_route())
        .layer(from_fn(authenticate));
    Router::new().route("/", get(async || "The application's own page.\n")).merge(authenticated)
}

/// Authenticates a request by its API key. Each user is a tenant and sees only their own sessions.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let key = request.headers().get("x-api-key").and_then(|key| key.to_str().ok());
    let user = match key {
        Some("alice-key") => "alice",
        Some("bob-key") => "bob",
        _ => return (StatusCode::UNAUTHORIZED, "unknown API key\n").into_response(),
    };
    match Caller::new(user, Scope::Write) {
        Ok(caller) => request.extensions_mut().insert(caller),
        Err(error) => return (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    };
    next.run(request).await
}
