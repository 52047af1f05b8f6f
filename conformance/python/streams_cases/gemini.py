"""The Gemini API."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from .case import Json, StreamCase, body, events

PICTURE = base64.b64encode(b"GIF89a-not-really").decode()


def gemini_cases() -> Iterator[StreamCase]:
    """Return the cases for Gemini."""
    for name, chunks in _STREAMS.items():
        yield StreamCase(name, events(chunks))
    yield StreamCase("framing/crlf", events([chunk(text("Hi"), finish="STOP")], end="\r\n"))
    yield StreamCase("error/reset", events([chunk(text("Par"))]), aborts=True)
    for name, (parts, reason) in _BODIES.items():
        yield body(name, chunk(*parts, finish=reason, usage=tokens(9, 4)))


def chunk(*parts: Json, finish: str | None = None, usage: Json = None, **more: Json) -> Json:
    """Return a chunk, which has the form of a complete response."""
    candidate: Json = {"index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": list(parts)}
    if finish:
        candidate["finishReason"] = finish
    counts = {"usageMetadata": usage} if usage else {}
    return {"candidates": [candidate]} | counts | {"modelVersion": "gemini-x", "responseId": "resp-77"} | more


def tokens(prompt: int, answer: int | None, **more: Json) -> Json:
    counts = {"promptTokenCount": prompt, "candidatesTokenCount": answer, "totalTokenCount": prompt + (answer or 0)}
    return {key: value for key, value in (counts | more).items() if value is not None}


def text(said: str, **more: Json) -> Json:
    return {"text": said} | more


def thought(said: str, **more: Json) -> Json:
    return {"text": said, "thought": True} | more


def call(name: str, args: Json = None, id: str | None = None, **more: Json) -> Json:
    function = {"name": name, "args": args, "id": id}
    return {"functionCall": {key: value for key, value in function.items() if value is not None}} | more


_STREAMS: dict[str, list[Json]] = {
    "text/deltas": [
        chunk(text("Hel"), usage=tokens(4, None)),
        chunk(text("lo"), usage=tokens(4, 2)),
        chunk(text(""), finish="STOP", usage=tokens(4, 2)),
    ],
    "text/unicode": [chunk(text("Grüße, 世")), chunk(text("界 🌍"), finish="STOP")],
    "text/parts-of-a-chunk": [chunk(text("a"), text("b"), finish="STOP")],
    "text/nothing": [chunk(finish="STOP", usage=tokens(4, None))],
    "text/no-response-id": [{"candidates": [{"content": {"parts": [text("x")]}, "finishReason": "STOP"}]}],
    "text/signed": [chunk(text("x")), chunk(text("", thoughtSignature="c2ln"), finish="STOP")],
    "thinking/then-text": [
        chunk(thought("Two and ")),
        chunk(thought("two.")),
        chunk(text("4"), finish="STOP", usage=tokens(9, 1, thoughtsTokenCount=8, totalTokenCount=18)),
    ],
    "thinking/with-text": [chunk(thought("Hm."), text("4"), finish="STOP")],
    "thinking/again": [chunk(thought("a")), chunk(text("b")), chunk(thought("c")), chunk(text("d"), finish="STOP")],
    "thinking/only": [chunk(thought("Hm.")), chunk(finish="MAX_TOKENS")],
    "thinking/tags": [chunk(text("<think>h")), chunk(text("m</think>4"), finish="STOP")],
    "tool/with-id": [chunk(call("f", {"a": 1}, "fc-1"), finish="STOP")],
    "tool/without-id": [chunk(call("f", {"a": 1}), finish="STOP")],
    "tool/no-arguments": [chunk(call("f", id="fc-1"), finish="STOP")],
    "tool/empty-arguments": [chunk(call("f", {}, "fc-1"), finish="STOP")],
    "tool/kinds-of-arguments": [
        chunk(call("f", {"q": '世界 "x", y: z', "n": 1.5, "i": 2, "l": [1, {"a": []}], "b": True, "z": None}, "fc-1")),
        chunk(finish="STOP"),
    ],
    "tool/signed": [chunk(call("f", {"a": 1}, "fc-1", thoughtSignature="c2lnLTE="), finish="STOP")],
    "tool/after-text": [chunk(text("Looking.")), chunk(call("f", {}, "fc-1"), finish="STOP")],
    "tool/text-after": [chunk(text("a"), call("f", {}, "fc-1"), text("b"), finish="STOP")],
    "parallel/one-chunk": [chunk(call("f", {"a": 1}, "fc-1"), call("g", {"b": 2}, "fc-2"), finish="STOP")],
    "parallel/two-chunks": [chunk(call("f", {"a": 1}, "fc-1")), chunk(call("g", {"b": 2}, "fc-2"), finish="STOP")],
    "parallel/without-ids": [chunk(call("f", {"a": 1}), call("f", {"a": 2}), finish="STOP")],
    "parallel/same-id": [chunk(call("f", {"a": 1}, "fc-1"), call("f", {"a": 2}, "fc-1"), finish="STOP")],
    "data/picture": [
        chunk(text("Here: ")),
        chunk({"inlineData": {"mimeType": "image/gif", "data": PICTURE}}, finish="STOP"),
    ],
    "usage/own-chunk": [
        chunk(text("x"), finish="STOP"),
        {"usageMetadata": tokens(10, 1, cachedContentTokenCount=8, toolUsePromptTokenCount=3), "responseId": "resp-77"},
    ],
    "usage/no-total": [
        chunk(text("x"), finish="STOP", usage={"promptTokenCount": 10, "candidatesTokenCount": 1}),
    ],
    "usage/no-candidates": [
        chunk(text("x"), finish="STOP", usage={"promptTokenCount": 10, "totalTokenCount": 14}),
    ],
    "finish/length": [chunk(text("Once upon")), chunk(finish="MAX_TOKENS", usage=tokens(5, 2))],
    "finish/safety": [chunk(text("I")), chunk(finish="SAFETY")],
    "finish/malformed-call": [chunk(finish="MALFORMED_FUNCTION_CALL")],
    "finish/prompt-blocked": [
        {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": tokens(5, None)},
    ],
    "finish/other-candidate": [
        {
            "candidates": [
                {"index": 0, "content": {"parts": [text("a")]}, "finishReason": "STOP"},
                {"index": 1, "content": {"parts": [text("NO")]}, "finishReason": "STOP"},
            ],
        },
    ],
    "finish/neither": [chunk(text("x"))],
    "finish/no-chunks": [],
    "error/unavailable": [
        chunk(text("Par")),
        {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}},
    ],
    "error/exhausted": [{"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED"}}],
}

_BODIES: dict[str, Json] = {
    "text": ([text("Hello")], "STOP"),
    "two-texts": ([text("a"), text("b")], "STOP"),
    "thinking": ([thought("Hm."), text("4")], "STOP"),
    "tools": ([text("Looking."), call("f", {"a": 1}, "fc-1"), call("g", id="fc-2")], "STOP"),
    "nothing": ([], "STOP"),
    "length": ([text("Once")], "MAX_TOKENS"),
}
