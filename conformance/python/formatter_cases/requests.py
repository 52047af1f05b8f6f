"""The parameters of requests other than the messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = Any

LOOK = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Look somewhere",
        "parameters": {
            "type": "object",
            "properties": {
                "at": {"type": "string", "description": "Where"},
                "how": {"anyOf": [{"type": "string", "enum": ["near", "far"]}, {"type": "null"}], "default": None},
            },
            "required": ["at"],
            "additionalProperties": False,
        },
    },
}
BOOK = {
    "type": "function",
    "function": {
        "name": "book",
        "description": "Book a room",
        "parameters": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "Guest": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "friends": {"type": "array", "items": {"$ref": "#/$defs/Guest"}}},
                    "required": ["name"],
                },
            },
            "type": "object",
            "properties": {
                "guest": {"$ref": "#/$defs/Guest"},
                "kind": {"const": "room"},
                "nights": {"type": ["integer", "null"]},
                "mixed": {"type": ["integer", "string"]},
                "nothing": {"type": "null"},
            },
            "required": ["guest"],
        },
    },
}
PING = {"type": "function", "function": {"name": "ping"}}
PERSON = {
    "title": "Person",
    "type": "object",
    "properties": {"name": {"title": "Name", "type": "string"}, "age": {"title": "Age", "type": "integer", "minimum": 0}},
    "required": ["name", "age"],
}


def requests() -> Iterator[tuple[str, dict[str, Json]]]:
    """Return the requests by name. Parameters that a model does not have are omitted."""
    yield "plain", {}
    yield "system", {"system": "Be brief."}
    yield "tools", {"tools": [LOOK, BOOK]}
    yield "tools/without-parameters", {"tools": [PING]}
    for mode in ("auto", "none", "required", "look"):
        yield f"choice/{mode}", {"tools": [LOOK, BOOK], "tool_choice": {"mode": mode}}
    yield "choice/among", {"tools": [LOOK, BOOK], "tool_choice": {"mode": "auto", "tools": ["book"]}}
    yield "choice/among-required", {"tools": [LOOK, BOOK], "tool_choice": {"mode": "required", "tools": ["book"]}}
    yield "choice/among-named", {"tools": [LOOK, BOOK], "tool_choice": {"mode": "book", "tools": ["book"]}}
    yield "choice/unknown", {"tools": [LOOK], "tool_choice": {"mode": "nobody"}}
    yield "choice/not-among", {"tools": [LOOK, BOOK], "tool_choice": {"mode": "look", "tools": ["book"]}}
    yield "choice/unknown-among", {"tools": [LOOK], "tool_choice": {"mode": "auto", "tools": ["nobody"]}}
    yield "choice/without-tools", {"tool_choice": {"mode": "required"}}
    yield "parameters/numbers", {"parameters": {"max_tokens": 100, "temperature": 0.5, "top_p": 0.9, "top_k": 20}}
    yield "parameters/one-call", {"tools": [LOOK], "parameters": {"parallel_tool_calls": False}}
    yield "thinking/on", {"parameters": {"thinking_enable": True}}
    yield "thinking/off", {"parameters": {"thinking_enable": False}}
    yield "thinking/budget", {"parameters": {"thinking_enable": True, "thinking_budget": 2000}}
    yield "thinking/budget-over-max", {"parameters": {"thinking_enable": True, "thinking_budget": 2000, "max_tokens": 500}}
    yield "thinking/effort", {"parameters": {"thinking_enable": True, "reasoning_effort": "high"}}
    yield "thinking/effort-alone", {"parameters": {"reasoning_effort": "high"}}
    yield "structured", {"schema": PERSON}
    yield "structured/thinking", {"schema": PERSON, "parameters": {"thinking_enable": True}}
