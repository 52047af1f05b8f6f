//! An agent in a handler of your own: each posted message is answered with its reply as server-sent events.
//!
//! This is the shortest way, without a log: the reply ends when its client disconnects. The example `embed` and
//! `recount serve` use a log, so that clients can disconnect and resume.
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

/// Returns an application with one route.
pub(crate) fn app(agent: &Agent) -> Router {
    Router::new().route("/chat", post(chat)).with_state(agent.clone())
}

/// Replies to a message. Each event is a frame; the last one ends the reply.
async fn chat(State(agent): State<Agent>, message: String) -> Response {
    match agent.reply_stream(message) {
        Ok(reply) => {
            let frames = reply.map(|event| Ok::<_, Infallible>(format!("data: {}\n\n", event.to_json())));
            ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response()
        }
        // For example, the agent is busy with another message.
        Err(error) => (http::StatusCode::CONFLICT, error.to_string()).into_response(),
    }
}
