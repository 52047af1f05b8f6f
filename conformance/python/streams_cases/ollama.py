"""The Ollama API."""

from __future__ import annotations

from collections.abc import Iterator

from .case import NDJSON, Json, StreamCase, body, lines


def ollama_cases() -> Iterator[StreamCase]:
    """Return the cases for Ollama."""
    for name, chunks in _STREAMS.items():
        yield StreamCase(name, lines(chunks), NDJSON)
    yield StreamCase("framing/crlf", lines([chunk("Hi"), done()]).replace("\n", "\r\n"), NDJSON)
    yield StreamCase("error/reset", lines([chunk("Par")]), NDJSON, aborts=True)
    for name, fields in _BODIES.items():
        yield body(name, done(**fields))


def chunk(content: str = "", **message: Json) -> Json:
    """Return a chunk other than the last one."""
    return {
        "model": "qwen-x",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": content} | message,
        "done": False,
    }


def done(reason: str = "stop", content: str = "", counts: Json = (11, 7), **message: Json) -> Json:
    """Return the last chunk, or a complete response."""
    given, made = counts
    tokens = {"prompt_eval_count": given, "eval_count": made}
    return (
        chunk(content, **message)
        | {"done": True, "done_reason": reason, "total_duration": 5}
        | {key: value for key, value in tokens.items() if value is not None}
    )


def call(name: str, arguments: Json, **more: Json) -> Json:
    return {"function": {"name": name, "arguments": arguments}} | more


_STREAMS: dict[str, list[Json]] = {
    "text/deltas": [chunk("Hel"), chunk("lo"), done()],
    "text/unicode": [chunk("Grüße, 世"), chunk("界 🌍"), chunk('\n\t"\\'), done()],
    "text/last-chunk-speaks": [chunk("Hel"), done(content="lo")],
    "text/nothing": [done()],
    "thinking/then-text": [chunk(thinking="Two and "), chunk(thinking="two."), chunk("4"), done()],
    "thinking/with-text": [chunk("4", thinking="Hm."), done()],
    "thinking/again": [chunk(thinking="a"), chunk("b"), chunk(thinking="c"), done()],
    "thinking/tags": [chunk("<think>"), chunk("hm"), chunk("</think>"), chunk("\n\n4"), done()],
    "tool/one": [chunk(tool_calls=[call("f", {"a": 1, "q": '世 "x", y: z', "l": [1.5, None, True]})]), done()],
    "tool/no-arguments": [chunk(tool_calls=[call("f", {})]), done()],
    "tool/after-thinking": [chunk(thinking="A tool."), chunk(tool_calls=[call("f", {})]), done()],
    "tool/text-after": [chunk("a"), chunk(tool_calls=[call("f", {})]), chunk("b"), done()],
    "tool/with-id": [chunk(tool_calls=[call("f", {}, id="call_x")]), done()],
    "parallel/one-chunk": [chunk(tool_calls=[call("f", {"a": 1}), call("g", {"b": 2})]), done()],
    "parallel/two-chunks": [chunk(tool_calls=[call("f", {"a": 1})]), chunk(tool_calls=[call("f", {"a": 2})]), done()],
    "usage/prompt-cached": [chunk("x"), done(counts=(None, 7))],
    "usage/none": [chunk("x"), done(counts=(None, None))],
    "finish/length": [chunk("Once upon"), done("length")],
    "finish/neither": [chunk("x")],
    "error/in-stream": [chunk("Par"), {"error": "the model runner has stopped"}],
}

_BODIES: dict[str, Json] = {
    "text": {"content": "Hello"},
    "thinking": {"content": "4", "thinking": "Hm."},
    "tools": {"content": "Looking.", "tool_calls": [call("f", {"a": 1}), call("g", {})]},
    "nothing": {},
    "length": {"reason": "length", "content": "Once"},
    "no-counts": {"content": "x", "counts": (None, None)},
}
