//! Stopping a reply.

use http::StatusCode;
use recount_message::Object;

use super::{Answer, json};
use crate::call::Call;

/// `POST /v1/sessions/{id}/interrupt`
pub(super) async fn post(mut call: Call) -> Answer {
    call.body_kind()?;
    let session = call.session().await?;
    call.object().await?;
    let cursor = call.app.runs().interrupt(session.key()).await?;
    let mut answer = Object::new();
    answer.insert("cursor", cursor.map(|cursor| cursor.to_string()));
    Ok(json(StatusCode::ACCEPTED, answer.to_json()))
}
