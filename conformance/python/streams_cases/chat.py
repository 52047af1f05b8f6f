"""OpenAI Chat Completions, which several providers implement."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from .case import Json, StreamCase, body, events

DONE = "[DONE]"
PCM = base64.b64encode(bytes(range(16))).decode()


def chat_cases() -> Iterator[StreamCase]:
    """Return the cases for every provider of this API."""
    for name, chunks in _STREAMS.items():
        yield StreamCase(name, events(chunks))
    yield from _framings()
    yield StreamCase("error/reset", events([delta(content="Par")]), aborts=True)
    for name, message in _MESSAGES.items():
        yield body(name, completion(**message))
    yield body("two-choices", two_choices())


def audio_cases() -> Iterator[StreamCase]:
    """Cases for audio output, for providers that support it."""
    spoken = [
        delta(audio={"id": "a1", "transcript": "Hel"}),
        delta(audio={"id": "a1", "data": PCM}),
        delta(audio={"id": "a1", "transcript": "lo", "data": PCM}),
        finish("stop"),
        DONE,
    ]
    yield StreamCase("audio/stream", events(spoken))
    audio = {"id": "a1", "data": PCM, "transcript": "Hello", "expires_at": 1}
    yield body("audio", completion(content=None, audio=audio))


def chunk(choices: list[Json], usage: Json = None) -> Json:
    """Return a chunk with its envelope."""
    return {
        "id": "chatcmpl-77",
        "object": "chat.completion.chunk",
        "created": 1790000000,
        "model": "model-x",
        "choices": choices,
        "usage": usage,
    }


def delta(index: int = 0, *, usage: Json = None, **fields: Json) -> Json:
    """Return a chunk with a delta."""
    return chunk([{"index": index, "delta": fields, "finish_reason": None}], usage)


def finish(reason: str, usage: Json = None) -> Json:
    """Return the chunk with the finish reason."""
    return chunk([{"index": 0, "delta": {}, "finish_reason": reason}], usage)


def fragment(
    index: int,
    arguments: str | None = None,
    *,
    id: str | None = None,
    name: str | None = None,
) -> Json:
    """Return a part of a tool call. Parameters that are not given are omitted."""
    function = {"name": name, "arguments": arguments}
    call: Json = {"index": index, "id": id, "type": "function"}
    call = {key: value for key, value in call.items() if value is not None}
    return call | {"function": {key: value for key, value in function.items() if value is not None}}


def calls(*fragments: Json) -> Json:
    """Return a chunk with parts of tool calls."""
    return delta(tool_calls=list(fragments))


def usage(prompt: int, completion: int, **more: Json) -> Json:
    """Return a token usage."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    } | more


def completion(finish_reason: str = "stop", tokens: Json = None, **message: Json) -> Json:
    """Return a response that was not streamed."""
    choice = {
        "index": 0,
        "message": {"role": "assistant"} | message,
        "finish_reason": finish_reason,
    }
    return {
        "id": "chatcmpl-78",
        "object": "chat.completion",
        "created": 1790000000,
        "model": "model-x",
        "choices": [choice],
        "usage": tokens,
    }


def two_choices() -> Json:
    """Return a response with two choices."""
    response = completion(content="first")
    other = {"index": 1, "message": {"role": "assistant", "content": "second"}, "finish_reason": "stop"}
    response["choices"].append(other)
    return response


def whole_call(id: str, name: str, arguments: str) -> Json:
    """Return a tool call in a response that was not streamed."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _framings() -> Iterator[StreamCase]:
    plain = [delta(role="assistant", content="Hel"), delta(content="lo"), finish("stop"), DONE]
    yield StreamCase("framing/crlf", events(plain, end="\r\n"))
    yield StreamCase("framing/comments", ": open\n\n" + events(plain).replace("\n\n", "\n\n: alive\n\n"))
    yield StreamCase("framing/no-space", events(plain).replace("data: ", "data:"))
    yield StreamCase("framing/ids-and-retry", "retry: 10\nid: 1\n" + events(plain))
    yield StreamCase("framing/no-final-blank-line", events(plain).rstrip("\n") + "\n")


SAYS = delta(role="assistant", content="Let me look.")
STOP = finish("stop")
CALLED = finish("tool_calls")

_STREAMS: dict[str, list[Json]] = {
    "text/deltas": [delta(role="assistant", content=""), delta(content="One "), delta(content="two"), STOP, DONE],
    "text/one-chunk": [delta(role="assistant", content="All at once."), STOP, DONE],
    "text/finish-with-content": [chunk([{"index": 0, "delta": {"content": "end"}, "finish_reason": "stop"}]), DONE],
    "text/unicode": [delta(content="Grüße, 世"), delta(content="界 🌍"), delta(content="\n\t\"\\"), STOP, DONE],
    "text/null-content": [delta(role="assistant", content=None), delta(content="x"), delta(content=None), STOP, DONE],
    "text/white-space": [delta(content=" \n"), delta(content=" x "), STOP, DONE],
    "text/angle-brackets": [delta(content="<b>bold</b> <"), delta(content="think>"), STOP, DONE],
    "text/other-choice": [delta(content="a"), delta(1, content="NO"), delta(content="b"), STOP, DONE],
    "text/nothing": [delta(role="assistant", content=""), STOP, DONE],
    "text/only-done": [DONE],
    "thinking/then-text": [
        delta(reasoning_content="Two and "),
        delta(reasoning_content="two."),
        delta(content="4"),
        STOP,
        DONE,
    ],
    "thinking/with-text": [delta(reasoning_content="Hm.", content="4"), STOP, DONE],
    "thinking/null-beside-text": [
        delta(reasoning_content="Hm.", content=None),
        delta(reasoning_content=None, content="4"),
        STOP,
        DONE,
    ],
    "thinking/only": [delta(reasoning_content="Hm."), finish("length"), DONE],
    "thinking/again": [delta(reasoning_content="a"), delta(content="b"), delta(reasoning_content="c"), STOP, DONE],
    "thinking/field-reasoning": [delta(reasoning="Hm."), delta(content="4"), STOP, DONE],
    "thinking/tags": [delta(content="<thi"), delta(content="nk>hm</th"), delta(content="ink>\n\n4"), STOP, DONE],
    "thinking/tags-never-closed": [delta(content="<think>hm"), finish("length"), DONE],
    "tool/fragments": [
        SAYS,
        calls(fragment(0, "", id="call_1", name="search")),
        calls(fragment(0, '{"query"')),
        calls(fragment(0, ': "tea"}')),
        CALLED,
        DONE,
    ],
    "tool/at-once": [calls(fragment(0, '{"query":"tea"}', id="call_1", name="search")), CALLED, DONE],
    "tool/after-thinking": [
        delta(reasoning_content="A tool."),
        calls(fragment(0, "{}", id="call_1", name="now")),
        CALLED,
        DONE,
    ],
    "tool/no-arguments": [calls(fragment(0, id="call_1", name="now")), CALLED, DONE],
    "tool/null-arguments": [
        delta(tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "now", "arguments": None}}]),
        CALLED,
        DONE,
    ],
    "tool/id-and-name-each-time": [
        calls(fragment(0, '{"a"', id="call_1", name="f")),
        calls(fragment(0, ":1}", id="call_1", name="f")),
        CALLED,
        DONE,
    ],
    "tool/empty-id-and-name-later": [
        calls(fragment(0, '{"a"', id="call_1", name="f")),
        calls(fragment(0, ":1}", id="", name="")),
        CALLED,
        DONE,
    ],
    "tool/late-name": [calls(fragment(0, "", id="call_1")), calls(fragment(0, "{}", name="f")), CALLED, DONE],
    "tool/never-a-name": [calls(fragment(0, "{}", id="call_1")), CALLED, DONE],
    "tool/late-id": [calls(fragment(0, "", name="f")), calls(fragment(0, "{}", id="call_1")), CALLED, DONE],
    "tool/never-an-id": [calls(fragment(0, "{}", name="f")), CALLED, DONE],
    "tool/text-after": [
        SAYS,
        calls(fragment(0, "{}", id="call_1", name="f")),
        delta(content=" Wait."),
        CALLED,
        DONE,
    ],
    "tool/unicode": [calls(fragment(0, '{"q":"世界 🌍"}', id="call_1", name="f")), CALLED, DONE],
    "tool/not-json": [calls(fragment(0, "not json", id="call_1", name="f")), CALLED, DONE],
    "parallel/one-chunk": [
        calls(fragment(0, '{"a":1}', id="call_1", name="f"), fragment(1, '{"b":2}', id="call_2", name="g")),
        CALLED,
        DONE,
    ],
    "parallel/in-turn": [
        calls(fragment(0, "", id="call_1", name="f")),
        calls(fragment(0, '{"a":1}')),
        calls(fragment(1, "", id="call_2", name="g")),
        calls(fragment(1, '{"b":2}')),
        CALLED,
        DONE,
    ],
    "parallel/interleaved": [
        calls(fragment(0, "", id="call_1", name="f")),
        calls(fragment(1, "", id="call_2", name="g")),
        calls(fragment(2, "", id="call_3", name="h")),
        calls(fragment(1, '{"b"')),
        calls(fragment(0, '{"a"')),
        calls(fragment(2, "{}"), fragment(1, ":2}"), fragment(0, ":1}")),
        CALLED,
        DONE,
    ],
    "parallel/same-index": [
        calls(fragment(0, "{}", id="call_1", name="f")),
        calls(fragment(0, '{"b":2}', id="call_2", name="g")),
        CALLED,
        DONE,
    ],
    "parallel/same-id": [
        calls(fragment(0, '{"a":1}', id="call_0", name="f")),
        calls(fragment(1, '{"b":2}', id="call_0", name="g")),
        CALLED,
        DONE,
    ],
    "usage/own-chunk": [delta(content="x"), STOP, chunk([], usage(20, 1)), DONE],
    "usage/with-finish": [delta(content="x"), finish("stop", usage(20, 1)), DONE],
    "usage/every-chunk": [
        delta(content="x", usage=usage(20, 1)),
        delta(content="y", usage=usage(20, 2)),
        finish("stop", usage(20, 2)),
        DONE,
    ],
    "usage/cached": [
        delta(content="x"),
        STOP,
        chunk([], usage(200, 1, prompt_tokens_details={"cached_tokens": 128}, prompt_cache_hit_tokens=128)),
        DONE,
    ],
    "usage/cached-in-details-only": [
        delta(content="x"),
        STOP,
        chunk([], usage(200, 1, prompt_tokens_details={"cached_tokens": 128})),
        DONE,
    ],
    "usage/details-null": [
        delta(content="x"),
        STOP,
        chunk([], usage(200, 1, prompt_tokens_details={"cached_tokens": None}, completion_tokens_details=None)),
        DONE,
    ],
    "usage/thinking-counted-in": [
        delta(reasoning_content="Hm."),
        delta(content="x"),
        STOP,
        chunk([], usage(20, 9, completion_tokens_details={"reasoning_tokens": 8})),
        DONE,
    ],
    "usage/in-choice": [
        delta(content="x"),
        chunk([{"index": 0, "delta": {}, "finish_reason": "stop", "usage": usage(20, 1)}]),
        DONE,
    ],
    "usage/none": [delta(content="x"), STOP, DONE],
    "finish/length": [delta(content="Once upon"), finish("length"), chunk([], usage(5, 2)), DONE],
    "finish/length-in-arguments": [
        calls(fragment(0, '{"text": "Once', id="call_1", name="write")),
        finish("length"),
        DONE,
    ],
    "finish/filter": [delta(content="I"), finish("content_filter"), DONE],
    "finish/refusal": [delta(refusal="I will "), delta(refusal="not."), STOP, DONE],
    "finish/unheard-of": [delta(content="x"), finish("bored"), DONE],
    "finish/no-reason": [delta(content="x"), DONE],
    "finish/no-done": [delta(content="x"), STOP],
    "finish/neither": [delta(content="x")],
    "error/in-stream": [
        delta(content="Par"),
        {"error": {"message": "The server is busy", "type": "server_error", "code": None}},
    ],
    "error/rate-limit-in-stream": [
        delta(content="Par"),
        {"error": {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}},
    ],
    "error/not-json": [delta(content="Par"), "{oops"],
}

_MESSAGES: dict[str, Json] = {
    "text": {"content": "Hello", "tokens": usage(9, 1)},
    "cached": {
        "content": "Hello",
        "tokens": usage(90, 1, prompt_tokens_details={"cached_tokens": 64}, prompt_cache_hit_tokens=64),
    },
    "thinking": {"content": "4", "reasoning_content": "Two and two."},
    "tools": {
        "content": "Looking.",
        "tool_calls": [whole_call("call_1", "f", '{"a":1}'), whole_call("call_2", "g", "{}")],
        "finish_reason": "tool_calls",
        "tokens": usage(9, 5),
    },
    "tool-without-arguments": {
        "content": None,
        "tool_calls": [whole_call("call_1", "now", "")],
        "finish_reason": "tool_calls",
    },
    "nothing": {"content": None},
    "length": {"content": "Once", "finish_reason": "length"},
    "filter": {"content": "", "finish_reason": "content_filter"},
    "refusal": {"content": None, "refusal": "I will not."},
    "tags": {"content": "<think>hm</think>4"},
}
