//! The OpenAPI 3.1 document.
//!
//! It is generated from the list in [`routes`]. A test compares the list with the routes that are served.

mod parameters;
mod routes;
mod schemas;

use std::sync::LazyLock;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::problem::MEDIA_TYPE;
use crate::routes::{RouteResult, json as json_response};
use parameters::Parameter;
pub(crate) use routes::{Access, Body, ROUTES, Route, Success, route_of};

static DOCUMENT: LazyLock<String> = LazyLock::new(|| document().to_string());

/// `GET /openapi.json`
pub(crate) async fn get() -> RouteResult {
    Ok(json_response(StatusCode::OK, DOCUMENT.clone()))
}

/// Returns the document.
pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(route.method.to_ascii_lowercase(), operation(route));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Recount",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Sessions of AI agents. Each is a durable log that clients read from any cursor.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "ticket": {"type": "apiKey", "in": "query", "name": "ticket"},
            },
        },
    })
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "responses": responses(route),
    });
    let Some(fields) = operation.as_object_mut() else { return operation };
    let parameters: Vec<Value> = route.parameters.iter().map(parameter).collect();
    if !parameters.is_empty() {
        fields.insert("parameters".to_owned(), Value::Array(parameters));
    }
    if let Some(body) = body(route.body) {
        fields.insert("requestBody".to_owned(), body);
    }
    if route.access == Access::Token {
        // `{}`: a service without tokens requires no authentication.
        fields.insert("security".to_owned(), json!([{}, {"token": []}, {"ticket": []}]));
    }
    operation
}

fn parameter(parameter: &Parameter) -> Value {
    let mut schema = parameter.schema();
    if parameter.location == "query" {
        // An empty parameter is treated as absent.
        schema = json!({"anyOf": [schema, {"type": "string", "maxLength": 0}]});
    }
    json!({
        "name": parameter.name,
        "in": parameter.location,
        "required": parameter.location == "path",
        "description": parameter.summary,
        "schema": schema,
    })
}

fn body(body: Body) -> Option<Value> {
    let content = match body {
        Body::None => return None,
        Body::Json(schema) => json!({"application/json": {"schema": schemas::reference(schema)}}),
        Body::Events => {
            let (event, lines) = (schemas::reference("Event"), json!({"schema": {"type": "string"}}));
            json!({
                "application/json": {"schema": {"anyOf": [{"type": "array", "items": event.clone()}, event]}},
                "application/x-ndjson": lines.clone(),
                "application/jsonl": lines,
            })
        }
        Body::Bytes => {
            json!({"application/octet-stream": {}, "image/*": {}, "audio/*": {}, "video/*": {}, "application/pdf": {}})
        }
    };
    Some(
        json!({"required": !matches!(body, Body::Events | Body::Json("SessionChange" | "Empty" | "Fork" | "Interrupt")), "content": content}),
    )
}

fn responses(route: &Route) -> Value {
    let mut responses = Map::new();
    for success in route.successes {
        let (status, response) = match *success {
            Success::Json(status, schema) => (
                status,
                json!({"description": "Success", "content": {"application/json": {"schema": schemas::reference(schema)}}}),
            ),
            Success::Text(status, media_type) => {
                let text = json!({"schema": {"type": "string"}});
                // If the page was not built, the response is a plain text.
                let others = if media_type == "text/html" { json!({"text/plain": text}) } else { json!({}) };
                let mut content = json!({media_type: text});
                if let (Some(content), Value::Object(others)) = (content.as_object_mut(), others) {
                    content.extend(others);
                }
                (status, json!({"description": "Success", "content": content}))
            }
            Success::Bytes(status) => {
                (status, json!({"description": "The bytes, with the media type of the upload", "content": {"*/*": {}}}))
            }
            Success::Empty(status) => (status, json!({"description": "Success"})),
        };
        responses.insert(status.to_string(), response);
    }
    let common: &[u16] = match route.access {
        Access::Public => &[405, 503],
        Access::Host => &[400, 403, 405, 500, 503],
        Access::Token => &[400, 401, 403, 405, 429, 500, 503],
    };
    for status in common.iter().chain(route.errors) {
        responses.insert(status.to_string(), problem(*status));
    }
    Value::Object(responses)
}

fn problem(status: u16) -> Value {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let mut response = json!({
        "description": reason.unwrap_or("Error"),
        "content": {MEDIA_TYPE: {"schema": schemas::reference("Problem")}},
    });
    if status == 401
        && let Some(fields) = response.as_object_mut()
    {
        fields.insert("headers".to_owned(), json!({"WWW-Authenticate": {"schema": {"type": "string"}}}));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn document_defines_all_referenced_schemas() {
        let document = document();
        let text = document.to_string();
        for (at, _) in text.match_indices("#/components/schemas/") {
            let name: String = text.chars().skip(at + 21).take_while(|character| *character != '"').collect();
            assert!(document["components"]["schemas"].get(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn operation_ids_are_unique() {
        let mut ids: Vec<&str> = ROUTES.iter().map(|route| route.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ROUTES.len());
    }
}
