//! WebSocket connections, each for any number of sessions.

mod frames;
mod inbound;
mod outbound;
mod socket;

pub(crate) use inbound::ALL_SESSIONS;

use axum::extract::FromRequestParts as _;
use axum::extract::ws::WebSocketUpgrade;
use http::StatusCode;

use super::RouteResult;
use crate::call::Call;
use crate::fanout::{Framing, StartPosition};
use crate::problem::Problem;
use crate::routes::stream::parse_start;
use socket::{Socket, SubscribeRequest};

/// The size of the read buffer per connection.
const READ_BUFFER: usize = 4 * 1024;

/// `GET /v1/ws`
pub(crate) async fn many(mut call: Call) -> RouteResult {
    let upgrade = upgrade(&mut call).await?;
    let socket = Socket::new(&call);
    Ok(upgrade.on_upgrade(move |stream| socket.serve(stream, None)))
}

/// `GET /v1/sessions/{id}/ws`
pub(crate) async fn one(mut call: Call) -> RouteResult {
    let session = call.session().await?;
    let request = SubscribeRequest {
        format: call.params.stream_format(Framing::Ws)?,
        start: StartPosition::Log(parse_start(call.params.get("after"))?),
        name: session.key().name().to_owned(),
    };
    let upgrade = upgrade(&mut call).await?;
    let socket = Socket::new(&call);
    Ok(upgrade.on_upgrade(move |stream| socket.serve(stream, Some(request))))
}

async fn upgrade(call: &mut Call) -> Result<WebSocketUpgrade, Problem> {
    let max_size = call.app.limits().body;
    match WebSocketUpgrade::from_request_parts(&mut call.parts, &call.app).await {
        Ok(upgrade) => Ok(upgrade
            .read_buffer_size(READ_BUFFER)
            .write_buffer_size(0)
            .max_message_size(max_size)
            .max_frame_size(max_size)),
        Err(rejection) => {
            let detail = format!("expected a WebSocket upgrade: {rejection}");
            Err(Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", detail)
                .header(http::header::UPGRADE, "websocket")
                .header(http::header::CONNECTION, "upgrade"))
        }
    }
}
