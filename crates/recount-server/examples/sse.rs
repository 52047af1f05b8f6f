//! An agent behind a handler of one's own: whoever posts a message gets its reply as server-sent events.
//!
//! This is the short way, for a program that keeps nothing: when the reader goes away, the reply ends. `recount serve` keeps
//! a log, so that readers can come and go.
//!
//! ```text
//! cargo run -p recount-server --example sse
//! curl -N -d 'Hello' http://127.0.0.1:3000/chat
//! ```

use std::convert::Infallible;
use std::error::Error;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::StreamExt as _;
use http::header;
use recount_agent::Agent;
use recount_agent::demo::DemoModel;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app(&Agent::builder("Friday").model(DemoModel::new()).build()?)).await?;
    Ok(())
}

/// A service with one route.
pub(crate) fn app(agent: &Agent) -> Router {
    Router::new().route("/chat", post(chat)).with_state(agent.clone())
}

/// Answers a message. Each event is a frame, and the last one is the end of the reply.
async fn chat(State(agent): State<Agent>, message: String) -> Response {
    match agent.reply_stream(message) {
        Ok(reply) => {
            let frames = reply.map(|event| Ok::<_, Infallible>(format!("data: {}\n\n", event.to_json())));
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response()
        }
        // Such as that it is busy with another message.
        Err(error) => (http::StatusCode::CONFLICT, error.to_string()).into_response(),
    }
}
