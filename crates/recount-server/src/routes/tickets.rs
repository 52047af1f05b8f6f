//! Issuing tickets.

use std::time::Instant;

use http::StatusCode;

use super::{RouteResult, json};
use crate::call::Call;
use crate::tickets::TICKET_TTL;
use crate::tokens::object_with;

/// `POST /v1/tickets`
pub(super) async fn post(mut call: Call) -> RouteResult {
    call.object_with(&[]).await?;
    if !call.app.tokens().are_required() {
        return Ok(json(StatusCode::OK, object_with("ticket", None).to_json()));
    }
    let ticket = call.app.tickets().issue(call.caller.clone(), Instant::now());
    let mut fields = object_with("ticket", Some(&ticket));
    fields.insert("expires_in", TICKET_TTL.as_secs());
    Ok(json(StatusCode::OK, fields.to_json()))
}
