"""The shapes of all events, blocks and records of the protocol."""

from __future__ import annotations

from cases.shapes import Field, Kind, Shape, choice, free, integer, optional_text, text

AT = "2026-01-02T03:04:05.678901"
LATER = "2026-01-02T03:04:06"

CALL_STATES = ("pending", "asking", "allowed", "submitted", "finished")
RESULT_STATES = ("success", "error", "interrupted", "denied", "running")
REPLY_REASONS = ("completed", "interrupted", "exceed_max_iters", "error")
MODEL_REASONS = ("completed", "interrupted")
ERROR_TYPES = (
    "authentication",
    "permission",
    "rate_limit",
    "invalid_request",
    "upstream",
    "connection",
    "internal",
    "setup",
    "unknown",
)
BEHAVIORS = ("allow", "deny", "ask", "passthrough")
ROLES = ("user", "system", "assistant")

_TIMES = (
    optional_text("created_at", AT),
    optional_text("finished_at", LATER),
)

RULE = Shape(
    "rule",
    None,
    (
        text("tool_name", "Bash"),
        text("rule_content", "git commit:*"),
        choice("behavior", *BEHAVIORS, required=True),
        text("source", "suggested"),
    ),
)
ERROR = Shape("error", None, (choice("type", *ERROR_TYPES), text("message", "boom")))
USAGE = Shape(
    "usage",
    None,
    (
        integer("input_tokens", 1),
        integer("output_tokens", 2),
        integer("cache_input_tokens", 3, required=False),
        integer("cache_creation_input_tokens", 4, required=False),
    ),
)
BASE64 = Shape("base64", "base64", (text("data", "QUI="), text("media_type", "image/png")))
URL = Shape(
    "url",
    "url",
    (text("url", "https://example.com/a.png"), text("media_type", "image/png")),
)

TEXT = Shape("text", "text", (text("text", "hello"), optional_text("id", "t1"), *_TIMES))
THINKING = Shape(
    "thinking",
    "thinking",
    (text("thinking", "hm"), optional_text("id", "k1"), *_TIMES),
)
DATA = Shape(
    "data",
    "data",
    (
        optional_text("id", "d1"),
        Field("source", Kind.OBJECT, BASE64.full()),
        optional_text("name", "a.png"),
        *_TIMES,
    ),
)
HINT = Shape(
    "hint",
    "hint",
    (
        Field("hint", Kind.TEXT_OR_LIST, [TEXT.full()]),
        optional_text("id", "h1"),
        optional_text("source", "alice"),
        *_TIMES,
    ),
)
TOOL_CALL = Shape(
    "tool_call",
    "tool_call",
    (
        text("id", "c1"),
        text("name", "search"),
        text("input", '{"q": 1}'),
        choice("state", *CALL_STATES),
        Field("suggested_rules", Kind.LIST, [RULE.full()], required=False),
        *_TIMES,
    ),
)
TOOL_RESULT = Shape(
    "tool_result",
    "tool_result",
    (
        text("id", "c1"),
        text("name", "search"),
        Field("output", Kind.TEXT_OR_LIST, [TEXT.full()]),
        choice("state", *RESULT_STATES),
        free("metadata"),
        *_TIMES,
    ),
)
BLOCKS = (TEXT, THINKING, DATA, HINT, TOOL_CALL, TOOL_RESULT)

MESSAGE = Shape(
    "message",
    None,
    (
        text("name", "Friday"),
        Field("content", Kind.LIST, [TEXT.full()]),
        choice("role", *ROLES, required=True),
        optional_text("id", "m1"),
        free("metadata"),
        optional_text("created_at", AT),
        Field("usage", Kind.OBJECT, USAGE.full(), required=False),
        optional_text("finished_at", LATER),
        choice("finished_reason", *REPLY_REASONS),
        free("structured_output", {"answer": 42}),
        Field("error", Kind.OBJECT, ERROR.full(), required=False),
    ),
)

CONFIRM = Shape(
    "confirm",
    None,
    (
        Field("confirmed", Kind.BOOLEAN, True),
        Field("tool_call", Kind.OBJECT, TOOL_CALL.minimal()),
        Field("rules", Kind.LIST, [RULE.full()], required=False),
    ),
)

_REPLY = text("reply_id", "r1")
_SESSION = text("session_id", "s1")
_BLOCK = text("block_id", "b1")
_CALL = text("tool_call_id", "c1")
_CALL_NAME = text("tool_call_name", "search")
_DELTA = text("delta", "some text")
_MEDIA = text("media_type", "image/png")
# Exactly one of `data` and `url` is allowed, so the full object has only one. Other combinations
# are separate cases.
_DATA = text("data", "QUI=")
_CALLS = Field("tool_calls", Kind.LIST, [TOOL_CALL.minimal()])


def _event(name: str, *fields: Field) -> Shape:
    base = (optional_text("id", "e1"), optional_text("created_at", AT), free("metadata"))
    return Shape(name, name, (*base, *fields), common=len(base))


EVENTS = (
    _event("REPLY_START", _SESSION, _REPLY, text("name", "Friday"), choice("role", *ROLES)),
    _event(
        "REPLY_END",
        _SESSION,
        _REPLY,
        choice("finished_reason", *REPLY_REASONS),
        Field("error", Kind.OBJECT, ERROR.full(), required=False),
    ),
    _event("MODEL_CALL_START", _REPLY, text("model_name", "some-model")),
    _event(
        "MODEL_CALL_END",
        _REPLY,
        *USAGE.fields,
        choice("finished_reason", *MODEL_REASONS),
    ),
    _event("TEXT_BLOCK_START", _REPLY, _BLOCK),
    _event("TEXT_BLOCK_DELTA", _REPLY, _BLOCK, _DELTA),
    _event("TEXT_BLOCK_END", _REPLY, _BLOCK, optional_text("text", "final")),
    _event("DATA_BLOCK_START", _REPLY, _BLOCK, _MEDIA, optional_text("name", "a.png")),
    _event("DATA_BLOCK_DELTA", _REPLY, _BLOCK, _MEDIA, _DATA),
    _event("DATA_BLOCK_END", _REPLY, _BLOCK),
    _event("THINKING_BLOCK_START", _REPLY, _BLOCK),
    _event("THINKING_BLOCK_DELTA", _REPLY, _BLOCK, _DELTA),
    _event("THINKING_BLOCK_END", _REPLY, _BLOCK),
    _event(
        "HINT_BLOCK",
        _REPLY,
        _BLOCK,
        optional_text("source", "alice"),
        Field("hint", Kind.TEXT_OR_LIST, "mind the gap"),
    ),
    _event("TOOL_CALL_START", _REPLY, _CALL, _CALL_NAME),
    _event("TOOL_CALL_DELTA", _REPLY, _CALL, _DELTA),
    _event("TOOL_CALL_END", _REPLY, _CALL),
    _event("TOOL_RESULT_START", _REPLY, _CALL, _CALL_NAME),
    _event("TOOL_RESULT_TEXT_DELTA", _REPLY, _CALL, _DELTA),
    _event(
        "TOOL_RESULT_DATA_DELTA",
        _REPLY,
        _CALL,
        optional_text("block_id", "b1"),
        _MEDIA,
        _DATA,
    ),
    _event("TOOL_RESULT_END", _REPLY, _CALL, choice("state", *RESULT_STATES, required=True)),
    _event("EXCEED_MAX_ITERS", _REPLY, text("name", "Friday")),
    _event("REQUIRE_USER_CONFIRM", _REPLY, _CALLS),
    _event("REQUIRE_EXTERNAL_EXECUTION", _REPLY, _CALLS),
    _event(
        "USER_CONFIRM_RESULT",
        _REPLY,
        Field("confirm_results", Kind.LIST, [CONFIRM.full()]),
    ),
    _event("USER_INTERRUPT", _REPLY),
    _event(
        "EXTERNAL_EXECUTION_RESULT",
        _REPLY,
        Field("execution_results", Kind.LIST, [TOOL_RESULT.minimal()]),
    ),
    _event("CUSTOM", text("name", "state_updated"), free("value")),
)
