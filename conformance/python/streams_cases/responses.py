"""The OpenAI Responses API."""

from __future__ import annotations

from collections.abc import Iterator

from .case import Json, StreamCase, body, events


def response_cases() -> Iterator[StreamCase]:
    """Return the cases for OpenAI Responses."""
    for name, chunks in _STREAMS.items():
        numbered = [chunk | {"sequence_number": number} for number, chunk in enumerate(chunks)]
        yield StreamCase(name, events(numbered, named=True))
    partial = [created(), item_added(0, message("msg_1")), text_delta(0, "Par")]
    yield StreamCase("error/reset", events(partial, named=True), aborts=True)
    for name, fields in _BODIES.items():
        yield body(name, response(**fields))


def response(status: str = "completed", output: Json = (), tokens: Json = None, **more: Json) -> Json:
    """Return a complete response."""
    return {
        "id": "resp_77",
        "object": "response",
        "created_at": 1790000000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "o-x",
        "output": list(output),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": tokens,
    } | more


def usage(given: int, made: int, cached: int = 0, thought: int = 0) -> Json:
    """Return a token usage."""
    return {
        "input_tokens": given,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": given + made,
    }


def created() -> Json:
    return {"type": "response.created", "response": response("in_progress")}


def ended(kind: str, *output: Json, tokens: Json = None, **more: Json) -> Json:
    """Return the last event."""
    return {"type": f"response.{kind}", "response": response(kind, output, tokens or usage(9, 4), **more)}


def message(id: str, *parts: str) -> Json:
    content = [{"type": "output_text", "text": part, "annotations": []} for part in parts]
    return {"id": id, "type": "message", "role": "assistant", "status": "completed", "content": content}


def refusal(id: str, text: str) -> Json:
    content = [{"type": "refusal", "refusal": text}]
    return {"id": id, "type": "message", "role": "assistant", "status": "completed", "content": content}


def call(id: str, call_id: str, name: str, arguments: str = "") -> Json:
    return {
        "id": id,
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }


def reasoning(id: str, *summary: str, **more: Json) -> Json:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return {"id": id, "type": "reasoning", "summary": parts} | more


def item_added(index: int, item: Json) -> Json:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def item_done(index: int, item: Json) -> Json:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text_delta(index: int, text: str, part: int = 0, item: str = "msg_1") -> Json:
    return {
        "type": "response.output_text.delta",
        "item_id": item,
        "output_index": index,
        "content_index": part,
        "delta": text,
        "logprobs": [],
    }


def summary_delta(index: int, text: str, part: int = 0, item: str = "rs_1") -> Json:
    return {
        "type": "response.reasoning_summary_text.delta",
        "item_id": item,
        "output_index": index,
        "summary_index": part,
        "delta": text,
    }


def arguments_delta(index: int, text: str, item: str = "fc_1") -> Json:
    return {
        "type": "response.function_call_arguments.delta",
        "item_id": item,
        "output_index": index,
        "delta": text,
    }


def arguments_done(index: int, text: str, item: str = "fc_1", name: str = "f") -> Json:
    return {
        "type": "response.function_call_arguments.done",
        "item_id": item,
        "output_index": index,
        "name": name,
        "arguments": text,
    }


def said(index: int, *parts: str, id: str = "msg_1") -> list[Json]:
    """Return the events of a message."""
    whole = message(id, "".join(parts))
    deltas = [text_delta(index, part, item=id) for part in parts]
    return [item_added(index, message(id)), *deltas, item_done(index, whole)]


def called(index: int, *parts: str, id: str = "fc_1", call_id: str = "call_1", name: str = "f") -> list[Json]:
    """Return the events of a call."""
    whole = "".join(parts)
    return [
        item_added(index, call(id, call_id, name)),
        *(arguments_delta(index, part, id) for part in parts),
        arguments_done(index, whole, id, name),
        item_done(index, call(id, call_id, name, whole)),
    ]


_THOUGHT = reasoning("rs_1", "Two and two.")
_SECRET = reasoning("rs_1", encrypted_content="c2VjcmV0")
_RAW = reasoning("rs_1", content=[{"type": "reasoning_text", "text": "step one"}])
_TWO_PARTS = reasoning("rs_1", "first", "second")

_STREAMS: dict[str, list[Json]] = {
    "text/deltas": [created(), *said(0, "Hel", "lo"), ended("completed", message("msg_1", "Hello"))],
    "text/unicode": [created(), *said(0, "Grüße, 世", "界 🌍"), ended("completed", message("msg_1", "Grüße, 世界 🌍"))],
    "text/two-items": [
        created(),
        *said(0, "a"),
        *said(1, "b", id="msg_2"),
        ended("completed", message("msg_1", "a"), message("msg_2", "b")),
    ],
    "text/two-parts": [
        created(),
        text_delta(0, "a"),
        text_delta(0, "b", part=1),
        ended("completed", message("msg_1", "a", "b")),
    ],
    "text/parts-in-turn": [
        created(),
        text_delta(0, "a"),
        text_delta(0, "b", part=1),
        text_delta(0, "A"),
        ended("completed", message("msg_1", "aA", "b")),
    ],
    "text/only-at-the-end": [created(), ended("completed", message("msg_1", "Hello"))],
    "text/nothing": [created(), ended("completed")],
    "thinking/summary": [
        created(),
        item_added(0, reasoning("rs_1")),
        summary_delta(0, "Two and "),
        summary_delta(0, "two."),
        item_done(0, _THOUGHT),
        *said(1, "4"),
        ended("completed", _THOUGHT, message("msg_1", "4")),
    ],
    "thinking/summary-in-parts": [
        created(),
        item_added(0, reasoning("rs_1")),
        summary_delta(0, "first"),
        summary_delta(0, "second", part=1),
        item_done(0, _TWO_PARTS),
        *said(1, "4"),
        ended("completed", _TWO_PARTS, message("msg_1", "4")),
    ],
    "thinking/raw": [
        created(),
        item_added(0, reasoning("rs_1")),
        {
            "type": "response.reasoning_text.delta",
            "item_id": "rs_1",
            "output_index": 0,
            "content_index": 0,
            "delta": "step one",
        },
        item_done(0, _RAW),
        *said(1, "4"),
        ended("completed", _RAW, message("msg_1", "4")),
    ],
    "thinking/item-only-at-the-end": [
        created(),
        summary_delta(0, "Two and two."),
        text_delta(1, "4"),
        ended("completed", _THOUGHT, message("msg_1", "4")),
    ],
    "thinking/encrypted": [
        created(),
        item_added(0, reasoning("rs_1")),
        item_done(0, _SECRET),
        *said(1, "4"),
        ended("completed", _SECRET, message("msg_1", "4")),
    ],
    "thinking/encrypted-only-at-the-end": [
        created(),
        item_added(0, reasoning("rs_1")),
        item_done(0, reasoning("rs_1")),
        *said(1, "4"),
        ended("completed", _SECRET, message("msg_1", "4")),
    ],
    "thinking/before-each-call": [
        created(),
        summary_delta(0, "one"),
        item_done(0, reasoning("rs_1", "one")),
        *called(1, "{}"),
        summary_delta(2, "two", item="rs_2"),
        item_done(2, reasoning("rs_2", "two")),
        *called(3, "{}", id="fc_2", call_id="call_2", name="g"),
        ended(
            "completed",
            reasoning("rs_1", "one"),
            call("fc_1", "call_1", "f", "{}"),
            reasoning("rs_2", "two"),
            call("fc_2", "call_2", "g", "{}"),
        ),
    ],
    "tool/fragments": [
        created(),
        *said(0, "Looking."),
        *called(1, '{"query"', ': "tea"}'),
        ended("completed", message("msg_1", "Looking."), call("fc_1", "call_1", "f", '{"query": "tea"}')),
    ],
    "tool/no-deltas": [
        created(),
        item_added(0, call("fc_1", "call_1", "f")),
        arguments_done(0, '{"a":1}'),
        ended("completed", call("fc_1", "call_1", "f", '{"a":1}')),
    ],
    "tool/no-arguments": [
        created(),
        item_added(0, call("fc_1", "call_1", "f")),
        arguments_done(0, ""),
        ended("completed", call("fc_1", "call_1", "f")),
    ],
    "parallel/in-turn": [
        created(),
        *called(0, '{"a":1}'),
        *called(1, '{"b":2}', id="fc_2", call_id="call_2", name="g"),
        ended("completed", call("fc_1", "call_1", "f", '{"a":1}'), call("fc_2", "call_2", "g", '{"b":2}')),
    ],
    "parallel/interleaved": [
        created(),
        item_added(0, call("fc_1", "call_1", "f")),
        item_added(1, call("fc_2", "call_2", "g")),
        arguments_delta(1, '{"b"', "fc_2"),
        arguments_delta(0, '{"a":1}'),
        arguments_delta(1, ":2}", "fc_2"),
        arguments_done(0, '{"a":1}'),
        arguments_done(1, '{"b":2}', "fc_2", "g"),
        ended("completed", call("fc_1", "call_1", "f", '{"a":1}'), call("fc_2", "call_2", "g", '{"b":2}')),
    ],
    "usage/cached": [
        created(),
        *said(0, "x"),
        ended("completed", message("msg_1", "x"), tokens=usage(2000, 9, cached=1920, thought=8)),
    ],
    "finish/length": [
        created(),
        text_delta(0, "Once upon"),
        ended("incomplete", message("msg_1", "Once upon"), incomplete_details={"reason": "max_output_tokens"}),
    ],
    "finish/length-after-thinking": [
        created(),
        summary_delta(0, "Two and two."),
        ended("incomplete", _THOUGHT, incomplete_details={"reason": "max_output_tokens"}),
    ],
    "finish/length-in-arguments": [
        created(),
        item_added(0, call("fc_1", "call_1", "f")),
        arguments_delta(0, '{"text": "Once'),
        ended(
            "incomplete",
            call("fc_1", "call_1", "f", '{"text": "Once'),
            incomplete_details={"reason": "max_output_tokens"},
        ),
    ],
    "finish/filter": [
        created(),
        text_delta(0, "I"),
        ended("incomplete", message("msg_1", "I"), incomplete_details={"reason": "content_filter"}),
    ],
    "finish/refusal": [
        created(),
        {
            "type": "response.refusal.delta",
            "item_id": "msg_1",
            "output_index": 0,
            "content_index": 0,
            "delta": "I will not.",
        },
        ended("completed", refusal("msg_1", "I will not.")),
    ],
    "finish/no-end": [created(), *said(0, "x")],
    "error/failed": [
        created(),
        text_delta(0, "Par"),
        ended("failed", error={"code": "server_error", "message": "The model failed."}),
    ],
    "error/event": [
        created(),
        text_delta(0, "Par"),
        {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": None},
    ],
}

_BODIES: dict[str, Json] = {
    "text": {"output": [message("msg_1", "Hello")], "tokens": usage(9, 1)},
    "two-parts": {"output": [message("msg_1", "a", "b")], "tokens": usage(9, 1)},
    "thinking": {"output": [_TWO_PARTS, _SECRET | {"id": "rs_2"}, message("msg_1", "4")], "tokens": usage(9, 1)},
    "tools": {
        "output": [call("fc_1", "call_1", "f", '{"a":1}'), call("fc_2", "call_2", "g", "{}")],
        "tokens": usage(9, 1),
    },
    "refusal": {"output": [refusal("msg_1", "I will not.")], "tokens": usage(9, 1)},
    "length": {
        "status": "incomplete",
        "output": [message("msg_1", "Once")],
        "tokens": usage(9, 1),
        "incomplete_details": {"reason": "max_output_tokens"},
    },
    "failed": {"status": "failed", "error": {"code": "server_error", "message": "x"}},
}
