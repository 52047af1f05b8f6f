//! The list of agents.

use http::StatusCode;
use recount_message::{Json, Object};

use super::{RouteResult, json};
use crate::call::Call;

/// `GET /v1/agents`
pub(super) async fn list(call: Call) -> RouteResult {
    let agents = call.app.host().agents().into_iter().map(|agent| {
        let mut object = Object::new();
        object.insert("name", agent.name);
        object.insert("model", agent.model);
        object.insert("description", agent.description);
        object.insert("tools", agent.tools);
        Json::from(object)
    });
    let mut fields = Object::new();
    fields.insert("agents", agents.collect::<Vec<Json>>());
    fields.insert("default", call.app.host().default_agent());
    Ok(json(StatusCode::OK, fields.to_json()))
}
