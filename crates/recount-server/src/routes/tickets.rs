//! Tickets for browsers.

use std::time::Instant;

use http::StatusCode;

use super::{Answer, json};
use crate::call::Call;
use crate::tickets::LIFE;
use crate::tokens::object_with;

/// `POST /v1/tickets`
pub(super) async fn post(mut call: Call) -> Answer {
    call.object_with(&[]).await?;
    if !call.app.tokens().are_required() {
        return Ok(json(StatusCode::OK, object_with("ticket", None).to_json()));
    }
    let ticket = call.app.tickets().give(call.caller.clone(), Instant::now());
    let mut answer = object_with("ticket", Some(&ticket));
    answer.insert("expires_in", LIFE.as_secs());
    Ok(json(StatusCode::OK, answer.to_json()))
}
