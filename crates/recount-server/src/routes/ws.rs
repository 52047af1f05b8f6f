//! Sessions over a WebSocket: one connection for any number of them.

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

/// A frame that clients send may be as large as a body.
const BUFFER: usize = 4 * 1024;

/// `GET /v1/ws`
pub(crate) async fn many(mut call: Call) -> RouteResult {
    let upgrade = upgrade(&mut call).await?;
    let socket = Socket::new(&call);
    Ok(upgrade.on_upgrade(move |stream| socket.serve(stream, None)))
}

/// `GET /v1/sessions/{id}/ws`
pub(crate) async fn one(mut call: Call) -> RouteResult {
    let session = call.session().await?;
    let wanted = SubscribeRequest {
        style: call.params.stream_format(Framing::Ws)?,
        from: StartPosition::Log(parse_start(call.params.get("after"))?),
        name: session.key().name().to_owned(),
    };
    let upgrade = upgrade(&mut call).await?;
    let socket = Socket::new(&call);
    Ok(upgrade.on_upgrade(move |stream| socket.serve(stream, Some(wanted))))
}

async fn upgrade(call: &mut Call) -> Result<WebSocketUpgrade, Problem> {
    let largest = call.app.limits().body;
    match WebSocketUpgrade::from_request_parts(&mut call.parts, &call.app).await {
        Ok(upgrade) => {
            Ok(upgrade.read_buffer_size(BUFFER).write_buffer_size(0).max_message_size(largest).max_frame_size(largest))
        }
        Err(rejection) => {
            let detail = format!("this is a WebSocket: {rejection}");
            Err(Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", detail)
                .header(http::header::UPGRADE, "websocket")
                .header(http::header::CONNECTION, "upgrade"))
        }
    }
}
