//! The schemas of request and response bodies.

use serde_json::{Value, json};

/// Returns a reference to a schema.
pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Returns all schemas.
pub(super) fn all() -> Value {
    let session = json!({
        "id": {"type": "string"},
        "cursor": reference("Cursor"),
        "agent": {"type": "string"},
        "title": {"type": ["string", "null"]},
        "metadata": {"type": "object"},
        "retention": {"type": ["string", "null"], "description": "Time after the last event at which the session is deleted, such as 30d"},
        "created_at": {"type": "string"},
        "updated_at": {"type": "string", "description": "Completion of the last message; before the first, the creation of the session"},
        "status": {"enum": ["idle", "running", "waiting"]},
        "open": {"type": "array", "items": {"type": "string"}, "description": "The ids of open replies"},
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
    let mut complete_message = new_message.clone();
    complete_message["content"] = content(json!({"type": "object"}));
    json!({
        "Problem": {
            "type": "object",
            "required": ["type", "title", "status", "detail"],
            "properties": {
                "type": {"type": "string"},
                "title": {"type": "string"},
                "status": {"type": "integer"},
                "detail": {"type": "string"},
                "field": {"type": "string", "description": "The invalid field, parameter or header"},
                "line": {"type": "integer", "minimum": 1, "description": "The invalid line or array element"},
                "reason": {"type": "string", "description": "late, duplicate, foreign, not_waiting; epoch, future, compacted"},
                "head": {"type": "string", "description": "The current head of the session"},
                "id": {"type": "string", "description": "The id of the rejected event"},
            },
        },
        "Cursor": {"type": "string", "description": "A position in a session. Opaque: pass it back unchanged"},
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
                "next": {"type": ["string", "null"], "description": "The value of `after` for the next page; null on the last page"},
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
            "description": "A user's message, which must not be empty. Missing fields are filled in. With `name` and `role`, \
                unknown fields and blocks are accepted and stored",
            "anyOf": [
                {"type": "object", "required": ["content"], "properties": new_message, "additionalProperties": false},
                {"type": "object", "required": ["content", "name", "role"], "properties": complete_message},
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
                            "reason": {"type": "string", "description": "A code, such as unknown_block"},
                            "message": {"type": "string", "description": "A description of the reason"},
                        },
                    },
                },
            },
        },
        "Empty": {"type": "object", "additionalProperties": false},
        "Interrupt": {
            "type": "object",
            "additionalProperties": false,
            "properties": {"id": {"type": ["string", "null"], "description": "Idempotency key: repeating the request with the same id interrupts nothing else"}},
        },
        "Interrupted": {
            "type": "object",
            "required": ["cursor"],
            "properties": {"cursor": {"type": ["string", "null"], "description": "null if no reply was in progress"}},
        },
        "Fork": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "after": {"type": ["string", "null"], "description": "The last cursor to copy; default: the whole session"},
                "before": {"type": ["string", "null"], "description": "The id of the first message not to copy; not together with `after`"},
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
