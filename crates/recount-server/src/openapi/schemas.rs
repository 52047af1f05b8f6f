//! What the bodies are.

use serde_json::{Value, json};

/// A reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// All schemas.
pub(super) fn all() -> Value {
    let session = json!({
        "id": {"type": "string"},
        "cursor": reference("Cursor"),
        "agent": {"type": "string"},
        "title": {"type": ["string", "null"]},
        "metadata": {"type": "object"},
        "retention": {"type": ["string", "null"], "description": "How long it is kept after its last event, such as 30d"},
        "created_at": {"type": "string"},
        "updated_at": {"type": "string", "description": "When its last message was complete; until then, when it was made"},
        "status": {"enum": ["idle", "running", "waiting"]},
        "open": {"type": "array", "items": {"type": "string"}, "description": "The replies that have not ended"},
    });
    let required = json!([
        "id",
        "cursor",
        "agent",
        "title",
        "metadata",
        "retention",
        "created_at",
        "updated_at",
        "status",
        "open"
    ]);
    let content = |block: Value| json!({"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": block}]});
    let block = json!({"type": "object", "required": ["type"], "properties": {"type": {"enum": ["text", "data"]}}});
    let new_message = json!({
        "id": {"type": ["string", "null"]},
        "name": {"type": "string"},
        "role": {"const": "user"},
        "content": content(block),
        "metadata": {"type": ["object", "null"]},
        "created_at": {"type": ["string", "null"]},
        "finished_at": {"type": ["string", "null"]},
        "on_busy": {"enum": ["reject", "queue", "interrupt"]},
    });
    let mut whole_message = new_message.clone();
    whole_message["content"] = content(json!({"type": "object"}));
    json!({
        "Problem": {
            "type": "object",
            "required": ["type", "title", "status", "detail"],
            "properties": {
                "type": {"type": "string"},
                "title": {"type": "string"},
                "status": {"type": "integer"},
                "detail": {"type": "string"},
                "field": {"type": "string", "description": "The field, parameter or header that is wrong"},
                "line": {"type": "integer", "minimum": 1, "description": "The line or element that is wrong"},
                "reason": {"type": "string", "description": "late, duplicate, foreign, not_waiting; epoch, future, compacted"},
                "head": {"type": "string", "description": "Where the session is by now"},
                "id": {"type": "string", "description": "The event that was refused"},
            },
        },
        "Cursor": {"type": "string", "description": "A place in a session, to be handed back as it is"},
        "Session": {"type": "object", "required": required, "properties": session},
        "SessionWithUsage": {
            "allOf": [reference("Session")],
            "required": ["usage"],
            "properties": {"usage": reference("Usage")},
        },
        "Usage": {
            "type": "object",
            "required": ["input_tokens", "output_tokens"],
            "properties": {
                "input_tokens": {"type": "integer"},
                "output_tokens": {"type": "integer"},
                "cache_input_tokens": {"type": "integer"},
                "cache_creation_input_tokens": {"type": "integer"},
            },
        },
        "SessionPage": {
            "type": "object",
            "required": ["sessions", "next"],
            "properties": {
                "sessions": {"type": "array", "items": reference("Session")},
                "next": {"type": ["string", "null"], "description": "What to give as `after` for the next page"},
            },
        },
        "SessionChange": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "agent": {"type": ["string", "null"]},
                "title": {"type": ["string", "null"], "maxLength": 1024},
                "metadata": {"type": ["object", "null"]},
                "retention": {"type": ["string", "null"], "pattern": "^[0-9]{1,6}[smhd]$"},
            },
        },
        "Message": {
            "type": "object",
            "description": "A message in AgentScope's JSON; see the protocol",
            "required": ["id", "name", "role", "content"],
        },
        "NewMessage": {
            "description": "A user's message that says something; what is left out is filled in. One with `name` and `role` \
                may have fields and blocks that are not known here, and keeps them",
            "anyOf": [
                {"type": "object", "required": ["content"], "properties": new_message, "additionalProperties": false},
                {"type": "object", "required": ["content", "name", "role"], "properties": whole_message},
            ],
        },
        "MessagePage": {
            "type": "object",
            "required": ["messages", "cursor", "before"],
            "properties": {
                "messages": {"type": "array", "items": reference("Message")},
                "cursor": reference("Cursor"),
                "before": {"type": ["string", "null"]},
            },
        },
        "Posted": {
            "type": "object",
            "required": ["reply_id", "cursor"],
            "properties": {"reply_id": {"type": "string"}, "cursor": reference("Cursor")},
        },
        "Event": {
            "type": "object",
            "description": "An event in AgentScope's JSON; see the protocol. Missing ids and times are filled in",
            "required": ["type"],
            "properties": {"type": {"type": "string"}, "id": {"type": ["string", "null"]}},
        },
        "Appended": {
            "type": "object",
            "required": ["written", "duplicates", "cursor", "ignored"],
            "properties": {
                "written": {"type": "integer"},
                "duplicates": {"type": "integer"},
                "cursor": reference("Cursor"),
                "ignored": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["line", "id", "reason"],
                        "properties": {
                            "line": {"type": "integer"},
                            "id": {"type": "string"},
                            "reason": {"type": "string", "description": "A word for programs, such as unknown_block"},
                            "message": {"type": "string", "description": "The same for people"},
                        },
                    },
                },
            },
        },
        "Empty": {"type": "object", "additionalProperties": false},
        "Interrupt": {
            "type": "object",
            "additionalProperties": false,
            "properties": {"id": {"type": ["string", "null"], "description": "RequestLabels again with it, nothing else is stopped"}},
        },
        "Interrupted": {
            "type": "object",
            "required": ["cursor"],
            "properties": {"cursor": {"type": ["string", "null"], "description": "Nothing where there was nothing to stop"}},
        },
        "Fork": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "after": {"type": ["string", "null"], "description": "The last cursor that is copied; all of it without"},
                "before": {"type": ["string", "null"], "description": "Id of the first message that is not copied; not with `after`"},
                "id": {"type": ["string", "null"], "pattern": "^[A-Za-z0-9_-]{1,64}$"},
            },
        },
        "Blob": {
            "type": "object",
            "required": ["url", "digest", "size"],
            "properties": {
                "url": {"type": "string"},
                "digest": {"type": "string"},
                "size": {"type": "integer"},
            },
        },
        "Agents": {
            "type": "object",
            "required": ["agents", "default"],
            "properties": {
                "agents": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name", "model", "description", "tools"],
                        "properties": {
                            "name": {"type": "string"},
                            "model": {"type": "string"},
                            "description": {"type": ["string", "null"]},
                            "tools": {"type": "array", "items": {"type": "string"}},
                        },
                    },
                },
                "default": {"type": "string"},
            },
        },
        "Ticket": {
            "type": "object",
            "required": ["ticket"],
            "properties": {"ticket": {"type": ["string", "null"]}, "expires_in": {"type": "integer"}},
        },
        "Health": {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}},
        "Document": {"type": "object"},
    })
}
