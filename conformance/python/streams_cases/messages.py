"""The Anthropic Messages API, which MiniMax also implements."""

from __future__ import annotations

from collections.abc import Iterator

from .case import Json, StreamCase, body, events


def message_cases() -> Iterator[StreamCase]:
    """Return the cases for every provider of this API."""
    for name, chunks in _STREAMS.items():
        yield StreamCase(name, events(chunks, named=True))
    yield StreamCase("framing/crlf", events([*opening(), *text(0, "Hi"), *closing()], named=True, end="\r\n"))
    yield StreamCase("error/reset", events([*opening(), *text(0, "Par")[:-1]], named=True), aborts=True)
    for name, fields in _MESSAGES.items():
        yield body(name, whole(**fields))


def opening(**usage: Json) -> list[Json]:
    """Return the start of a stream."""
    tokens = {
        "input_tokens": 30,
        "output_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    } | usage
    message = {
        "id": "msg_77",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": tokens,
    }
    return [{"type": "message_start", "message": message}, {"type": "ping"}]


def closing(reason: str = "end_turn", **usage: Json) -> list[Json]:
    """Return the end of a stream."""
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 12} | usage},
        {"type": "message_stop"},
    ]


def start(index: int, **block: Json) -> Json:
    """Return the start of a block."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **fields: Json) -> Json:
    """Return a delta of a block."""
    return {"type": "content_block_delta", "index": index, "delta": fields}


def stop(index: int) -> Json:
    """Return the end of a block."""
    return {"type": "content_block_stop", "index": index}


def text(index: int, *parts: str) -> list[Json]:
    """Return a text block."""
    deltas = [delta(index, type="text_delta", text=part) for part in parts]
    return [start(index, type="text", text=""), *deltas, stop(index)]


def thinking(index: int, *parts: str, signature: str | None = "c2ln") -> list[Json]:
    """Return a thinking block."""
    deltas = [delta(index, type="thinking_delta", thinking=part) for part in parts]
    signed = [delta(index, type="signature_delta", signature=signature)] if signature else []
    return [start(index, type="thinking", thinking="", signature=""), *deltas, *signed, stop(index)]


def tool(index: int, *parts: str, id: str = "toolu_1", name: str = "search", given: Json = None) -> list[Json]:
    """Return a tool call."""
    deltas = [delta(index, type="input_json_delta", partial_json=part) for part in parts]
    begin = start(index, type="tool_use", id=id, name=name, input=given or {})
    return [begin, *deltas, stop(index)]


def whole(stop_reason: str = "end_turn", *content: Json, blocks: Json = (), **usage: Json) -> Json:
    """Return a response that was not streamed."""
    return {
        "id": "msg_78",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(blocks),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 30, "output_tokens": 12} | usage,
    }


_STREAMS: dict[str, list[Json]] = {
    "text/deltas": [*opening(), *text(0, "Hel", "lo"), *closing()],
    "text/unicode": [*opening(), *text(0, "Grüße, 世", "界 🌍", '\n\t"\\'), *closing()],
    "text/two-blocks": [*opening(), *text(0, "a"), *text(1, "b"), *closing()],
    "text/given-at-start": [
        *opening(),
        start(0, type="text", text="Hel"),
        delta(0, type="text_delta", text="lo"),
        stop(0),
        *closing(),
    ],
    "text/empty-deltas": [*opening(), *text(0, "", "x", ""), *closing()],
    "text/no-start": [*opening(), delta(0, type="text_delta", text="x"), stop(0), *closing()],
    "text/nothing": [*opening(), *closing()],
    "text/citations": [
        *opening(),
        start(0, type="text", text=""),
        delta(0, type="text_delta", text="x"),
        delta(
            0,
            type="citations_delta",
            citation={
                "type": "char_location",
                "cited_text": "x",
                "document_index": 0,
                "document_title": None,
                "start_char_index": 0,
                "end_char_index": 1,
                "file_id": None,
            },
        ),
        stop(0),
        *closing(),
    ],
    "thinking/signed": [*opening(), *thinking(0, "Two and ", "two."), *text(1, "4"), *closing()],
    "thinking/unsigned": [*opening(), *thinking(0, "Hm.", signature=None), *text(1, "4"), *closing()],
    "thinking/hidden": [*opening(), *thinking(0, signature="b25seQ=="), *text(1, "4"), *closing()],
    "thinking/redacted": [
        *opening(),
        start(0, type="redacted_thinking", data="ZW5jcnlwdGVk"),
        stop(0),
        *text(1, "4"),
        *closing(),
    ],
    "thinking/interleaved": [
        *opening(),
        *thinking(0, "one", signature="czE="),
        *text(1, "a"),
        *thinking(2, "two", signature="czI="),
        *tool(3, "{}"),
        *closing("tool_use"),
    ],
    "thinking/two-in-a-row": [
        *opening(),
        *thinking(0, "one", signature="czE="),
        *thinking(1, "two", signature="czI="),
        *text(2, "x"),
        *closing(),
    ],
    "thinking/tags": [*opening(), *text(0, "<think>h", "m</think>4"), *closing()],
    "tool/fragments": [*opening(), *text(0, "Looking."), *tool(1, "", '{"query"', ': "tea"}'), *closing("tool_use")],
    "tool/no-arguments": [*opening(), *tool(0), *closing("tool_use")],
    "tool/empty-arguments": [*opening(), *tool(0, ""), *closing("tool_use")],
    "tool/given-at-start": [*opening(), *tool(0, given={"query": "tea"}), *closing("tool_use")],
    "tool/unicode": [*opening(), *tool(0, '{"q":"世界 🌍"}'), *closing("tool_use")],
    "tool/text-after": [*opening(), *tool(0, "{}"), *text(1, "Wait."), *closing("tool_use")],
    "parallel/in-turn": [
        *opening(),
        *tool(0, '{"a":1}', id="toolu_1", name="f"),
        *tool(1, '{"b":2}', id="toolu_2", name="g"),
        *closing("tool_use"),
    ],
    "parallel/interleaved": [
        *opening(),
        start(0, type="tool_use", id="toolu_1", name="f", input={}),
        start(1, type="tool_use", id="toolu_2", name="g", input={}),
        delta(1, type="input_json_delta", partial_json='{"b"'),
        delta(0, type="input_json_delta", partial_json='{"a":1}'),
        delta(1, type="input_json_delta", partial_json=":2}"),
        stop(0),
        stop(1),
        *closing("tool_use"),
    ],
    "parallel/same-id": [
        *opening(),
        *tool(0, '{"a":1}', id="toolu_1", name="f"),
        *tool(1, '{"b":2}', id="toolu_1", name="g"),
        *closing("tool_use"),
    ],
    "usage/cached": [
        *opening(cache_read_input_tokens=900, cache_creation_input_tokens=40),
        *text(0, "x"),
        *closing(),
    ],
    "usage/at-the-end": [*opening(input_tokens=0), *text(0, "x"), *closing(input_tokens=55)],
    "usage/everything-again": [
        *opening(),
        *text(0, "x"),
        *closing(input_tokens=30, cache_read_input_tokens=0, cache_creation_input_tokens=0),
    ],
    "usage/cache-null": [
        *opening(cache_read_input_tokens=None, cache_creation_input_tokens=None),
        *text(0, "x"),
        *closing(),
    ],
    "finish/length": [*opening(), *text(0, "Once upon"), *closing("max_tokens")],
    "finish/length-in-arguments": [*opening(), *tool(0, '{"text": "Once'), *closing("max_tokens")],
    "finish/stop-sequence": [*opening(), *text(0, "x"), *closing("stop_sequence")],
    "finish/refusal": [*opening(), *text(0, "I"), *closing("refusal")],
    "finish/pause": [*opening(), *text(0, "x"), *closing("pause_turn")],
    "finish/no-stop": [*opening(), *text(0, "x"), closing()[0]],
    "finish/neither": [*opening(), *text(0, "x")],
    "finish/in-block": [*opening(), *text(0, "x")[:-1]],
    "error/overloaded": [
        *opening(),
        *text(0, "Par")[:-1],
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ],
    "error/api-error": [
        *opening(),
        {"type": "error", "error": {"type": "api_error", "message": "Internal server error"}},
    ],
    "later/unknown-event": [*opening(), {"type": "brand_new", "x": 1}, *text(0, "x"), *closing()],
}

_MESSAGES: dict[str, Json] = {
    "text": {"blocks": [{"type": "text", "text": "Hello"}]},
    "thinking": {
        "blocks": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "ZW5j"},
            {"type": "text", "text": "4"},
        ],
    },
    "tools": {
        "stop_reason": "tool_use",
        "blocks": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1, "b": [True, None, "世"]}},
            {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
        ],
    },
    "two-texts": {"blocks": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
    "nothing": {},
    "length": {"stop_reason": "max_tokens", "blocks": [{"type": "text", "text": "Once"}]},
    "cached": {
        "blocks": [{"type": "text", "text": "x"}],
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 40,
    },
}
