//! Interrupts: stopping the reply in progress.

use http::StatusCode;
use recount_message::Object;

use super::{RouteResult, json};
use crate::call::Call;
use crate::problem::Problem;

/// `POST /v1/sessions/{id}/interrupt`
pub(super) async fn post(mut call: Call) -> RouteResult {
    let session = call.session().await?;
    let body = call.object_with(&["id"]).await?;
    let id = match body.get("id") {
        Some(id) if !id.is_null() => {
            Some(id.as_str().map(str::to_owned).ok_or_else(|| Problem::bad_field("id", "expected a string"))?)
        }
        _ => None,
    };
    let cursor = call.app.host().interrupt(session.key(), id).await?;
    let mut fields = Object::new();
    fields.insert("cursor", cursor.map(|cursor| cursor.to_string()));
    Ok(json(StatusCode::ACCEPTED, fields.to_json()))
}
